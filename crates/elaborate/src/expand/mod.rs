//! Expansion: bodies are expanded to nodes, elements and components, with all loops and conditions evaluated.

mod arguments;
mod branches;
mod count;
mod instances;
mod junctions;
mod modal;
mod names;
mod open;
mod postponed;
mod size;
mod walk;

use crate::context::{Place, layer};
use crate::evaluate::Evaluator;
use crate::modal_rules::Rules;
use crate::program::ItemRef;
use lgm_syntax::ast::{self, Instance};
use num_rational::BigRational;
use rustc_hash::FxHashMap;
use std::rc::Rc;

/// A waiting instance.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Postponed<'a> {
    pub instance: &'a Instance,
    pub place: Place,
    /// The number of elements at that point: the instance belongs before the next element.
    pub before: usize,
}

/// Numbers of parts by definition and structural values; `None` if infinite.
pub(crate) type Counts = FxHashMap<(ItemRef, Vec<BigRational>), Option<u128>>;

/// The information in each definition, computed at its first use; `None` if the definition has errors.
pub(crate) type KnownRules<'a> = FxHashMap<ItemRef, Option<Rc<Rules<'a>>>>;

/// A statement that is evaluated after the graph is complete.
#[derive(Debug)]
pub(crate) struct Deferred<'a, T> {
    pub statement: &'a T,
    pub place: Place,
}

impl<T> Clone for Deferred<'_, T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T> Copy for Deferred<'_, T> {}

/// The remaining work of the phases after expansion, in statement order.
#[derive(Default)]
pub(crate) struct Expanded<'a> {
    pub chains: Vec<Deferred<'a, Vec<ast::Expr>>>,
    pub signals: Vec<Deferred<'a, ast::Indexed>>,
    pub states: Vec<Deferred<'a, ast::Indexed>>,
    pub outputs: Vec<Deferred<'a, ast::Indexed>>,
    pub experiments: Vec<&'a [ast::Attribute]>,
    pub discretes: Vec<Deferred<'a, ast::Indexed>>,
    /// Junctions with `on = ..`.
    pub controlled: Vec<Deferred<'a, ast::JunctionDecl>>,
    /// `when` and `every` blocks.
    pub blocks: Vec<Deferred<'a, ast::Statement>>,
}

/// The expansion of the chosen model.
pub(crate) struct Expansion<'e, 'a> {
    evaluator: &'e mut Evaluator<'a>,
    rest: Expanded<'a>,
    /// Instances of the current body that wait for others.
    postponed: Vec<Postponed<'a>>,
    counts: Counts,
    modal_rules: KnownRules<'a>,
    /// The current number of nodes and instances.
    made: u64,
    /// The largest number of nodes and instances.
    largest: u64,
    /// The component with open ports.
    opened: Option<&'e str>,
    /// The number of loop iterations so far that created nothing.
    empty_rounds: u64,
}

layer!(Expansion<'e, 'a>, evaluator: Evaluator<'a>);

/// Expands the chosen model to its nodes and elements, up to a maximum number; the ports of one component may be left open.
pub(crate) fn expand<'a>(evaluator: &mut Evaluator<'a>, largest: u64, opened: Option<&str>) -> Expanded<'a> {
    let chosen = evaluator.chosen;
    let frame = evaluator.scopes.model_frame(chosen);
    let mut expansion = Expansion {
        evaluator,
        rest: Expanded::default(),
        postponed: Vec::new(),
        counts: Counts::default(),
        modal_rules: KnownRules::default(),
        made: 0,
        largest,
        opened,
        empty_rounds: 0,
    };
    expansion.expand(frame);
    expansion.rest
}
