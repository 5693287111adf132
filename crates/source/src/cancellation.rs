//! Cancellation of work: after an edit, an editor no longer needs results for the old text.

use std::hash::{Hash, Hasher};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// A flag that the caller can set, and that the stages check periodically.
///
/// Clones share the flag. Cancelled work is incomplete: its results must not be shown.
#[derive(Clone, Debug, Default)]
pub struct Cancellation(Arc<AtomicBool>);

/// Clones are equal: they share the flag.
impl PartialEq for Cancellation {
    fn eq(&self, other: &Cancellation) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }
}

impl Eq for Cancellation {}

impl Hash for Cancellation {
    fn hash<H: Hasher>(&self, state: &mut H) {
        Arc::as_ptr(&self.0).hash(state);
    }
}

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
