//! Algebraic loops in C: residuals, their matrix, and how they enter the rates.

use super::dialect::C;
use crate::code::c::text::{integers, list, move_call};
use crate::code::functions::Functions;
use crate::code::package::CodeOptions;
use crate::code::program::{Array, Dialect};
use crate::code::subject::Subject;
use crate::code::template::Values;
use lgm_kernels::SparseKernel;
use lgm_simulate::OVER_BENDS;

/// Halvings of each of Newton's steps at most.
pub(super) const HALVINGS: u64 = 40;

/// The functions of the algebraic loops.
pub(super) fn loop_values(subject: &Subject<'_>, c: &C, functions: &mut Functions<'_>, values: &mut Values) {
    let kernels = &subject.kernels;
    let none = |_: u32| None;
    functions.add("residuals", kernels.residuals.program(), &none);
    functions.add(
        "loop_matrix",
        subject.jacobians().residuals_by_unknowns.values.program(),
        &none,
    );
    functions.add("partials", subject.jacobians().rates_by_states.values.program(), &none);
    functions.add(
        "by_unknowns",
        subject.jacobians().rates_by_unknowns.values.program(),
        &none,
    );
    functions.add(
        "residuals_by_states",
        subject.jacobians().residuals_by_states.values.program(),
        &none,
    );
    let trial = move_call("model->residuals");
    let trial = move |array| match array {
        Array::Unknowns => "model->trial".to_string(),
        _ => trial(array),
    };
    let matrix = &subject.jacobians().residuals_by_unknowns;
    values
        .set(
            "residuals_call",
            functions.call("residuals", &move_call("model->residuals")),
        )
        .set("trial_call", functions.call("residuals", &trial))
        .set(
            "loop_matrix_call",
            functions.call("loop_matrix", &move_call("model->entries")),
        )
        .set("direct_call", functions.call("partials", &move_call("model->direct")))
        .set(
            "by_loop_call",
            functions.call("by_unknowns", &move_call("model->by_loop")),
        )
        .set(
            "by_state_call",
            functions.call("residuals_by_states", &move_call("model->by_state")),
        )
        .set("loop_entries", matrix.stored().to_string())
        .set("loop_iterations", CodeOptions::default().iterations().to_string())
        .set("loop_halvings", HALVINGS.to_string())
        .set("loop_bends", OVER_BENDS.to_string())
        .set(
            "guesses",
            list(
                subject.guesses().iter().flatten().map(|value| c.literal(*value)),
                String::new(),
            ),
        );
    for (name, kernel) in subject.matrices() {
        sparse_values(name, kernel, values);
    }
}

/// The pattern of a sparse matrix.
pub(super) fn sparse_values(name: &str, kernel: &SparseKernel, values: &mut Values) {
    values
        .set(format!("{name}_rows"), integers(&kernel.row_starts))
        .set(format!("{name}_columns"), integers(&kernel.columns_of))
        .set(format!("{name}_room"), kernel.stored().max(1).to_string());
}
