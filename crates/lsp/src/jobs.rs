//! The tasks of the worker, and the data shared with the message loop.

use crate::world::documents::World;
use lgm_source::cancellation::Cancellation;
use lsp_server::{Request, RequestId};
use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// The current task of the worker.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Purpose {
    /// Searching for problems.
    Check,
    /// Answering a request.
    Answer(RequestId),
}

/// The tasks of the worker.
#[derive(Debug)]
pub(crate) enum Job {
    /// Searches for problems in the newest world.
    Check,
    /// Answers a request that was made in this world; the flag is set when the answer is no longer needed.
    Answer(Request, Arc<World>, Cancellation),
}

/// The data shared by the message thread and the worker.
#[derive(Debug, Default)]
pub(crate) struct Shared {
    pub(crate) latest: Mutex<Arc<World>>,
    /// The cancellation flag and the purpose of the current computation.
    pub(crate) working: Mutex<Option<(Cancellation, Purpose)>>,
    pub(crate) waiting: Mutex<HashMap<RequestId, Cancellation>>,
}

pub(crate) fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    // The data behind these locks is consistent after every statement.
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Shared {
    /// Returns the newest world.
    pub(crate) fn latest(&self) -> Arc<World> {
        locked(&self.latest).clone()
    }

    /// Makes a world the newest one, and cancels work for an older one. Answers continue if no text was edited.
    pub(crate) fn renew(&self, world: World, is_edit: bool) {
        *locked(&self.latest) = Arc::new(world);
        if let Some((cancellation, purpose)) = &*locked(&self.working)
            && (is_edit || *purpose == Purpose::Check)
        {
            cancellation.cancel();
        }
    }

    pub(super) fn is_latest(&self, world: &Arc<World>) -> bool {
        Arc::ptr_eq(&locked(&self.latest), world)
    }

    pub(crate) fn work_begins(&self, cancellation: &Cancellation, purpose: &Purpose) {
        *locked(&self.working) = Some((cancellation.clone(), purpose.clone()));
    }

    pub(crate) fn work_ends(&self) {
        *locked(&self.working) = None;
    }

    /// Records that a request waits for its answer.
    pub(crate) fn wait(&self, id: &RequestId) -> Cancellation {
        let cancellation = Cancellation::default();
        locked(&self.waiting).insert(id.clone(), cancellation.clone());
        cancellation
    }

    /// Cancels a request whose answer is no longer needed.
    pub(crate) fn cancel(&self, id: &RequestId) {
        if let Some(cancellation) = locked(&self.waiting).get(id) {
            cancellation.cancel();
        }
        if let Some((cancellation, purpose)) = &*locked(&self.working)
            && *purpose == Purpose::Answer(id.clone())
        {
            cancellation.cancel();
        }
    }
}
