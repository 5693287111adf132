//! The tolerance that outputs have.
//!
//! The error control of a run is that of its states. An output that is a small difference of states, as the voltage of a small
//! inductance beside a resistance, has the errors of the states and not their size. So some rows are asked by how much the outputs move
//! where each state moves by its relative tolerance, once to either side. The signs of these moves change from row to row, so that states whose
//! errors cancel in one row do not in all. The size of an output is the most that any row shows, so that one which passes zero is not blamed.

use super::scales::Scales;
use crate::motion::Motion;
use lgm_source::codes::Code;
use lgm_source::diagnostic::{Diagnostic, six_digits};

/// At so many rows of a run the outputs are moved.
const LOOKS: usize = 64;

/// An output may be off by so many relative tolerances before it is worth a warning.
const TIMES: f64 = 100.0;

/// An output that is right to this share of its size is right enough, however small the tolerance is.
const ENOUGH: f64 = 1e-5;

/// An output below this share of what the tolerance moves it by is zero: its terms cancel exactly.
const ZERO: f64 = 1e-4;

/// No tolerance is smaller than this beside the rounding of a run.
const SMALLEST: f64 = 1e-12;

/// Sizes and errors of the outputs of a run.
#[derive(Debug, Default)]
pub(crate) struct OutputErrors {
    /// Every so many rows the outputs are moved.
    stride: usize,
    rows: usize,
    /// The largest size of each output, and the most that it was moved by.
    sizes: Vec<f64>,
    errors: Vec<f64>,
    /// The state from which signs are drawn.
    signs: u64,
}

impl OutputErrors {
    /// For a run of so many rows and outputs.
    pub fn new(rows: usize, outputs: usize) -> OutputErrors {
        OutputErrors {
            stride: rows.div_ceil(LOOKS),
            sizes: vec![0.0; outputs],
            errors: vec![0.0; outputs],
            signs: 0x9e37_79b9_7f4a_7c15,
            ..OutputErrors::default()
        }
    }

    /// A row was written. The solution of the loops stays that of the row.
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
        let moved = |side: f64| {
            let moved: Vec<f64> = states.iter().zip(&moves).map(|(state, by)| state + side * by).collect();
            motion.guess_unknowns(&solution);
            let mut values = vec![0.0; outputs.len()];
            motion.outputs(time, &moved, &mut values).then_some(values)
        };
        // A law that bends or leaps beside the states of the row does so on one side.
        if let (Some(above), Some(below)) = (moved(1.0), moved(-1.0)) {
            for (at, value) in outputs.iter().enumerate() {
                let by = (above[at] - value).abs().min((below[at] - value).abs());
                self.errors[at] = self.errors[at].max(by);
            }
        } else {
            motion.forget_fault();
        }
        motion.guess_unknowns(&solution);
    }

    /// The warning of outputs that are less right than the tolerance says; none where there are none.
    pub fn warning(&self, motion: &Motion<'_>, rtol: f64) -> Option<Diagnostic> {
        let share = |at: usize| self.errors[at] / self.sizes[at];
        let is_lost = |at: &usize| share(*at) > ENOUGH.max(TIMES * rtol) && self.sizes[*at] > ZERO * self.errors[*at];
        let mut lost: Vec<usize> = (0..self.sizes.len()).filter(is_lost).collect();
        lost.sort_by(|a, b| share(*b).total_cmp(&share(*a)));
        let worst = *lost.first()?;
        let name = |at: usize| format!("`{}`", motion.system.outputs[at].name);
        let others = match &lost[1..] {
            [] => String::new(),
            [one] => format!(", and so is {}", name(*one)),
            more => format!(", and so are {} others, such as {}", more.len(), name(more[0])),
        };
        let message = format!("{} is a small difference of states{others}", name(worst));
        let (error, size) = (
            six_digits(two_digits(self.errors[worst])),
            six_digits(two_digits(self.sizes[worst])),
        );
        let needed = two_digits(rtol * rtol / share(worst)).max(SMALLEST);
        let help = match needed < rtol {
            true => format!("run it with `--rtol {:.0e}`", needed),
            false => "measure the small quantity itself, where an element holds it".to_string(),
        };
        let of = two_digits(share(worst));
        Some(
            Diagnostic::warning(Code::LGM1025, message)
                .note(format!(
                    "the relative tolerance of {rtol:e} is that of the states; it allows {} an error of {error}, which is {} of its \
                     largest value, {size}",
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
