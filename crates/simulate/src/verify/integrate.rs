//! A second integrator, for comparison with the rows of a run.
//!
//! Only the right sides are shared with the solvers of runs. An interval between two rows is integrated from the first
//! row's states. Each step is computed in one piece and in two halves ([`radau`](super::radau)). It is accepted if both
//! agree, and if the rates at its halves extrapolate to the rate at its very start. The latter is the only way to
//! detect a kink of a law between the start and the first stage. A step over a sharp kink of a law is therefore
//! repeated in shorter ones, until its error is below the tolerance.

use super::radau::{NODES, WEIGHTS, factor, lagrange, measure};
use super::rates::{Integrator, Jacobian, NotIntegrated};
use crate::linear_factors::Factor;

/// The shortest step, as a fraction of the interval, which may contain a slow reaction with fast parts.
const SHORTEST: f64 = 1e-30;

/// The factor for a step whose stages were not found.
const SHORTER: f64 = 0.25;

/// The number of attempted steps after which the cost of the rest of an interval is estimated; more than [`MOST`] at
/// the same pace is too much.
const ATTEMPTS: u32 = 1000;
const MOST: f64 = 5e4;

/// The accuracy of an interval.
#[derive(Clone, Copy, Debug)]
pub(super) struct Care<'t> {
    /// The error tolerance of each state after a step.
    pub tolerance: &'t [f64],
    /// The relative error tolerance, if that is larger.
    pub relative: f64,
    /// The longest allowed step.
    pub longest: f64,
}

/// An accepted step: its start, and the three stages of each half, the last of which is its end.
pub(super) struct Made {
    pub length: f64,
    pub points: Vec<(f64, Vec<f64>)>,
    /// Its error as a fraction of the tolerance.
    error: f64,
}

/// Receives each step.
pub(super) type Visit<'v> = dyn FnMut(&Made) + 'v;

/// The end of an interval, and the steps that led there.
pub(super) struct Crossed {
    pub states: Vec<f64>,
    pub longest: f64,
}

impl Integrator<'_> {
    /// Returns the Jacobian at a point: exact without loops, otherwise by differences.
    fn jacobian(&mut self, time: f64, states: &[f64], tolerance: &[f64]) -> Result<Jacobian, NotIntegrated> {
        if self.motion.unknowns == 0 && self.motion.system.equations.mass_matrix.is_none() {
            let matrix = &self.motion.kernels.jacobians(self.motion.system).rates_by_states;
            let mut values = vec![0.0; matrix.stored()];
            self.take(values.len() as u64)?;
            self.motion.call(&matrix.values, time, states, &[], None, &mut values);
            return Ok(Jacobian {
                row_starts: matrix.row_starts.clone(),
                columns_of: matrix.columns_of.clone(),
                values,
            });
        }
        let n = self.size;
        let here = self.rates(time, states)?;
        let mut values = vec![0.0; n * n];
        for column in 0..n {
            let mut beside = states.to_vec();
            let step = (1e-7 * states[column].abs()).max(tolerance[column]).max(1e-30);
            beside[column] += step;
            let there = self.rates(time, &beside)?;
            for row in 0..n {
                values[row * n + column] = (there[row] - here[row]) / (beside[column] - states[column]);
            }
        }
        Ok(Jacobian {
            row_starts: (0..=n).map(|row| row * n).collect(),
            columns_of: (0..n * n).map(|at| at % n).collect(),
            values,
        })
    }

    /// Factorises the matrix of the stages; its cost counts as right sides.
    fn factor(&mut self, jacobian: &Jacobian, length: f64) -> Result<Factor, NotIntegrated> {
        let stored = 9 * jacobian.values.len() as u64 + 3 * self.size as u64;
        self.take(stored * (1 + stored.isqrt() / 20))?;
        factor(jacobian, self.size, length, &WEIGHTS)
    }

    /// Applies `(1 - length * J)^-1` to a change: much faster parts follow the rest instantaneously.
    fn damped(&self, jacobian: &Jacobian, length: f64, change: &mut [f64]) -> Result<(), NotIntegrated> {
        let factor = factor(jacobian, self.size, length, &[[1.0]])?;
        factor.solve(change);
        Ok(())
    }

    /// Performs one step, in one piece and in two halves; returns `None` if no stages are found.
    fn step(
        &mut self,
        from: f64,
        length: f64,
        states: &[f64],
        tolerance: &[f64],
    ) -> Result<Option<Made>, NotIntegrated> {
        let size = self.size;
        let first = self.rates(from, states)?;
        let known = self.motion.solution();
        let jacobian = self.jacobian(from, states, tolerance)?;
        let whole = self.factor(&jacobian, length)?;
        let rest = || std::array::from_fn(|_| vec![0.0; size]);
        let Some(once) = self.stages((from, length), states, &whole, rest(), tolerance)? else {
            return Ok(None);
        };
        let half = 0.5 * length;
        let by_half = self.factor(&jacobian, half)?;
        self.motion.guess_unknowns(&known);
        let Some(left) = self.stages((from, half), states, &by_half, once.part(0.0, 0.5), tolerance)? else {
            return Ok(None);
        };
        let there =
            |moved: &[f64], begin: &[f64]| -> Vec<f64> { moved.iter().zip(begin).map(|(a, b)| a + b).collect() };
        let (middle, at_middle) = (from + half, there(&left.moved[2], states));
        let part = once.part(0.5, 0.5);
        let mut right = self.stages((middle, half), &at_middle, &by_half, part.clone(), tolerance)?;
        if right.is_none() {
            let jacobian = self.jacobian(middle, &at_middle, tolerance)?;
            let by_half = self.factor(&jacobian, half)?;
            right = self.stages((middle, half), &at_middle, &by_half, part, tolerance)?;
        }
        let Some(right) = right else { return Ok(None) };
        let mut points = vec![(from, states.to_vec())];
        for (begin, at_begin, stages) in [(from, states, &left), (middle, &at_middle[..], &right)] {
            let stages = NODES.iter().zip(&stages.moved);
            points.extend(stages.map(|(node, moved)| (begin + node * half, there(moved, at_begin))));
        }
        let apart: Vec<f64> = (0..size)
            .map(|at| points[6].1[at] - states[at] - once.moved[2][at])
            .collect();
        // The weights that estimate the rate at the beginning from the six stages; this bounds what may be missed
        // between it and the first stage.
        let nodes: [f64; 6] = std::array::from_fn(|at| 0.5 * NODES[at % 3] + 0.5 * (at / 3) as f64);
        let weights = lagrange(&nodes, 0.0);
        let all = || left.rates.iter().chain(&right.rates);
        let mut unseen: Vec<f64> = (0..size)
            .map(|at| {
                let led: f64 = all().zip(weights).map(|(rates, weight)| weight * rates[at]).sum();
                nodes[0] * length * (first[at] - led)
            })
            .collect();
        self.damped(&jacobian, length, &mut unseen)?;
        let error = measure(&apart, tolerance).max(measure(&unseen, tolerance));
        Ok(Some(Made { length, points, error }))
    }

    /// Returns the latest end of the step that starts at a time, before the end of the interval.
    fn reach(&self, time: f64, to: f64) -> f64 {
        let next = self.looks.partition_point(|look| *look <= time);
        self.looks.get(next).map_or(to, |look| look.min(to))
    }

    /// Integrates to the end of an interval and returns the states there; `visit` receives each step.
    pub(super) fn cross(
        &mut self,
        (from, to): (f64, f64),
        states: &[f64],
        care: Care<'_>,
        visit: &mut Visit<'_>,
    ) -> Result<Crossed, NotIntegrated> {
        let (mut time, mut at) = (from, states.to_vec());
        let mut length = (to - from).min(care.longest);
        let mut longest: f64 = 0.0;
        let mut known = self.motion.solution();
        let (mut attempts, mut begun) = (0, from);
        while time < to {
            attempts += 1;
            if attempts == ATTEMPTS {
                if (to - time) * f64::from(ATTEMPTS) > MOST * (time - begun) {
                    return Err(NotIntegrated::TooLong);
                }
                (attempts, begun) = (0, time);
            }
            let reach = self.reach(time, to);
            let is_last = time + 1.000_001 * length >= reach;
            let step = if is_last { reach - time } else { length };
            // A failed attempt may have moved the loops to another solution.
            self.motion.guess_unknowns(&known);
            let pairs = care.tolerance.iter().zip(&at);
            let tolerance: Vec<f64> = pairs
                .map(|(least, state)| least.max(care.relative * state.abs()))
                .collect();
            let made = match self.step(time, step, &at, &tolerance) {
                Err(NotIntegrated::NoValue) => None,
                made => made?,
            };
            let shrunk = match made {
                Some(mut made) if made.error <= 1.0 => {
                    if is_last && let Some(end) = made.points.last_mut() {
                        end.0 = reach;
                    }
                    visit(&made);
                    longest = longest.max(step);
                    let grown = step * (0.8 * made.error.max(1e-9).powf(-1.0 / 6.0)).min(4.0);
                    // A sample that shortened the step does not limit the next one.
                    length = if is_last { grown.max(length) } else { grown }.min(care.longest);
                    known = self.motion.solution();
                    if let Some((end, states)) = made.points.pop() {
                        (time, at) = (end, states);
                    }
                    continue;
                }
                Some(made) => (0.8 * made.error.powf(-1.0 / 6.0)).clamp(0.1, 0.5),
                None => SHORTER,
            };
            length = shrunk * step;
            if length < SHORTEST * (to - from) || time + length <= time {
                return Err(NotIntegrated::NoValue);
            }
        }
        Ok(Crossed { states: at, longest })
    }
}
