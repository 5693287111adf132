//! Evaluates the emitted equations at a point, as a reader would: assignments in order, loops by Newton's method.

use super::dual::{Point, duals};
use crate::instants::Instant;
use lgm_algebra::PrimeField;
use lgm_algebra::expr::{ExprId, SymbolId, to_f64};
use lgm_model::system::StateSystem;
use lgm_numerics::newton::{Linearised, find_zero};
use nalgebra::{DMatrix, DVector};
use rustc_hash::FxHashMap;

/// Returns a pseudo-random number between -1 and 1.
pub(crate) fn spread(key: u64, set: u64) -> f64 {
    let uniform = (PrimeField.sample(key, set + 30) % 9_973) as f64 / 9_973.0;
    2.0 * uniform - 1.0
}

/// Returns the parameters, time, states and inputs at an instant.
pub(crate) fn given_at(system: &StateSystem, instant: &Instant) -> Point {
    let mut point: Point = FxHashMap::default();
    for parameter in &system.parameters {
        for entry in &parameter.entries {
            point.insert(entry.symbol, (to_f64(&entry.value), 0.0));
        }
    }
    point.insert(system.time, (instant.time, 1.0));
    for (state, value) in system.states.iter().zip(&instant.states) {
        point.insert(state.symbol, (*value, 0.0));
    }
    for (k, input) in system.inputs.iter().enumerate() {
        let rate = instant.rates[k];
        point.insert(input.symbol, (instant.inputs[k], rate));
        // The second rate of an input is never needed.
        point.insert(system.input_rates[k], (rate, f64::NAN));
    }
    point
}

/// Evaluates the emitted assignments, loops and derivatives at an instant; returns `None` if they have no values. Loops
/// are solved starting from the given unknowns, if there are any.
pub(crate) fn point_of(system: &StateSystem, instant: &Instant, unknowns: &[f64]) -> Option<(Point, Vec<f64>)> {
    let mut point = given_at(system, instant);
    for (unknown, value) in loop_parts(system).0.iter().zip(unknowns) {
        point.insert(*unknown, (*value, 0.0));
    }
    evaluate_all(system, &mut point)?;
    let derivatives = duals(&system.exprs, &system.equations.derivatives, &point)?;
    let derivatives: Vec<f64> = derivatives.iter().map(|value| value.0).collect();
    for (state, rate) in system.states.iter().zip(&derivatives) {
        point.insert(state.symbol, (point[&state.symbol].0, *rate));
    }
    // The assignments are evaluated again, now with rates.
    evaluate_all(system, &mut point)?;
    derivatives
        .iter()
        .all(|value| value.is_finite())
        .then_some((point, derivatives))
}

/// Returns the unknowns of all loops, and their residuals.
pub(crate) fn loop_parts(system: &StateSystem) -> (Vec<SymbolId>, Vec<ExprId>) {
    let unknowns = system.equations.unknowns();
    let residuals = system.equations.residuals();
    (unknowns.collect(), residuals.collect())
}

/// Sets unknowns of loops without a value to their initial guesses.
pub(crate) fn guess_unknowns(system: &StateSystem, unknowns: &[SymbolId], point: &mut Point) {
    let guesses = system.first_unknowns(f64::NAN);
    for (k, unknown) in unknowns.iter().enumerate() {
        let guess = Some(guesses[k])
            .filter(|guess| guess.is_finite())
            .unwrap_or(0.01 * spread(k as u64, 77));
        let known = point.get(unknown).map_or(guess, |value| value.0);
        point.insert(*unknown, (known, 0.0));
    }
}

/// Returns the values of expressions, and their derivatives with respect to some symbols, with everything else held
/// constant; `None` if a value is not finite.
pub(crate) fn linearised(
    system: &StateSystem,
    point: &Point,
    roots: &[ExprId],
    symbols: &[SymbolId],
    at: &[f64],
) -> Linearised {
    let mut values = Vec::new();
    let mut jacobian = DMatrix::zeros(roots.len(), symbols.len());
    let held: Point = point.iter().map(|(symbol, value)| (*symbol, (value.0, 0.0))).collect();
    for column in 0..symbols.len() {
        let mut there = held.clone();
        for (k, symbol) in symbols.iter().enumerate() {
            there.insert(*symbol, (at[k], if k == column { 1.0 } else { 0.0 }));
        }
        assign(system, &mut there)?;
        let found = duals(&system.exprs, roots, &there)?;
        values = found.iter().map(|value| value.0).collect();
        for (row, value) in found.iter().enumerate() {
            jacobian[(row, column)] = value.1;
        }
    }
    let is_finite = values.iter().all(|value| value.is_finite());
    is_finite.then_some((values, jacobian))
}

/// Enters the unknowns of loops and the assignments.
pub(crate) fn evaluate_all(system: &StateSystem, point: &mut Point) -> Option<()> {
    let (unknowns, residuals) = loop_parts(system);
    if unknowns.is_empty() {
        return assign(system, point);
    }
    guess_unknowns(system, &unknowns, point);
    let guess: Vec<f64> = unknowns.iter().map(|unknown| point[unknown].0).collect();
    // A loop without a solution, such as a chain that cannot be closed with random displacements, gives no valid point.
    let columns = |point: &Point, at: &[f64]| linearised(system, point, &residuals, &unknowns, at);
    let solution = find_zero(guess, |at| columns(point, at)).ok()?.at;
    let (_, jacobian) = columns(point, &solution)?;
    for (unknown, value) in unknowns.iter().zip(&solution) {
        point.insert(*unknown, (*value, 0.0));
    }
    // The unknowns' rates keep the residuals zero along the point's rates.
    assign(system, point)?;
    let along: Vec<f64> = duals(&system.exprs, &residuals, point)?
        .iter()
        .map(|value| value.1)
        .collect();
    // If the loops have no slopes, such as turbulent laws at rest, the rates are unknown.
    let is_finite = along.iter().chain(jacobian.iter()).all(|value| value.is_finite());
    let rates = is_finite
        .then(|| jacobian.lu().solve(&DVector::from_vec(along)))
        .flatten();
    if let Some(rates) = rates {
        for (unknown, rate) in unknowns.iter().zip(rates.iter()) {
            point.insert(*unknown, (point[unknown].0, -rate));
        }
    }
    assign(system, point)
}

/// Enters the assignments, in order.
pub(crate) fn assign(system: &StateSystem, point: &mut Point) -> Option<()> {
    for assignment in &system.equations.assignments {
        let value = duals(&system.exprs, &[assignment.value], point)?[0];
        point.insert(assignment.symbol, value);
    }
    Some(())
}
