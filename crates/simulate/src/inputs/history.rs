//! The history of a signal within a run, from which `delay(x, T)` has its value.

use crate::inputs::signals::Side;
use std::collections::VecDeque;
use std::sync::{Mutex, PoisonError};

/// The number of nodes of the polynomial of a piece: two more than the order of the dense output of the solvers.
pub(crate) const NODES: usize = 6;

/// Times closer than this fraction of the larger one are the same instant.
const SAME: f64 = 16.0 * f64::EPSILON;

/// Two pieces join smoothly if their values differ by at most this fraction of their magnitude.
const LEVEL: f64 = 1e-9;

/// Two pieces join without a kink if their slopes differ by at most this fraction of their magnitude.
const SLOPE: f64 = 1e-3;

/// A delayed signal of a run.
#[derive(Debug)]
pub struct History(Mutex<Recorded>);

#[derive(Debug)]
struct Recorded {
    /// The delay in seconds.
    delay: f64,
    /// The value before the start of the run.
    initial: f64,
    /// The largest magnitude so far.
    largest: f64,
    /// The polynomials in order of time.
    pieces: VecDeque<Polynomial>,
    /// The instants at which the value or the slope jumps.
    breaks: VecDeque<f64>,
}

/// A polynomial in Newton's form over a step.
#[derive(Clone, Debug)]
pub(crate) struct Polynomial {
    pub from: f64,
    pub to: f64,
    coefficients: [f64; NODES],
    /// The largest magnitude at the nodes.
    largest: f64,
}

/// Returns the nodes on the interval from 0 to 1, both ends included: extrema of a Chebyshev polynomial.
pub(crate) fn nodes() -> [f64; NODES] {
    let angle = |at: usize| std::f64::consts::PI * at as f64 / (NODES - 1) as f64;
    let mut nodes = std::array::from_fn(|at| 0.5 * (1.0 - angle(at).cos()));
    (nodes[0], nodes[NODES - 1]) = (0.0, 1.0);
    nodes
}

impl Polynomial {
    /// Returns the polynomial through values at the nodes.
    pub fn through(from: f64, to: f64, values: &[f64; NODES]) -> Polynomial {
        let (nodes, mut coefficients) = (nodes(), *values);
        for order in 1..NODES {
            for at in (order..NODES).rev() {
                let width = nodes[at] - nodes[at - order];
                coefficients[at] = (coefficients[at] - coefficients[at - 1]) / width;
            }
        }
        Polynomial {
            from,
            to,
            coefficients,
            largest: values.iter().fold(0.0, |largest, value| value.abs().max(largest)),
        }
    }

    /// Returns the value and the rate at a time, which is moved into the interval.
    pub fn at(&self, time: f64) -> (f64, f64) {
        let length = self.to - self.from;
        let share = ((time - self.from) / length).clamp(0.0, 1.0);
        let (mut value, mut slope) = (0.0, 0.0);
        for (coefficient, node) in self.coefficients.iter().zip(nodes()).rev() {
            slope = slope * (share - node) + value;
            value = value * (share - node) + coefficient;
        }
        (value, slope / length)
    }
}

impl Polynomial {
    /// Returns the largest magnitude at the nodes.
    pub fn largest(&self) -> f64 {
        self.largest
    }
}

impl Recorded {
    /// Returns true if two times are the same instant, within the round-off of their difference to the delay.
    fn is_same(&self, one: f64, other: f64) -> bool {
        (one - other).abs() <= SAME * one.abs().max(other.abs()).max(self.delay)
    }
}

impl History {
    /// Creates an empty history of a signal with a delay in seconds.
    pub(crate) fn new(delay: f64) -> History {
        History(Mutex::new(Recorded {
            delay,
            initial: 0.0,
            largest: 0.0,
            pieces: VecDeque::new(),
            breaks: VecDeque::new(),
        }))
    }

    fn with<R>(&self, read: impl FnOnce(&mut Recorded) -> R) -> R {
        read(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Returns the delay in seconds.
    pub(crate) fn delay(&self) -> f64 {
        self.with(|recorded| recorded.delay)
    }

    /// Sets the value before the start, at which the history begins.
    pub(crate) fn begin(&self, initial: f64) {
        self.with(|recorded| {
            (recorded.initial, recorded.largest) = (initial, initial.abs());
            recorded.pieces.clear();
            recorded.breaks.clear();
        });
    }

    /// Returns the delayed value and its rate at a time, on one side of it.
    pub(crate) fn at(&self, time: f64, side: Side) -> (f64, f64) {
        self.with(|recorded| {
            let before = time - recorded.delay;
            let is_over = |piece: &Polynomial| match recorded.is_same(piece.from, before) {
                true => side == Side::After,
                false => piece.from < before,
            };
            let count = recorded.pieces.partition_point(is_over);
            match count.checked_sub(1).and_then(|at| recorded.pieces.get(at)) {
                Some(piece) => piece.at(before),
                None => (recorded.initial, 0.0),
            }
        })
    }

    /// Returns the largest magnitude so far.
    pub(crate) fn largest(&self) -> f64 {
        self.with(|recorded| recorded.largest)
    }

    /// Adds the values over a step.
    pub(crate) fn add(&self, piece: Polynomial) {
        self.with(|recorded| {
            let (value, slope) = match recorded.pieces.back() {
                Some(last) => last.at(piece.from),
                None => (recorded.initial, 0.0),
            };
            let (next, other) = piece.at(piece.from);
            let (jump, kink) = ((next - value).abs(), (other - slope).abs());
            recorded.largest = recorded.largest.max(piece.largest);
            let is_smooth = kink <= SLOPE * other.abs().max(slope.abs())
                || kink * (piece.to - piece.from) <= LEVEL * recorded.largest;
            if jump > LEVEL * next.abs().max(value.abs()) || !is_smooth {
                recorded.breaks.push_back(piece.from);
            }
            recorded.pieces.push_back(piece);
        });
    }

    /// Returns the known instants after one time and up to another at which the delayed value or its slope jumps.
    pub(crate) fn corners(&self, from: f64, to: f64) -> Vec<f64> {
        self.with(|recorded| {
            let later = recorded.breaks.iter().map(|time| time + recorded.delay);
            later.filter(|time| (from..=to).contains(time)).collect()
        })
    }

    /// Forgets what no time from this one on needs.
    pub(crate) fn forget(&self, time: f64) {
        self.with(|recorded| {
            let oldest = time - recorded.delay;
            let oldest = oldest - 4.0 * SAME * oldest.abs().max(time.abs());
            while recorded.pieces.front().is_some_and(|piece| piece.to < oldest) && recorded.pieces.len() > 1 {
                if let Some(last) = recorded.pieces.pop_front() {
                    // Beyond the first piece its last value remains.
                    recorded.initial = last.at(last.to).0;
                }
            }
            while recorded.breaks.front().is_some_and(|known| *known < oldest) {
                recorded.breaks.pop_front();
            }
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_polynomial_of_degree_five_is_exact() {
        let of = |time: f64| 1.0 + time - 2.0 * time.powi(3) + time.powi(5);
        let history = History::new(0.5);
        history.begin(1.0);
        for (from, to) in [(0.0, 0.4), (0.4, 1.0)] {
            let values = nodes().map(|share| of(from + share * (to - from)));
            history.add(Polynomial::through(from, to, &values));
        }
        assert_eq!(history.at(0.2, Side::After), (1.0, 0.0));
        assert_eq!(history.at(0.5, Side::Before), (1.0, 0.0));
        for time in [0.5, 0.7, 0.9, 1.3, 1.5] {
            let (value, rate) = history.at(time, Side::After);
            let s = time - 0.5;
            assert!((value - of(s)).abs() < 1e-14);
            assert!((rate - (1.0 - 6.0 * s * s + 5.0 * s.powi(4))).abs() < 1e-12);
        }
        // The slope jumps at the start and nowhere else.
        assert_eq!(history.corners(0.0, 9.0), [0.5]);
        history.forget(0.95);
        assert!((history.at(0.95, Side::After).0 - of(0.45)).abs() < 1e-14);
    }
}
