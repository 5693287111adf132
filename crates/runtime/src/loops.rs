//! Newton's method for the algebraic loops.

use super::array::Array;
use super::linear::{factorise, solve_factors};
use super::real::Real;
use super::system::{At, Fault, System};

/// The most iterations on the loops in each evaluation.
pub const ITERATIONS: usize = 50;
/// The most halvings of a step.
pub const HALVINGS: usize = 40;
/// The number of times that a step is taken over a derivative discontinuity of a law though it does not lead nearer.
pub const OVER_BENDS: usize = 12;
/// A residual within so many units of rounding of its terms is zero.
pub const ROUNDINGS: f64 = 8.0;

/// The unknowns of the algebraic loops, and the memory to solve for them.
#[derive(Clone, Debug)]
pub struct Loops<S: System> {
    /// The unknowns as they were solved for last, where the next solution is looked for.
    pub(crate) w: S::Unknowns,
    /// The matrix of the loops in factors.
    pub(crate) factors: S::Factors,
    pub(crate) pivots: S::Pivots,
    /// If the loops have been solved before.
    is_solved: bool,
    /// The size of an unknown below which its value does not matter.
    small: S::Real,
}

/// The share of an unknown that does not matter, and the size of one that does not matter if nothing is known of it.
pub(crate) fn small<T: Real>() -> T {
    T::c(1e-13_f64.max(8.0 * T::EPSILON))
}

/// The smallest number that has all digits.
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

/// An array of zeros.
pub(crate) fn zeros<A: Array<Item: Real>>() -> A {
    A::filled(A::Item::c(0.0))
}

impl<S: System> Loops<S> {
    /// Before anything was solved.
    pub(crate) fn new() -> Loops<S> {
        Loops {
            w: zeros(),
            factors: S::Factors::filled(zeros()),
            pivots: S::Pivots::filled(0),
            is_solved: false,
            small: small(),
        }
    }

    /// The next solution is looked for next to these unknowns.
    pub(crate) fn set(&mut self, w: S::Unknowns) {
        (self.w, self.is_solved) = (w, true);
    }

    /// The unknowns, if they have been solved for.
    pub(crate) fn solution(&self) -> Option<S::Unknowns> {
        (S::Unknowns::LENGTH > 0 && self.is_solved).then_some(self.w)
    }

    /// If the loops are solved to rounding, of whatever size their unknowns are.
    pub(crate) fn solve_exactly(&mut self, exactly: bool) {
        self.small = if exactly { S::Real::c(0.0) } else { small() };
    }

    /// Solves the loops; the first time from several values.
    pub(crate) fn solve(&mut self, system: &mut S, at: At<'_, S>) -> Result<(), Fault> {
        if S::Unknowns::LENGTH == 0 {
            return Ok(());
        }
        if self.is_solved {
            let solution = self.w;
            if self.newton(system, at).is_none() {
                // Half an iteration is no better guess for the next.
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

    /// Brings the matrix of the loops into factors; returns its entries.
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

    /// The residuals at the unknowns; none where they have no value.
    pub(crate) fn residuals(&self, system: &mut S, at: At<'_, S>) -> Option<S::Unknowns> {
        let mut residuals = zeros::<S::Unknowns>();
        system.residuals(at, &self.w, &mut residuals);
        are_finite(&residuals).then_some(residuals)
    }

    /// Brings the unknowns nearer to a solution until rounding ends it; none where there is none.
    fn newton(&mut self, system: &mut S, at: At<'_, S>) -> Option<()> {
        let mut fallback = None;
        let found = self.iterate(system, at, &mut fallback);
        found.or_else(|| fallback.map(|fallback| self.w = fallback))
    }

    /// The same. Corrections are measured by their unknowns, whatever size these are of: a charge may be 1e-12 C. What is zero, or
    /// balances to zero, has no digits to be right. So where corrections are small by a measure of no unit, they are made as long as
    /// they become much smaller; and the first of these places is as good as a solution if the iteration comes to nothing.
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
                // At rest a turbulent law has no slope, or an infinite one; beside it there is one.
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
                // No step leads nearer than rounding allows.
                None if is_zero || (size < nearly && over_bends > 0) => return Some(()),
                None if over_bends < OVER_BENDS => {
                    // Where a law bends, the slope before the bend may lead nowhere, and the one behind it does.
                    over_bends += 1;
                    self.take_step(&step);
                    endless
                }
                None => return None,
            };
        }
        None
    }

    /// Leaves a place where the loops have no slopes: to zero if unknowns are as good as zero, from there aside by a little.
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

    /// Takes a step that is an improvement: its length is halved until the next correction is smaller than this one, whose size is
    /// given. Returns the size of the next one.
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

/// The largest correction in units of what does not matter of its unknown, which is no less than a size that does not matter of any.
fn size_of_step<T: Real, W: Array<Item = T>>(w: &W, step: &W, size: T) -> T {
    let (relative, least) = (small::<T>(), least::<T>());
    let sizes = step.entries().zip(w.entries());
    let sizes = sizes.map(|(step, w)| step.abs() / (relative * w.abs() + size).maximum(least));
    sizes.fold(T::c(0.0), |most, size| if size > most { size } else { most })
}

/// True if the rest of every correction is rounding: it is small beside its unknown, or once it was not much smaller than the one
/// before.
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

/// True if every residual is zero but for the rounding of the terms that it sums, as its partial derivatives show them.
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
