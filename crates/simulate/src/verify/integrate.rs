//! A second integrator, to compare the rows of a run with: linearly implicit Euler steps, extrapolated.
//!
//! It shares nothing with the solvers of runs but the right sides. An interval between two rows is crossed from the first row's states;
//! each step is made with 1, 2, 3, .. substeps, whose results are extrapolated until two of them agree. That is stiffly stable, and its
//! order is as high as the tolerance asks for.

use crate::linear::{Factor, Pattern};
use crate::motion::Motion;

/// Substeps of the last extrapolation.
const COLUMNS: usize = 8;

/// A step is not made shorter than this share of the interval.
const SHORTEST: f64 = 1e-13;

/// The Jacobian of the right sides by states, dense or as it is stored.
struct Jacobian {
    row_starts: Vec<usize>,
    columns_of: Vec<usize>,
    values: Vec<f64>,
}

/// The integrator of one run.
pub(super) struct Integrator<'a> {
    motion: &'a Motion<'a>,
    /// Right sides that may still be evaluated.
    pub(super) left: u64,
    size: usize,
}

/// Why an interval was not crossed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Given {
    /// It would take too long.
    Up,
    /// The right sides have no value on the way.
    Out,
}

/// Receives each step: from a time and its states to the next.
pub(super) type Visit<'v, I> = dyn FnMut(&mut I, (f64, &[f64]), (f64, &[f64])) + 'v;

impl<'a> Integrator<'a> {
    pub(super) fn new(motion: &'a Motion<'a>, work: u64) -> Integrator<'a> {
        Integrator {
            motion,
            left: work,
            size: motion.states,
        }
    }

    fn rates(&mut self, time: f64, states: &[f64]) -> Result<Vec<f64>, Given> {
        self.left = self.left.checked_sub(1 + self.size as u64).ok_or(Given::Up)?;
        let mut to = vec![0.0; self.size];
        match self.motion.rates(time, states, &mut to) {
            true => Ok(to),
            false => Err(Given::Out),
        }
    }

    /// The Jacobian at a point: exact where there are no loops, by differences elsewhere.
    fn jacobian(&mut self, time: f64, states: &[f64], scale: &[f64]) -> Result<Jacobian, Given> {
        if self.motion.unknowns == 0 && self.motion.system.mass_matrix.is_none() {
            let matrix = &self.motion.kernels.jacobians(self.motion.system).rates_by_states;
            let mut values = vec![0.0; matrix.stored()];
            self.left = self.left.checked_sub(values.len() as u64).ok_or(Given::Up)?;
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
            let step = 1e-7 * states[column].abs().max(1e-3 * scale[column]).max(1e-30);
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

    /// `I - h J`, factorised.
    fn factor(&self, jacobian: &Jacobian, h: f64) -> Result<Factor, Given> {
        let n = self.size;
        let (mut row_starts, mut columns_of, mut values) = (vec![0], Vec::new(), Vec::new());
        for row in 0..n {
            let range = jacobian.row_starts[row]..jacobian.row_starts[row + 1];
            let mut has_diagonal = false;
            for at in range {
                let column = jacobian.columns_of[at];
                let one = if column == row { 1.0 } else { 0.0 };
                has_diagonal |= column == row;
                columns_of.push(column);
                values.push(one - h * jacobian.values[at]);
            }
            if !has_diagonal {
                columns_of.push(row);
                values.push(1.0);
            }
            row_starts.push(columns_of.len());
        }
        let pattern = Pattern {
            size: n,
            row_starts: &row_starts,
            columns_of: &columns_of,
        };
        Factor::new(&pattern, &values).map_err(|_| Given::Out)
    }

    /// So many linearly implicit Euler steps.
    fn steps(
        &mut self,
        from: f64,
        length: f64,
        states: &[f64],
        jacobian: &Jacobian,
        count: usize,
    ) -> Result<Vec<f64>, Given> {
        let h = length / count as f64;
        let factor = self.factor(jacobian, h)?;
        let mut at = states.to_vec();
        for step in 0..count {
            // The end of each substep: what a source does there is what a stiff state follows.
            let time = from + h * (step + 1) as f64;
            let mut change = self.rates(time, &at)?;
            change.iter_mut().for_each(|value| *value *= h);
            factor.solve(&mut change);
            at.iter_mut().zip(&change).for_each(|(at, change)| *at += change);
        }
        match at.iter().all(|value| value.is_finite()) {
            true => Ok(at),
            false => Err(Given::Out),
        }
    }

    /// One step, or none where extrapolation does not settle; with the column in which it did.
    fn step(
        &mut self,
        from: f64,
        length: f64,
        states: &[f64],
        tolerance: &[f64],
    ) -> Result<Option<(Vec<f64>, usize)>, Given> {
        let scale: Vec<f64> = states.iter().map(|value| value.abs()).collect();
        let jacobian = self.jacobian(from, states, &scale)?;
        let mut last: Vec<Vec<f64>> = Vec::new();
        let mut before = f64::INFINITY;
        for column in 0..COLUMNS {
            let mut row = vec![match self.steps(from, length, states, &jacobian, column + 1) {
                Ok(found) => found,
                Err(Given::Out) => return Ok(None),
                Err(given) => return Err(given),
            }];
            for k in 1..=column {
                let ratio = (column + 1) as f64 / (column + 1 - k) as f64 - 1.0;
                let (finer, coarser) = (&row[k - 1], &last[k - 1]);
                let next = finer
                    .iter()
                    .zip(coarser)
                    .map(|(fine, coarse)| fine + (fine - coarse) / ratio);
                row.push(next.collect());
            }
            if column > 0 {
                let (best, second) = (&row[column], &row[column - 1]);
                let share = |at: usize| (best[at] - second[at]).abs() / tolerance[at];
                let error = (0..self.size).map(share).fold(0.0, f64::max);
                if error <= 1.0 {
                    return Ok(row.pop().map(|best| (best, column)));
                }
                // It does not come nearer any more.
                if column > 2 && error > 2.0 * before {
                    return Ok(None);
                }
                before = error;
            }
            last = row;
        }
        Ok(None)
    }

    /// The states at the end of an interval; `visit` receives each step, from where to where.
    pub(super) fn cross(
        &mut self,
        from: f64,
        to: f64,
        states: &[f64],
        tolerance: &[f64],
        visit: &mut Visit<'_, Self>,
    ) -> Result<Vec<f64>, Given> {
        let (mut time, mut at) = (from, states.to_vec());
        let mut length = to - from;
        while time < to {
            let last = time + 1.000_001 * length >= to;
            let step = if last { to - time } else { length };
            match self.step(time, step, &at, tolerance)? {
                Some((next, column)) => {
                    let end = if last { to } else { time + step };
                    visit(self, (time, &at), (end, &next));
                    (time, at) = (end, next);
                    length = match column {
                        0..=3 => 2.5 * step,
                        4 | 5 => 1.3 * step,
                        _ => 0.8 * step,
                    };
                }
                None => {
                    length = 0.3 * step;
                    if length < SHORTEST * (to - from) || time + length <= time {
                        return Err(Given::Out);
                    }
                }
            }
        }
        Ok(at)
    }
}
