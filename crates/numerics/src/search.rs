//! A second search if Newton's iteration ends without a zero, or may have found one of several. It finds other zeros from pseudo-random
//! guesses, and the point at which the equations come closest to being satisfied.

use crate::newton::{Linearised, find_zero_within, undetermined};
use lgm_algebra::PrimeField;
use nalgebra::{DMatrix, DVector};

/// The number of pseudo-random guesses.
pub const TRIES: u64 = 24;

/// Zeros whose unknowns differ by less than this fraction are equal.
const EQUAL_ZEROS: f64 = 1e-6;

/// Unknowns below this fraction of the largest, or below this value, do not distinguish zeros.
const INDISTINCT: f64 = 1e-7;

/// The maximum number of steps towards the closest point.
const STEPS: usize = 200;

/// A gradient below this fraction of the residual indicates a local minimum.
const FLAT: f64 = 1e-3;

/// The point at which equations come closest to being satisfied.
#[derive(Clone, Debug, PartialEq)]
pub struct Closest {
    /// The unknowns.
    pub at: Vec<f64>,
    /// The equation with the largest residual relative to its partial derivatives at the guess.
    pub row: usize,
    /// The value of this equation.
    pub value: f64,
}

/// Returns a number between -1 and 1 for an unknown of an attempt, the same in every run.
pub fn scattered(unknown: usize, attempt: u64) -> f64 {
    let uniform = (PrimeField.sample(unknown as u64, attempt + 700) % 9_973) as f64 / 9_973.0;
    2.0 * uniform - 1.0
}

/// Returns true if two zeros are equal.
pub fn is_same(a: &[f64], b: &[f64]) -> bool {
    let largest = a.iter().chain(b).map(|value| value.abs()).fold(1.0, f64::max);
    let pairs = a.iter().zip(b);
    pairs.fold(true, |is_same, (a, b)| {
        is_same && (a - b).abs() <= EQUAL_ZEROS * a.abs().max(b.abs()) + INDISTINCT * largest
    })
}

/// Returns the distinct zeros at which searches from some guesses end. Multiple zeros are omitted, because each search finds them
/// differently, accurate to only a few digits.
pub fn zeros(
    guesses: impl IntoIterator<Item = Vec<f64>>,
    leap: f64,
    evaluate: &dyn Fn(&[f64]) -> Linearised,
) -> Vec<Vec<f64>> {
    let mut found: Vec<Vec<f64>> = Vec::new();
    for guess in guesses {
        let Ok(zero) = find_zero_within(guess, leap, evaluate) else {
            continue;
        };
        let size = zero.at.len();
        let jacobian = |at: &[f64]| evaluate(at).map_or_else(|| DMatrix::zeros(size, size), |found| found.1);
        let is_new = zero.free.is_empty() && !found.iter().any(|known| is_same(known, &zero.at));
        if is_new && undetermined(&zero.at, jacobian).is_none() {
            found.push(zero.at);
        }
    }
    found
}

/// Returns the point near a guess at which the sum of squares of the equations has a nonzero minimum. Each equation is scaled by its
/// largest partial derivative or its value at the guess. `None` if the path ends elsewhere.
///
/// After D. W. Marquardt, An algorithm for least-squares estimation of nonlinear parameters, 1963.
pub fn closest(guess: &[f64], evaluate: &dyn Fn(&[f64]) -> Linearised) -> Option<Closest> {
    let mut at = guess.to_vec();
    let evaluate = |at: &[f64]| evaluate(at).filter(|found| found.1.iter().all(|entry| entry.is_finite()));
    let (mut values, mut jacobian) = evaluate(&at)?;
    let measures: Vec<f64> = jacobian
        .row_iter()
        .zip(&values)
        .map(|(row, value)| {
            Some(row.amax().max(value.abs()))
                .filter(|most| *most > 0.0)
                .unwrap_or(1.0)
        })
        .collect();
    let weighted = |values: &[f64]| DVector::from_fn(values.len(), |row, _| values[row] / measures[row]);
    let mut damping = 1e-3;
    for _ in 0..STEPS {
        let residuals = weighted(&values);
        let mut matrix = jacobian.clone();
        for (row, measure) in measures.iter().enumerate() {
            matrix.row_mut(row).scale_mut(1.0 / measure);
        }
        let gradient = matrix.tr_mul(&residuals);
        let mut normal = matrix.tr_mul(&matrix);
        let largest = normal.diagonal().amax().max(f64::MIN_POSITIVE);
        for k in 0..at.len() {
            normal[(k, k)] += damping * normal[(k, k)].max(1e-12 * largest);
        }
        let step = normal.cholesky().map(|factor| factor.solve(&gradient))?;
        let trial: Vec<f64> = at.iter().zip(step.iter()).map(|(at, step)| at - step).collect();
        let found = evaluate(&trial).filter(|found| weighted(&found.0).norm_squared() < residuals.norm_squared());
        match found {
            Some(found) => {
                at = trial;
                (values, jacobian) = found;
                damping = (0.3 * damping).max(1e-12);
            }
            None if damping > 1e12 => break,
            None => damping *= 4.0,
        }
    }
    let residuals = weighted(&values);
    let size = residuals.norm();
    let mut gradient = DVector::zeros(at.len());
    for (row, measure) in measures.iter().enumerate() {
        gradient += jacobian.row(row).transpose() * (residuals[row] / measure);
    }
    let is_flat = size > 0.0 && gradient.amax() <= FLAT * size;
    let row = residuals.iamax();
    // The minimum is known only to the square root of the round-off.
    let largest = at.iter().map(|value| value.abs()).fold(1.0, f64::max);
    for value in at.iter_mut().filter(|value| value.abs() <= INDISTINCT * largest) {
        *value = 0.0;
    }
    is_flat.then(|| Closest {
        value: values[row],
        row,
        at,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parabola(offset: f64) -> impl Fn(&[f64]) -> Linearised {
        move |x: &[f64]| Some((vec![x[0] * x[0] + offset], DMatrix::from_element(1, 1, 2.0 * x[0])))
    }

    #[test]
    fn both_zeros_are_found_each_once() {
        let guesses = [1.0, 3.0, -0.5, 100.0].map(|guess| vec![guess]);
        let mut found = zeros(guesses, f64::INFINITY, &parabola(-4.0));
        found.sort_by(|a, b| a[0].total_cmp(&b[0]));
        assert_eq!(found.len(), 2, "{found:?}");
        assert!(
            (found[0][0] + 2.0).abs() < 1e-9 && (found[1][0] - 2.0).abs() < 1e-9,
            "{found:?}"
        );
    }

    #[test]
    fn a_double_zero_is_not_reported_as_several() {
        let guesses = [1.0, -3.0, 0.5].map(|guess| vec![guess]);
        assert!(zeros(guesses, f64::INFINITY, &parabola(0.0)).is_empty());
    }

    #[test]
    fn the_closest_point_is_where_two_curves_pass_each_other() {
        let found = closest(&[3.0], &parabola(1.0)).unwrap();
        assert!(found.at[0].abs() < 1e-2, "{found:?}");
        assert!((found.value - 1.0).abs() < 1e-4, "{found:?}");
        // Also from a point at which the slope has nearly vanished.
        assert_eq!(closest(&[1e-9], &parabola(1.0)).unwrap().at, [0.0]);
        // At a zero there is no closest point.
        assert_eq!(closest(&[3.0], &parabola(-4.0)), None);
    }
}
