//! Changes that mend what is wrong.

use crate::{Action, Edit, Snapshot};
use lgm_source::Span;

/// The fixes of what is wrong in a part of the root text.
pub(crate) fn actions(snapshot: &Snapshot, span: Span) -> Vec<Action> {
    let touches = |place: Span| place.source == span.source && place.start <= span.end && span.start <= place.end;
    let mut found = Vec::new();
    for diagnostic in snapshot.diagnostics() {
        let is_here = diagnostic.labels.iter().any(|label| touches(label.span));
        for fix in diagnostic.fixes.iter().filter(|_| is_here) {
            let edits = fix.edits.iter().map(|(span, text)| Edit {
                span: *span,
                text: text.clone(),
            });
            let action = Action {
                title: fix.title.clone(),
                code: Some(diagnostic.code),
                edits: edits.collect(),
            };
            if !found.contains(&action) {
                found.push(action);
            }
        }
    }
    found
}
