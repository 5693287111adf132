//! Changes that need the whole model: another storage that keeps its state, a compliance, a low pass, a datum, a missing argument.
//!
//! Each of them is tried on the text before it is offered: the text with the change is compiled, and has to be what the title says.

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

/// Models with more elements than this are not compiled once more to try a change on them.
const LARGEST: usize = 1000;

/// What can be changed at a part of the root text.
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
