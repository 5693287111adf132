//! Asking work to end early: an editor whose text has changed has no use for the answer about the old one.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// A flag that the caller can raise, and that the stages look at as they go.
///
/// Clones share the flag. What was cut short is incomplete: its results are not to be shown.
#[derive(Clone, Debug, Default)]
pub struct Cancellation(Arc<AtomicBool>);

impl Cancellation {
    /// Asks the work to end as soon as it can.
    pub fn cancel(&self) {
        self.0.store(true, Ordering::Relaxed);
    }

    /// Whether the work is to end.
    pub fn is_cancelled(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}
