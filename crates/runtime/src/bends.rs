//! Bends of laws that a step crosses: the step is made again so that it ends there.
//!
//! The error estimate of a Runge-Kutta method compares two sums of slopes, and holds where the right sides are smooth. Across a bend,
//! as of a limit, or of a condition whose sides meet, the two sums may happen to agree while both are wrong. So a step within which a
//! condition changes that bends the right sides is looked at: how much the bend adds to the states follows from the change of slope
//! of the right sides there. Where that matters, the step is made again up to the bend, and the next one begins behind it with the
//! length of before.

use super::array::Array;
use super::dopri5::Dopri5;
use super::real::Real;

/// What a bend may add to a state, as a share of what is allowed.
const MAY_ADD: f64 = 0.25;
/// How far to both sides of a bend the right sides are looked at, as a share of the step.
pub const BESIDE: f64 = 1.0 / 64.0;
/// A bend is located within this share of the step: what is interpolated is hardly better.
pub const LOCATED: f64 = 1e-5;
/// Nothing that is nearer to an end of a step than this share of it is worth a step of its own.
pub const AT_ONCE: f64 = 1e-5;
/// A step is made again so many times in a row at most, and so many bends within it are looked at.
pub const MOST_AGAIN: u32 = 8;
const MOST_WITHIN: u32 = 20;
/// Of the change of slope at a bend, times the step squared, Dormand and Prince's method makes the first share an error at most; and
/// the others for each share of the step that lies before the bend, or behind it: the bounds of its Peano kernel of degree 1.
const KERNEL: f64 = 0.0225;
const KERNEL_AT_BEGIN: f64 = 0.0912;
const KERNEL_AT_END: f64 = 0.131;

/// What is asked of a point: the conditions there, and the right sides where there is room for them; none where these have no value.
pub trait Look<X: Array, B>: FnMut(X::Item, &X, Option<&mut X>) -> Option<B> {}
impl<X: Array, B, F: FnMut(X::Item, &X, Option<&mut X>) -> Option<B>> Look<X, B> for F {}

/// Looks for bends within steps.
#[derive(Clone, Copy, Debug)]
pub struct Bends<B: Array> {
    /// On which side each condition is as far as the last step was looked at; 0 where it has none yet.
    side: B,
    /// Where the last step ended that stands, if the sides are known there.
    end: Option<B::Item>,
    /// How often in a row the last step was made again.
    again: u32,
    /// The bend up to which the next step is made, and how long it was before.
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
    /// Where the next step ends at most: at the bend that it is made again for, or where it would anyway.
    pub fn end(&self, end: T) -> T {
        self.target.map_or(end, |(bend, _)| bend.minimum(end))
    }

    /// Whether the last step leads across a bend that matters. Then the solver is back where the step began.
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
                // Behind the bend, steps are as long as the one that led across it.
                self.target = None;
                solver.h = length;
            }
        }
        false
    }

    /// Whether a condition was on another side where the values were found.
    fn has_changed(&self, values: &B) -> bool {
        self.side
            .entries()
            .zip(values.entries())
            .any(|(side, value)| *side * *value < T::c(0.0))
    }

    /// Takes over the sides of values; a zero leaves a side as it was.
    fn take_over(&mut self, values: &B) {
        for (side, value) in self.side.entries_mut().zip(values.entries()) {
            let sign = value.sign();
            if sign.abs() > T::c(0.0) {
                *side = sign;
            }
        }
    }

    /// The first bend within the last step that matters.
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

    /// Where the first condition changes between two times, and the conditions there.
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

/// The conditions at a time within the last step.
fn values<T: Real, X: Array<Item = T>, B: Array<Item = T>>(solver: &Dopri5<X>, t: T, look: &mut impl Look<X, B>) -> B {
    let mut x = solver.x;
    solver.dense(t, &mut x);
    look(t, &x, None).unwrap_or(B::filled(T::c(0.0)))
}

/// Whether what a bend adds to the states is more than what is allowed.
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
