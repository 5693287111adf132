//! Linear models: those whose rows have constant coefficients.

use crate::assembly::assemble;
use crate::assembly::outputs;
use lgm_algebra::expr::{ExprId, Exprs, Function, Node, SymbolKind};
use lgm_model::{Dissipator, Law, Matrix, Model};

/// Returns true if an expression depends on anything but parameters.
pub(crate) fn varies(exprs: &Exprs, id: ExprId) -> bool {
    if exprs.as_number(id).is_some() {
        return false;
    }
    exprs.reachable(&[id]).into_iter().any(|id| match exprs.node(id) {
        Node::Symbol(symbol) => exprs.symbol_info(*symbol).kind != SymbolKind::Parameter,
        Node::Call(function, _) => matches!(function, Function::Int | Function::Der),
        _ => false,
    })
}

/// Returns true if an expression is affine in the variables of the equations with constant coefficients.
pub(crate) fn is_steady_affine(exprs: &mut Option<Exprs>, model: &Model, value: ExprId) -> bool {
    // Most values are a number, an input or a parameter; the arena is copied only for others.
    let plain = |id: ExprId| matches!(model.exprs.node(id), Node::Number(_) | Node::Symbol(_));
    let is_plain = match model.exprs.node(value) {
        Node::Product(list) => list.len() == 2 && model.exprs.as_number(list[0]).is_some() && plain(list[1]),
        _ => plain(value),
    };
    if is_plain {
        return true;
    }
    let exprs = exprs.get_or_insert_with(|| model.exprs.clone());
    match exprs.affine(value, &assemble::is_variable) {
        Some(form) => {
            let is_call = |id: &ExprId| {
                exprs
                    .reachable(&[*id])
                    .into_iter()
                    .any(|id| matches!(exprs.node(id), Node::Call(Function::Int | Function::Der, _)))
            };
            !is_call(&form.rest) && !form.terms.iter().any(|(_, coefficient)| varies(exprs, *coefficient))
        }
        None => false,
    }
}

/// Returns true if a model needs the definitions of this module; all others are rows of constant coefficients.
pub(crate) fn applies(model: &Model) -> bool {
    let steady = |matrix: &Matrix| !matrix.entries.iter().any(|entry| varies(&model.exprs, *entry));
    let mut exprs = None;
    let laws_are_linear = model.graph.elements.iter().all(|element| match &element.law {
        Law::Nonlinear(_) => false,
        Law::Source { values, .. } => values.iter().all(|value| is_steady_affine(&mut exprs, model, *value)),
        Law::Storage { value, .. } => steady(value),
        Law::Coupler { matrix, .. } => steady(matrix),
        Law::Dissipator(Dissipator::Resistance(matrix) | Dissipator::Conductance(matrix)) => steady(matrix),
        Law::Dissipator(Dissipator::Implicit(a, b)) => steady(a) && steady(b),
    });
    !laws_are_linear
        || !model
            .integrals
            .iter()
            .all(|integral| integral.is_state() && is_steady_affine(&mut exprs, model, integral.rate))
        || !outputs::integrands_are_linear(model)
}
