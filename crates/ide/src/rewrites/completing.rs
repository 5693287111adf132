//! The missing parts of a model: a reference for a floating part, and values of elements.

use super::layout::Layout;
use super::parts::{Form, LibraryElement, part};
use crate::trial::changed;
use crate::{Action, Edit, Snapshot};
use lgm_source::Span;
use lgm_source::codes::Code;
use lgm_source::diagnostic::Diagnostic;
use lgm_syntax::ast::{JunctionDecl, Statement, StatementKind};

/// Returns the offers for the errors at a location.
pub(super) fn offers(snapshot: &Snapshot, layout: &Layout<'_>, span: Span) -> Vec<Action> {
    let touches = |place: Span| place.source == span.source && place.start <= span.end && span.start <= place.end;
    let here = snapshot
        .diagnostics()
        .iter()
        .filter(|diagnostic| diagnostic.labels.iter().any(|label| touches(label.span)));
    let mut found = Vec::new();
    for diagnostic in here {
        match diagnostic.code {
            Code::LGM0313 => found.extend(grounded(snapshot, layout, diagnostic)),
            Code::LGM0301 => found.extend(super::conflict::offers(snapshot, layout, diagnostic)),
            Code::LGM0134 => found.extend(argument(snapshot, layout, diagnostic)),
            _ => {}
        }
    }
    found
}

/// Returns a datum for a floating part of the graph, or the keyword `floating`.
fn grounded(snapshot: &Snapshot, layout: &Layout<'_>, diagnostic: &Diagnostic) -> Vec<Action> {
    let place = match diagnostic.labels.first() {
        Some(label) if label.span.source == snapshot.root() => label.span,
        _ => return Vec::new(),
    };
    let Some(statement) = layout.statement_at(place.start) else {
        return Vec::new();
    };
    let StatementKind::Node(declared) = &statement.kind else {
        return Vec::new();
    };
    let before = faults(snapshot);
    let mends = |edits: &[Edit]| changed(snapshot, edits).is_some_and(|trial| faults(&trial) < before);
    let mut found = Vec::new();
    let datum = datum(snapshot, layout, declared, place).filter(|datum| mends(std::slice::from_ref(&datum.1)));
    if let Some((title, edit)) = datum {
        found.push(Action {
            title,
            code: Some(diagnostic.code),
            is_fix: true,
            edits: vec![edit],
        });
    }
    if let Some(edits) = floating(snapshot, layout, statement, declared, diagnostic) {
        found.push(Action {
            title: "declare it `floating`: only differences matter".to_string(),
            code: Some(diagnostic.code),
            is_fix: true,
            edits,
        });
    }
    found
}

/// Adds the keyword `floating` to the floating nodes of a declaration. If the declaration has other nodes too, these nodes are moved to a
/// declaration of their own.
fn floating(
    snapshot: &Snapshot,
    layout: &Layout<'_>,
    statement: &Statement,
    declared: &JunctionDecl,
    diagnostic: &Diagnostic,
) -> Option<Vec<Edit>> {
    let domain = declared.domain.as_ref().filter(|_| declared.flags.is_empty())?;
    let source = domain.span.source;
    let before = faults(snapshot);
    let labelled = |fault: &Diagnostic, place: Span| fault.labels.iter().any(|label| label.span == place);
    let float = declared
        .names
        .iter()
        .map(|name| labelled(diagnostic, name.span) || labelled(diagnostic, name.name.span));
    let mut float: Vec<bool> = float.collect();
    // For a large part, a diagnostic shows only the first nodes: further nodes are added until it is fixed.
    for _ in 0..=declared.names.len() {
        let words = |wanted: bool| {
            let names = declared.names.iter().zip(&float).filter(|entry| *entry.1 == wanted);
            names
                .map(|entry| layout.words(entry.0.span))
                .collect::<Vec<_>>()
                .join(", ")
        };
        let edits = match float.iter().all(|is| *is) {
            true => vec![Edit {
                span: Span::new(source, domain.span.end as usize, domain.span.end as usize),
                text: ", floating".to_string(),
            }],
            false => {
                let (first, last) = (declared.names.first()?.span, declared.names.last()?.span);
                let line = format!("node {} : {}, floating;", words(true), domain.text);
                vec![
                    Edit {
                        span: first.to(last),
                        text: words(false),
                    },
                    layout.behind(statement, &[line]),
                ]
            }
        };
        if changed(snapshot, &edits).is_some_and(|trial| faults(&trial) < before) {
            return Some(edits);
        }
        let next = float.iter().position(|is| !is)?;
        float[next] = true;
    }
    None
}

/// Returns a zero source between the node at a location and the reference, after the declaration of the node.
fn datum(snapshot: &Snapshot, layout: &Layout<'_>, declared: &JunctionDecl, place: Span) -> Option<(String, Edit)> {
    let node = declared
        .names
        .iter()
        .find(|name| name.span.start <= place.start && place.end <= name.span.end)?;
    if !node.brackets.is_empty() || node.vector.is_some() {
        return None;
    }
    let domain = declared.domain.as_ref()?;
    let LibraryElement { name: kind, unit, .. } = part(snapshot, &domain.text, Form::AcrossSource)?;
    let value = unit.map_or("0".to_string(), |unit| format!("0 {unit}"));
    let name = &*node.name.text;
    let source = layout.fresh(&format!("{name}_datum"));
    let lines = [format!("{source} : {kind}({value}) {name} -> gnd;")];
    let edit = layout.behind(layout.statement_at(place.start)?, &lines);
    Some((format!("ground `{name}`: no flow changes"), edit))
}

/// Returns the value 1 in its unit for a missing parameter.
fn argument(snapshot: &Snapshot, layout: &Layout<'_>, diagnostic: &Diagnostic) -> Option<Action> {
    let [kind, formal, ..] = &diagnostic.labels[..] else {
        return None;
    };
    if kind.span.source != snapshot.root() {
        return None;
    }
    let statement = layout.statement_at(kind.span.start)?;
    let StatementKind::Instance(instance) = &statement.kind else {
        return None;
    };
    let analysis = snapshot.analysis();
    let definition = analysis
        .definitions
        .iter()
        .find(|definition| definition.name_span == formal.span)?;
    let unit = definition.unit.map(|unit| snapshot.map().slice(unit));
    let value = match unit {
        Some(unit) => format!("1 {unit}"),
        None => "1".to_string(),
    };
    let written = format!("{} = {value}", definition.name);
    let end = kind.span.end as usize;
    let (at, text) = match instance.arguments.last() {
        Some(last) => (last.value.span.end as usize, format!(", {written}")),
        None => match layout.opening(end) {
            Some(at) => (at, written.clone()),
            None => (end, format!("({written})")),
        },
    };
    let edits = vec![Edit {
        span: Span::new(kind.span.source, at, at),
        text,
    }];
    let is_mended = changed(snapshot, &edits)?.diagnostics().iter().all(|other| {
        let is_same = other.code == diagnostic.code && other.message == diagnostic.message;
        !is_same
    });
    is_mended.then(|| Action {
        title: format!("give `{}`: {value}", definition.name),
        code: Some(diagnostic.code),
        is_fix: true,
        edits,
    })
}

fn faults(snapshot: &Snapshot) -> usize {
    snapshot.diagnostics().iter().filter(|fault| fault.is_error()).count()
}
