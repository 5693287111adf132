//! The changes whose modes may be tried without their conditions, where the modes in force contradict each other.

use lgm_algebra::expr::{ExprId, Node, Relation, SymbolId};
use lgm_model::switching::SwitchedElement;
use lgm_model::{ElementId, Measure, Model};
use rustc_hash::FxHashSet;

/// Marks the changes after which a mode that is wrong is left at once.
pub(crate) fn mark_free_changes(model: &mut Model) {
    let mut switched = std::mem::take(&mut model.switching.elements);
    for element in &mut switched {
        let own = own_symbols(model, element.element);
        let free: Vec<Vec<bool>> = (0..element.modes.len())
            .map(|from| {
                let changes = 0..element.modes[from].changes.len();
                changes.map(|at| is_free(model, &own, element, (from, at))).collect()
            })
            .collect();
        for (mode, free) in element.modes.iter_mut().zip(free) {
            for (change, free) in mode.changes.iter_mut().zip(free) {
                change.is_free = free;
            }
        }
    }
    model.switching.elements = switched;
}

/// The symbols of an element's own port variables, and of their integrals.
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
    let mut back = element.modes[change.to].changes.iter().filter(|back| back.to == from);
    asks_ports_alone(model, own, change.condition)
        || back.any(|back| contrary(back.condition, change.condition) || contrary(change.condition, back.condition))
}

/// True if a condition can come to hold by own variables, whatever the others are.
fn asks_ports_alone(model: &Model, own: &FxHashSet<SymbolId>, condition: ExprId) -> bool {
    match model.exprs.node(condition) {
        Node::Relation(Relation::And, a, b) => [a, b].iter().all(|part| asks_ports_alone(model, own, **part)),
        Node::Relation(Relation::Or, a, b) => [a, b].iter().any(|part| asks_ports_alone(model, own, **part)),
        Node::Not(a) if !matches!(model.exprs.node(*a), Node::Relation(Relation::And | Relation::Or, ..)) => {
            asks_ports_alone(model, own, *a)
        }
        Node::Relation(..) => {
            let parts = model.exprs.reachable(&[condition]).into_iter();
            let mut symbols = parts.filter_map(|id| match model.exprs.node(id) {
                Node::Symbol(symbol) => Some(*symbol),
                _ => None,
            });
            symbols.any(|symbol| own.contains(&symbol))
        }
        _ => false,
    }
}
