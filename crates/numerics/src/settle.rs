//! Pseudo-transient continuation: where a system comes to rest, for the places that Newton's iteration does not reach from a guess.
//!
//! Steps of Euler's implicit method with one iteration each, `(M - h J) step = h f`. Their length follows the curvature of the
//! equations, not their accuracy, and grows until nothing moves. After C. T. Kelley and D. E. Keyes, Convergence analysis of
//! pseudo-transient continuation, SIAM J. Numer. Anal. 35, 1998.

use crate::newton::{Linearised, beside_guess};
use nalgebra::{DMatrix, DVector};

/// How many steps are tried.
const STEPS: usize = 400;

/// Largest curvature of the equations along a step, as a share of the unknowns that were seen.
const BENT: f64 = 0.25;

/// A step this small beside the unknowns that were seen, over a long time, is the last one.
const SETTLED: f64 = 1e-9;

/// Follows `M x' = f(x, z)`, `0 = g(x, z)` until nothing moves. `evaluate` gives the values f and g and their Jacobian at states, then
/// unknowns of loops; `mass` is M, square. Where it settles is near a zero of both, and not yet at it.
pub fn settle(
    guess: Vec<f64>,
    mass: &DMatrix<f64>,
    evaluate: &mut dyn FnMut(&[f64]) -> Linearised,
) -> Option<Vec<f64>> {
    let (mut at, mut here) = beside_guess(guess, evaluate)?;
    let states = mass.nrows();
    let mut seen: Vec<f64> = at.iter().map(|value| value.abs()).collect();
    let mut length = first_length(&here.1, states);
    let mut last: DVector<f64> = DVector::zeros(at.len());
    for _ in 0..STEPS {
        let found = step(&at, &here, mass, length).and_then(|mut step| {
            // Beside a root with an infinite slope, as an orifice without flow has, whole steps go from side to side for ever.
            if goes_back(&step, &last, &seen) {
                step *= 0.5;
            }
            let next: Vec<f64> = at.iter().zip(step.iter()).map(|(at, step)| at + step).collect();
            let there = evaluate(&next).filter(|found| found.1.iter().all(|entry| entry.is_finite()))?;
            let bent = bent(&step, &here, &there, mass, length, &seen)?;
            (bent <= BENT).then_some((next, there, step, bent))
        });
        let Some((next, there, step, bent)) = found else {
            length *= 0.2;
            continue;
        };
        for (seen, next) in seen.iter_mut().zip(&next) {
            *seen = seen.max(next.abs());
        }
        let moved = step.iter().zip(&seen).filter(|pair| *pair.0 != 0.0);
        let moved = moved.map(|(step, seen)| step.abs() / seen).fold(0.0, f64::max);
        (at, here, last) = (next, there, step);
        if moved <= SETTLED && length > slowest(&here.1, states) || !length.is_finite() {
            return Some(at);
        }
        length *= if bent < 0.1 * BENT { 8.0 } else { 2.0 };
    }
    None
}

/// Returns true if a step undoes most of the one before, each unknown measured by what was seen of it.
fn goes_back(step: &DVector<f64>, last: &DVector<f64>, seen: &[f64]) -> bool {
    let scaled = |at: usize| 1.0 / seen[at].max(f64::MIN_POSITIVE);
    let product: f64 = (0..step.len())
        .map(|at| step[at] * scaled(at) * last[at] * scaled(at))
        .sum();
    let before: f64 = (0..step.len()).map(|at| (last[at] * scaled(at)).powi(2)).sum();
    product < -0.5 * before
}

/// One step over a time.
fn step(
    at: &[f64],
    (values, jacobian): &(Vec<f64>, DMatrix<f64>),
    mass: &DMatrix<f64>,
    length: f64,
) -> Option<DVector<f64>> {
    let mut matrix = jacobian * -length;
    let n = mass.nrows();
    let mut corner = matrix.view_mut((0, 0), (n, n));
    corner += mass;
    let mut right = DVector::from_iterator(at.len(), values.iter().map(|value| length * value));
    for (row, value) in right.iter_mut().enumerate() {
        let largest = matrix.row(row).amax();
        if largest > 0.0 {
            matrix.row_mut(row).scale_mut(1.0 / largest);
            *value /= largest;
        }
    }
    let step = matrix.lu().solve(&right)?;
    step.iter().all(|value| value.is_finite()).then_some(step)
}

/// How far the step would have gone elsewhere with the values at its end, as a share of the unknowns that were seen.
fn bent(
    step: &DVector<f64>,
    here: &(Vec<f64>, DMatrix<f64>),
    there: &(Vec<f64>, DMatrix<f64>),
    mass: &DMatrix<f64>,
    length: f64,
    seen: &[f64],
) -> Option<f64> {
    let n = mass.nrows();
    // The implicit step leaves a residual where the values differ from those on the tangent; measured in units of the step.
    let tangent = &here.1 * step;
    let left: Vec<f64> = (0..step.len())
        .map(|row| there.0[row] - here.0[row] - tangent[row])
        .collect();
    let further = crate::settle::step(&vec![0.0; step.len()], &(left, there.1.clone()), mass, length)?;
    let share = |at: usize| further[at].abs() / (seen[at].max(step[at].abs()) + f64::MIN_POSITIVE);
    (0..n).map(share).reduce(f64::max)
}

/// A time in which little happens.
fn first_length(jacobian: &DMatrix<f64>, states: usize) -> f64 {
    let fastest = (0..states).map(|at| jacobian[(at, at)].abs()).fold(0.0, f64::max);
    if fastest > 0.0 { 1e-3 / fastest } else { 1e-6 }
}

/// The longest time on the diagonal: the inverse of the slowest rate.
fn slowest(jacobian: &DMatrix<f64>, states: usize) -> f64 {
    let rates = (0..states)
        .map(|at| jacobian[(at, at)].abs())
        .filter(|rate| *rate > 0.0);
    rates.reduce(f64::min).map_or(1.0, |rate| 1.0 / rate)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A diode behind a resistor of 1 kilohm feeds a capacitor with a load: the current has eighty orders of magnitude.
    #[test]
    fn a_steep_law_is_followed_to_rest() {
        let (is, v0) = (1e-14, 0.02585);
        let mut evaluate = |x: &[f64]| {
            let (v, z) = (x[0], x[1]);
            let (current, slope) = (is * ((z - v) / v0).exp_m1(), is / v0 * ((z - v) / v0).exp());
            let values = vec![(current - v / 470.0) / 1e-6, (5.0 - z) / 1e3 - current];
            let entries = [-(slope + 1.0 / 470.0) / 1e-6, slope / 1e-6, slope, -1e-3 - slope];
            let jacobian = DMatrix::from_row_slice(2, 2, &entries);
            values
                .iter()
                .chain(jacobian.iter())
                .all(|value| value.is_finite())
                .then_some((values, jacobian))
        };
        let at = settle(vec![0.0, 0.0], &DMatrix::identity(1, 1), &mut evaluate).expect("it settles");
        let (values, _) = evaluate(&at).unwrap();
        assert!(values[0].abs() < 1e-3 && values[1].abs() < 1e-9, "{at:?}: {values:?}");
    }

    #[test]
    fn what_grows_for_ever_does_not_settle() {
        let mut evaluate = |x: &[f64]| Some((vec![1.0 + x[0] * x[0]], DMatrix::from_element(1, 1, 2.0 * x[0])));
        assert_eq!(settle(vec![0.0], &DMatrix::identity(1, 1), &mut evaluate), None);
    }
}
