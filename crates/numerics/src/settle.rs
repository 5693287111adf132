//! Pseudo-transient continuation: the equilibrium that a system approaches, if Newton's method does not reach one from
//! a guess.
//!
//! Each step is an implicit Euler step with one iteration, `(M - h J) step = h f`. The step length follows the curvature of the equations,
//! not their accuracy, and grows until nothing moves. The steps damp oscillations and conserve what the equations conserve, such as the
//! total volume of connected tanks: J is singular for such a combination, but `M - h J` is not. After C. T. Kelley and D. E. Keyes,
//! Convergence analysis of pseudo-transient continuation, SIAM J. Numer. Anal. 35, 1998.

use crate::newton::{Linearised, ValuesAndSlopes, beside_guess};
use nalgebra::{DMatrix, DVector};

/// The maximum number of steps.
const STEPS: usize = 400;

/// The growth of steps if the equations are nearly straight along the step, if they curve slightly, and otherwise. Faster growth increases
/// the round-off: conserved combinations would drift.
const LONGER: [f64; 3] = [30.0, 8.0, 2.0];

/// The factor by which a step with too much curvature is shortened.
const SHORTER: f64 = 0.2;

/// The largest curvature of the equations along a step, relative to the largest unknowns so far.
const BENT: f64 = 0.25;
const LITTLE: [f64; 2] = [1e-6, 0.025];

/// The iteration ends at a step below this fraction of the largest unknowns so far.
const SETTLED: f64 = 1e-11;

/// The iteration ends at a step below this fraction if the next step is not half as long: only round-off remains.
const ROUNDED: f64 = 1e-6;

/// A motion `M x' = f(x, z)`, `0 = g(x, z)` of states x with unknowns z of loops; its values are f followed by g.
pub trait Motion {
    /// The slopes of the values with respect to states and unknowns.
    type Slopes;
    /// Returns values and slopes at states and unknowns; `None` if one of them is not finite.
    fn linearised(&mut self, at: &[f64]) -> Option<(Vec<f64>, Self::Slopes)>;
    /// Solves with the matrix `M - length * slopes`, in place; returns false if no solution exists.
    fn solve(&self, slopes: &Self::Slopes, length: f64, right: &mut [f64]) -> bool;
    /// Returns the product of the slopes and a step.
    fn along(&self, slopes: &Self::Slopes, step: &[f64]) -> Vec<f64>;
    /// Returns the diagonal entries of the slopes, one for each state.
    fn rates(&self, slopes: &Self::Slopes) -> Vec<f64>;
    /// Returns true if the values are zero to within round-off.
    fn is_at_rest(&self, at: &[f64], values: &[f64], slopes: &Self::Slopes) -> bool;
}

/// A point with its values and slopes.
#[derive(Clone, Debug)]
pub struct Place<S> {
    /// States, followed by unknowns of loops.
    pub at: Vec<f64>,
    /// The values there.
    pub values: Vec<f64>,
    /// The slopes there.
    pub slopes: S,
}

/// Follows a motion from a point until nothing moves. The error is the last point if the motion does not come to rest, and `None` if the
/// first point has no values.
pub fn settle<M: Motion>(motion: &mut M, guess: Vec<f64>) -> Result<Place<M::Slopes>, Option<Place<M::Slopes>>> {
    let (values, slopes) = motion.linearised(&guess).ok_or(None)?;
    let mut here = Place {
        at: guess,
        values,
        slopes,
    };
    let mut seen: Vec<f64> = here.at.iter().map(|value| value.abs()).collect();
    let mut length = first_length(&motion.rates(&here.slopes));
    let (mut last, mut moved) = (vec![0.0; here.at.len()], f64::INFINITY);
    for _ in 0..STEPS {
        let Some(found) = step(motion, &here, length, &last, &seen) else {
            length *= SHORTER;
            continue;
        };
        let before = moved;
        for (seen, at) in seen.iter_mut().zip(&found.place.at) {
            *seen = seen.max(at.abs());
        }
        let moves = found.step.iter().zip(&seen).filter(|pair| *pair.0 != 0.0);
        moved = moves.map(|(step, seen)| step.abs() / seen).fold(0.0, f64::max);
        (here, last) = (found.place, found.step);
        let is_settled = moved <= SETTLED || moved <= ROUNDED && moved >= 0.5 * before;
        let is_long = length > slowest(&motion.rates(&here.slopes));
        if is_settled && is_long && motion.is_at_rest(&here.at, &here.values, &here.slopes) {
            return Ok(here);
        }
        let longer = LITTLE.iter().position(|little| found.bent < *little);
        length *= LONGER[longer.unwrap_or(LITTLE.len())];
        if !length.is_finite() {
            break;
        }
    }
    Err(Some(here))
}

/// A completed step.
struct Step<S> {
    place: Place<S>,
    step: Vec<f64>,
    bent: f64,
}

/// Makes one step over a time; `None` if the equations curve too much along it, or have no values at its end.
fn step<M: Motion>(
    motion: &mut M,
    here: &Place<M::Slopes>,
    length: f64,
    last: &[f64],
    seen: &[f64],
) -> Option<Step<M::Slopes>> {
    let mut step = solved(motion, &here.slopes, length, here.values.clone())?;
    // Near a root with an infinite slope, such as an orifice without flow, full steps would alternate between the sides forever.
    if goes_back(&step, last, seen) {
        step.iter_mut().for_each(|step| *step *= 0.5);
    }
    let at: Vec<f64> = here.at.iter().zip(&step).map(|(at, step)| at + step).collect();
    let (values, slopes) = motion.linearised(&at)?;
    // The implicit step leaves a residual where the values differ from the tangent; it is measured in units of the step.
    let tangent = motion.along(&here.slopes, &step);
    let pairs = values.iter().zip(here.values.iter().zip(&tangent));
    let left: Vec<f64> = pairs.map(|(there, (here, tangent))| there - here - tangent).collect();
    let further = solved(motion, &slopes, length, left)?;
    let states = motion.rates(&slopes).len();
    let share = |at: usize| further[at].abs() / (seen[at].max(step[at].abs()) + f64::MIN_POSITIVE);
    let bent = (0..states).map(share).fold(0.0, f64::max);
    let place = Place { at, values, slopes };
    (bent <= BENT).then_some(Step { place, step, bent })
}

/// Returns the implicit Euler step over a time, with these values and slopes.
fn solved<M: Motion>(motion: &M, slopes: &M::Slopes, length: f64, values: Vec<f64>) -> Option<Vec<f64>> {
    let mut right: Vec<f64> = values.iter().map(|value| length * value).collect();
    let is_solved = motion.solve(slopes, length, &mut right) && right.iter().all(|value| value.is_finite());
    is_solved.then_some(right)
}

/// Returns true if a step undoes most of the previous one, each unknown measured by its largest magnitude so far.
fn goes_back(step: &[f64], last: &[f64], seen: &[f64]) -> bool {
    let scaled = |list: &[f64], at: usize| list[at] / seen[at].max(f64::MIN_POSITIVE);
    let product: f64 = (0..step.len()).map(|at| scaled(step, at) * scaled(last, at)).sum();
    let before: f64 = (0..step.len()).map(|at| scaled(last, at).powi(2)).sum();
    product < -0.5 * before
}

/// Returns a time in which little happens.
fn first_length(rates: &[f64]) -> f64 {
    let fastest = rates.iter().fold(0.0, |most: f64, rate| most.max(rate.abs()));
    if fastest > 0.0 { 1e-3 / fastest } else { 1e-6 }
}

/// Returns the longest time on the diagonal: the inverse of the slowest rate.
fn slowest(rates: &[f64]) -> f64 {
    let rates = rates.iter().map(|rate| rate.abs()).filter(|rate| *rate > 0.0);
    rates.reduce(f64::min).map_or(0.0, |rate| 1.0 / rate)
}

/// A small motion with dense slopes; `mass` is M, square.
struct Dense<'a> {
    mass: &'a DMatrix<f64>,
    evaluate: &'a mut dyn FnMut(&[f64]) -> Linearised,
}

impl Motion for Dense<'_> {
    type Slopes = DMatrix<f64>;

    fn linearised(&mut self, at: &[f64]) -> Option<ValuesAndSlopes> {
        (self.evaluate)(at).filter(|found| found.1.iter().all(|entry| entry.is_finite()))
    }

    fn solve(&self, slopes: &DMatrix<f64>, length: f64, right: &mut [f64]) -> bool {
        let mut matrix = slopes * -length;
        let states = self.mass.nrows();
        let mut corner = matrix.view_mut((0, 0), (states, states));
        corner += self.mass;
        // Rows are scaled to a largest entry of one.
        for (mut row, right) in matrix.row_iter_mut().zip(right.iter_mut()) {
            let largest = Some(row.amax()).filter(|largest| *largest > 0.0).unwrap_or(1.0);
            row /= largest;
            *right /= largest;
        }
        let mut column = DVector::from_column_slice(right);
        let is_solved = matrix.lu().solve_mut(&mut column);
        right.copy_from_slice(column.as_slice());
        is_solved
    }

    fn along(&self, slopes: &DMatrix<f64>, step: &[f64]) -> Vec<f64> {
        (slopes * DVector::from_column_slice(step)).as_slice().to_vec()
    }

    fn rates(&self, slopes: &DMatrix<f64>) -> Vec<f64> {
        (0..self.mass.nrows()).map(|at| slopes[(at, at)]).collect()
    }

    fn is_at_rest(&self, _: &[f64], _: &[f64], _: &DMatrix<f64>) -> bool {
        // Newton's method continues from there.
        true
    }
}

/// Returns a point near the equilibrium of a small motion, from which Newton's method may continue; `None` if the motion does not come to
/// rest. `evaluate` returns values and their Jacobian at states, followed by unknowns of loops; `mass` is M.
pub fn near_rest(
    guess: Vec<f64>,
    mass: &DMatrix<f64>,
    evaluate: &mut dyn FnMut(&[f64]) -> Linearised,
) -> Option<Vec<f64>> {
    let (at, _) = beside_guess(guess, evaluate)?;
    // If a motion never rests, its last point is far away, where any value is small compared with its terms.
    let place = settle(&mut Dense { mass, evaluate }, at).ok()?;
    place.at.iter().all(|value| value.is_finite()).then_some(place.at)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A diode in series with a resistor of 1 kilohm feeds a capacitor with a load: the current spans eighty orders of magnitude.
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
        let at = near_rest(vec![0.0, 0.0], &DMatrix::identity(1, 1), &mut evaluate).expect("it settles");
        let (values, _) = evaluate(&at).unwrap();
        assert!(values[0].abs() < 1e-3 && values[1].abs() < 1e-9, "{at:?}: {values:?}");
    }

    #[test]
    fn what_grows_for_ever_does_not_settle() {
        let mut evaluate = |x: &[f64]| Some((vec![1.0 + x[0] * x[0]], DMatrix::from_element(1, 1, 2.0 * x[0])));
        let mut motion = Dense {
            mass: &DMatrix::identity(1, 1),
            evaluate: &mut evaluate,
        };
        assert!(settle(&mut motion, vec![0.0]).is_err());
    }

    #[test]
    fn a_falling_body_does_not_settle() {
        let mut evaluate = |x: &[f64]| {
            let slopes = DMatrix::from_row_slice(2, 2, &[0.0, 1.0, 0.0, 0.0]);
            Some((vec![x[1], 9.81], slopes))
        };
        assert_eq!(near_rest(vec![0.0, 0.0], &DMatrix::identity(2, 2), &mut evaluate), None);
    }

    /// A tank drains through an orifice: the slope at its rest is infinite.
    #[test]
    fn steps_from_side_to_side_end() {
        let mut evaluate = |x: &[f64]| {
            let root = x[0].abs().sqrt();
            Some((vec![-x[0].signum() * root], DMatrix::from_element(1, 1, -0.5 / root)))
        };
        let at = near_rest(vec![4.0], &DMatrix::identity(1, 1), &mut evaluate).expect("it has values");
        assert!(at[0].abs() < 1e-9, "{at:?}");
    }
}
