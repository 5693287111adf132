//! The changes whose modes may be tried without their conditions if the active modes contradict each other.

use lgm_algebra::expr::{ExprId, Node, Relation, SymbolId};
use lgm_model::switching::{Change, SwitchedElement};
use lgm_model::{ElementId, Measure, Model};
use rustc_hash::FxHashSet;

/// Marks the changes after which a wrong mode is left immediately.
pub(crate) fn mark_free_changes(model: &mut Model) {
    let mut switched = std::mem::take(&mut model.switching.elements);
    for element in &mut switched {
        let own = own_symbols(model, element.element);
        // A wrong position shows in nothing: a wall elsewhere would be pressed as well.
        let ports = |symbol: &&SymbolId| model.integrals.iter().all(|integral| integral.symbol != **symbol);
        let moving: FxHashSet<SymbolId> = own.iter().filter(ports).copied().collect();
        let marks: Vec<Vec<(bool, bool)>> = (0..element.modes.len())
            .map(|from| {
                let changes = element.modes[from].changes.iter().enumerate();
                let mark = |(at, change): (usize, &Change)| {
                    let asks = Asks {
                        model,
                        own: &own,
                        needs_all: false,
                    };
                    (
                        is_free(model, &moving, element, (from, at)),
                        asks.ports(change.condition),
                    )
                };
                changes.map(mark).collect()
            })
            .collect();
        for (mode, marks) in element.modes.iter_mut().zip(marks) {
            for (change, mark) in mode.changes.iter_mut().zip(marks) {
                (change.is_free, change.asks_ports) = mark;
            }
        }
    }
    model.switching.elements = switched;
}

/// Returns the symbols of an element's own port variables, and of their integrals.
fn own_symbols(model: &Model, id: ElementId) -> FxHashSet<SymbolId> {
    let ports = &model.graph.elements[id.index()].ports;
    let is_own = |measure: &Measure| match measure {
        Measure::PortEffort(port) | Measure::PortFlow(port) => ports.contains(&port.0),
        Measure::Common(_) | Measure::BondEffort(_) | Measure::BondFlow(_) => false,
    };
    let measures = model
        .measures
        .iter()
        .filter(|entry| is_own(&entry.1))
        .map(|entry| entry.0);
    let integrals = model.integrals.iter().filter(|integral| integral.owner == Some(id));
    measures.chain(integrals.map(|integral| integral.symbol)).collect()
}

fn is_free(model: &Model, own: &FxHashSet<SymbolId>, element: &SwitchedElement, (from, at): (usize, usize)) -> bool {
    let change = &element.modes[from].changes[at];
    let contrary = |a: ExprId, b: ExprId| *model.exprs.node(a) == Node::Not(b);
    let asks = Asks {
        model,
        own,
        needs_all: true,
    };
    let is_undone = |back: &Change| {
        if contrary(back.condition, change.condition) || contrary(change.condition, back.condition) {
            return true;
        }
        // `through > 0 and not on` and `on and across > 0`: if the gate is on, the element leaves a wrong mode by itself.
        let (Some((_, gate)), Some((_, other))) = (
            asks.ports_and_gate(change.condition),
            asks.ports_and_gate(back.condition),
        ) else {
            return false;
        };
        contrary(gate, other) || contrary(other, gate)
    };
    let mut back = element.modes[change.to].changes.iter().filter(|back| back.to == from);
    asks.ports(change.condition) || back.any(is_undone)
}

/// A test of a condition: does it use the element's own variables, in all of its parts or in a required part?
struct Asks<'a> {
    model: &'a Model,
    own: &'a FxHashSet<SymbolId>,
    needs_all: bool,
}

impl Asks<'_> {
    /// Splits the condition `p and g` into a part that uses the element's own variables, and one that does not.
    fn ports_and_gate(&self, condition: ExprId) -> Option<(ExprId, ExprId)> {
        let Node::Relation(Relation::And, a, b) = *self.model.exprs.node(condition) else {
            return None;
        };
        let reads = |id: ExprId| {
            self.model
                .exprs
                .symbols_of(&[id])
                .iter()
                .any(|symbol| self.own.contains(symbol))
        };
        let parts = [(a, b), (b, a)].into_iter();
        parts
            .into_iter()
            .find(|(ports, gate)| self.ports(*ports) && !reads(*gate))
    }

    fn ports(&self, condition: ExprId) -> bool {
        let exprs = &self.model.exprs;
        match exprs.node(condition) {
            // All parts of `and` must hold, and at least one of `or`.
            Node::Relation(relation @ (Relation::And | Relation::Or), a, b) => {
                let mut parts = [a, b].into_iter();
                match (*relation == Relation::And) == self.needs_all {
                    true => parts.all(|part| self.ports(*part)),
                    false => parts.any(|part| self.ports(*part)),
                }
            }
            Node::Not(a) if !matches!(exprs.node(*a), Node::Relation(Relation::And | Relation::Or, ..)) => {
                self.ports(*a)
            }
            Node::Relation(..) => {
                let mut parts = exprs.reachable(&[condition]).into_iter();
                parts.any(|id| matches!(exprs.node(id), Node::Symbol(symbol) if self.own.contains(symbol)))
            }
            _ => false,
        }
    }
}
