//! Fixes of problems.

use crate::completion::kinds;
use crate::{Action, Edit, Snapshot, trial};
use lgm_source::Span;
use lgm_source::codes::Code;
use lgm_source::diagnostic::Fix;

/// Returns the fixes of problems in a part of the root text.
pub(crate) fn actions(snapshot: &Snapshot, span: Span) -> Vec<Action> {
    let touches = |place: Span| place.source == span.source && place.start <= span.end && span.start <= place.end;
    let mut found = Vec::new();
    for diagnostic in snapshot.diagnostics() {
        let is_here = diagnostic.labels.iter().any(|label| touches(label.span));
        if !is_here {
            continue;
        }
        // If there are several fixes, only those that leave fewer errors are offered: a similar name may be of another kind. If none does,
        // the error hides others, and all fixes are offered.
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
                is_fix: true,
                edits: edits_of(fix),
            };
            if !found.contains(&action) {
                found.push(action);
            }
        }
    }
    found
}

/// Returns the names of kinds that nothing in scope defines.
pub(crate) fn undefined_kinds(snapshot: &Snapshot, span: Span) -> Vec<Span> {
    let touches = |place: &Span| place.source == span.source && place.start <= span.end && span.start <= place.end;
    let missing = snapshot
        .diagnostics()
        .iter()
        .filter(|fault| fault.code == Code::LGM0149);
    let places = missing.filter_map(|fault| fault.labels.first().map(|label| label.span));
    places.filter(touches).collect()
}

/// Returns true if the root text defines a kind of this name.
pub(crate) fn defines_kind(snapshot: &Snapshot, name: &str) -> bool {
    let analysis = snapshot.analysis();
    let mut own = kinds(snapshot).into_iter().map(|id| analysis.get(id));
    own.any(|kind| *kind.name == *name && kind.name_span.source == snapshot.root())
}

/// Returns the action that inserts `import "parts.lgm";` after the other imports.
pub(crate) fn importing(snapshot: &Snapshot, path: &str) -> Option<Action> {
    let program = snapshot.compilation().program();
    let (span, text) = program.importing(&format!("\"{path}\""), snapshot.map(), snapshot.root())?;
    Some(Action {
        title: format!("import `{path}`"),
        code: Some(Code::LGM0149),
        is_fix: true,
        edits: vec![Edit { span, text }],
    })
}
