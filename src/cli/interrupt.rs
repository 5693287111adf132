//! Ctrl-C: a run that listens ends in good order at the first one; whatever else is going on ends at once, and leaves no
//! half of a file behind.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Duration;

/// Whether a run asks in between whether it is to end.
static LISTENING: AtomicBool = AtomicBool::new(false);

static INTERRUPTED: AtomicBool = AtomicBool::new(false);

/// Files and folders that are being written. A thread that makes or forgets one holds the lock.
static UNFINISHED: Mutex<Vec<PathBuf>> = Mutex::new(Vec::new());

/// How often it is tried to remove what another thread writes to.
const REMOVALS: u32 = 100;

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
            files.iter().for_each(|file| remove(file));
            std::process::exit(EXIT);
        }
    });
    // It is set already; or there is no such signal, or another listener, which the program can do without.
    drop(answer);
}

/// Removes a file, or a folder with what is in it. Another thread may still write into the folder, which is then not empty in the end:
/// it is removed again, and once it is gone nothing more can be written there.
fn remove(path: &Path) {
    for _ in 0..REMOVALS {
        // One that has its own name by now is not found under this one.
        let _ = fs::remove_file(path).or_else(|_| fs::remove_dir_all(path));
        if path.symlink_metadata().is_err() {
            return;
        }
        thread::sleep(Duration::from_millis(5));
    }
}

fn unfinished() -> MutexGuard<'static, Vec<PathBuf>> {
    UNFINISHED.lock().unwrap_or_else(PoisonError::into_inner)
}
