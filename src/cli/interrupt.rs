//! Ctrl-C: a run that listens ends in good order at the first one; whatever else is going on ends at once, and leaves no
//! half of a file behind.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Whether a run asks in between whether it is to end.
static LISTENING: AtomicBool = AtomicBool::new(false);

static INTERRUPTED: AtomicBool = AtomicBool::new(false);

/// Files and folders that are being written. Whoever makes or forgets one holds the lock.
static UNFINISHED: Mutex<Vec<PathBuf>> = Mutex::new(Vec::new());

/// The exit code of a program that was interrupted.
const EXIT: i32 = 130;

/// From now on the first Ctrl-C is noted instead of ending the program.
pub(super) fn listen() {
    LISTENING.store(true, Ordering::Relaxed);
    handle();
}

/// Whether Ctrl-C was pressed.
pub(super) fn is_asked_for() -> bool {
    INTERRUPTED.load(Ordering::Relaxed)
}

/// Makes a file or a folder that is removed when the program is interrupted before [`finished`].
pub(super) fn create<T>(path: &Path, make: impl FnOnce() -> io::Result<T>) -> io::Result<T> {
    handle();
    let mut files = unfinished();
    let made = make()?;
    files.push(path.to_path_buf());
    Ok(made)
}

/// It has its own name now, is gone, or is to stay.
pub(super) fn finished(path: &Path) {
    unfinished().retain(|other| other != path);
}

fn handle() {
    let answer = ctrlc::set_handler(|| {
        if INTERRUPTED.swap(true, Ordering::Relaxed) || !LISTENING.load(Ordering::Relaxed) {
            // The lock is kept to the end, so that no further file appears.
            let files = unfinished();
            for file in files.iter() {
                // One that has its own name by now is not found under this one.
                let _ = fs::remove_file(file).or_else(|_| fs::remove_dir_all(file));
            }
            std::process::exit(EXIT);
        }
    });
    // It is set already; or there is no such signal, or another listener, which the program can do without.
    drop(answer);
}

fn unfinished() -> MutexGuard<'static, Vec<PathBuf>> {
    UNFINISHED.lock().unwrap_or_else(PoisonError::into_inner)
}
