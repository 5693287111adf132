//! Snapshots of the open texts, kept as long as their inputs are unchanged.

use crate::held::{self, Hunk};
use crate::jobs::{Purpose, Shared};
use crate::world::documents::World;
use crate::world::files::{Files, ReadFile};
use crate::world::settings::Settings;
use gen_lsp_types::Diagnostic;
use lgm_ide::{Problem, Snapshot};
use lgm_source::cancellation::Cancellation;
use lgm_source::diagnostic::Severity;
use lgm_source::{Encoding, SourceId};
use std::collections::HashMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::PathBuf;
use std::sync::Arc;

/// A snapshot and its inputs.
#[derive(Debug)]
pub(crate) struct Entry {
    /// The snapshot.
    pub snapshot: Snapshot,
    /// Its diagnostics after the first request, each with the URI of its text, and the settings that they hold for.
    pub problems: Option<(Settings, Vec<(String, Diagnostic)>)>,
    text: Arc<str>,
    reads: Vec<ReadFile>,
    disk: u64,
    folders: Vec<PathBuf>,
    cancellation: Cancellation,
}

impl Entry {
    /// Makes the snapshot of a text; a snapshot of the text before an edit speeds this up.
    fn new(
        before: Option<&Entry>,
        world: &World,
        uri: &str,
        text: &Arc<str>,
        cancellation: Cancellation,
    ) -> Option<Entry> {
        let document = world.documents.get(uri)?;
        let files = Files::new(world, document.path.as_deref());
        let name = document
            .path
            .as_ref()
            .map_or(uri.to_string(), |path| path.display().to_string());
        let before = before.map(|before| &before.snapshot);
        let path = document.path.clone();
        let snapshot = Snapshot::after(before, &files, path, &name, text, cancellation.clone());
        Some(Entry {
            snapshot,
            problems: None,
            text: text.clone(),
            reads: files.into_reads(),
            disk: world.disk,
            folders: world.folders.clone(),
            cancellation,
        })
    }

    /// Returns true if the open texts that it was made from are unchanged in a world.
    fn sees(&self, world: &World, uri: &str) -> bool {
        let root = world.documents.get(uri).map(|document| &document.text);
        root.is_some_and(|text| Arc::ptr_eq(text, &self.text)) && self.reads_from(world)
    }

    /// Returns true if the other open texts that it was made from are unchanged in a world.
    fn reads_from(&self, world: &World) -> bool {
        let is_same = |old: &Option<Arc<str>>, new: Option<&Arc<str>>| match (old, new) {
            (None, None) => true,
            (Some(old), Some(new)) => Arc::ptr_eq(old, new),
            _ => false,
        };
        let mut reads = self.reads.iter();
        reads.all(|(path, text)| is_same(text, world.opened(path).map(|entry| &entry.1.text)))
    }

    fn is_fresh(&self, world: &World, uri: &str) -> bool {
        self.sees(world, uri) && self.sees_disk(world)
    }

    fn sees_disk(&self, world: &World) -> bool {
        self.disk == world.disk && self.folders == world.folders
    }

    /// Returns the errors of the root text that are independent of equations.
    fn faults(&self) -> Vec<held::Fault> {
        let root = self.snapshot.root();
        let problems = self.snapshot.problems();
        let faults = problems
            .iter()
            .filter_map(|problem| fault(problem, root, &self.snapshot));
        faults.collect()
    }

    /// Returns the new steady text, and its differences from this text. None if this text itself is steady.
    fn judge(&self, steady: &Arc<str>) -> Option<(Arc<str>, Vec<Hunk>)> {
        let hunks = held::hunks(steady, &self.text);
        let faults = if hunks.is_empty() { Vec::new() } else { self.faults() };
        let is_off = |fault: &held::Fault| !hunks.iter().any(|hunk| hunk.new.contains(&fault.line));
        let known = match faults.iter().any(is_off) {
            true => lgm_ide::syntax_faults(steady),
            false => Vec::new(),
        };
        let known: Vec<held::Fault> = known.into_iter().map(held::Fault::of_syntax).collect();
        let mut is_broken = vec![false; hunks.len()];
        for fault in &faults {
            if let Some(at) = held::hunk_of(&hunks, fault, &known) {
                is_broken[at] = true;
            }
        }
        let (text, left) = held::steady(steady, &self.text, &hunks, &is_broken);
        let is_held = !left.is_empty() && held::leave_any(&left, &self.text);
        let text = if text == **steady { steady.clone() } else { text.into() };
        is_held.then_some((text, left))
    }
}

/// Returns a problem of the root text if it is an error found while reading.
pub(crate) fn fault(problem: &Problem, root: SourceId, snapshot: &Snapshot) -> Option<held::Fault> {
    let span = problem.span.filter(|span| span.source == root)?;
    let number = problem.code.filter(|_| problem.severity == Severity::Error)?.number();
    let line = snapshot.map().get(root).position(span.start, Encoding::Utf8).0;
    (number < FIRST_OF_EQUATIONS).then(|| held::Fault {
        line,
        syntax: (number < FIRST_OF_NAMES).then(|| problem.message.clone()),
    })
}

/// Codes below this one are syntax errors.
const FIRST_OF_NAMES: u32 = 100;

/// Codes from this one on require equations.
const FIRST_OF_EQUATIONS: u32 = 300;

/// The current text and, while lines of it are incomplete, the text with the previous version of these lines.
#[derive(Debug)]
pub(crate) struct Pair<'e> {
    /// The current text.
    pub now: &'e mut Entry,
    /// The steady text, and its differences from the current text.
    pub held: Option<(&'e mut Entry, &'e [Hunk])>,
}

/// The steady version of an open text, compiled if it differs from the current text.
#[derive(Debug)]
struct Steady {
    text: Arc<str>,
    entry: Option<Entry>,
}

/// The reason why there is no answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Stopped {
    /// The work was cancelled.
    Cancelled,
    /// The compiler has a bug; with the message of the panic.
    Panicked(String),
}

/// Does the work; returns the message of a panic as an error.
pub(crate) fn guarded<R>(work: impl FnOnce() -> R) -> Result<R, Stopped> {
    catch_unwind(AssertUnwindSafe(work)).map_err(|panic| {
        let words = panic.downcast_ref::<String>().map(String::as_str);
        let words = words.or_else(|| panic.downcast_ref::<&str>().copied());
        Stopped::Panicked(words.unwrap_or("a panic without a message").to_string())
    })
}

/// The snapshots of the open texts.
#[derive(Debug)]
pub(crate) struct Cache {
    shared: Arc<Shared>,
    entries: HashMap<String, Entry>,
    steady: HashMap<String, Steady>,
    purpose: Purpose,
    /// Replaced snapshots: freeing a large snapshot takes time, and an answer need not wait for it.
    stale: Vec<Entry>,
    /// The URIs of the snapshots that the work since [`Cache::begin`] has used.
    used: Vec<String>,
}

impl Cache {
    pub(crate) fn new(shared: Arc<Shared>) -> Cache {
        Cache {
            shared,
            entries: HashMap::new(),
            steady: HashMap::new(),
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

    /// Removes a text that was examined as if it were open: no edit can overtake it.
    pub(crate) fn forget(&mut self, uri: &str) {
        self.entries.remove(uri);
        self.used.retain(|used| used != uri);
    }

    /// Frees replaced data when no request waits.
    pub(crate) fn free_stale(&mut self) {
        self.stale.clear();
    }

    /// Removes texts that are no longer open.
    pub(crate) fn keep_open(&mut self, world: &World) {
        self.entries.retain(|uri, _| world.documents.contains_key(uri));
        self.steady.retain(|uri, _| world.documents.contains_key(uri));
    }

    /// Applies a function to the snapshot of an open text, which is made if no current snapshot exists. Returns `None` if the text is not
    /// open.
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
        let steady = self.steady.get_mut(uri);
        match (steady, stale) {
            // The replaced snapshot may belong to the steady text.
            (Some(steady), Some(stale)) if steady.entry.is_none() && Arc::ptr_eq(&steady.text, &stale.text) => {
                steady.entry = Some(stale);
            }
            (_, stale) => self.retire(stale),
        }
        let cancellation = kept
            .as_ref()
            .map(|entry| entry.cancellation.clone())
            .unwrap_or_default();
        self.used.push(uri.to_string());
        self.shared.work_begins(&cancellation, &self.purpose);
        let done = guarded(|| {
            let text = &world.documents.get(uri)?.text;
            let steady = self.steady.get(uri).and_then(|steady| steady.entry.as_ref());
            let before = steady.or(self.stale.last());
            let mut entry = kept.or_else(|| Entry::new(before, world, uri, text, cancellation.clone()))?;
            let result = work(&mut entry);
            Some((entry, result))
        });
        self.shared.work_ends();
        // Cancelled work is incomplete: neither it nor its results are usable.
        if cancellation.is_cancelled() {
            return Err(Stopped::Cancelled);
        }
        Ok(done?.map(|(entry, result)| {
            self.entries.insert(uri.to_string(), entry);
            result
        }))
    }

    /// Applies a function to the snapshots of the current text and of the steady text. The two are the same if no line is half-written, and
    /// after a text is saved.
    pub(crate) fn with_pair<R>(
        &mut self,
        world: &World,
        uri: &str,
        work: impl FnOnce(Pair) -> R,
    ) -> Result<Option<R>, Stopped> {
        let Some(document) = world.documents.get(uri) else {
            return Ok(None);
        };
        let steady = self.steady.get(uri).filter(|_| !document.is_saved);
        let steady = steady.map_or_else(|| document.text.clone(), |steady| steady.text.clone());
        let judged = self.with(world, uri, |entry| entry.judge(&steady))?;
        let (text, hunks) = judged.flatten().unwrap_or_else(|| (document.text.clone(), Vec::new()));
        let known = self.steady.remove(uri).and_then(|steady| steady.entry);
        let is_of_use = |entry: &Entry| {
            !hunks.is_empty() && entry.text == text && entry.reads_from(world) && entry.sees_disk(world)
        };
        let (known, stale) = match known {
            Some(entry) if is_of_use(&entry) => (Some(entry), None),
            other => (None, other),
        };
        self.retire(stale);
        if hunks.is_empty() {
            let entry = None;
            self.steady.insert(uri.to_string(), Steady { text, entry });
            return self.with(world, uri, |now| work(Pair { now, held: None }));
        }
        let entry = None;
        self.steady.insert(
            uri.to_string(),
            Steady {
                text: text.clone(),
                entry,
            },
        );
        let Some(now) = self.entries.get_mut(uri) else {
            return Ok(None);
        };
        let cancellation = known
            .as_ref()
            .map(|entry| entry.cancellation.clone())
            .unwrap_or_default();
        self.shared.work_begins(&cancellation, &self.purpose);
        let done = guarded(|| {
            let before = self.stale.last();
            let mut entry = known.or_else(|| Entry::new(before, world, uri, &text, cancellation.clone()))?;
            let held = Some((&mut entry, &hunks[..]));
            let result = work(Pair { now, held });
            Some((entry, result))
        });
        self.shared.work_ends();
        if cancellation.is_cancelled() {
            return Err(Stopped::Cancelled);
        }
        Ok(done?.map(|(entry, result)| {
            let entry = Some(entry);
            self.steady.insert(uri.to_string(), Steady { text, entry });
            result
        }))
    }

    /// Keeps a replaced snapshot until there is time to free it; during a series of edits at most one is kept.
    fn retire(&mut self, stale: Option<Entry>) {
        self.stale.truncate(usize::from(stale.is_none()));
        self.stale.extend(stale);
    }

    /// Returns true if an open text that was used has changed since.
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
