//! Algebraic loops in C: where the entries of their matrix are, and how they enter the rates.

use crate::code::c::text::integers;
use crate::code::subject::Subject;
use crate::code::template::values;
use lgm_kernels::SparseKernel;

values! {
    /// What solves the algebraic loops.
    pub(super) struct LoopSolver {
        loop_rows: String,
        loop_columns: String,
        loop_room: usize,
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

/// The patterns of the algebraic loops, and how often they are iterated.
pub(super) fn loop_solver(subject: &Subject<'_>, iterations: u64) -> LoopSolver {
    let [loops, direct, by_loop, by_state] = subject.matrices().map(Pattern::of);
    LoopSolver {
        loop_rows: loops.rows,
        loop_columns: loops.columns,
        loop_room: loops.room,
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
    }
}
