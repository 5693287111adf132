//! Snapshots of the open texts, kept as long as nothing that they were made from changes.

use crate::documents::World;
use crate::files::{Files, ReadFile};
use crate::jobs::{Purpose, Shared};
use crate::settings::Settings;
use gen_lsp_types::Diagnostic;
use lgm_ide::Snapshot;
use lgm_source::cancellation::Cancellation;
use std::collections::HashMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::PathBuf;
use std::sync::Arc;

/// A snapshot and what it was made from.
#[derive(Debug)]
pub(crate) struct Entry {
    /// What answers.
    pub snapshot: Snapshot,
    /// Its diagnostics once they were asked for, each with the URI of its text, and for which settings.
    pub problems: Option<(Settings, Vec<(String, Diagnostic)>)>,
    text: Arc<str>,
    reads: Vec<ReadFile>,
    disk: u64,
    folders: Vec<PathBuf>,
    cancellation: Cancellation,
}

impl Entry {
    fn new(world: &World, uri: &str, cancellation: Cancellation) -> Option<Entry> {
        let document = world.documents.get(uri)?;
        let files = Files::new(world, document.path.as_deref());
        let name = document
            .path
            .as_ref()
            .map_or(uri.to_string(), |path| path.display().to_string());
        let snapshot = Snapshot::new(
            &files,
            document.path.clone(),
            &name,
            &document.text,
            cancellation.clone(),
        );
        Some(Entry {
            snapshot,
            problems: None,
            text: document.text.clone(),
            reads: files.into_reads(),
            disk: world.disk,
            folders: world.folders.clone(),
            cancellation,
        })
    }

    /// Whether the open texts that it was made from are those of a world.
    fn sees(&self, world: &World, uri: &str) -> bool {
        let is_same = |old: &Option<Arc<str>>, new: Option<&Arc<str>>| match (old, new) {
            (None, None) => true,
            (Some(old), Some(new)) => Arc::ptr_eq(old, new),
            _ => false,
        };
        let root = world.documents.get(uri).map(|document| &document.text);
        root.is_some_and(|text| Arc::ptr_eq(text, &self.text))
            && self
                .reads
                .iter()
                .all(|(path, text)| is_same(text, world.opened(path).map(|entry| &entry.1.text)))
    }

    fn is_fresh(&self, world: &World, uri: &str) -> bool {
        self.sees(world, uri) && self.disk == world.disk && self.folders == world.folders
    }
}

/// Why there is no answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Stopped {
    /// The flag was raised while it was computed.
    Cancelled,
    /// The compiler is at fault; with the words of the panic.
    Panicked(String),
}

/// Does the work; a panic becomes its message.
pub(crate) fn guarded<R>(work: impl FnOnce() -> R) -> Result<R, Stopped> {
    catch_unwind(AssertUnwindSafe(work)).map_err(|panic| {
        let words = panic.downcast_ref::<String>().map(String::as_str);
        let words = words.or_else(|| panic.downcast_ref::<&str>().copied());
        Stopped::Panicked(words.unwrap_or("a panic without words").to_string())
    })
}

/// The snapshots of the open texts.
#[derive(Debug)]
pub(crate) struct Cache {
    shared: Arc<Shared>,
    entries: HashMap<String, Entry>,
    purpose: Purpose,
    /// Snapshots that were replaced: to free a large one takes time, which an answer need not wait for.
    stale: Vec<Entry>,
    /// The URIs of the snapshots that the work since [`Cache::begin`] has used.
    used: Vec<String>,
}

impl Cache {
    pub(crate) fn new(shared: Arc<Shared>) -> Cache {
        Cache {
            shared,
            entries: HashMap::new(),
            purpose: Purpose::Check,
            stale: Vec::new(),
            used: Vec::new(),
        }
    }

    /// Begins a piece of work.
    pub(crate) fn begin(&mut self, purpose: Purpose) {
        self.purpose = purpose;
        self.used.clear();
    }

    /// Forgets a text that was looked at as if it were open: no edit can overtake it.
    pub(crate) fn forget(&mut self, uri: &str) {
        self.entries.remove(uri);
        self.used.retain(|used| used != uri);
    }

    /// Frees what was replaced, once nobody waits.
    pub(crate) fn free_stale(&mut self) {
        self.stale.clear();
    }

    /// Forgets texts that are no longer open.
    pub(crate) fn keep_open(&mut self, world: &World) {
        self.entries.retain(|uri, _| world.documents.contains_key(uri));
    }

    /// Does something with the snapshot of an open text, which is made if there is none that is fresh. `None` if the text is not open.
    pub(crate) fn with<R>(
        &mut self,
        world: &World,
        uri: &str,
        work: impl FnOnce(&mut Entry) -> R,
    ) -> Result<Option<R>, Stopped> {
        let (kept, stale) = match self.entries.remove(uri) {
            Some(entry) if entry.is_fresh(world, uri) => (Some(entry), None),
            other => (None, other),
        };
        // While one edit follows another, no more than one is kept.
        self.stale.truncate(usize::from(stale.is_none()));
        self.stale.extend(stale);
        let cancellation = kept
            .as_ref()
            .map(|entry| entry.cancellation.clone())
            .unwrap_or_default();
        self.used.push(uri.to_string());
        self.shared.work_begins(&cancellation, &self.purpose);
        let done = guarded(|| {
            let mut entry = kept.or_else(|| Entry::new(world, uri, cancellation.clone()))?;
            let result = work(&mut entry);
            Some((entry, result))
        });
        self.shared.work_ends();
        // What was cut short is incomplete: neither it nor what was made of it is of use.
        if cancellation.is_cancelled() {
            return Err(Stopped::Cancelled);
        }
        Ok(done?.map(|(entry, result)| {
            self.entries.insert(uri.to_string(), entry);
            result
        }))
    }

    /// Whether an open text that was used has changed since.
    pub(crate) fn is_overtaken(&self, latest: &World) -> bool {
        let is_old = |uri: &String| self.entries.get(uri).is_some_and(|entry| !entry.sees(latest, uri));
        self.used.iter().any(is_old)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_panic_becomes_its_words() {
        let stopped = guarded(|| -> u32 { panic!("invariant: {}", 7) });
        assert_eq!(stopped, Err(Stopped::Panicked("invariant: 7".to_string())));
        assert_eq!(guarded(|| 7), Ok(7));
    }
}
