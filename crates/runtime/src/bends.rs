//! Derivative discontinuities of laws within a step: the step is repeated so that it ends at the discontinuity.
//!
//! The error estimate of a Runge-Kutta method compares two sums of slopes, and is valid for smooth right-hand sides.
//! Across a kink, such as that of a limit, the two sums may happen to agree although both are wrong. Each step within
//! which a kink's condition changes is therefore examined. The change of slope of the right-hand sides at the kink
//! determines the error that the kink adds to the states. If this error matters, the step is repeated up to the kink,
//! and the next step starts there with the original length.

use super::array::Array;
use super::dopri5::Dopri5;
use super::real::Real;

/// The largest error that a kink may add to a state, as a fraction of the tolerance.
const MAY_ADD: f64 = 0.25;
/// The distance on both sides of a kink at which the right-hand sides are evaluated, as a fraction of the step.
pub const BESIDE: f64 = 1.0 / 64.0;
/// The accuracy of a located kink, as a fraction of the step; the interpolation is hardly more accurate.
pub const LOCATED: f64 = 1e-5;
/// Kinks closer to an end of a step than this fraction of it need no separate step.
pub const AT_ONCE: f64 = 1e-5;
/// The maximum number of consecutive repetitions of a step, and of kinks examined within it.
pub const MOST_AGAIN: u32 = 8;
const MOST_WITHIN: u32 = 20;
/// Bounds of the Peano kernel of degree 1 of Dormand and Prince's method, times the change of slope and the square of
/// the step. The first bound applies in the middle; the others apply per fraction of the step before or after the kink.
const KERNEL: f64 = 0.0225;
const KERNEL_AT_BEGIN: f64 = 0.0912;
const KERNEL_AT_END: f64 = 0.131;

/// Evaluates a point: returns the conditions and computes the right-hand sides, if requested; none if they have no value.
pub trait Look<X: Array, B>: FnMut(X::Item, &X, Option<&mut X>) -> Option<B> {}
impl<X: Array, B, F: FnMut(X::Item, &X, Option<&mut X>) -> Option<B>> Look<X, B> for F {}

/// A search for kinks within steps.
#[derive(Clone, Copy, Debug)]
pub struct Bends<B: Array> {
    /// The sign of each condition up to the end of the last examined step; 0 if it has none yet.
    side: B,
    /// The end of the last accepted step, if the signs are known there.
    end: Option<B::Item>,
    /// The number of consecutive repetitions of the last step.
    again: u32,
    /// The kink at which the next step ends, and the original length of the step.
    target: Option<(B::Item, B::Item)>,
}

impl<T: Real, B: Array<Item = T>> Default for Bends<B> {
    fn default() -> Bends<B> {
        Bends {
            side: B::filled(T::c(0.0)),
            end: None,
            again: 0,
            target: None,
        }
    }
}

impl<T: Real, B: Array<Item = T>> Bends<B> {
    /// Returns the latest end of the next step: the kink for which it is repeated, or its normal end.
    pub fn end(&self, end: T) -> T {
        self.target.map_or(end, |(bend, _)| bend.minimum(end))
    }

    /// Returns true if the last step crosses a kink that matters. The solver is then back at the start of the step.
    pub fn cut<X: Array<Item = T>>(&mut self, solver: &mut Dopri5<X>, mut look: impl Look<X, B>) -> bool {
        let length = solver.t - solver.before;
        let is_long = length * T::c(AT_ONCE) > T::c(64.0 * T::EPSILON) * solver.t.abs();
        let known = self.end.take();
        let bend = if is_long && self.again < MOST_AGAIN {
            self.first_within(solver, known == Some(solver.before), &mut look)
        } else {
            None
        };
        if let Some(bend) = bend {
            self.again += 1;
            self.target = Some((bend, self.target.map_or(length, |(_, length)| length)));
            solver.go_back();
            solver.h = bend - solver.t;
            return true;
        }
        self.end = if is_long && self.again < MOST_AGAIN {
            Some(solver.t)
        } else {
            None
        };
        self.again = 0;
        if let Some((bend, length)) = self.target {
            if solver.t >= bend {
                // After the kink, the step size is that of the step that crossed it.
                self.target = None;
                solver.h = length;
            }
        }
        false
    }

    /// Returns true if the sign of a condition differs from its last known sign.
    fn has_changed(&self, values: &B) -> bool {
        self.side
            .entries()
            .zip(values.entries())
            .any(|(side, value)| *side * *value < T::c(0.0))
    }

    /// Stores the signs of values; a zero leaves the sign unchanged.
    fn take_over(&mut self, values: &B) {
        for (side, value) in self.side.entries_mut().zip(values.entries()) {
            let sign = value.sign();
            if sign.abs() > T::c(0.0) {
                *side = sign;
            }
        }
    }

    /// Returns the first kink within the last step that matters.
    fn first_within<X: Array<Item = T>>(
        &mut self,
        solver: &Dopri5<X>,
        is_known: bool,
        look: &mut impl Look<X, B>,
    ) -> Option<T> {
        if !is_known {
            self.side = B::filled(T::c(0.0));
            self.take_over(&values(solver, solver.before, look));
        }
        let mut low = solver.before;
        for high in [solver.before + T::c(0.5) * (solver.t - solver.before), solver.t] {
            let mut there = values(solver, high, look);
            for _ in 0..MOST_WITHIN {
                if !self.has_changed(&there) {
                    break;
                }
                let (bend, at_bend) = self.first_between(solver, (low, high), look);
                if matters(solver, bend, look) {
                    return Some(bend);
                }
                self.take_over(&at_bend);
                low = bend;
                there = values(solver, high, look);
            }
            self.take_over(&there);
            low = high;
        }
        None
    }

    /// Returns the first change of a condition between two times, and the conditions there.
    fn first_between<X: Array<Item = T>>(
        &self,
        solver: &Dopri5<X>,
        ends: (T, T),
        look: &mut impl Look<X, B>,
    ) -> (T, B) {
        let (mut low, mut high) = ends;
        let near = T::c(LOCATED) * (solver.t - solver.before);
        while high - low > near {
            let middle = low + T::c(0.5) * (high - low);
            if middle <= low || middle >= high {
                break;
            }
            if self.has_changed(&values(solver, middle, look)) {
                high = middle;
            } else {
                low = middle;
            }
        }
        (high, values(solver, high, look))
    }
}

/// Returns the conditions at a time within the last step.
fn values<T: Real, X: Array<Item = T>, B: Array<Item = T>>(solver: &Dopri5<X>, t: T, look: &mut impl Look<X, B>) -> B {
    let mut x = solver.x;
    solver.dense(t, &mut x);
    look(t, &x, None).unwrap_or(B::filled(T::c(0.0)))
}

/// Returns true if the effect of a kink on the states exceeds the tolerance.
fn matters<T: Real, X: Array<Item = T>, B>(solver: &Dopri5<X>, bend: T, look: &mut impl Look<X, B>) -> bool {
    let length = solver.t - solver.before;
    let share = (bend - solver.before) / length;
    let left = T::c(1.0) - share;
    if share < T::c(AT_ONCE) || left < T::c(AT_ONCE) {
        return false;
    }
    let aside = T::c(BESIDE) * length;
    let times = [
        (bend - aside).maximum(solver.before),
        bend,
        (bend + aside).minimum(solver.t),
    ];
    let (mut x, mut rates) = (solver.x, [X::filled(T::c(0.0)); 3]);
    for (t, rates) in times.iter().zip(&mut rates) {
        solver.dense(*t, &mut x);
        if look(*t, &x, Some(rates)).is_none() {
            return false;
        }
    }
    let kernel = T::c(KERNEL)
        .minimum(T::c(KERNEL_AT_BEGIN) * share)
        .minimum(T::c(KERNEL_AT_END) * left);
    (0..X::LENGTH).any(|at| {
        let before = (rates[1][at] - rates[0][at]) / (times[1] - times[0]);
        let behind = (rates[2][at] - rates[1][at]) / (times[2] - times[1]);
        let adds = kernel * length * length * (behind - before).abs();
        adds > T::c(MAY_ADD) * solver.tolerances.allowed(at, x[at], x[at])
    })
}
