//! Changes suggested by the help of an error: each is tried on the text before it is offered.
//!
//! A stage that finds an error attaches the fix if no other stage can derive it. If the help is specific, or the code implies the fix, the
//! change is derived here from the locations of the diagnostic.

mod changes;
mod places;
mod written;

use crate::trial::{changed, faults};
use crate::{Action, Edit, Snapshot};
use lgm_source::Span;
use lgm_source::diagnostic::Diagnostic;
use places::Places;

/// Longer texts, in bytes, are not compiled again for each change.
const LONGEST: usize = 50_000;

/// The maximum number of changes that are tried for one error.
const MOST_TRIED: usize = 16;

/// The maximum number of changes that are offered for one error.
const MOST_OFFERED: usize = 2;

/// Returns the changes that fix errors in a part of the root text, for errors without fixes of their own.
pub(crate) fn offers(snapshot: &Snapshot, span: Span) -> Vec<Action> {
    let root = snapshot.root();
    let text = &snapshot.map().get(root).text;
    if span.source != root || text.len() > LONGEST {
        return Vec::new();
    }
    let touches = |place: Span| place.source == root && place.start <= span.end && span.start <= place.end;
    let places = Places { text, source: root };
    let mut found = Vec::new();
    for diagnostic in snapshot.diagnostics().iter().filter(|fault| fault.fixes.is_empty()) {
        let labels = diagnostic.labels.iter().map(|label| label.span);
        let own: Vec<Span> = labels.filter(|place| place.source == root).collect();
        if snapshot.compilation().request().cancellation.is_cancelled() || !own.iter().any(|place| touches(*place)) {
            continue;
        }
        found.extend(of_fault(snapshot, &places, diagnostic, &own));
    }
    found
}

/// Returns the changes that fix one error, given its locations in the root text.
fn of_fault(snapshot: &Snapshot, places: &Places, diagnostic: &Diagnostic, own: &[Span]) -> Vec<Action> {
    let mut all = changes::changes(snapshot, places, diagnostic, own);
    all.extend(written::changes(places, diagnostic, own));
    let mut tried: Vec<&[Edit]> = Vec::new();
    let mut offered = Vec::new();
    for (title, edits) in &all {
        if tried.len() >= MOST_TRIED || offered.len() >= MOST_OFFERED {
            break;
        }
        if tried.contains(&&edits[..]) {
            continue;
        }
        tried.push(edits);
        if is_mended(snapshot, diagnostic, edits) {
            offered.push(Action {
                title: title.clone(),
                code: Some(diagnostic.code),
                is_fix: true,
                edits: edits.clone(),
            });
        }
    }
    offered
}

/// Returns true if the edits leave fewer errors, and not this error again.
fn is_mended(snapshot: &Snapshot, diagnostic: &Diagnostic, edits: &[Edit]) -> bool {
    let is_same = |other: &Diagnostic| other.code == diagnostic.code && other.message == diagnostic.message;
    let is_there = |of: &Snapshot| of.diagnostics().iter().filter(|fault| is_same(fault)).count();
    changed(snapshot, edits)
        .is_some_and(|trial| faults(&trial) < faults(snapshot) && is_there(&trial) < is_there(snapshot))
}
