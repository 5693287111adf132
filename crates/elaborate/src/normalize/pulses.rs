//! Laws that jump with a periodic function of the motion, such as the commutation `if cos(4*angle) > 0.5 then U else 0`.
//!
//! A step of a solver may pass a whole pulse of such a law, because the law at the solver's own points does not show it. Conditions of blocks
//! are examined everywhere within a step. Each jump therefore becomes an event at which nothing is assigned: a run stops there and continues.

use super::integrals::laws;
use lgm_algebra::expr::{ExprId, Exprs, Function, Node, Relation, SymbolKind};
use lgm_model::Model;
use lgm_model::switching::{EventBlock, Trigger};

/// Adds an event for each direction in which a law jumps with a periodic function of measures or states.
pub(crate) fn watch_pulses(model: &mut Model) {
    let mut roots = laws(model);
    let integrals = model.integrals.iter();
    roots.extend(integrals.map(|integral| (integral.rate, model.paths[integral.path.index()].span)));
    for output in &model.outputs {
        let parts = model.exprs.reachable(&[output.value]).into_iter();
        roots.extend(parts.filter_map(|id| Some((integrand(&model.exprs, id)?, output.span))));
    }
    let all: Vec<ExprId> = roots.iter().map(|root| root.0).collect();
    let zero = model.exprs.zero();
    for id in model.exprs.reachable(&all) {
        let (left, right) = match model.exprs.node(id).clone() {
            Node::Relation(
                Relation::Less | Relation::LessEqual | Relation::Greater | Relation::GreaterEqual,
                left,
                right,
            ) => (left, right),
            Node::Call(Function::Sign, list) => (list[0], zero),
            _ => continue,
        };
        if !is_periodic(&model.exprs, &[left, right]) {
            continue;
        }
        let owner = roots
            .iter()
            .find(|(root, _)| model.exprs.reachable(&[*root]).contains(&id));
        let span = owner.map_or(model.heading.span, |owner| owner.1);
        for (greater, less) in [(left, right), (right, left)] {
            let condition = model.exprs.relation(Relation::Greater, greater, less);
            model.switching.blocks.push(EventBlock {
                trigger: Trigger::Becomes(condition),
                assignments: Vec::new(),
                instance: None,
                span,
            });
        }
    }
}

/// Returns the expression that an integral integrates.
fn integrand(exprs: &Exprs, id: ExprId) -> Option<ExprId> {
    match exprs.node(id) {
        Node::Call(Function::Int, list) => Some(list[0]),
        _ => None,
    }
}

/// Returns true if a periodic function of a measure, a state or an integral is part of some expressions.
fn is_periodic(exprs: &Exprs, roots: &[ExprId]) -> bool {
    let moves = |id: &ExprId| {
        let symbols = exprs.symbols_of(&[*id]);
        let mut kinds = symbols.iter().map(|symbol| exprs.symbol_info(*symbol).kind);
        kinds.any(|kind| matches!(kind, SymbolKind::Measure | SymbolKind::State))
    };
    exprs.reachable(roots).into_iter().any(|id| match exprs.node(id) {
        Node::Call(Function::Sin | Function::Cos | Function::Tan | Function::Floor, list) => moves(&list[0]),
        _ => false,
    })
}
