//! Newton's iteration on the algebraic loops of a run, from the last solution on.

use super::linear::{Factor, Singular};
use super::motion::pattern;
use crate::algebra::newton::LEAP;
use crate::kernels::{Arguments, Kernel, SparseKernel};

/// The most iterations on a loop.
const ITERATIONS: usize = 50;

/// Newton's iteration on the residuals of all loops, with the exact Jacobian and a step length that keeps the next
/// correction smaller than this one (which no scaling of residuals or unknowns changes).
pub(super) struct Newton<'a> {
    /// The residuals.
    pub equations: &'a Kernel,
    /// Their partial derivatives with respect to the unknowns.
    pub matrix: &'a SparseKernel,
    /// The size of each unknown below which its value does not matter.
    pub small: &'a [f64],
    pub scratch: &'a mut [f64],
    pub residuals: &'a mut [f64],
    pub values: &'a mut Vec<f64>,
    pub trial: &'a mut [f64],
    pub step: &'a mut [f64],
    /// Which unknowns take no leaps.
    pub is_held: &'a [bool],
}

impl Newton<'_> {
    /// Improves the unknowns to a solution, beginning with the last one where the unknowns lead nowhere: what is interpolated
    /// between two steps may be far off where a law is as steep as that of a diode.
    pub fn solve_from(&mut self, at: &Arguments<'_>, unknowns: &mut [f64], solution: &mut [f64]) -> Result<(), usize> {
        let mut found = self.solve(at, unknowns);
        if found.is_err() && unknowns != solution {
            unknowns.copy_from_slice(solution);
            found = self.solve(at, unknowns);
        }
        match found {
            Ok(()) => solution.copy_from_slice(unknowns),
            // Half an iteration is no better guess for the next.
            Err(_) => unknowns.copy_from_slice(solution),
        }
        found
    }

    /// Improves the unknowns to a solution; the unknown that moves most where none is found.
    fn solve(&mut self, at: &Arguments<'_>, unknowns: &mut [f64]) -> Result<(), usize> {
        let matrix = self.matrix;
        self.values.resize(matrix.stored(), 0.0);
        let mut last = f64::INFINITY;
        for _ in 0..ITERATIONS {
            let here = Arguments { unknowns, ..*at };
            self.equations.call(&here, self.scratch, self.residuals);
            matrix.values.call(&here, self.scratch, self.values);
            if let Some(unknown) = self.residuals.iter().position(|value| !value.is_finite()) {
                return Err(unknown);
            }
            let factor = match Factor::new(&pattern(matrix), self.values) {
                Ok(factor) => factor,
                Err(Singular(column)) => return Err(column.unwrap_or(0)),
            };
            self.step.copy_from_slice(self.residuals);
            factor.solve(self.step);
            let size = self.size(unknowns, self.step);
            // At round-off the steps stop shrinking.
            if size <= 1.0 || (last < 1e4 && size > 0.5 * last) {
                for (unknown, step) in unknowns.iter_mut().zip(self.step.iter()) {
                    *unknown -= step;
                }
                return Ok(());
            }
            last = size
                * self
                    .advance(at, unknowns, &factor, size)
                    .ok_or_else(|| self.worst(unknowns))?;
        }
        Err(self.worst(unknowns))
    }

    /// The largest of some corrections in units of what does not matter.
    fn size(&self, unknowns: &[f64], corrections: &[f64]) -> f64 {
        let pairs = unknowns.iter().zip(corrections).enumerate();
        pairs
            .map(|(at, (unknown, step))| self.share(at, *unknown, *step))
            .fold(0.0, f64::max)
    }

    /// A correction of an unknown in units of what does not matter of it.
    fn share(&self, at: usize, unknown: f64, correction: f64) -> f64 {
        correction.abs() / (1e-13 * unknown.abs() + self.small[at]).max(f64::MIN_POSITIVE)
    }

    /// How much of the step may be taken. At a dead centre of a chain the step points to infinity, and the sine of a number so large
    /// that its digits do not hold an angle would be taken for a solution.
    fn longest(&self, unknowns: &[f64]) -> f64 {
        let pairs = unknowns.iter().zip(self.step.iter()).zip(self.is_held);
        let allowed = pairs.filter(|pair| *pair.1).map(|((unknown, step), _)| {
            let reach = LEAP * unknown.abs().max(1.0);
            if step.abs() > reach { reach / step.abs() } else { 1.0 }
        });
        allowed.fold(1.0, f64::min)
    }

    fn worst(&self, unknowns: &[f64]) -> usize {
        let share = |at: usize| self.share(at, unknowns[at], self.step[at]);
        let worst = (0..unknowns.len()).max_by(|a, b| share(*a).total_cmp(&share(*b)));
        worst.unwrap_or(0)
    }

    /// Takes the longest of the step and its halves that is an improvement; how much smaller the next correction is.
    fn advance(&mut self, at: &Arguments<'_>, unknowns: &mut [f64], factor: &Factor, size: f64) -> Option<f64> {
        let mut length = self.longest(unknowns);
        for _ in 0..40 {
            for ((trial, unknown), step) in self.trial.iter_mut().zip(unknowns.iter()).zip(self.step.iter()) {
                *trial = unknown - length * step;
            }
            let there = Arguments {
                unknowns: self.trial,
                ..*at
            };
            self.equations.call(&there, self.scratch, self.residuals);
            if self.residuals.iter().all(|value| value.is_finite()) {
                factor.solve(self.residuals);
                let next = self.size(unknowns, self.residuals);
                if next <= (1.0 - 0.25 * length) * size {
                    unknowns.copy_from_slice(self.trial);
                    return Some(next / size);
                }
            }
            length *= 0.5;
        }
        None
    }
}
