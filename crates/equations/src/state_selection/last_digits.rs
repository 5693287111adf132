//! Ranks that the last digits of numbers decide.
//!
//! `-0.4999999999` instead of -1/2 leaves a small difference instead of 0, and causality would divide by it. Pivots are
//! computed again with all non-integer numbers perturbed slightly: a pivot that changes by its own magnitude when its
//! numbers change by 1e-9 is invalid.

use crate::assembly::problem::EXACT_PORTS;
use crate::causality::Causality;
use crate::causality::elimination::Elimination;
use crate::parameter_values::parameter_values;
use lgm_algebra::expr::{Evaluated, ExprId, Exprs, Node, SymbolId};
use lgm_algebra::{ExactValues, Field, FromExpression, PrimeField};
use lgm_model::{Element, Law, Model};
use lgm_source::codes::Code;
use lgm_source::diagnostic::Diagnostic;
use num_bigint::BigInt;
use num_rational::BigRational;
use num_traits::{One, Signed};
use rustc_hash::FxHashMap;

/// The relative change of numbers, 2^-50: rounding to 384 bits is negligible next to it, and its effects are linear.
const MOVED: u64 = 50;

/// The relative change of a pivot, 2^-20, at which it would vanish for a change of numbers by 2^-30, about 1e-9.
const SENSITIVE: u64 = 20;

/// Returns an error (LGM0324) if a pivot of causality is only the round-off of 0 in the given numbers. Models with more
/// than [`EXACT_PORTS`] ports are not examined.
pub(crate) fn decided_by_last_digits(model: &Model, causality: &Causality) -> Option<Diagnostic> {
    let entries: Vec<ExprId> = model.graph.elements.iter().flat_map(moduli).copied().collect();
    let symbols = model.exprs.symbols_of(&entries);
    let is_whole = |id: &ExprId| match model.exprs.node(*id) {
        Node::Number(value) => value.is_integer(),
        Node::Symbol(_) => false,
        _ => true,
    };
    let is_given = model.exprs.reachable(&entries).iter().all(is_whole);
    if is_given || model.graph.ports.len() > EXACT_PORTS {
        return None;
    }
    let mut values = parameter_values(model);
    let mut moved = values.clone();
    let given = model.parameters.iter().flat_map(|parameter| &parameter.entries);
    for entry in given.filter(|entry| entry.exact.is_none() && !entry.value.is_integer()) {
        let value = moved.get_mut(&entry.symbol)?;
        *value *= factor(u64::from(entry.symbol.0));
    }
    for symbol in symbols {
        let value = between_half_and_three_halves(u64::from(symbol.0), 40);
        values.entry(symbol).or_insert_with(|| value.clone());
        moved.entry(symbol).or_insert(value);
    }
    let mut exprs = model.exprs.clone();
    let replaced = with_moved_numbers(&mut exprs, &entries);
    let at = |values: FxHashMap<SymbolId, BigRational>, replaced: Option<&FxHashMap<ExprId, ExprId>>| {
        let mut field = ExactValues::new(values);
        let modulus = |field: &mut ExactValues, id: ExprId| {
            let id = replaced.map_or(id, |replaced| replaced[&id]);
            field.from_expression(&exprs, id)
        };
        let rows = causality.structure.rows_in(&mut field, modulus)?;
        Ok::<_, Evaluated>((field, Elimination::new(rows, causality.structure.columns)))
    };
    let (mut field, mut here) = at(values, None).ok()?;
    let (mut other, mut there) = at(moved, Some(&replaced)).ok()?;
    for (row, column) in &causality.pivots {
        let pivot = here.entry(*row, *column).cloned();
        let beside = there.entry(*row, *column).cloned();
        if field.exhausted() || other.exhausted() {
            return None;
        }
        let holds = pivot.zip(beside).is_some_and(|(pivot, beside)| {
            let change = (&beside - &pivot).abs() * BigRational::from_integer(BigInt::one() << SENSITIVE);
            change <= pivot.abs()
        });
        if !holds {
            return Some(diagnostic(model));
        }
        here.pivot_on(&mut field, *row, *column);
        there.pivot_on(&mut other, *row, *column);
    }
    None
}

fn moduli(element: &Element) -> &[ExprId] {
    match &element.law {
        Law::Coupler { matrix, .. } => &matrix.entries,
        _ => &[],
    }
}

/// Returns a well-distributed rational with few digits.
fn between_half_and_three_halves(key: u64, seed: u64) -> BigRational {
    BigRational::new(
        BigInt::from(PrimeField.sample(key, seed) % 997 + 499),
        BigInt::from(998),
    )
}

/// Returns a factor near 1, different for each key.
fn factor(key: u64) -> BigRational {
    let part = between_half_and_three_halves(key, 41);
    BigRational::one() + part / BigRational::from_integer(BigInt::one() << MOVED)
}

/// Returns the expressions with all numbers perturbed except integers and exponents.
fn with_moved_numbers(exprs: &mut Exprs, roots: &[ExprId]) -> FxHashMap<ExprId, ExprId> {
    let mut replaced: FxHashMap<ExprId, ExprId> = FxHashMap::default();
    for id in exprs.reachable(roots) {
        let node = exprs.node(id).clone();
        let now = match &node {
            Node::Number(value) if !value.is_integer() => exprs.number(&**value * factor(u64::from(id.0))),
            Node::Power(base, exponent) => exprs.power(replaced[base], *exponent),
            _ => exprs.rebuild(&node, &replaced),
        };
        replaced.insert(id, now);
    }
    replaced
}

fn diagnostic(model: &Model) -> Diagnostic {
    let is_named = |element: &&Element| {
        let mut below = model.exprs.reachable(moduli(element)).into_iter();
        below.any(|id| match model.exprs.node(id) {
            Node::Number(value) => !value.is_integer(),
            Node::Symbol(_) => true,
            _ => false,
        })
    };
    let span = model
        .graph
        .elements
        .iter()
        .find(is_named)
        .map(|element| element.law_span);
    Diagnostic::error(
        Code::LGM0324,
        "the last digits of numbers determine which parts of the model are disconnected or locked",
    )
    .label(span.unwrap_or(model.heading.span), "these moduli cancel to about 1e-9")
    .note("with numbers that differ in their tenth digit the model has a different number of states")
    .help("write constants exactly, such as `1/3`, `sqrt(3)/2` or `cos(2*pi/3)`")
}
