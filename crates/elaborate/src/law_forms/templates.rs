//! Laws in terms of formal parameters, each read once for every definition and shape.

use crate::context::values::{Arena, DimId};
use lgm_algebra::expr::{ExprId, Exprs, Node, SymbolId};
use lgm_model::Law;
use rustc_hash::FxHashMap;
use std::rc::Rc;

/// A state in a law.
#[derive(Clone, Debug)]
pub(crate) struct LawIntegral {
    /// Its symbol in the template.
    pub symbol: SymbolId,
    /// Its rate.
    pub rate: ExprId,
    /// The port variable that it integrates (`true`), or equals (`false`).
    pub of: Option<(u32, bool)>,
}

/// A change from a mode, in terms of formal parameters and port variables.
#[derive(Clone, Debug)]
pub(crate) struct TemplateChange {
    pub condition: ExprId,
    /// Variables of ports, as in [`Template::variables`], with the values that they are set to.
    pub sets: Vec<(SymbolId, ExprId)>,
}

/// A law in terms of formal parameters.
#[derive(Debug)]
pub(crate) struct Template {
    /// Entries are expressions in the arena of the templates; `None` if an error was reported.
    pub law: Option<Law>,
    /// The integrals in a nonlinear law.
    pub integrals: Vec<LawIntegral>,
    /// Equations whose sides differ in dimension, one of which rests on a number without a unit.
    pub mismatches: Vec<(usize, DimId, DimId)>,
    /// True if it has an energy for all values of its parameters, as far as testable.
    pub has_energy: bool,
    /// The symbol of the first entry of the first formal parameter; the others follow.
    pub first: u32,
    /// The number of symbols of the formal parameters.
    pub count: u32,
    pub time: SymbolId,
    /// The symbols of effort and flow of each port.
    pub variables: Vec<(SymbolId, SymbolId)>,
    /// The changes of a mode.
    pub changes: Vec<TemplateChange>,
}

/// All laws read so far.
pub(crate) struct Templates<'a> {
    pub arena: Arena<'a>,
    pub known: FxHashMap<Box<[u32]>, Rc<Template>>,
    pub key: Vec<u32>,
    /// Values already checked as storage values.
    pub good: FxHashMap<ExprId, bool>,
}

impl Templates<'_> {
    pub fn new() -> Self {
        Templates {
            arena: Arena::default(),
            known: FxHashMap::default(),
            key: Vec::new(),
            good: FxHashMap::default(),
        }
    }
    /// Returns an entry of a template with values for its formal parameters, and for other symbols of its own.
    pub fn fill_entry(
        &self,
        (out, time): (&mut Exprs, SymbolId),
        template: &Template,
        values: &[ExprId],
        others: &FxHashMap<SymbolId, ExprId>,
        entry: ExprId,
    ) -> ExprId {
        let exprs = &self.arena.exprs;
        let symbol = |symbol: SymbolId| {
            let at = symbol.0.checked_sub(template.first)?;
            (at < template.count).then(|| values[at as usize])
        };
        // Most entries are a parameter or a number.
        match exprs.node(entry) {
            Node::Symbol(id) => {
                if let Some(value) = symbol(*id) {
                    return value;
                }
            }
            Node::Number(number) => return out.number((**number).clone()),
            _ => {}
        }
        let mut copies: FxHashMap<ExprId, ExprId> = FxHashMap::default();
        for id in exprs.reachable(&[entry]) {
            let many = |list: &[ExprId]| list.iter().map(|child| copies[child]).collect::<Vec<_>>();
            let copy = match exprs.node(id) {
                Node::Number(number) => out.number((**number).clone()),
                Node::Pi => out.pi(),
                Node::Symbol(id) if *id == template.time => out.symbol(time),
                Node::Symbol(id) => symbol(*id)
                    .or_else(|| others.get(id).copied())
                    .expect("invariant: a law holds formal parameters, its own variables and time only"),
                Node::Sum(list) => out.sum(many(list)),
                Node::Product(list) => out.product(many(list)),
                Node::Power(a, b) => out.power(copies[a], copies[b]),
                Node::Call(function, list) => out.call(*function, many(list)),
                Node::Relation(relation, a, b) => out.relation(*relation, copies[a], copies[b]),
                Node::Not(a) => out.not(copies[a]),
                Node::If(c, a, b) => out.if_else(copies[c], copies[a], copies[b]),
            };
            copies.insert(id, copy);
        }
        copies[&entry]
    }
}
