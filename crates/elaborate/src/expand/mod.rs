//! Expansion: bodies walked in place, with loops and conditions decided, to nodes, elements and components.

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

/// An instance that waits.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Postponed<'a> {
    pub instance: &'a Instance,
    pub place: Place,
    /// How many elements there were when it was met: it belongs in front of the next one.
    pub before: usize,
}

/// Numbers of parts by definition and structural values; `None` where they do not end.
pub(crate) type Counts = FxHashMap<(ItemRef, Vec<BigRational>), Option<u128>>;

/// What each definition says, found when it is first used; `None` where it is at fault.
pub(crate) type KnownRules<'a> = FxHashMap<ItemRef, Option<Rc<Rules<'a>>>>;

/// A statement that is looked at once the whole graph is there.
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

/// What expansion leaves to the phases after it, in the order of the statements.
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
    /// Instances of the body that is built now which wait for others.
    postponed: Vec<Postponed<'a>>,
    counts: Counts,
    modal_rules: KnownRules<'a>,
    /// How many nodes and instances there are so far.
    made: u64,
    /// The largest number of nodes and instances.
    largest: u64,
    /// The component whose ports are opened.
    opened: Option<&'e str>,
    /// Rounds of loops so far in which nothing was made.
    empty_rounds: u64,
}

layer!(Expansion<'e, 'a>, evaluator: Evaluator<'a>);

/// Expands the chosen model to its nodes and elements, at most so many; the ports of one component may be opened.
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
