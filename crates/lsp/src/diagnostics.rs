//! Problems as the protocol's diagnostics, gathered over all open texts.

use crate::cache::{Cache, Entry, Stopped};
use crate::convert::Places;
use crate::documents::World;
use crate::library;
use gen_lsp_types::{
    Code, CodeDescription, Diagnostic, DiagnosticRelatedInformation, DiagnosticSeverity, DiagnosticTag, Message,
    Position, Range, Uri,
};
use lgm_ide::Problem;
use lgm_source::diagnostic::Severity;
use std::collections::BTreeMap;

/// Diagnostics by the URIs of their texts; every open text is in it.
pub(crate) type Found = BTreeMap<String, Vec<Diagnostic>>;

/// What is wrong with the open texts, and with the files that they import.
///
/// A file that several open texts import gets what each of them finds in it, once. A panic is handed to `report`, and the text has no diagnostics.
pub(crate) fn of_world(
    cache: &mut Cache,
    world: &World,
    is_wanted: impl Fn() -> bool,
    mut report: impl FnMut(&str),
) -> Result<Found, Stopped> {
    let mut found: Found = world.documents.keys().map(|uri| (uri.clone(), Vec::new())).collect();
    for uri in world.documents.keys() {
        if !is_wanted() {
            return Err(Stopped::Cancelled);
        }
        let problems = match cache.with(world, uri, |entry| of_text(world, uri, entry)) {
            Ok(problems) => problems.unwrap_or_default(),
            Err(Stopped::Panicked(words)) => {
                report(&format!("{uri}: {words}"));
                continue;
            }
            Err(Stopped::Cancelled) => return Err(Stopped::Cancelled),
        };
        for (place, problem) in problems {
            let list = found.entry(place).or_default();
            if !list.contains(&problem) {
                list.push(problem);
            }
        }
    }
    Ok(found)
}

/// What is wrong with one text and its imports, each problem with the URI of its place.
fn of_text(world: &World, uri: &str, entry: &mut Entry) -> Vec<(String, Diagnostic)> {
    let snapshot = &entry.snapshot;
    let places = Places { world, uri, snapshot };
    let settings = world.settings;
    if let Some((_, known)) = entry.problems.as_ref().filter(|known| known.0 == settings) {
        return known.clone();
    }
    let problems = snapshot.problems();
    let found: Vec<_> = problems.iter().map(|problem| converted(&places, problem)).collect();
    entry.problems = Some((settings, found.clone()));
    found
}

fn converted(places: &Places, problem: &Problem) -> (String, Diagnostic) {
    let related = |(span, message): &(lgm_source::Span, String)| DiagnosticRelatedInformation {
        location: places.location(*span),
        message: message.clone(),
    };
    let mut others: Vec<_> = problem.related.iter().map(related).collect();
    let (uri, range) = match problem.span {
        Some(span) if !places.is_library(span.source) => (places.uri_of(span.source), places.range(span)),
        // What is about no place, or about one that is no file, stands at the beginning of the text that was checked.
        place => {
            others.extend(place.map(|span| related(&(span, problem.message.clone()))));
            let start = Position { line: 0, character: 0 };
            (places.uri.to_string(), Range { start, end: start })
        }
    };
    let severity = match problem.severity {
        _ if problem.is_hint => DiagnosticSeverity::Hint,
        Severity::Error => DiagnosticSeverity::Error,
        Severity::Warning => DiagnosticSeverity::Warning,
        Severity::Information => DiagnosticSeverity::Information,
    };
    let diagnostic = Diagnostic {
        range,
        severity: Some(severity),
        code: problem.code.map(|code| Code::String(code.as_str().to_string())),
        code_description: problem
            .code
            .filter(|_| places.world.settings.code_links)
            .map(|code| CodeDescription {
                href: Uri(library::page_uri(code)),
            }),
        source: Some("lgm".to_string()),
        message: Message::String(problem.message.clone()),
        tags: problem.is_unused.then(|| vec![DiagnosticTag::Unnecessary]),
        related_information: (!others.is_empty()).then_some(others),
        data: None,
    };
    (uri, diagnostic)
}
