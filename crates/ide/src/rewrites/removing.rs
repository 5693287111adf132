//! Removal of unused declarations and unconnected nodes from the text.

use super::layout::Layout;
use crate::problems::unused;
use crate::trial::{changed, is_sound, mends};
use crate::{Action, Edit, Snapshot};
use lgm_elaborate::analysis::{Definition, DefinitionKind};
use lgm_source::Span;
use lgm_source::codes::Code;
use lgm_syntax::ast::{JunctionDecl, StatementKind};

/// Returns the removable parts at a location.
pub(super) fn offers(snapshot: &Snapshot, layout: &Layout<'_>, span: Span) -> Vec<Action> {
    let touches = |place: Span| place.source == span.source && place.start <= span.end && span.start <= place.end;
    let analysis = snapshot.analysis();
    let mut found = Vec::new();
    // Seemingly unused items may be used in an unreadable part.
    if is_sound(snapshot) {
        let here = unused(snapshot).into_iter().map(|id| analysis.get(id));
        let here = here.filter(|definition| touches(definition.name_span));
        found.extend(here.filter_map(|definition| unneeded(snapshot, layout, definition)));
    }
    let untouched = snapshot
        .diagnostics()
        .iter()
        .filter(|fault| fault.code == Code::LGM0312);
    let places = untouched.filter_map(|fault| fault.labels.first().map(|label| label.span));
    found.extend(
        places
            .filter(|place| touches(*place))
            .filter_map(|place| unconnected(snapshot, layout, place)),
    );
    found
}

/// Removes an unused value. A parameter of a component is set by its instances, and an index belongs to its loop: these stay.
fn unneeded(snapshot: &Snapshot, layout: &Layout<'_>, definition: &Definition) -> Option<Action> {
    use DefinitionKind::*;
    let is_removable = matches!(
        definition.kind,
        Parameter | Constant | Input | Signal | Function | Table
    );
    let what = definition.kind.of_use().filter(|_| is_removable)?;
    // A value that is declared in each part of an `if` has further statements.
    if names_of(snapshot, definition.name_span) != 1 {
        return None;
    }
    let whole = match definition.within {
        None => Some(definition.span),
        Some(_) => layout
            .statement_at(definition.name_span.start)
            .map(|statement| statement.span),
    };
    let whole = whole.filter(|whole| *whole == definition.span)?;
    let edits = vec![layout.removed(whole)];
    let is_kept = changed(snapshot, &edits).is_some_and(|trial| is_sound(&trial));
    is_kept.then(|| Action {
        title: format!("remove the {what} `{}`", definition.name),
        code: (!matches!(definition.kind, Input | Signal)).then_some(Code::LGM0156),
        is_fix: true,
        edits,
    })
}

/// Returns the number of references to the declaration at a location, including itself.
fn names_of(snapshot: &Snapshot, name: Span) -> usize {
    let analysis = snapshot.analysis();
    let declared = analysis.uses.iter().find(|entry| entry.declares && entry.span == name);
    declared.map_or(0, |entry| analysis.uses_of(entry.definition).count())
}

/// Removes an unused node or junction from its declaration.
fn unconnected(snapshot: &Snapshot, layout: &Layout<'_>, place: Span) -> Option<Action> {
    if place.source != snapshot.root() || names_of(snapshot, place) != 1 {
        return None;
    }
    let statement = layout.statement_at(place.start)?;
    let (StatementKind::Node(declared) | StatementKind::Zero(declared) | StatementKind::One(declared)) =
        &statement.kind
    else {
        return None;
    };
    let edit = match declared.names.len() {
        1 => layout.removed(statement.span),
        _ => Edit {
            span: without(declared, place)?,
            text: String::new(),
        },
    };
    let edits = vec![edit];
    mends(snapshot, &edits).then(|| Action {
        title: format!("remove `{}`", layout.words(place)),
        code: Some(Code::LGM0312),
        is_fix: true,
        edits,
    })
}

/// Returns one of several names with its comma.
fn without(declared: &JunctionDecl, name: Span) -> Option<Span> {
    let at = declared.names.iter().position(|other| other.name.span == name)?;
    let end_of = |at: usize| {
        let other = &declared.names[at];
        other.vector.map_or(other.span.end, |word| word.end.max(other.span.end))
    };
    let (start, end) = match at {
        0 => (declared.names[0].span.start, declared.names.get(1)?.span.start),
        _ => (end_of(at - 1), end_of(at)),
    };
    Some(Span { start, end, ..name })
}
