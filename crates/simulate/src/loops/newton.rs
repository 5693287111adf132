//! Newton's iteration on the algebraic loops of a run, from the last solution on.

use crate::solvers::linear_factors::pattern;
use crate::solvers::linear_factors::{Balanced, Factor, Singular};
use lgm_kernels::{Arguments, Kernel, SparseKernel};
use lgm_numerics::newton::{LEAP, leave_rest};
use lgm_runtime::loops::{ITERATIONS, OVER_BENDS, ROUNDINGS};

/// A correction that is more than this share of the one before is slow to vanish.
const SLOW: f64 = 0.2;

/// Corrections below this many times what does not matter may be all that rounding leaves.
pub const NEARLY: f64 = 1e4;

/// The shortest part of the way from a guess to a solution ([`Newton::approach`]), and the most parts.
const SHORTEST_WAY: f64 = 1.0 / 256.0;
const PARTS: usize = 40;

/// Newton's iteration on the residuals of all loops, with the exact Jacobian and a step length that keeps the next
/// correction smaller than this one (which no scaling of residuals or unknowns changes).
///
/// Where a law bends, the next correction may be larger than this one whatever the step length, as it is measured by the slope
/// before the bend. Then the whole step is taken a few times: the slope behind the bend leads on.
pub(crate) struct Newton<'a> {
    /// The residuals.
    pub equations: &'a Kernel,
    /// Their partial derivatives with respect to the unknowns.
    pub matrix: &'a SparseKernel,
    /// The size of each unknown below which its value does not matter.
    pub small: &'a [f64],
    pub scratch: &'a mut Vec<f64>,
    pub residuals: &'a mut [f64],
    pub values: &'a mut Vec<f64>,
    pub trial: &'a mut [f64],
    pub step: &'a mut [f64],
    /// Which unknowns take no leaps.
    pub is_held: &'a [bool],
    /// Whether the way to a solution may be taken in parts ([`Newton::approach`]).
    pub may_approach: bool,
    /// Where an implicit method has found the guesses, together with the states.
    pub joint: Option<Joint<'a>>,
}

/// What an implicit method allows of the states that it solves for together with the unknowns.
///
/// It finds unknowns that the states alone determine with no digit: the voltage of a diode which blocks, whose current is the
/// difference of two that are states and large. Unknowns that solve the loops with other states, which are
/// no farther off than is allowed of them, are as right as the states.
pub(crate) struct Joint<'a> {
    pub by_states: &'a SparseKernel,
    pub absolute: &'a [f64],
    pub relative: f64,
}

/// Unknowns that differ by more than this share are worth asking which of them is meant: less than what counts as continuous where a
/// run follows them.
const APART: f64 = 1e-6;

/// The same of closed chains, which have their own watch.
const CHAIN_APART: f64 = 1e-3;

/// The most steps to the nearest unknowns that solve loops as nearly as the states are known; shorter ones than this share of the
/// unknowns end it.
const ADJUSTMENTS: usize = 20;
const STILL: f64 = 1e-10;

/// An unknown that is zero counts as so many times what does not matter of it.
const UNIT: f64 = 1e6;

/// What the residuals are to be: a share of those at a guess.
type Aim<'a> = Option<(&'a [f64], f64)>;

/// How a step along a correction goes on.
enum Next {
    /// The next correction is so many times this one.
    Shorter(f64),
    /// No step length makes the next correction smaller; the whole step is on trial.
    Blind,
    /// There is no finite residual on the way.
    Nowhere,
}

impl Newton<'_> {
    /// Improves the unknowns to a solution, beginning with the last one where the unknowns lead nowhere: what is interpolated
    /// between two steps may be far off where a law is as steep as that of a diode.
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

    /// What is to be taken for the solution in place of what was found: what a guess leads to where nothing was found, or
    /// something else that the loops cannot distinguish from it.
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

    /// Moves unknowns to the nearest ones that solve the loops but for what is allowed of the states; whether they do.
    ///
    /// Some unknowns follow from the states and others do not, as the voltages of two diodes in series of which one conducts and one
    /// blocks. So each step is the smallest one that takes the residuals away, where what is allowed of them costs as much as a
    /// move of an unknown by its own size.
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
            // The residuals that are left, in units of what is allowed of them, beside the steps in these units.
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

    /// Whether unknowns solve the loops but for what is allowed of the states, and for rounding.
    pub fn holds_nearly(&mut self, at: &Arguments<'_>, unknowns: &[f64]) -> bool {
        let Some(allowed) = self.allowed(at, unknowns) else {
            return false;
        };
        // A residual that is no number is not passed.
        self.residuals
            .iter()
            .zip(&allowed)
            .all(|(residual, allowed)| residual.abs() <= *allowed)
    }

    /// What is allowed of each residual, and the residuals and their derivatives by the unknowns; None where no implicit method has
    /// found the unknowns.
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
        // A closed chain stays where it is: beyond a dead centre there is no way on.
        if found.is_err() && self.may_approach && !self.is_held.contains(&true) {
            unknowns.copy_from_slice(solution);
            found = self.approach(at, unknowns);
        }
        match found {
            Ok(()) => solution.copy_from_slice(unknowns),
            // Half an iteration is no better guess for the next.
            Err(_) => unknowns.copy_from_slice(solution),
        }
        found
    }

    /// The same in small parts: the residuals shrink in proportion from those of the guess, and the unknowns follow, from one
    /// piece of a law to the next, as far as the pieces lead on.
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

    /// The residuals less what they are to be.
    fn evaluate(&mut self, at: &Arguments<'_>, aim: Aim<'_>) {
        self.equations.call(at, self.scratch, self.residuals);
        if let Some((first, share)) = aim {
            for (residual, first) in self.residuals.iter_mut().zip(first) {
                *residual -= share * first;
            }
        }
    }

    /// Improves the unknowns to a solution; the unknown that moves most where none is found.
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
                // At rest a turbulent law has no slope, or an infinite one; beside it there is one.
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
            // At round-off the steps stop shrinking; at a bend they grow.
            let has_stopped = size < NEARLY && (is_rounding || last < NEARLY && size > 0.5 * last);
            if size <= 1.0 || has_stopped {
                for (unknown, step) in unknowns.iter_mut().zip(self.step.iter()) {
                    *unknown -= step;
                }
                return Ok(());
            }
            match self.advance(at, unknowns, &factor, size, aim) {
                Next::Shorter(share) => last = size * share,
                // No step leads nearer than rounding allows. The partial derivatives do not show all that is summed: of `exp(v) - 1`
                // beside v = 1e-5, they show v. Behind a bend, one more step would have led nearer.
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

    /// True if every residual is zero but for the rounding of the terms that it sums, as its partial derivatives show them.
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

    /// Takes the longest of the step and its halves that is an improvement; where there is none, the longest that has a residual.
    fn advance(&mut self, at: &Arguments<'_>, unknowns: &mut [f64], factor: &Factor, size: f64, aim: Aim<'_>) -> Next {
        let mut length = self.longest(unknowns);
        let mut longest_finite = None;
        for halving in 0..40 {
            if let Some(mut next) = self.next_size(at, unknowns, length, factor, aim) {
                longest_finite.get_or_insert(length);
                if next <= (1.0 - 0.25 * length) * size {
                    // Each step leads half the way to where several solutions meet, as those of a turbulent law at rest.
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

    /// The size of the next correction behind a part of the step; none where a residual is not finite.
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
