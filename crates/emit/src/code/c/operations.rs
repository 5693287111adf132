//! The computational cost of a fixed step.

use crate::code::functions;
use crate::code::subject::Subject;
use crate::shortest;
use lgm_runtime::loops::HALVINGS;
use std::fmt::Write;

/// Describes the maximum number of operations in a fixed step.
pub(super) fn operations(subject: &Subject<'_>, step: f64, iterations: u64, is_exact: bool) -> String {
    let kernels = &subject.kernels;
    let of = functions::operations;
    let states = subject.states.len() as u64;
    let blocks = subject.sampled.as_ref().map_or(0, |sampled| {
        let assigned = sampled.kernels.assigned.iter();
        let assigned = assigned.map(|kernel| of(kernel.program())).sum::<u64>();
        let [read, conditions] = sampled.kernels.at_points().map(|kernel| of(kernel.program()));
        // Tests and runs of `when` blocks are repeated while blocks make further conditions true.
        let count = sampled.conditions.len() as u64;
        let repeats = if count > 0 { count + 1 } else { 0 };
        (1 + repeats) * (read + assigned) + repeats * (conditions + 3 * count) + 2 * sampled.clocks().len() as u64
    });
    let with_blocks = if blocks > 0 { "the blocks, " } else { "" };
    if is_exact {
        let columns = states + (subject.inputs.len() + subject.discretes.len()) as u64;
        let total = blocks + of(kernels.outputs.program()) + states * (2 * columns + 1);
        return format!(
            "A step of {} s takes at most {total} arithmetic operations: {with_blocks}the outputs, and a product of a matrix with states and \
             inputs, which is exact while the inputs are held. The matrix is computed when the run begins.",
            shortest(step)
        );
    }
    let k = subject.unknowns() as u64;
    let plain = of(kernels.derivatives.program());
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
    let total = blocks + 4 * (slope + 4 * states) + 8 * states + of(kernels.outputs.program());
    let mut sentence = format!(
        "A step of {} s takes at most {total} arithmetic operations: {with_blocks}four right-hand sides of {slope}, the outputs, \
         and {} for the step itself. A call of a mathematical function counts as one operation.",
        shortest(step),
        24 * states
    );
    if k > 0 {
        let _ = write!(
            sentence,
            " Of each right-hand side, {loops} operations belong to {iterations} iterations on the algebraic loops, \
             which are rarely all needed; `--loop-iterations` allows fewer. The first solution is searched from five \
             guesses, with the same number of iterations each."
        );
    }
    sentence
}
