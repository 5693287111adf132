//! What the worker is to do, and what it shares with the loop that reads messages.

use crate::world::documents::World;
use lgm_source::cancellation::Cancellation;
use lsp_server::{Request, RequestId};
use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// What the worker is doing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Purpose {
    /// Looking for problems.
    Check,
    /// Answering a request.
    Answer(RequestId),
}

/// What the worker is to do.
#[derive(Debug)]
pub(crate) enum Job {
    /// Look for problems in the newest world.
    Check,
    /// Answer a request that was asked in this world; the flag says that nobody waits for the answer any more.
    Answer(Request, Arc<World>, Cancellation),
}

/// What the thread that reads messages and the worker know of each other.
#[derive(Debug, Default)]
pub(crate) struct Shared {
    pub(crate) latest: Mutex<Arc<World>>,
    /// The flag of the snapshot that is being computed, and what for.
    pub(crate) working: Mutex<Option<(Cancellation, Purpose)>>,
    pub(crate) waiting: Mutex<HashMap<RequestId, Cancellation>>,
}

pub(crate) fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    // What is behind these locks is whole after every statement.
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Shared {
    /// The newest world.
    pub(crate) fn latest(&self) -> Arc<World> {
        locked(&self.latest).clone()
    }

    /// Makes a world the newest one; what is computed for an older one ends early. Answers go on where no text was edited.
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

    /// Notes that a request waits for its answer.
    pub(crate) fn wait(&self, id: &RequestId) -> Cancellation {
        let cancellation = Cancellation::default();
        locked(&self.waiting).insert(id.clone(), cancellation.clone());
        cancellation
    }

    /// Nobody waits for the answer any more.
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
