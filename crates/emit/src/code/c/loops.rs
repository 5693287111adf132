//! Algebraic loops in C: residuals, their matrix, and how they enter the rates.

use super::dialect::C;
use crate::code::c::text::{integers, list, move_call};
use crate::code::dialect::{Array, Dialect};
use crate::code::functions::Functions;
use crate::code::subject::Subject;
use crate::code::template::values;
use lgm_kernels::SparseKernel;
use lgm_kernels::operation::Space;
use lgm_kernels::program::Program;
use lgm_runtime::loops::{HALVINGS, OVER_BENDS};

values! {
    /// What solves the algebraic loops.
    pub(super) struct LoopSolver {
        residuals_call: String,
        trial_call: String,
        loop_matrix_call: String,
        direct_call: String,
        by_loop_call: String,
        by_state_call: String,
        loop_rows: String,
        loop_columns: String,
        loop_room: usize,
        loop_entries: usize,
        direct_rows: String,
        direct_columns: String,
        direct_room: usize,
        by_loop_rows: String,
        by_loop_columns: String,
        by_loop_room: usize,
        by_state_rows: String,
        by_state_columns: String,
        by_state_room: usize,
        loop_iterations: String,
        loop_halvings: String,
        loop_bends: String,
        guesses: String,
    }
}

/// Where the entries of a sparse matrix stand, and the room that they take.
pub(super) struct Pattern {
    pub(super) rows: String,
    pub(super) columns: String,
    pub(super) room: usize,
}

impl Pattern {
    pub(super) fn of(kernel: &SparseKernel) -> Pattern {
        Pattern {
            rows: integers(&kernel.row_starts),
            columns: integers(&kernel.columns_of),
            // C has no empty arrays.
            room: kernel.stored().max(1),
        }
    }
}

/// Adds the functions of the algebraic loops.
pub(super) fn loop_solver<'p>(
    subject: &'p Subject<'_>,
    c: &C,
    iterations: u64,
    functions: &mut Functions<'_>,
    scratch: &mut Vec<&'p Program>,
) -> LoopSolver {
    let jacobians = subject.jacobians();
    for (name, kernel) in [
        ("residuals", &subject.kernels.residuals),
        ("loop_matrix", &jacobians.residuals_by_unknowns.values),
        ("partials", &jacobians.rates_by_states.values),
        ("by_unknowns", &jacobians.rates_by_unknowns.values),
        ("residuals_by_states", &jacobians.residuals_by_states.values),
    ] {
        functions.add(name, kernel.program(), &|_: u32| None);
        scratch.push(kernel.program());
    }
    let call = |name: &str, out: &str| functions.call(name, &move_call(out));
    let plain = move_call("model->residuals");
    let trial = |array| match array {
        Array::Read(Space::Unknowns) => "model->trial".to_string(),
        _ => plain(array),
    };
    let [loops, direct, by_loop, by_state] = subject.matrices().map(Pattern::of);
    let guesses = subject.guesses();
    LoopSolver {
        residuals_call: call("residuals", "model->residuals"),
        trial_call: functions.call("residuals", &trial),
        loop_matrix_call: call("loop_matrix", "model->entries"),
        direct_call: call("partials", "model->direct"),
        by_loop_call: call("by_unknowns", "model->by_loop"),
        by_state_call: call("residuals_by_states", "model->by_state"),
        loop_rows: loops.rows,
        loop_columns: loops.columns,
        loop_room: loops.room,
        loop_entries: jacobians.residuals_by_unknowns.stored(),
        direct_rows: direct.rows,
        direct_columns: direct.columns,
        direct_room: direct.room,
        by_loop_rows: by_loop.rows,
        by_loop_columns: by_loop.columns,
        by_loop_room: by_loop.room,
        by_state_rows: by_state.rows,
        by_state_columns: by_state.columns,
        by_state_room: by_state.room,
        loop_iterations: iterations.to_string(),
        loop_halvings: HALVINGS.to_string(),
        loop_bends: OVER_BENDS.to_string(),
        guesses: list(guesses.iter().flatten().map(|value| c.literal(*value)), String::new()),
    }
}
