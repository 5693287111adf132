//! Evaluation on demand: the value of an expression, a name or a declaration at its location.
//!
//! Values are needed before the graph is complete: a size determines the number of nodes, a condition selects a branch,
//! and a component's parameter may depend on later declarations. Values therefore cannot be computed in a fixed order,
//! and [`Evaluator`] computes each once, on demand. All mutual recursion is here: an expression needs names
//! ([`lookup`]), a name its declaration ([`declared`]), a declaration an expression; and a dimension mismatch is
//! explained by the declarations of its names ([`explain`]).
//!
//! Queries of the phases:
//! - `eval`, `eval_scalar`: the value of an expression at a place;
//! - `integer`, `integers`, `condition`: values that determine the structure of the model;
//! - `graph_part`: the part of the graph that an expression names;
//! - `slot_value`: the value of a declared name; `argument_values`: the values of an instance's formal parameters;
//! - `exact`: rational values of expressions over parameters;
//! - `start_of`: the values of `start = ..` and similar.
//!
//! The layer above reads laws, but the energy of an element depends on its law. This single query goes through [`Evaluator::read_law`],
//! which the layer above supplies.

mod arithmetic;
pub(crate) mod declarations;
mod delays;
pub(crate) mod dimensions;
mod expanded;
mod expressions;
mod functions;
mod grids;
mod integers;
mod law_names;
mod lookup;
mod measures;
mod option_values;
mod root;
mod tables;
mod units_after_values;
mod user_functions;

pub(crate) mod law_scope;
pub(crate) mod modal;

pub(crate) use dimensions::claims::{Claim, Side};

use crate::context::values::{DimId, Value};
use crate::context::{Context, Indices, layer};
use crate::law_forms::templates::Templates;
use crate::options::ParameterOptions;
use crate::options::inputs::InputSetting;
use law_scope::LawScope;
use lgm_algebra::expr::SymbolId;
use lgm_model::ElementId;
use lgm_source::Span;
use num_rational::BigRational;
use option_values::Settings;
use rustc_hash::FxHashMap;

/// A declared value: its slot, and its indices.
type ValueKey = (usize, Option<Indices>);

/// The evaluator of values.
pub(crate) struct Evaluator<'a> {
    cx: Context<'a>,
    /// Values of parameters and constants from options.
    settings: Settings<'a>,
    /// Signals of inputs from options.
    inputs: Vec<&'a InputSetting>,
    pub parameter_values: FxHashMap<SymbolId, BigRational>,
    /// The names of the law that is being read.
    pub law: Option<LawScope<'a>>,
    /// The laws read so far. They are kept here because a law may be read during another evaluation.
    pub templates: Templates<'a>,
    /// Reads the law of an element, unless it is already read.
    read_law: for<'e> fn(&'e mut Evaluator<'a>, ElementId),
    /// Dimensions of signals and states inferred without evaluating them.
    inferred: FxHashMap<ValueKey, DimId>,
    /// Widths of names inferred without evaluating them, by slot.
    inferred_widths: FxHashMap<usize, usize>,
    /// True during the evaluation of an event, where `before(x)` is allowed.
    pub at_event: bool,
    /// The current depth of evaluation.
    depth: usize,
    /// The number of open sums with a range, and their terms so far.
    sum_depth: usize,
    sum_terms: u64,
    /// Names that an expression binds to values: the unknown of a root.
    bound: Vec<(&'a str, Value)>,
    /// The functions of the user that are being evaluated.
    functions: Vec<&'a str>,
    /// True within an expression outside of models, which sees only its own names and constants of the program.
    is_apart: bool,
    /// Values under evaluation: the key, the name, and the location of the request.
    open: Vec<(ValueKey, String, Span)>,
    /// The numbers of values under evaluation when the delayed signals under evaluation were met.
    delaying: Vec<usize>,
    /// Values that depend on themselves through a delay, with the symbols that stand for them meanwhile.
    cycles: Vec<(ValueKey, SymbolId, Span)>,
}

layer!(Evaluator<'a>, cx: Context<'a>);

impl<'a> Evaluator<'a> {
    /// Returns an evaluator without any values yet; values from options override the declared ones.
    pub(crate) fn new(
        cx: Context<'a>,
        parameters: &'a ParameterOptions,
        inputs: &'a [InputSetting],
        read_law: for<'e> fn(&'e mut Evaluator<'a>, ElementId),
    ) -> Evaluator<'a> {
        Evaluator {
            cx,
            settings: Settings::new(parameters),
            inputs: inputs.iter().collect(),
            parameter_values: FxHashMap::default(),
            law: None,
            templates: Templates::new(),
            read_law,
            inferred: FxHashMap::default(),
            inferred_widths: FxHashMap::default(),
            at_event: false,
            depth: 0,
            sum_depth: 0,
            sum_terms: 0,
            bound: Vec::new(),
            functions: Vec::new(),
            is_apart: false,
            open: Vec::new(),
            delaying: Vec::new(),
            cycles: Vec::new(),
        }
    }

    /// Switches to the expressions of the law templates, or back.
    pub(crate) fn swap_arenas(&mut self) {
        std::mem::swap(&mut self.cx.arena, &mut self.templates.arena);
    }

    /// Returns the law templates, and the context that receives their filled values.
    pub(crate) fn templates_and_context(&mut self) -> (&Templates<'a>, &mut Context<'a>) {
        (&self.templates, &mut self.cx)
    }

    /// Returns the results after evaluation has ended.
    pub(crate) fn into_context(self) -> Context<'a> {
        self.cx
    }
}
