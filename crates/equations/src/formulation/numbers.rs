//! Equations with the parameters' values in them.

use crate::decimals::shortest_decimal;
use lgm_algebra::expr::{ExprId, Exprs, Function, Node, SymbolId, to_f64};
use lgm_model::system::StateSystem;
use num_rational::BigRational;
use num_traits::{One, Zero};
use rustc_hash::FxHashMap;

/// A decimal of more digits than this is rounded to the nearest double.
const DIGITS: usize = 15;

/// The system with numbers in the places of its parameters; what is constant then is one number.
pub fn with_numbers(system: &StateSystem) -> StateSystem {
    let mut system = system.clone();
    let mut exprs = std::mem::take(&mut system.exprs);
    let entries = system.parameters.iter().flat_map(|parameter| &parameter.entries);
    let values: FxHashMap<SymbolId, ExprId> = entries
        .map(|entry| (entry.symbol, exprs.number(entry.value.clone())))
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
    // Exact arithmetic first, then one rounding of every number that no short decimal is. Exponents stay as they are.
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

/// The value of a function, a power or `pi` that holds numbers only.
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
    let value = is_constant.then(|| exprs.evaluate_unchecked(&[id], &|_| None)[0])?;
    value.is_finite().then(|| exprs.number(shortest_decimal(value)))
}

/// The number itself where it is a short decimal or a short fraction, else the nearest double.
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
