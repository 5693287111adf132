//! Compilation of a changed text.

use crate::{Edit, Snapshot};
use lgm_source::codes::Code;
use lgm_source::diagnostic::Diagnostic;
use lgm_source::{SourceMap, Sources};
use std::path::Path;

/// Compiles the text with edits; none if the edits overlap.
pub(crate) fn changed(snapshot: &Snapshot, edits: &[Edit]) -> Option<Snapshot> {
    let source = snapshot.map().get(snapshot.root());
    let mut sorted: Vec<&Edit> = edits.iter().collect();
    sorted.sort_by_key(|edit| (edit.span.start, edit.span.end));
    let (mut text, mut at) = (String::new(), 0);
    for edit in sorted {
        text.push_str(source.text.get(at..edit.span.start as usize)?);
        text.push_str(&edit.text);
        at = edit.span.end as usize;
    }
    text.push_str(source.text.get(at..)?);
    let cancellation = snapshot.compilation().request().cancellation.clone();
    let files = Known(snapshot.map());
    Some(Snapshot::new(
        &files,
        source.path.clone(),
        &source.name,
        &text,
        cancellation,
    ))
}

/// Counts errors, then remarks, then everything. Removing an element may leave its parameters without use, which counts last.
pub(crate) fn faults(snapshot: &Snapshot) -> (usize, usize, usize) {
    let all = snapshot.diagnostics();
    let errors = all.iter().filter(|fault| fault.is_error()).count();
    let others = all.iter().filter(|fault| fault.code != Code::LGM0156).count();
    (errors, others, all.len())
}

/// Returns true if edits leave fewer errors, or the same number and fewer remarks.
pub(crate) fn mends(snapshot: &Snapshot, edits: &[Edit]) -> bool {
    // Only the root text is tried, not its imports.
    let is_own = edits.iter().all(|edit| edit.span.source == snapshot.root());
    is_own && changed(snapshot, edits).is_some_and(|trial| faults(&trial) < faults(snapshot))
}

/// Returns true if a text has no errors.
pub(crate) fn is_sound(snapshot: &Snapshot) -> bool {
    !snapshot.diagnostics().iter().any(Diagnostic::is_error)
}

/// The texts that are already read.
struct Known<'m>(&'m SourceMap);

impl Sources for Known<'_> {
    fn read(&self, path: &Path) -> Result<String, String> {
        let found = self.0.iter().find(|entry| entry.1.path.as_deref() == Some(path));
        found
            .map(|entry| entry.1.text.to_string())
            .ok_or_else(|| "was not read before".to_string())
    }
}
