//! What a step of fixed length takes.

use crate::code::functions;
use crate::code::subject::{JUMP_PARTS, Subject};
use crate::shortest;
use lgm_runtime::loops::HALVINGS;
use std::fmt::Write;

/// How many operations a step of fixed length takes at most.
pub(super) fn operations(subject: &Subject<'_>, step: f64, iterations: u64) -> String {
    let kernels = &subject.kernels;
    let of = functions::operations;
    let states = subject.states.len() as u64;
    let k = subject.unknowns() as u64;
    let plain = of(kernels.derivatives.program()) + of(kernels.inputs.program());
    let mut loops = 0;
    if k > 0 {
        let factors = k * k * k + k * k;
        let iteration = of(kernels.residuals.program())
            + of(subject.jacobians().residuals_by_unknowns.values.program())
            + factors
            + 2 * k * k
            + HALVINGS as u64 * (of(kernels.residuals.program()) + 2 * k * k + 4 * k);
        loops = iterations * iteration;
    }
    let slope = plain + loops;
    let total = 4 * (slope + 4 * states) + 8 * states + of(kernels.outputs.program());
    let mut sentence = format!(
        "A step of {} s takes at most {total} operations on numbers: four right-hand sides of {slope}, the outputs, and {} for \
         the step itself. A call of a mathematical function counts as one.",
        shortest(step),
        24 * states
    );
    if subject.jumps() {
        let _ = write!(
            sentence,
            " Where an input steps, the states are brought along on two ways of at most {JUMP_PARTS} parts each, of {} operations a part; \
             a `-D` of the compiler for the parts allows fewer. A way that does not come to its end ends the run with its cause.",
            19 * slope + 60 * states
        );
    }
    if k > 0 {
        let _ = write!(
            sentence,
            " Of each right-hand side {loops} are those of {iterations} iterations on the algebraic loops, which are hardly ever made; \
             `--loop-iterations` allows fewer. The first solution is looked for from five guesses, with so many iterations each."
        );
    }
    if subject.has_branches() {
        sentence.push_str(
            " What it takes to follow a solution of the loops along a step, and to leave it where it ends, is not in these numbers.",
        );
    }
    sentence
}
