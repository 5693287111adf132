//! Ctrl-C: the first one ends the run in good order, the second one ends the program.

use std::sync::atomic::{AtomicBool, Ordering};

static INTERRUPTED: AtomicBool = AtomicBool::new(false);

/// The exit code of a program that was interrupted.
pub(super) const EXIT: i32 = 130;

/// From now on Ctrl-C is noted instead of ending the program.
pub(super) fn listen() {
    let answer = ctrlc::set_handler(|| {
        if INTERRUPTED.swap(true, Ordering::Relaxed) {
            std::process::exit(EXIT);
        }
    });
    // Where there is no such signal, or another listener, the run can do without.
    drop(answer);
}

/// Whether Ctrl-C was pressed.
pub(super) fn is_asked_for() -> bool {
    INTERRUPTED.load(Ordering::Relaxed)
}
