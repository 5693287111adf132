//! Changes that mend what is wrong.

use crate::{Action, Edit, Snapshot, trial};
use lgm_source::Span;
use lgm_source::diagnostic::Fix;

/// The fixes of what is wrong in a part of the root text.
pub(crate) fn actions(snapshot: &Snapshot, span: Span) -> Vec<Action> {
    let touches = |place: Span| place.source == span.source && place.start <= span.end && span.start <= place.end;
    let mut found = Vec::new();
    for diagnostic in snapshot.diagnostics() {
        let is_here = diagnostic.labels.iter().any(|label| touches(label.span));
        if !is_here {
            continue;
        }
        // Of several, only those that leave fewer faults: a name that is near may be of another kind. If none does, the fault hides
        // others, and all are offered.
        let edits_of = |fix: &Fix| -> Vec<Edit> {
            let edits = fix.edits.iter();
            edits
                .map(|(span, text)| Edit {
                    span: *span,
                    text: text.clone(),
                })
                .collect()
        };
        let mends = |fix: &&Fix| trial::mends(snapshot, &edits_of(fix));
        let several = diagnostic.fixes.len() > 1;
        let mending: Vec<&Fix> = diagnostic.fixes.iter().filter(|_| several).filter(mends).collect();
        let offered = if mending.is_empty() {
            diagnostic.fixes.iter().collect()
        } else {
            mending
        };
        for fix in offered {
            let action = Action {
                title: fix.title.clone(),
                code: Some(diagnostic.code),
                edits: edits_of(fix),
            };
            if !found.contains(&action) {
                found.push(action);
            }
        }
    }
    found
}
