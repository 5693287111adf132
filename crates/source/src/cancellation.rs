//! Cancellation of work: after an edit, an editor no longer needs results for the old text.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// A flag that the caller can set, and that the stages check periodically.
///
/// Clones share the flag. Cancelled work is incomplete: its results must not be shown.
#[derive(Clone, Debug, Default)]
pub struct Cancellation(Arc<AtomicBool>);

impl Cancellation {
    /// Requests that the work ends as soon as possible.
    pub fn cancel(&self) {
        self.0.store(true, Ordering::Relaxed);
    }

    /// Returns true if the work is cancelled.
    pub fn is_cancelled(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}
