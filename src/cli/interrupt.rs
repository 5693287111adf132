//! Ctrl-C: the first Ctrl-C ends a cooperative run cleanly. Other work ends immediately, without leaving partial files.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Duration;

/// True if a run regularly checks for an interrupt.
static LISTENING: AtomicBool = AtomicBool::new(false);

static INTERRUPTED: AtomicBool = AtomicBool::new(false);

/// Files and folders that are being written. A thread that adds or removes an entry holds the lock.
static UNFINISHED: Mutex<Vec<PathBuf>> = Mutex::new(Vec::new());

/// Maximum number of attempts to remove a folder that another thread is writing to.
const REMOVALS: u32 = 100;

/// The exit code of an interrupted program.
const EXIT: i32 = 130;

/// Records the first Ctrl-C from now on, instead of ending the program.
pub(super) fn listen() {
    LISTENING.store(true, Ordering::Relaxed);
    handle();
}

/// Returns true if Ctrl-C was pressed.
pub(super) fn is_asked_for() -> bool {
    INTERRUPTED.load(Ordering::Relaxed)
}

/// Returns true if the work is still wanted.
pub(super) fn is_not_asked_for() -> bool {
    !is_asked_for()
}

/// Creates a file or a folder that is removed if the program is interrupted before [`finished`].
pub(super) fn create<T>(path: &Path, make: impl FnOnce() -> io::Result<T>) -> io::Result<T> {
    handle();
    let mut files = unfinished();
    let made = make()?;
    files.push(path.to_path_buf());
    Ok(made)
}

/// Unregisters a path that was renamed or removed, or that must be kept.
pub(super) fn finished(path: &Path) {
    unfinished().retain(|other| other != path);
}

fn handle() {
    let answer = ctrlc::set_handler(|| {
        if INTERRUPTED.swap(true, Ordering::Relaxed) || !LISTENING.load(Ordering::Relaxed) {
            // The lock is held to the end, so that no further file is created.
            let files = unfinished();
            files.iter().for_each(|file| remove(file));
            std::process::exit(EXIT);
        }
    });
    // An error means that the handler is already set, that the signal does not exist, or that another handler exists. The program works
    // without it.
    drop(answer);
}

/// Removes a file, or a folder with its contents. Another thread may still write into the folder during the removal, which then fails. The
/// removal is repeated until the folder no longer exists.
fn remove(path: &Path) {
    for _ in 0..REMOVALS {
        // A path that was already renamed is not found under this name.
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
