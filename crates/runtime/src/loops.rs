//! Newton's method for the algebraic loops.

use super::array::Array;
use super::linear::{factorise, solve_factors};
use super::real::Real;
use super::system::{At, Fault, System};

/// The maximum number of iterations on the loops in each evaluation.
pub const ITERATIONS: usize = 50;
/// The maximum number of halvings of a step.
pub const HALVINGS: usize = 40;
/// The maximum number of steps across kinks of a law that are accepted although they do not reduce the error.
pub const OVER_BENDS: usize = 12;
/// A residual within this many units of round-off of its terms counts as zero.
pub const ROUNDINGS: f64 = 8.0;

/// The unknowns of the algebraic loops, and the memory of the solver.
#[derive(Clone, Debug)]
pub struct Loops<S: System> {
    /// The unknowns of the last solution, from which the next search starts.
    pub(crate) w: S::Unknowns,
    /// The factorised matrix of the loops.
    pub(crate) factors: S::Factors,
    pub(crate) pivots: S::Pivots,
    /// True if the loops have been solved before.
    is_solved: bool,
    /// The magnitude of an unknown below which its value does not matter.
    small: S::Real,
}

/// Returns the negligible fraction of an unknown, which is also the negligible magnitude of an unknown without an estimate.
pub(crate) fn small<T: Real>() -> T {
    T::c(1e-13_f64.max(8.0 * T::EPSILON))
}

/// Returns the smallest number with full precision.
pub(crate) fn least<T: Real>() -> T {
    T::c(if T::EPSILON > 1e-10 {
        f64::from(f32::MIN_POSITIVE)
    } else {
        f64::MIN_POSITIVE
    })
}

/// Returns true if all values are finite.
pub(crate) fn are_finite<A: Array<Item: Real>>(values: &A) -> bool {
    values.entries().all(|value| value.is_finite())
}

/// Returns an array of zeros.
pub(crate) fn zeros<A: Array<Item: Real>>() -> A {
    A::filled(A::Item::c(0.0))
}

impl<S: System> Loops<S> {
    /// Creates the solver before any solution is known.
    pub(crate) fn new() -> Loops<S> {
        Loops {
            w: zeros(),
            factors: S::Factors::filled(zeros()),
            pivots: S::Pivots::filled(0),
            is_solved: false,
            small: small(),
        }
    }

    /// Starts the next search from these unknowns.
    pub(crate) fn set(&mut self, w: S::Unknowns) {
        (self.w, self.is_solved) = (w, true);
    }

    /// Returns the unknowns, if they have been solved for.
    pub(crate) fn solution(&self) -> Option<S::Unknowns> {
        (S::Unknowns::LENGTH > 0 && self.is_solved).then_some(self.w)
    }

    /// Determines if the loops are solved to round-off, for unknowns of any magnitude.
    pub(crate) fn solve_exactly(&mut self, exactly: bool) {
        self.small = if exactly { S::Real::c(0.0) } else { small() };
    }

    /// Solves the loops; the first search uses several starting points.
    pub(crate) fn solve(&mut self, system: &mut S, at: At<'_, S>) -> Result<(), Fault> {
        if S::Unknowns::LENGTH == 0 {
            return Ok(());
        }
        if self.is_solved {
            let solution = self.w;
            if self.newton(system, at).is_none() {
                // The result of an incomplete iteration is no better as the next starting point.
                self.w = solution;
                return Err(Fault::LoopNotSolved);
            }
            return Ok(());
        }
        for guess in S::LOOPS.guesses {
            self.w = S::Unknowns::of(|at| S::Real::c(guess[at]));
            if self.newton(system, at).is_some() {
                self.is_solved = true;
                return Ok(());
            }
        }
        Err(Fault::LoopNotSolved)
    }

    /// Factorises the matrix of the loops; returns its entries.
    pub(crate) fn factor(&mut self, system: &mut S, at: At<'_, S>) -> Result<S::LoopMatrix, Fault> {
        let mut entries = zeros::<S::LoopMatrix>();
        system.loop_matrix(at, &self.w, &mut entries);
        if !are_finite(&entries) {
            return Err(Fault::NotFinite);
        }
        let pattern = S::patterns().loops;
        for (row, factors) in self.factors.entries_mut().enumerate() {
            *factors = zeros();
            for (at, column) in pattern.row(row) {
                factors[column] = entries[at];
            }
        }
        match factorise(&mut self.factors, &mut self.pivots) {
            true => Ok(entries),
            false => Err(Fault::LoopNotSolved),
        }
    }

    /// Computes the residuals at the unknowns; none if they have no value.
    pub(crate) fn residuals(&self, system: &mut S, at: At<'_, S>) -> Option<S::Unknowns> {
        let mut residuals = zeros::<S::Unknowns>();
        system.residuals(at, &self.w, &mut residuals);
        are_finite(&residuals).then_some(residuals)
    }

    /// Moves the unknowns to a solution, to within round-off; returns none if no solution is found.
    fn newton(&mut self, system: &mut S, at: At<'_, S>) -> Option<()> {
        let mut fallback = None;
        let found = self.iterate(system, at, &mut fallback);
        found.or_else(|| fallback.map(|fallback| self.w = fallback))
    }

    /// Iterates to a solution. Corrections are relative to their unknowns, of any magnitude: a charge may be 1e-12 C. A value
    /// that is zero, or balances to zero, has no correct digits. Corrections that are small in absolute terms therefore
    /// continue while they shrink quickly. If the iteration fails, the first point with such corrections counts as the
    /// solution.
    fn iterate(&mut self, system: &mut S, at: At<'_, S>, fallback: &mut Option<S::Unknowns>) -> Option<()> {
        let (zero, one, nearly) = (S::Real::c(0.0), S::Real::c(1.0), S::Real::c(1e4));
        let endless = S::Real::c(f64::INFINITY);
        let mut last = endless;
        let mut last_step = S::Unknowns::filled(last);
        let mut over_bends = 0;
        for _ in 0..ITERATIONS {
            let residuals = self.residuals(system, at)?;
            if residuals.entries().all(|residual| *residual == zero) {
                return Some(());
            }
            let Ok(entries) = self.factor(system, at) else {
                // At rest a turbulent law has a zero or infinite slope, but a finite one nearby.
                if over_bends >= S::LOOPS.asides {
                    return None;
                }
                over_bends += 1;
                last = endless;
                self.leave_rest();
                continue;
            };
            let is_zero = is_rounding::<S>(&entries, &self.w, &residuals);
            let mut step = residuals;
            solve_factors(&self.factors, &self.pivots, &mut step);
            let size = size_of_step(&self.w, &step, zero);
            let plain_size = size_of_step(&self.w, &step, self.small);
            let is_tiny = plain_size <= one;
            let has_stopped = last < nearly && size < nearly && size > S::Real::c(0.5) * last;
            let is_done = size <= one || has_stopped || (is_zero && plain_size < nearly);
            if is_done || (is_tiny && is_stuck(&self.w, &step, &mut last_step)) {
                self.take_step(&step);
                return Some(());
            }
            if is_tiny {
                fallback.get_or_insert(self.w);
                last = endless;
                self.take_step(&step);
                continue;
            }
            last = match self.shorten(system, at, &step, plain_size) {
                Some(next) => next,
                // Round-off prevents any further improvement.
                None if is_zero || (size < nearly && over_bends > 0) => return Some(()),
                None if over_bends < OVER_BENDS => {
                    // At a kink of a law, the slope before it may fail, but the slope after it succeeds.
                    over_bends += 1;
                    self.take_step(&step);
                    endless
                }
                None => return None,
            };
        }
        None
    }

    /// Leaves a point at which the loops have no slopes. Negligible unknowns become zero; if none are negligible, all move slightly
    /// aside.
    fn leave_rest(&mut self) {
        let (zero, small) = (S::Real::c(0.0), self.small);
        let is_tiny = |w: S::Real| w != zero && w.abs() <= small;
        let are_tiny = self.w.entries().any(|w| is_tiny(*w));
        for (at, w) in self.w.entries_mut().enumerate() {
            let size = if *w == zero { S::Real::c(1.0) } else { w.abs() };
            let aside = *w + S::Real::c(0.001 * (1 + at % 7) as f64) * size;
            *w = match are_tiny {
                true if is_tiny(*w) => zero,
                true => *w,
                false => aside,
            };
        }
    }

    fn take_step(&mut self, step: &S::Unknowns) {
        for (w, step) in self.w.entries_mut().zip(step.entries()) {
            *w = *w - *step;
        }
    }

    /// Takes a step that is an improvement: halves its length until the next correction is smaller than the current one, of magnitude
    /// `size`. Returns the magnitude of the next correction.
    fn shorten(&mut self, system: &mut S, at: At<'_, S>, wanted: &S::Unknowns, size: S::Real) -> Option<S::Real> {
        let before = self.w;
        let one = S::Real::c(1.0);
        let mut length = one;
        for halving in 0..HALVINGS {
            for place in 0..S::Unknowns::LENGTH {
                self.w[place] = before[place] - length * wanted[place];
            }
            if let Some(mut step) = self.residuals(system, at) {
                solve_factors(&self.factors, &self.pivots, &mut step);
                if size_of_step(&before, &step, self.small) <= (one - S::Real::c(0.25) * length) * size {
                    return Some(size_of_step(&before, &step, S::Real::c(0.0)));
                }
            }
            length = length * S::Real::c(if halving < 20 { 0.5 } else { 0.0625 });
        }
        self.w = before;
        None
    }
}

/// Returns the largest correction in units of the negligible fraction of its unknown, which is at least the given negligible magnitude.
fn size_of_step<T: Real, W: Array<Item = T>>(w: &W, step: &W, size: T) -> T {
    let (relative, least) = (small::<T>(), least::<T>());
    let sizes = step.entries().zip(w.entries());
    let sizes = sizes.map(|(step, w)| step.abs() / (relative * w.abs() + size).maximum(least));
    sizes.fold(T::c(0.0), |most, size| if size > most { size } else { most })
}

/// Returns true if only round-off remains of every correction. Such a correction is small relative to its unknown, or was at
/// some point hardly smaller than the previous one.
fn is_stuck<T: Real, W: Array<Item = T>>(w: &W, step: &W, last_step: &mut W) -> bool {
    let relative = small::<T>();
    let mut are_all = true;
    for ((w, step), last) in w.entries().zip(step.entries()).zip(last_step.entries_mut()) {
        let size = step.abs();
        let goes_on = size > relative * w.abs() && size <= T::c(0.25) * *last;
        *last = if goes_on { size } else { T::c(0.0) };
        are_all = are_all && !goes_on;
    }
    are_all
}

/// Returns true if every residual is zero within the round-off of its terms, estimated from its partial derivatives.
fn is_rounding<S: System>(entries: &S::LoopMatrix, w: &S::Unknowns, residuals: &S::Unknowns) -> bool {
    let pattern = S::patterns().loops;
    residuals.entries().enumerate().all(|(row, residual)| {
        let (mut sum, mut sizes) = (S::Real::c(0.0), S::Real::c(0.0));
        for (at, column) in pattern.row(row) {
            let term = entries[at] * w[column];
            sum = sum + term;
            sizes = sizes + term.abs();
        }
        residual.abs() <= S::Real::c(ROUNDINGS * S::Real::EPSILON) * (sizes + (*residual - sum).abs())
    })
}
