//! Newton's iteration of an implicit method on states and loop unknowns together.
//!
//! The solver library iterates with one matrix, evaluated at the start of a step. Across a kink of a law in a loop,
//! such as a diode that turns off, this iteration does not converge for any step length: an unknown is a multiple of
//! the current that is a million times larger after the kink. Instead of the solution of a linear system, the library
//! is therefore given the correction that solves the nonlinear one: by its own matrix if that converges, otherwise by
//! the slopes of each iterate.
//!
//! The library's residual is `F(x) = M (..) - k g(t, y)`, where y moves by `share` times the change of x, and only `g`
//! is nonlinear. With `F` and `g` at one point the residual is known at all others.

use crate::linear_factors::Balanced;
use crate::motion::BEYOND;
use crate::solvers::diffsol::{Equations, numbers, numbers_mut};
use crate::solvers::implicit::Implicit;
use crate::solvers::implicit::Point;
use diffsol_la::error::LaError;
use diffsol_la::{FaerContext, FaerSparseLU, FaerSparseMat, FaerVec, LinearOp, LinearSolver, Vector};
use lgm_runtime::loops::{OVER_BENDS, ROUNDINGS};
use std::cell::RefCell;

type V = FaerVec<f64>;
type M = FaerSparseMat<f64>;

/// The maximum number of iterations with the library's matrix, and with new ones.
const CHORDS: usize = 8;
const ITERATIONS: usize = 40;

/// An iteration with the library's matrix continues while corrections shrink at least by this factor.
const CONTRACTS: f64 = 0.3;

/// A correction below this fraction of the tolerance ends the iteration.
const CONVERGED: f64 = 0.01;

/// A correction below this fraction of the tolerance is negligible even if slopes differ by 1e7.
const NOTHING: f64 = 1e-7;

/// The maximum number of times that a change is halved, and doubled.
const HALVES: i32 = 30;
const FARTHER: i32 = 10;

/// The absolute and relative tolerances of values whose magnitude is requested.
const ROUGH: (f64, f64) = (1e-9, 1e-2);

/// The library's linear solver, and the equations after it.
#[derive(Default)]
pub(crate) struct Corrections<'p, 'a> {
    linear: FaerSparseLU<f64>,
    equations: Option<&'p Equations<'a>>,
    share: f64,
    /// The matrices of iterates in this step for which the library's matrix failed.
    renewed: RefCell<Vec<Balanced>>,
}

impl<'p, 'a> Corrections<'p, 'a> {
    /// Creates the corrections for a method whose right sides are evaluated at a point that moves by `share` times the
    /// change of the iterate.
    pub fn new(equations: &'p Equations<'a>, share: f64) -> Corrections<'p, 'a> {
        Corrections {
            linear: FaerSparseLU::default(),
            equations: Some(equations),
            share,
            renewed: RefCell::default(),
        }
    }

    /// Solves a linear system: the error of a step, in which the matrix removes the contributions of stiff parts.
    ///
    /// If the matrix has changed within the step, parts that were stiff at its beginning may no longer be so, or vice
    /// versa. The error is then the largest one that any of the matrices leaves.
    fn solve_linear(&self, b: &mut V) -> Result<(), LaError> {
        let mut others = Vec::new();
        for matrix in self.renewed.take() {
            let mut other = numbers(b).to_vec();
            matrix.solve(&mut other);
            others.push(other);
        }
        self.linear.solve_in_place(b)?;
        for other in others {
            for (value, other) in numbers_mut(b).iter_mut().zip(other) {
                if other.abs() > value.abs() {
                    *value = other;
                }
            }
        }
        Ok(())
    }

    /// Returns the correction from the library's own matrix.
    fn chord(&self, right: &[f64]) -> Result<Vec<f64>, LaError> {
        let mut vector = V::from_vec(right.to_vec(), FaerContext::default());
        self.linear.solve_in_place(&mut vector)?;
        Ok(numbers(&vector).to_vec())
    }
}

impl LinearSolver<M> for Corrections<'_, '_> {
    fn set_linearisation<C: LinearOp<V = V, T = f64, M = M, C = FaerContext>>(&mut self, op: &C) {
        self.renewed.get_mut().clear();
        self.linear.set_linearisation(op);
    }

    fn set_sparsity<C: LinearOp<V = V, T = f64, M = M, C = FaerContext>>(&mut self, op: &C) {
        self.linear.set_sparsity(op);
    }

    fn solve_in_place(&self, b: &mut V) -> Result<(), LaError> {
        // Right sides that were just evaluated belong to this residual; other systems are linear.
        let point = self.equations.and_then(Equations::take_point);
        let begun = point.and_then(|(form, allowed, point)| {
            let factor = factor_of(form, numbers(b), &point)?;
            Some((form, allowed, point, factor))
        });
        let Some((form, allowed, point, factor)) = begun else {
            return self.solve_linear(b);
        };
        let residual = Residual {
            form,
            allowed,
            first: numbers(b),
            point: &point,
            factor,
            share: self.share,
        };
        let found = match residual.by_chords(|right| self.chord(right))? {
            Ok(found) => Some(found),
            // A chain does not jump to another position, and no continuation exists beyond a dead centre.
            Err(_) if form.holds_chains() => None,
            Err(near) => residual.by_slopes(near).map(|(found, slopes)| {
                self.renewed.borrow_mut().push(slopes);
                found
            }),
        };
        let found = found.ok_or_else(|| LaError::Other("no correction leads to a solution".to_string()))?;
        numbers_mut(b).copy_from_slice(&found);
        Ok(())
    }

    fn solve_transpose_in_place(&self, b: &mut V) -> Result<(), LaError> {
        self.linear.solve_transpose_in_place(b)
    }
}

/// Returns the result of a step of Euler's implicit method from the first values with other guesses, by an iteration
/// that only accepts improvements; approximate magnitudes are enough.
pub(crate) fn euler(form: &Implicit<'_>, time: f64, first: &[f64], y: &[f64], length: f64) -> Option<Vec<f64>> {
    let mut point = Point {
        time,
        y: y.to_vec(),
        right: vec![0.0; y.len()],
        good: y.to_vec(),
    };
    form.right_sides(time, y, &mut point.right);
    if point.right.iter().any(|value| value.abs() >= BEYOND) {
        return None;
    }
    let moved: Vec<f64> = y.iter().zip(first).map(|(y, first)| y - first).collect();
    let mut residual = form.left_times(&moved);
    for (residual, right) in residual.iter_mut().zip(&point.right) {
        *residual -= length * right;
    }
    let residual = Residual {
        form,
        allowed: (&vec![ROUGH.0; y.len()], ROUGH.1),
        first: &residual,
        point: &point,
        factor: length,
        share: 1.0,
    };
    let (correction, _) = residual.newton(vec![0.0; y.len()])?;
    Some(residual.moved(&correction))
}

/// Returns the factor of the right sides in the library's residual, derived from the rows of the loops, which contain
/// nothing else. Returns `None` if they are zero, or if the right sides of other rows have no value.
fn factor_of(form: &Implicit<'_>, residual: &[f64], point: &Point) -> Option<f64> {
    let mut others = (0..point.right.len()).filter(|at| !form.loops().contains(at));
    if others.any(|at| point.right[at].abs() >= BEYOND) {
        return None;
    }
    let largest = |a: &usize, b: &usize| point.right[*a].abs().total_cmp(&point.right[*b].abs());
    let at = form.loops().max_by(largest)?;
    let factor = -residual[at] / point.right[at];
    (factor.is_finite() && factor > 0.0).then_some(factor)
}

/// The residual of a step as a function of the correction of its first iterate.
struct Residual<'r> {
    form: &'r Implicit<'r>,
    /// The absolute and relative tolerance of each entry.
    allowed: (&'r [f64], f64),
    /// The residual at the first iterate, and its origin.
    first: &'r [f64],
    point: &'r Point,
    factor: f64,
    share: f64,
}

impl Residual<'_> {
    /// Evaluates the right sides with a correction.
    fn moved(&self, correction: &[f64]) -> Vec<f64> {
        let pairs = self.point.y.iter().zip(correction);
        pairs.map(|(y, correction)| y - self.share * correction).collect()
    }

    /// Returns the residual with a correction; `None` if there is no value.
    fn at(&self, correction: &[f64]) -> Option<Vec<f64>> {
        let mut right = vec![0.0; self.first.len()];
        self.form
            .right_sides(self.point.time, &self.moved(correction), &mut right);
        if right.iter().any(|value| value.abs() >= BEYOND) {
            return None;
        }
        let mut residual = self.form.left_times(correction);
        for (at, residual) in residual.iter_mut().enumerate() {
            *residual = match self.form.loops().contains(&at) {
                true => -self.factor * right[at],
                false => self.first[at] - *residual - self.factor * (right[at] - self.point.right[at]),
            };
        }
        Some(residual)
    }

    /// Returns the largest entry of a change of the correction, in units of the tolerance.
    fn size(&self, change: &[f64]) -> f64 {
        let (absolute, relative) = self.allowed;
        let of_entry = |at: usize| {
            let allowed = absolute[at] + relative * self.point.y[at].abs();
            (self.share * change[at]).abs() / allowed.max(f64::MIN_POSITIVE)
        };
        // A NaN must not be ignored.
        (0..change.len())
            .map(of_entry)
            .fold(0.0, |most, size| if size > most || size.is_nan() { size } else { most })
    }

    /// Iterates with the library's matrix; if that does not converge, returns the last correction that was an improvement.
    #[allow(clippy::type_complexity)] // A failure of the library is another than one of the iteration.
    fn by_chords(
        &self,
        chord: impl Fn(&[f64]) -> Result<Vec<f64>, LaError>,
    ) -> Result<Result<Vec<f64>, Vec<f64>>, LaError> {
        let mut correction = vec![0.0; self.first.len()];
        if self.point.right.iter().any(|value| value.abs() >= BEYOND) {
            return Ok(Err(correction));
        }
        let mut change = chord(self.first)?;
        let mut last = f64::INFINITY;
        for _ in 0..CHORDS {
            let size = self.size(&change);
            // Without contraction a small change is not conclusive: the matrix may be the one before a kink.
            if size.is_nan() || size > NOTHING.max(CONTRACTS * last) {
                return Ok(Err(correction));
            }
            let next = sum(&correction, &change, 1.0);
            if size <= CONVERGED && last < f64::INFINITY {
                return Ok(Ok(next));
            }
            let Some(residual) = self.at(&next) else {
                return Ok(Err(correction));
            };
            (correction, last) = (next, size);
            change = chord(&residual)?;
        }
        Ok(Err(correction))
    }

    /// Iterates with the slopes of each iterate. The starting points are: no correction; a nearby one; and the unknowns
    /// of the last step, and the last ones for which all right sides had a value. An extrapolated exponential may have
    /// no value, or an enormous one.
    fn by_slopes(&self, near: Vec<f64>) -> Option<(Vec<f64>, Balanced)> {
        let begin = vec![0.0; self.first.len()];
        let found = self.newton(begin).or_else(|| self.newton(near));
        let loops = self.form.loops();
        let found = found.or_else(|| self.newton(self.back_to(&self.form.kept_unknowns()?)));
        found.or_else(|| self.newton(self.back_to(&self.point.good[loops])))
    }

    /// Returns the correction that leads to given unknowns of the loops.
    fn back_to(&self, unknowns: &[f64]) -> Vec<f64> {
        let mut back = vec![0.0; self.first.len()];
        for (at, unknown) in self.form.loops().zip(unknowns) {
            back[at] = (self.point.y[at] - unknown) / self.share;
        }
        back
    }

    /// Returns a correction that leads to a solution, and the matrix there.
    fn newton(&self, mut correction: Vec<f64>) -> Option<(Vec<f64>, Balanced)> {
        let mut residual = self.at(&correction)?;
        let mut blind = 0;
        let mut last = f64::INFINITY;
        for _ in 0..ITERATIONS {
            let y = self.moved(&correction);
            let entries = self.form.step_matrix(self.point.time, &y, self.factor * self.share);
            let is_rounding = self.is_rounding(&residual, &y, &entries);
            let slopes = Balanced::new(self.first.len(), entries).ok()?;
            let mut change = residual.clone();
            slopes.solve(&mut change);
            let size = self.size(&change);
            // Far up an exponential all corrections are equally small.
            if size <= NOTHING || size <= CONVERGED && size <= CONTRACTS * last {
                return Some((sum(&correction, &change, 1.0), slopes));
            }
            last = size;
            let next = match self.advance(&slopes, &correction, &change) {
                Trial::Better(next) => Some(next),
                _ if is_rounding => return Some((correction, slopes)),
                // Beyond a kink other slopes continue.
                Trial::Longest(next) => {
                    blind += 1;
                    next.filter(|_| blind <= OVER_BENDS)
                }
            };
            (correction, residual) = next?;
        }
        None
    }

    /// Takes the longest of the change and its halves that is an improvement.
    fn advance(&self, slopes: &Balanced, correction: &[f64], change: &[f64]) -> Trial {
        let size = self.size(change);
        let mut longest = None;
        for halves in 0..HALVES {
            let length = 0.5_f64.powi(halves);
            let Some((trial, ahead)) = self.ahead(slopes, correction, change, length) else {
                continue;
            };
            if ahead <= (1.0 - 0.25 * length) * size {
                return Trial::Better(match halves {
                    0 => self.farther(slopes, (correction, change), (trial, ahead)),
                    _ => trial,
                });
            }
            longest.get_or_insert(trial);
        }
        Trial::Longest(longest)
    }

    /// Returns the result of a part of a change, and the size of the next change with the same slopes.
    fn ahead(&self, slopes: &Balanced, correction: &[f64], change: &[f64], length: f64) -> Option<(Moved, f64)> {
        let trial = sum(correction, change, length);
        let residual = self.at(&trial)?;
        let mut ahead = residual.clone();
        slopes.solve(&mut ahead);
        let size = self.size(&ahead);
        Some(((trial, residual), size))
    }

    /// Extends a change that was an improvement: several times its length may be a larger one. Far up an exponential,
    /// each change by the slopes there removes at most a factor of 2.7 of possibly a hundred powers of ten.
    fn farther(&self, slopes: &Balanced, (correction, change): (&[f64], &[f64]), (best, ahead): (Moved, f64)) -> Moved {
        let (mut best, mut least) = (best, ahead);
        for doublings in 1..=FARTHER {
            match self.ahead(slopes, correction, change, 2.0_f64.powi(doublings)) {
                Some((trial, ahead)) if ahead < CONTRACTS * least => (best, least) = (trial, ahead),
                _ => break,
            }
        }
        best
    }

    /// Returns true if every residual is zero except for the round-off of its terms.
    fn is_rounding(&self, residual: &[f64], y: &[f64], entries: &[(usize, usize, f64)]) -> bool {
        let mut terms = vec![0.0; residual.len()];
        for (row, column, value) in entries {
            terms[*row] += (value * y[*column] / self.share).abs();
        }
        let pairs = residual.iter().zip(&terms);
        pairs
            .into_iter()
            .all(|(value, terms)| value.abs() <= ROUNDINGS * f64::EPSILON * terms)
    }
}

/// A trial correction and its residual.
type Moved = (Vec<f64>, Vec<f64>);

/// The result of a change by a correction.
enum Trial {
    Better(Moved),
    /// No improvement was found; contains the longest one with a value.
    Longest(Option<Moved>),
}

fn sum(a: &[f64], b: &[f64], length: f64) -> Vec<f64> {
    a.iter().zip(b).map(|(a, b)| a + length * b).collect()
}
