//! Newton's iteration on the algebraic loops of a run, from the last solution on.

use crate::linear_factors::pattern;
use crate::linear_factors::{Balanced, Factor, Singular};
use lgm_kernels::{Arguments, Kernel, SparseKernel};
use lgm_numerics::newton::{LEAP, leave_rest};
use lgm_runtime::loops::{ITERATIONS, OVER_BENDS, ROUNDINGS};

/// Convergence is slow if a correction exceeds this fraction of the previous one.
const SLOW: f64 = 0.2;

/// Corrections smaller than this many times the noise floor may be pure round-off.
pub const NEARLY: f64 = 1e4;

/// The smallest fraction of the path from a guess to a solution ([`Newton::approach`]); its inverse is the maximum number of parts.
const SHORTEST_WAY: f64 = 1.0 / 256.0;
const PARTS: usize = 40;

/// Newton's iteration on the residuals of all loops, with the exact Jacobian. The step length keeps the next correction
/// smaller than the current one, a criterion that no scaling of residuals or unknowns changes.
///
/// At a kink of a law, the next correction may be larger than this one for any step length, because it is measured with
/// the slope before the kink. The full step is then taken a few times: the slope after the kink leads to the solution.
pub(crate) struct Newton<'a> {
    /// The residuals.
    pub equations: &'a Kernel,
    /// Their partial derivatives with respect to the unknowns.
    pub matrix: &'a SparseKernel,
    /// The magnitude below which each unknown is negligible.
    pub small: &'a [f64],
    pub scratch: &'a mut Vec<f64>,
    pub residuals: &'a mut [f64],
    pub values: &'a mut Vec<f64>,
    pub trial: &'a mut [f64],
    pub step: &'a mut [f64],
    /// The unknowns without jumps.
    pub is_held: &'a [bool],
    /// True if the path to a solution may be split into parts ([`Newton::approach`]).
    pub may_approach: bool,
    /// The guesses from an implicit method, together with the states.
    pub joint: Option<Joint<'a>>,
}

/// The tolerance of an implicit method for states that it solves together with the unknowns.
///
/// Such a method finds unknowns that the states by themselves determine without any digit: the voltage of a blocking
/// diode, whose current is the difference of two large states. Unknowns that solve the loops with other states within
/// their tolerances are as accurate as the states.
pub(crate) struct Joint<'a> {
    pub by_states: &'a SparseKernel,
    pub absolute: &'a [f64],
    pub relative: f64,
}

/// Unknowns with a relative difference above this value may be different solutions; it is below the continuity threshold of a run.
const APART: f64 = 1e-6;

/// The same for closed chains, which are monitored separately.
const CHAIN_APART: f64 = 1e-3;

/// The maximum number of steps to the nearest unknowns that solve loops within the accuracy of the states; steps below
/// this fraction of the unknowns end the search.
const ADJUSTMENTS: usize = 20;
const STILL: f64 = 1e-10;

/// The magnitude of an unknown at zero, in units of its noise floor.
const UNIT: f64 = 1e6;

/// The target of the residuals: a fraction of those at a guess.
type Aim<'a> = Option<(&'a [f64], f64)>;

/// The continuation of a step along a correction.
enum Next {
    /// The next correction as a multiple of this one.
    Shorter(f64),
    /// No step length makes the next correction smaller; the full step is tried.
    Blind,
    /// No finite residual exists along the step.
    Nowhere,
}

impl Newton<'_> {
    /// Improves the unknowns to a solution, starting with the last one if the unknowns fail: an interpolation between
    /// two steps may be far off for a law as steep as that of a diode.
    pub fn solve_from(&mut self, at: &Arguments<'_>, unknowns: &mut [f64], solution: &mut [f64]) -> Result<(), usize> {
        let guess = self.joint.is_some().then(|| unknowns.to_vec());
        let found = self.solve_near(at, unknowns, solution);
        let meant = guess.and_then(|guess| self.meant(at, guess, found.is_ok().then_some(unknowns)));
        match meant {
            Some(meant) => {
                unknowns.copy_from_slice(&meant);
                solution.copy_from_slice(&meant);
                Ok(())
            }
            None => found,
        }
    }

    /// Returns the solution to use instead of the one found: the result of a guess if none was found, or another one
    /// that the loops cannot distinguish from it.
    pub fn meant(&mut self, at: &Arguments<'_>, mut guess: Vec<f64>, found: Option<&mut [f64]>) -> Option<Vec<f64>> {
        if let Some(found) = &found
            && !self.are_apart(&guess, found)
        {
            return None;
        }
        // A closed chain stays where it is.
        let is_nearly = match self.is_held.contains(&true) {
            true => self.holds_nearly(at, &guess),
            false => self.adjust(at, &mut guess),
        };
        is_nearly.then_some(())?;
        if let Some(found) = found {
            let middle: Vec<f64> = guess.iter().zip(found.iter()).map(|(a, b)| 0.5 * (a + b)).collect();
            (self.are_apart(&guess, found) && self.holds_nearly(at, &middle)).then_some(())?;
        }
        Some(guess)
    }

    fn are_apart(&self, a: &[f64], b: &[f64]) -> bool {
        let share = if self.is_held.contains(&true) {
            CHAIN_APART
        } else {
            APART
        };
        let is_apart = |at: usize| (a[at] - b[at]).abs() > share * a[at].abs().max(b[at].abs()) + self.small[at];
        (0..a.len()).any(is_apart)
    }

    /// Moves unknowns to the nearest solution of the loops within the tolerance of the states; returns true if this succeeds.
    ///
    /// The states determine some unknowns but not others, such as the voltages of two diodes in series, one conducting
    /// and one blocking. Each step is therefore the smallest one that removes the residuals; a residual at its
    /// tolerance costs as much as a move of an unknown by its own magnitude.
    fn adjust(&mut self, at: &Arguments<'_>, unknowns: &mut [f64]) -> bool {
        let size = unknowns.len();
        let matrix = self.matrix;
        for _ in 0..ADJUSTMENTS {
            let Some(allowed) = self.allowed(at, unknowns) else {
                return false;
            };
            if self
                .residuals
                .iter()
                .chain(self.values.iter())
                .any(|value| !value.is_finite())
            {
                return false;
            }
            let unit = |of: usize| unknowns[of].abs().max(UNIT * self.small[of]).max(f64::MIN_POSITIVE);
            // The remaining residuals in units of the tolerance, and the steps in the same units.
            let mut entries: Vec<(usize, usize, f64)> = (0..2 * size)
                .map(|at| (at, at, if at < size { 1.0 } else { -1.0 }))
                .collect();
            for (row, column, at) in pattern(matrix).entries() {
                let slope = self.values[at] * unit(column) / allowed[row];
                entries.extend([(row, size + column, slope), (size + column, row, slope)]);
            }
            let Ok(factor) = Balanced::new(2 * size, entries) else {
                return false;
            };
            let mut steps: Vec<f64> = self.residuals.iter().zip(&allowed).map(|(a, b)| -a / b).collect();
            steps.resize(2 * size, 0.0);
            factor.solve(&mut steps);
            let steps: Vec<f64> = (0..size).map(|at| steps[size + at] * unit(at)).collect();
            for (unknown, step) in unknowns.iter_mut().zip(&steps) {
                *unknown += step;
            }
            let is_still = |at: usize| steps[at].abs() <= STILL * unknowns[at].abs() + self.small[at];
            if (0..size).all(is_still) {
                break;
            }
        }
        self.holds_nearly(at, unknowns)
    }

    /// Returns true if unknowns solve the loops within the tolerance of the states, and within round-off.
    pub fn holds_nearly(&mut self, at: &Arguments<'_>, unknowns: &[f64]) -> bool {
        let Some(allowed) = self.allowed(at, unknowns) else {
            return false;
        };
        // A NaN residual does not pass.
        self.residuals
            .iter()
            .zip(&allowed)
            .all(|(residual, allowed)| residual.abs() <= *allowed)
    }

    /// Returns the tolerance of each residual, and the residuals and their derivatives with respect to the unknowns;
    /// `None` if no implicit method has found the unknowns.
    fn allowed(&mut self, at: &Arguments<'_>, unknowns: &[f64]) -> Option<Vec<f64>> {
        let joint = self.joint.as_ref()?;
        let here = Arguments { unknowns, ..*at };
        self.equations.call(&here, self.scratch, self.residuals);
        let mut allowed = vec![f64::MIN_POSITIVE.sqrt(); unknowns.len()];
        let shares: [(&SparseKernel, &dyn Fn(usize) -> f64); 2] = [
            (joint.by_states, &|of| {
                joint.absolute[of] + joint.relative * at.states[of].abs()
            }),
            (self.matrix, &|of| ROUNDINGS * f64::EPSILON * unknowns[of].abs()),
        ];
        for (matrix, share) in shares {
            self.values.resize(matrix.stored(), 0.0);
            self.scratch
                .resize(self.scratch.len().max(matrix.values.scratch()), 0.0);
            matrix.values.call(&here, self.scratch, self.values);
            for (row, allowed) in allowed.iter_mut().enumerate() {
                for entry in matrix.row_starts[row]..matrix.row_starts[row + 1] {
                    *allowed += self.values[entry].abs() * share(matrix.columns_of[entry]);
                }
            }
        }
        Some(allowed)
    }

    fn solve_near(&mut self, at: &Arguments<'_>, unknowns: &mut [f64], solution: &mut [f64]) -> Result<(), usize> {
        let mut found = self.solve(at, unknowns, None);
        if found.is_err() && unknowns != solution {
            unknowns.copy_from_slice(solution);
            found = self.solve(at, unknowns, None);
        }
        // A closed chain stays where it is: no continuation exists beyond a dead centre.
        if found.is_err() && self.may_approach && !self.is_held.contains(&true) {
            unknowns.copy_from_slice(solution);
            found = self.approach(at, unknowns);
        }
        match found {
            Ok(()) => solution.copy_from_slice(unknowns),
            // A failed iteration gives no better guess for the next one.
            Err(_) => unknowns.copy_from_slice(solution),
        }
        found
    }

    /// Does the same in small parts: the residuals shrink in proportion from those of the guess, and the unknowns
    /// follow, from one piece of a law to the next, as far as the pieces allow.
    pub fn approach(&mut self, at: &Arguments<'_>, unknowns: &mut [f64]) -> Result<(), usize> {
        let here = Arguments { unknowns, ..*at };
        self.equations.call(&here, self.scratch, self.residuals);
        let first = self.residuals.to_vec();
        if let Some(unknown) = first.iter().position(|value| !value.is_finite()) {
            return Err(unknown);
        }
        let (mut left, mut part) = (1.0, 0.25);
        let mut reached = unknowns.to_vec();
        for _ in 0..PARTS {
            let next = f64::max(left - part, 0.0);
            match self.solve(at, unknowns, Some((&first, next))) {
                Ok(()) => {
                    if next == 0.0 {
                        return Ok(());
                    }
                    reached.copy_from_slice(unknowns);
                    (left, part) = (next, 2.0 * part);
                }
                Err(unknown) => {
                    unknowns.copy_from_slice(&reached);
                    part *= 0.25;
                    if part < SHORTEST_WAY {
                        return Err(unknown);
                    }
                }
            }
        }
        Err(0)
    }

    /// Evaluates the residuals minus their target.
    fn evaluate(&mut self, at: &Arguments<'_>, aim: Aim<'_>) {
        self.equations.call(at, self.scratch, self.residuals);
        if let Some((first, share)) = aim {
            for (residual, first) in self.residuals.iter_mut().zip(first) {
                *residual -= share * first;
            }
        }
    }

    /// Improves the unknowns to a solution; the error is the unknown that moves most.
    fn solve(&mut self, at: &Arguments<'_>, unknowns: &mut [f64], aim: Aim<'_>) -> Result<(), usize> {
        let matrix = self.matrix;
        self.values.resize(matrix.stored(), 0.0);
        let mut last = f64::INFINITY;
        let mut blind = 0;
        for _ in 0..ITERATIONS {
            let here = Arguments { unknowns, ..*at };
            self.evaluate(&here, aim);
            if self.residuals.iter().all(|residual| *residual == 0.0) {
                return Ok(());
            }
            if let Some(unknown) = self.residuals.iter().position(|value| !value.is_finite()) {
                return Err(unknown);
            }
            matrix.values.call(&here, self.scratch, self.values);
            let factor = match Factor::new(&pattern(matrix), self.values) {
                Ok(factor) => factor,
                // At rest a turbulent law has no slope, or an infinite one; it has a finite slope nearby.
                Err(Singular(_)) if blind < OVER_BENDS && !self.is_held.contains(&true) => {
                    leave_rest(unknowns, self.small);
                    blind += 1;
                    last = f64::INFINITY;
                    continue;
                }
                Err(Singular(column)) => return Err(column.unwrap_or(0)),
            };
            let is_rounding = self.is_rounding(unknowns);
            self.step.copy_from_slice(self.residuals);
            factor.solve(self.step);
            let size = self.size(unknowns, self.step);
            // At the level of round-off the steps stop shrinking; at a kink they grow.
            let has_stopped = size < NEARLY && (is_rounding || last < NEARLY && size > 0.5 * last);
            if size <= 1.0 || has_stopped {
                for (unknown, step) in unknowns.iter_mut().zip(self.step.iter()) {
                    *unknown -= step;
                }
                return Ok(());
            }
            match self.advance(at, unknowns, &factor, size, aim) {
                Next::Shorter(share) => last = size * share,
                // No step leads closer than round-off allows. The partial derivatives do not show all summands: for
                // `exp(v) - 1` near v = 1e-5, they show v. Beyond a kink, one more step would have led closer.
                _ if is_rounding || size < NEARLY && blind > 0 => return Ok(()),
                Next::Blind if blind < OVER_BENDS => {
                    unknowns.copy_from_slice(self.trial);
                    blind += 1;
                    last = f64::INFINITY;
                }
                _ => return Err(self.worst(unknowns)),
            }
        }
        Err(self.worst(unknowns))
    }

    /// Returns true if every residual is zero except for the round-off of its terms, as given by its partial derivatives.
    fn is_rounding(&self, unknowns: &[f64]) -> bool {
        let matrix = self.matrix;
        (0..matrix.rows).all(|row| {
            let residual = self.residuals[row];
            let entries = matrix.row_starts[row]..matrix.row_starts[row + 1];
            let terms = entries.map(|at| self.values[at] * unknowns[matrix.columns_of[at]]);
            let (sum, sizes) = terms.fold((0.0, 0.0), |(sum, sizes), term| (sum + term, sizes + term.abs()));
            let known: f64 = residual - sum;
            residual.abs() <= ROUNDINGS * f64::EPSILON * (sizes + known.abs())
        })
    }

    /// Returns the largest correction in units of the negligible magnitude.
    fn size(&self, unknowns: &[f64], corrections: &[f64]) -> f64 {
        let pairs = unknowns.iter().zip(corrections).enumerate();
        pairs
            .map(|(at, (unknown, step))| self.share(at, *unknown, *step))
            .fold(0.0, f64::max)
    }

    /// Returns a correction of an unknown in units of its negligible magnitude.
    fn share(&self, at: usize, unknown: f64, correction: f64) -> f64 {
        correction.abs() / (1e-13 * unknown.abs() + self.small[at]).max(f64::MIN_POSITIVE)
    }

    /// Returns the usable fraction of the step. At a dead centre of a chain the step points to infinity. The sine of a
    /// number too large to represent an angle would be mistaken for a solution.
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

    /// Halves the step until the residual decreases; if it never does, takes the longest step with a finite residual.
    fn advance(&mut self, at: &Arguments<'_>, unknowns: &mut [f64], factor: &Factor, size: f64, aim: Aim<'_>) -> Next {
        let mut length = self.longest(unknowns);
        let mut longest_finite = None;
        for halving in 0..40 {
            if let Some(mut next) = self.next_size(at, unknowns, length, factor, aim) {
                longest_finite.get_or_insert(length);
                if next <= (1.0 - 0.25 * length) * size {
                    // Each step covers half the distance to a point at which several solutions meet, as for a turbulent law at rest.
                    if length == 1.0 && next > SLOW * size && !self.is_held.contains(&true) {
                        match self.next_size(at, unknowns, 2.0, factor, aim) {
                            Some(further) if further < SLOW * next => next = further,
                            _ => self.try_length(unknowns, length),
                        }
                    }
                    unknowns.copy_from_slice(self.trial);
                    return Next::Shorter(next / size);
                }
            }
            length *= if halving < 20 { 0.5 } else { 0.0625 };
        }
        match longest_finite {
            Some(length) => {
                self.try_length(unknowns, length);
                Next::Blind
            }
            None => Next::Nowhere,
        }
    }

    /// Returns the magnitude of the next correction after a part of the step; `None` if a residual is not finite.
    fn next_size(
        &mut self,
        at: &Arguments<'_>,
        unknowns: &[f64],
        length: f64,
        factor: &Factor,
        aim: Aim<'_>,
    ) -> Option<f64> {
        self.try_length(unknowns, length);
        let trial = std::mem::take(&mut self.trial);
        self.evaluate(&Arguments { unknowns: trial, ..*at }, aim);
        self.trial = trial;
        self.residuals.iter().all(|value| value.is_finite()).then(|| {
            factor.solve(self.residuals);
            self.size(unknowns, self.residuals)
        })
    }

    fn try_length(&mut self, unknowns: &[f64], length: f64) {
        for ((trial, unknown), step) in self.trial.iter_mut().zip(unknowns).zip(self.step.iter()) {
            *trial = unknown - length * step;
        }
    }
}
