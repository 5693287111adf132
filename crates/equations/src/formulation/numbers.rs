//! Equations with the values of parameters substituted.

use crate::decimals::shortest_decimal;
use lgm_algebra::expr::{ExprId, Exprs, Function, Node, SymbolId, to_f64};
use lgm_model::system::StateSystem;
use num_rational::BigRational;
use num_traits::{One, Zero};
use rustc_hash::FxHashMap;

/// A decimal with more digits than this is rounded to the nearest double.
const DIGITS: usize = 15;

/// Returns the system with numbers instead of parameters; constant expressions become single numbers.
pub fn with_numbers(system: &StateSystem) -> StateSystem {
    let mut system = system.clone();
    let mut exprs = std::mem::take(&mut system.exprs);
    let entries = system.parameters.iter().flat_map(|parameter| &parameter.entries);
    let values: FxHashMap<SymbolId, ExprId> = entries
        .map(|entry| {
            (
                entry.symbol,
                entry.exact.unwrap_or_else(|| exprs.number(entry.value.clone())),
            )
        })
        .collect();
    let roots: Vec<&mut ExprId> = system.equations.shown_mut().collect();
    let ids: Vec<ExprId> = roots.iter().map(|id| **id).collect();
    let ids = exprs.substitute(&ids, |symbol| values.get(&symbol).copied());
    let mut folded: FxHashMap<ExprId, ExprId> = FxHashMap::default();
    for id in exprs.reachable(&ids) {
        let node = exprs.node(id).clone();
        let rebuilt = exprs.rebuild(&node, &folded);
        let now = constant(&mut exprs, rebuilt).unwrap_or(rebuilt);
        folded.insert(id, now);
    }
    // Exact arithmetic comes first, then each number that is not a short decimal is rounded once. Exponents stay unchanged.
    let ids: Vec<ExprId> = ids.iter().map(|id| folded[id]).collect();
    let mut short: FxHashMap<ExprId, ExprId> = FxHashMap::default();
    for id in exprs.reachable(&ids) {
        let node = exprs.node(id).clone();
        let now = match &node {
            Node::Number(value) => exprs.number(short_number(value)),
            Node::Power(base, exponent) => exprs.power(short[base], *exponent),
            _ => exprs.rebuild(&node, &short),
        };
        short.insert(id, now);
    }
    for (root, id) in roots.into_iter().zip(ids) {
        *root = short[&id];
    }
    system.exprs = exprs;
    system
}

/// Returns the value of a function, a power or `pi` that contains only numbers.
fn constant(exprs: &mut Exprs, id: ExprId) -> Option<ExprId> {
    let is_number = |child: ExprId| exprs.as_number(child).is_some();
    let is_constant = match exprs.node(id) {
        Node::Pi => true,
        Node::Power(base, exponent) => is_number(*base) && is_number(*exponent),
        // Measures have no value.
        Node::Call(function, list) => {
            !matches!(function, Function::Int | Function::Der) && list.iter().all(|child| is_number(*child))
        }
        _ => false,
    };
    let value = is_constant.then(|| exprs.evaluate_exact(&[id], &|_| None).ok())??;
    to_f64(&value[0]).is_finite().then(|| exprs.number(value[0].clone()))
}

/// Returns the number itself if it is a short decimal or a short fraction, otherwise the nearest double.
fn short_number(value: &BigRational) -> BigRational {
    let mut rest = value.denom().clone();
    for prime in [2u32, 5] {
        while (&rest % prime).is_zero() {
            rest /= prime;
        }
    }
    let is_short = value.is_integer() || rest.is_one() && value.numer().to_string().len() <= DIGITS;
    match is_short {
        true => value.clone(),
        false => shortest_decimal(to_f64(value)),
    }
}
