//! Whether an explicit method is held back by stability rather than by accuracy.
//!
//! An explicit method's step times the largest rate of decay in the system cannot exceed a few units. Where the steps that
//! pass the error test stay at that bound, the error is small for want of stability and not of accuracy: the
//! equations are stiff there, and an implicit method takes longer steps.

use super::motion::Motion;

/// Products of step and fastest rate above this are taken as the bound of stability (3.0 to 3.5 on the real axis).
const BOUND: f64 = 1.8;

/// So many steps in a row must be at the bound.
const STEPS: u32 = 20;

/// Fewer steps than this are left to the explicit method even so: an implicit one would not pay.
const WORTH: f64 = 3000.0;

/// Steps after which a nonlinear system's fastest rate is estimated again.
const RENEWAL: u32 = 60;

/// Iterations of the power method, the first of which only turn the vector.
const ITERATIONS: usize = 16;

/// Watches the steps of an explicit method.
#[derive(Debug)]
pub(super) struct Watch {
    /// The fastest rate in 1/s, where it is known.
    fastest: Option<f64>,
    at_bound: u32,
    since: u32,
    changes: bool,
}

impl Watch {
    /// For a linear system the fastest rate is estimated once a piece.
    pub fn new(linear: bool) -> Watch {
        Watch {
            fastest: None,
            at_bound: 0,
            since: 0,
            changes: !linear,
        }
    }

    /// A new piece begins.
    pub fn restart(&mut self) {
        self.at_bound = 0;
        if self.changes {
            self.fastest = None;
        }
    }

    /// One step has passed the error test; true where the rest of the run is for an implicit method.
    pub fn step(&mut self, motion: &Motion<'_>, time: f64, states: &[f64], step: f64, left: f64) -> bool {
        if left / step < WORTH {
            self.at_bound = 0;
            return false;
        }
        self.since += 1;
        if self.fastest.is_none() || self.changes && self.since >= RENEWAL {
            self.fastest = Some(fastest_rate(motion, time, states));
            self.since = 0;
        }
        let at_bound = self.fastest.is_some_and(|rate| rate * step > BOUND);
        self.at_bound = if at_bound { self.at_bound + 1 } else { 0 };
        self.at_bound >= STEPS
    }
}

/// The spectral radius of df/dx at a point in 1/s, roughly, by the power method on differences of f.
pub(super) fn fastest_rate(motion: &Motion<'_>, time: f64, states: &[f64]) -> f64 {
    let size = states.len();
    let (mut base, mut moved) = (vec![0.0; size], vec![0.0; size]);
    if !motion.rates(time, states, &mut base) {
        return 0.0;
    }
    // A direction without symmetry, in the measure of each state.
    let scale = states
        .iter()
        .fold(0.0_f64, |most, value| most.max(value.abs()))
        .max(1e-3);
    let mut direction: Vec<f64> = (0..size)
        .map(|at| 1.0 + 0.5 * ((at * 2_654_435_761) % 1000) as f64 / 1000.0)
        .collect();
    let mut growth = Vec::with_capacity(ITERATIONS);
    for _ in 0..ITERATIONS {
        let length = norm(&direction);
        if !(length > 0.0 && length.is_finite()) {
            break;
        }
        let reach = 1e-5 * scale / length;
        let point: Vec<f64> = states.iter().zip(&direction).map(|(x, d)| x + reach * d).collect();
        if !motion.rates(time, &point, &mut moved) {
            break;
        }
        for ((direction, moved), base) in direction.iter_mut().zip(&moved).zip(&base) {
            *direction = (moved - base) / reach;
        }
        growth.push(norm(&direction) / length);
    }
    let last = &growth[growth.len() / 2..];
    if last.is_empty() {
        return 0.0;
    }
    // The geometric mean over many applications also holds where the largest eigenvalues are a complex pair.
    let mean = last.iter().map(|factor| factor.max(1e-300).ln()).sum::<f64>() / last.len() as f64;
    mean.exp()
}

fn norm(vector: &[f64]) -> f64 {
    vector.iter().map(|value| value * value).sum::<f64>().sqrt()
}
