//! Loops whose solutions a program does not track.

use super::subject::Subject;
use lgm_source::codes::Code;
use lgm_source::diagnostic::Diagnostic;

/// Returns the warning that a program does not detect the end of a loop's solution.
pub(super) fn unfollowed(subject: &Subject<'_>) -> Diagnostic {
    let message = format!(
        "code for this target does not detect the end of a solution of the algebraic loop of {}",
        subject.loops_in_words()
    );
    Diagnostic::warning(Code::LGM0937, message)
        .note("if the loop has several solutions, a run may leave one too early, and all later values are then wrong")
        .help("compare it with `lgm simulate`; Rust, FMUs and C without `--fixed-step` continue after the end of a solution")
}
