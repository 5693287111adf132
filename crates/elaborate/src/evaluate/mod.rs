//! Evaluation on demand: what an expression, a name or a declaration is worth where it stands.
//!
//! Values are needed before the graph is whole: a size decides how many nodes there are, a condition which branch is taken,
//! and a component's parameter may follow from what is declared below it. So values cannot be found in an order laid down
//! beforehand, and [`Evaluator`] finds each when it is first asked for, once. What calls each other in a circle is kept here
//! and nowhere else: an expression needs names ([`lookup`]), a name its declaration ([`declared`]), a declaration an
//! expression; and a mismatch of dimensions is explained by the declarations of the names in it ([`explain`]).
//!
//! What the phases ask of it:
//! - `eval`, `eval_scalar`: the value of an expression at a place;
//! - `integer`, `integers`, `condition`: values that the shape of the model follows from;
//! - `graph_part`: the part of the graph that an expression names;
//! - `slot_value`: the value of a declared name; `argument_values`: those of an instance's formal parameters;
//! - `exact`: rational values of expressions over parameters;
//! - `start_of`: the values of `start = ..` and the like.
//!
//! A law is read by the layer above, and the energy of an element follows from its law: that one question is asked
//! through [`Evaluator::read_law`], which the layer above puts in.

mod arithmetic;
mod declarations;
pub(crate) mod dimensions;
mod expressions;
mod functions;
mod integers;
mod law_names;
mod lookup;
mod measures;
mod root;

pub(crate) mod law_scope;
pub(crate) mod modal;

pub(crate) use dimensions::claims::{Claim, Side};

use crate::context::values::{DimId, Value};
use crate::context::{Context, Indices, layer};
use crate::laws::templates::Templates;
use crate::options::Assignment;
use crate::options::inputs::InputSetting;
use law_scope::LawScope;
use lgm_algebra::expr::SymbolId;
use lgm_model::ElementId;
use lgm_source::Span;
use num_rational::BigRational;
use rustc_hash::FxHashMap;

/// A declared value: its slot, and its indices.
type ValueKey = (usize, Option<Indices>);

/// What values are found with.
pub(crate) struct Evaluator<'a> {
    cx: Context<'a>,
    /// Values of parameters and constants that options give.
    settings: FxHashMap<&'a str, &'a Assignment>,
    /// Signals that options give to inputs.
    inputs: Vec<&'a InputSetting>,
    pub parameter_values: FxHashMap<SymbolId, BigRational>,
    /// The names of the law that is being read.
    pub law: Option<LawScope<'a>>,
    /// The laws that were read. They are kept here because a law may be read while something else is evaluated.
    pub templates: Templates<'a>,
    /// Reads the law of an element, unless that was done.
    read_law: for<'e> fn(&'e mut Evaluator<'a>, ElementId),
    /// Dimensions of signals and states that were found without evaluating them.
    inferred: FxHashMap<ValueKey, DimId>,
    /// Returns true while what an event does is evaluated, where `before(x)` has a meaning.
    pub at_event: bool,
    /// How deep evaluation is nested.
    depth: usize,
    /// How many sums with a range are open, and how many terms they have so far.
    sum_depth: usize,
    sum_terms: u64,
    /// Names that an expression binds to a value: the unknown of a root.
    bound: Vec<(&'a str, Value)>,
    /// Values that are being evaluated: which, the name, and where it was asked for.
    open: Vec<(ValueKey, String, Span)>,
}

layer!(Evaluator<'a>, cx: Context<'a>);

impl<'a> Evaluator<'a> {
    /// Without any value yet; the options' values count in place of the declared ones.
    pub(crate) fn new(
        cx: Context<'a>,
        assignments: &'a [Assignment],
        inputs: &'a [InputSetting],
        read_law: for<'e> fn(&'e mut Evaluator<'a>, ElementId),
    ) -> Evaluator<'a> {
        Evaluator {
            cx,
            settings: assignments.iter().map(|entry| (&*entry.name, entry)).collect(),
            inputs: inputs.iter().collect(),
            parameter_values: FxHashMap::default(),
            law: None,
            templates: Templates::new(),
            read_law,
            inferred: FxHashMap::default(),
            at_event: false,
            depth: 0,
            sum_depth: 0,
            sum_terms: 0,
            bound: Vec::new(),
            open: Vec::new(),
        }
    }

    /// Changes over to the expressions of the law templates, or back.
    pub(crate) fn swap_arenas(&mut self) {
        std::mem::swap(&mut self.cx.arena, &mut self.templates.arena);
    }

    /// The law templates, with what their values are filled into.
    pub(crate) fn templates_and_context(&mut self) -> (&Templates<'a>, &mut Context<'a>) {
        (&self.templates, &mut self.cx)
    }

    /// What was found, when nothing more is evaluated.
    pub(crate) fn into_context(self) -> Context<'a> {
        self.cx
    }
}
