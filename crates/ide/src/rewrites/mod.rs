//! Changes that require the whole model: a state for other storage, a compliance, a low pass, a datum, a missing argument.
//!
//! Each change is tried before it is offered: the changed text is compiled, and the result must match the title.

mod causality;
mod completing;
mod conflict;
mod layout;
mod parts;
mod promise;
mod removing;
mod retaining;
#[cfg(test)]
mod tests;

use crate::{Action, Snapshot};
use layout::Layout;
use lgm_source::Span;

/// Models with more elements than this are not compiled again to try a change.
const LARGEST: usize = 1000;

/// Returns the possible changes at a part of the root text.
pub(crate) fn rewrites(snapshot: &Snapshot, span: Span) -> Vec<Action> {
    if span.source != snapshot.root() {
        return Vec::new();
    }
    if snapshot
        .compilation()
        .model()
        .is_some_and(|model| model.graph.elements.len() > LARGEST)
    {
        return Vec::new();
    }
    let layout = Layout::new(snapshot);
    let mut found = causality::offers(snapshot, &layout, span);
    found.extend(completing::offers(snapshot, &layout, span));
    found.extend(removing::offers(snapshot, &layout, span));
    found
}
