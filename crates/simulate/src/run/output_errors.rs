//! The accuracy of outputs.
//!
//! The error control of a run applies to its states. An output that is a small difference of states, such as the
//! voltage of a small inductance next to a resistance, has the errors of the states, but not their magnitude. For some
//! rows, the change of the outputs is therefore computed when each state moves by its relative tolerance, once in each
//! direction. The signs of these moves change from row to row, so that states whose errors cancel in one row do not
//! cancel in all. The magnitude of an output is its largest value in any row, so that an output that passes zero is not
//! reported.

use crate::motion::Motion;
use crate::motion::scales::Scales;
use lgm_model::system::StateSystem;
use lgm_source::codes::Code;
use lgm_source::diagnostic::{Diagnostic, six_digits};

/// The number of samples of a run at which the outputs are perturbed.
const LOOKS: usize = 64;

/// The error of an output in relative tolerances beyond which a warning is given.
const TIMES: f64 = 100.0;

/// A share of its error bound that an output does not exceed if states move by round-off only: between 1, if the bound is itself the
/// round-off of terms that cancel, and the round-off as a fraction of the relative tolerance, at most 1e-3.
const ROUNDED: f64 = 0.1;

/// A relative error that is always acceptable, even for smaller tolerances.
const ENOUGH: f64 = 1e-5;

/// An output below this fraction of its error bound is zero: its terms cancel exactly.
const ZERO: f64 = 1e-4;

/// The smallest tolerance that exceeds the round-off of a run.
const SMALLEST: f64 = 1e-12;

/// Sizes and errors of the outputs of a whole run, including all of its parts between events.
#[derive(Debug, Default)]
pub(crate) struct OutputErrors {
    /// The spacing of the samples at which the outputs are perturbed.
    stride: usize,
    rows: usize,
    /// The largest magnitude of each output, and its largest perturbation.
    sizes: Vec<f64>,
    errors: Vec<f64>,
    /// The largest change of each output when each state moves by a few units in the last place.
    roundings: Vec<f64>,
    /// The state from which signs are drawn.
    signs: u64,
}

impl OutputErrors {
    /// Creates the check for a run with this number of samples and outputs.
    pub fn new(rows: usize, outputs: usize) -> OutputErrors {
        OutputErrors {
            stride: rows.div_ceil(LOOKS),
            sizes: vec![0.0; outputs],
            errors: vec![0.0; outputs],
            roundings: vec![0.0; outputs],
            signs: 0x9e37_79b9_7f4a_7c15,
            ..OutputErrors::default()
        }
    }

    /// Examines a written row. The solution of the loops stays that of the row.
    pub fn see(&mut self, motion: &Motion<'_>, scales: &Scales, (time, states): (f64, &[f64]), outputs: &[f64]) {
        for (size, value) in self.sizes.iter_mut().zip(outputs) {
            *size = size.max(value.abs());
        }
        self.rows += 1;
        if states.is_empty() || !self.rows.is_multiple_of(self.stride) {
            return;
        }
        let solution = motion.solution();
        let moves: Vec<f64> = (0..states.len())
            .map(|at| {
                self.signs = self.signs.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
                let sign = if self.signs >> 63 == 0 { 1.0 } else { -1.0 };
                sign * scales.relative(at, states[at])
            })
            .collect();
        let moved = |by: &dyn Fn(usize) -> f64| {
            let moved: Vec<f64> = states.iter().enumerate().map(|(at, state)| state + by(at)).collect();
            motion.guess_unknowns(&solution);
            let mut values = vec![0.0; outputs.len()];
            motion.outputs(time, &moved, &mut values).then_some(values)
        };
        // A law with a kink or jump near the states of the sample has it on one side.
        if let (Some(above), Some(below)) = (moved(&|at| moves[at]), moved(&|at| -moves[at])) {
            for (at, value) in outputs.iter().enumerate() {
                let by = (above[at] - value).abs().min((below[at] - value).abs());
                self.errors[at] = self.errors[at].max(by);
            }
            let rounded = moved(&|at| 8.0 * f64::EPSILON * states[at].abs().copysign(moves[at]));
            for (at, value) in rounded.iter().flatten().enumerate() {
                self.roundings[at] = self.roundings[at].max((value - outputs[at]).abs());
            }
        } else {
            motion.forget_fault();
        }
        motion.guess_unknowns(&solution);
    }

    /// Returns the warning about outputs that are less accurate than the tolerance suggests, if any.
    pub fn warning(&self, system: &StateSystem, rtol: f64) -> Option<Diagnostic> {
        let share = |at: usize| self.errors[at] / self.sizes[at];
        let is_zero =
            |at: usize| self.sizes[at] <= ZERO * self.errors[at] || self.roundings[at] > ROUNDED * self.errors[at];
        let is_lost = |at: &usize| share(*at) > ENOUGH.max(TIMES * rtol) && !is_zero(*at);
        let mut lost: Vec<usize> = (0..self.sizes.len()).filter(is_lost).collect();
        lost.sort_by(|a, b| share(*b).total_cmp(&share(*a)));
        let worst = *lost.first()?;
        let name = |at: usize| format!("`{}`", system.outputs[at].name);
        let others = match &lost[1..] {
            [] => String::new(),
            [one] => format!(", and so is {}", name(*one)),
            more => format!(", and so are {} others, such as {}", more.len(), name(more[0])),
        };
        let message = format!("{} is a small difference between states{others}", name(worst));
        let (error, size) = (
            six_digits(two_digits(self.errors[worst])),
            six_digits(two_digits(self.sizes[worst])),
        );
        let needed = two_digits(rtol * rtol / share(worst)).max(SMALLEST);
        let help = match needed < rtol {
            true => format!("run it with `--rtol {:.0e}`", needed),
            false => "measure the small quantity directly on an element".to_string(),
        };
        let of = two_digits(share(worst));
        Some(
            Diagnostic::warning(Code::LGM1025, message)
                .note(format!(
                    "the relative tolerance {rtol:e} applies to the states; it allows {} an error of {error}, which \
                     is {} of its largest value, {size}",
                    name(worst),
                    six_digits(of)
                ))
                .help(help),
        )
    }
}

fn two_digits(value: f64) -> f64 {
    format!("{value:.1e}").parse().unwrap_or(value)
}
