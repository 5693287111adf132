//! A second integrator, to compare the rows of a run with.
//!
//! It shares nothing with the solvers of runs but the right sides. An interval between two rows is crossed from the first row's states.
//! Each step is made at once and in two halves ([`radau`](super::radau)), and holds where both come to the same, and
//! where the rates at its halves lead back to the rate at its very beginning: a law that bends between
//! there and the first stage is seen by nothing else. So a step that reaches over a corner of a law, however sharp it is, is made again in shorter
//! ones, until what it misses is less than the tolerance.

use super::radau::{NODES, WEIGHTS, factor, lagrange, measure};
use super::rates::{Given, Integrator, Jacobian};
use crate::solvers::linear_factors::Factor;

/// A step is not made shorter than this share of the interval, which may be as long as that of a slow reaction with fast ones in it.
const SHORTEST: f64 = 1e-30;

/// How much shorter a step is made whose stages are not found.
const SHORTER: f64 = 0.25;

/// After so many attempts at steps it is asked whether the rest of an interval would take more than [`MOST`], at the pace of these.
const ATTEMPTS: u32 = 1000;
const MOST: f64 = 5e4;

/// How exactly an interval is crossed.
#[derive(Clone, Copy, Debug)]
pub(super) struct Care<'t> {
    /// What each state may be off after a step.
    pub tolerance: &'t [f64],
    /// The same as a share of the state, where that is more.
    pub relative: f64,
    /// No step is longer.
    pub longest: f64,
}

/// A step that holds: its beginning, and the three stages of each half, the last of which is its end.
pub(super) struct Made {
    pub length: f64,
    pub points: Vec<(f64, Vec<f64>)>,
    /// Its error as a share of the tolerance.
    error: f64,
}

/// Receives each step.
pub(super) type Visit<'v> = dyn FnMut(&Made) + 'v;

/// Where an interval ends, and by what steps that was found.
pub(super) struct Crossed {
    pub states: Vec<f64>,
    pub longest: f64,
}

impl Integrator<'_> {
    /// The Jacobian at a point: exact where there are no loops, by differences elsewhere.
    fn jacobian(&mut self, time: f64, states: &[f64], tolerance: &[f64]) -> Result<Jacobian, Given> {
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

    /// The matrix of the stages; what it costs counts as right sides.
    fn factor(&mut self, jacobian: &Jacobian, length: f64) -> Result<Factor, Given> {
        let stored = 9 * jacobian.values.len() as u64 + 3 * self.size as u64;
        self.take(stored * (1 + stored.isqrt() / 20))?;
        factor(jacobian, self.size, length, &WEIGHTS)
    }

    /// `(1 - length * J)^-1` times a change: what is much faster than the step follows the rest at once.
    fn damped(&self, jacobian: &Jacobian, length: f64, change: &mut [f64]) -> Result<(), Given> {
        let factor = factor(jacobian, self.size, length, &[[1.0]])?;
        factor.solve(change);
        Ok(())
    }

    /// One step, at once and in two halves; none where no stages are found.
    fn step(&mut self, from: f64, length: f64, states: &[f64], tolerance: &[f64]) -> Result<Option<Made>, Given> {
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
        // What the rates at the six stages say of the beginning; between it and the first stage, that much may be missed.
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

    /// Where the step that begins at a time ends at the latest, short of the end of the interval.
    fn reach(&self, time: f64, to: f64) -> f64 {
        let next = self.looks.partition_point(|look| *look <= time);
        self.looks.get(next).map_or(to, |look| look.min(to))
    }

    /// The states at the end of an interval; `visit` receives each step.
    pub(super) fn cross(
        &mut self,
        (from, to): (f64, f64),
        states: &[f64],
        care: Care<'_>,
        visit: &mut Visit<'_>,
    ) -> Result<Crossed, Given> {
        let (mut time, mut at) = (from, states.to_vec());
        let mut length = (to - from).min(care.longest);
        let mut longest: f64 = 0.0;
        let mut known = self.motion.solution();
        let (mut attempts, mut begun) = (0, from);
        while time < to {
            attempts += 1;
            if attempts == ATTEMPTS {
                if (to - time) * f64::from(ATTEMPTS) > MOST * (time - begun) {
                    return Err(Given::Up);
                }
                (attempts, begun) = (0, time);
            }
            let reach = self.reach(time, to);
            let is_last = time + 1.000_001 * length >= reach;
            let step = if is_last { reach - time } else { length };
            // An attempt that fails may have led the loops elsewhere.
            self.motion.guess_unknowns(&known);
            let pairs = care.tolerance.iter().zip(&at);
            let tolerance: Vec<f64> = pairs
                .map(|(least, state)| least.max(care.relative * state.abs()))
                .collect();
            let made = match self.step(time, step, &at, &tolerance) {
                Err(Given::Out) => None,
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
                    // A look that cut the step short says nothing of how long the next one may be.
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
                return Err(Given::Out);
            }
        }
        Ok(Crossed { states: at, longest })
    }
}
