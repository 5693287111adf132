//! Problems as diagnostics of the protocol, collected from all open texts.

use crate::cache::{self, Cache, Entry, Pair, Stopped};
use crate::held::{self, Fault, Hunk};
use crate::library;
use crate::protocol::convert::Places;
use crate::world::documents::World;
use gen_lsp_types::{
    Code, CodeDescription, Diagnostic, DiagnosticRelatedInformation, DiagnosticSeverity, DiagnosticTag, Message,
    Position, Range, Uri,
};
use lgm_ide::Problem;
use lgm_source::diagnostic::Severity;
use lgm_source::{Encoding, Span};
use std::collections::BTreeMap;

/// Diagnostics by the URIs of their texts; every open text has an entry.
pub(crate) type DiagnosticsOfUris = BTreeMap<String, Vec<Diagnostic>>;

/// Returns the problems of the open texts and of their imports.
///
/// A file that several open texts import gets the diagnostics from each of them, without duplicates. A panic is passed to `report`, and
/// becomes an error of the text that caused it: an empty list would mean that the text has no errors.
pub(crate) fn of_world(
    cache: &mut Cache,
    world: &World,
    is_wanted: impl Fn() -> bool,
    report: impl FnMut(&str),
) -> Result<DiagnosticsOfUris, Stopped> {
    gathered(cache, world, is_wanted, report, of_text)
}

/// Collects the problems of all open texts with a function that finds the problems of one text.
fn gathered(
    cache: &mut Cache,
    world: &World,
    is_wanted: impl Fn() -> bool,
    mut report: impl FnMut(&str),
    of_text: impl Fn(&World, &str, Pair) -> Vec<(String, Diagnostic)>,
) -> Result<DiagnosticsOfUris, Stopped> {
    let mut found: DiagnosticsOfUris = world.documents.keys().map(|uri| (uri.clone(), Vec::new())).collect();
    for uri in world.documents.keys() {
        if !is_wanted() {
            return Err(Stopped::Cancelled);
        }
        let problems = match cache.with_pair(world, uri, |pair| of_text(world, uri, pair)) {
            Ok(problems) => problems.unwrap_or_default(),
            Err(Stopped::Panicked(words)) => {
                report(&format!("{uri}: {words}"));
                vec![(uri.clone(), own_fault(cache, world, uri, &words)?)]
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

/// Returns the diagnostic for a compiler failure: at the compiled model or, if that is unknown, at the start.
fn own_fault(cache: &mut Cache, world: &World, uri: &str, words: &str) -> Result<Diagnostic, Stopped> {
    let name_of_model = |entry: &mut Entry| {
        let snapshot = &entry.snapshot;
        let places = Places::of(world, uri, snapshot);
        snapshot.models().last().map(|name| places.range(*name))
    };
    let range = match cache.with(world, uri, name_of_model) {
        Ok(range) => range.flatten(),
        Err(Stopped::Cancelled) => return Err(Stopped::Cancelled),
        Err(Stopped::Panicked(_)) => None,
    };
    let start = Position { line: 0, character: 0 };
    let range = range.unwrap_or(Range { start, end: start });
    let message = format!(
        "a bug in lgm prevents it from checking this text: {words}\nHelp: this is not an error in the model: please report it with the model"
    );
    Ok(Diagnostic {
        range,
        severity: Some(DiagnosticSeverity::Error),
        source: Some("lgm".to_string()),
        message: Message::String(message),
        ..Diagnostic::default()
    })
}

/// Returns the problems of one text and its imports, each with the URI of its location.
fn of_text(world: &World, uri: &str, pair: Pair) -> Vec<(String, Diagnostic)> {
    let settings = world.settings;
    let Some((steady, hunks)) = pair.held else {
        let entry = pair.now;
        if let Some((_, known)) = entry.problems.as_ref().filter(|known| known.0 == settings) {
            return known.clone();
        }
        let found = of_places(&Places::of(world, uri, &entry.snapshot));
        entry.problems = Some((settings, found.clone()));
        return found;
    };
    let steady = Places {
        hunks,
        ..Places::of(world, uri, &steady.snapshot)
    };
    let mut found = of_hunks(&Places::of(world, uri, &pair.now.snapshot), &steady);
    for problem in steady.snapshot.problems() {
        let is_held = |span: Span| held::now(hunks, line_of(&steady, span)).is_none();
        let root = steady.snapshot.root();
        if !problem.span.is_some_and(|span| span.source == root && is_held(span)) {
            found.push(converted(&steady, &problem));
        }
    }
    found
}

/// Returns the current problems of a text and its imports, each with the URI of its location.
pub(crate) fn of_places(places: &Places) -> Vec<(String, Diagnostic)> {
    let problems = places.snapshot.problems();
    problems.iter().map(|problem| converted(places, problem)).collect()
}

/// Returns the line at which a part of the root text of a snapshot begins.
fn line_of(places: &Places, span: Span) -> u32 {
    let root = places.snapshot.map().get(places.snapshot.root());
    root.position(span.start, Encoding::Utf8).0
}

/// Returns the problems of half-written lines. If such an error is on another line, it is shown at the end of the half-written lines.
fn of_hunks(now: &Places, steady: &Places) -> Vec<(String, Diagnostic)> {
    let (root, hunks) = (now.snapshot.root(), steady.hunks);
    let faults = |places: &Places| -> Vec<Fault> {
        let problems = places.snapshot.problems();
        let root = places.snapshot.root();
        let faults = problems
            .iter()
            .filter_map(|problem| cache::fault(problem, root, places.snapshot));
        faults.collect()
    };
    let known = faults(steady);
    let mut found = Vec::new();
    for problem in now.snapshot.problems() {
        let Some(span) = problem.span.filter(|span| span.source == root) else {
            continue;
        };
        let line = line_of(now, span);
        let fault = cache::fault(&problem, root, now.snapshot).unwrap_or(Fault { line, syntax: None });
        let Some(hunk) = held::hunk_of(hunks, &fault, &known) else {
            continue;
        };
        let (uri, mut diagnostic) = converted(now, &problem);
        if !hunks[hunk].new.contains(&line) {
            diagnostic.range = end_of(now, &hunks[hunk]).unwrap_or(diagnostic.range);
        }
        found.push((uri, diagnostic));
    }
    found
}

/// Returns the end of the last line of a nonempty hunk.
fn end_of(places: &Places, hunk: &Hunk) -> Option<Range> {
    let root = places.snapshot.map().get(places.snapshot.root());
    let lines = root.text.split_inclusive('\n').enumerate();
    let own = lines.filter(|(at, words)| hunk.new.contains(&(*at as u32)) && !words.trim().is_empty());
    let (line, words) = own.last()?;
    let start = root.offset((line as u32, 0), Encoding::Utf8);
    let end = start + words.trim_end().len() as u32;
    Some(places.range(Span {
        source: places.snapshot.root(),
        start: end,
        end,
    }))
}

/// Returns a related location as a line of a message, for editors without support for related locations.
fn in_words(places: &Places, (span, words): &(Span, String)) -> String {
    let source = places.snapshot.map().get(span.source);
    let line = places.range(*span).start.line + 1;
    match span.source == places.snapshot.root() {
        true => format!("\nline {line}: {words}"),
        false => format!("\nline {line} of {}: {words}", source.name),
    }
}

fn converted(places: &Places, problem: &Problem) -> (String, Diagnostic) {
    let related = |(span, message): &(Span, String)| DiagnosticRelatedInformation {
        location: places.location(*span),
        message: message.clone(),
    };
    let mut others: Vec<_> = problem.related.iter().map(related).collect();
    let mut message = problem.message.clone();
    if !places.world.shows_related {
        message.extend(problem.related.iter().map(|step| in_words(places, step)));
    }
    let (uri, range) = match problem.span {
        Some(span) if !places.is_library(span.source) => (places.uri_of(span.source), places.range(span)),
        // Diagnostics without a location, or in something that is not a file, appear at the beginning of the checked
        // text.
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
        message: Message::String(message),
        tags: problem.is_unused.then(|| vec![DiagnosticTag::Unnecessary]),
        related_information: (!others.is_empty()).then_some(others),
        data: None,
    };
    (uri, diagnostic)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_fault_of_the_compiler_is_shown_at_the_model() {
        let mut world = World::default();
        world.open("untitled:good", 1, "model Good { node x : translational; }".to_string());
        world.open("untitled:bad", 1, "// first\nmodel Bad { }".to_string());
        let mut cache = Cache::new(std::sync::Arc::default());
        let mut reported = Vec::new();
        let failing = |world: &World, uri: &str, pair: Pair| match uri {
            "untitled:bad" => panic!("invariant: {}", 7),
            _ => of_text(world, uri, pair),
        };
        let found = gathered(
            &mut cache,
            &world,
            || true,
            |words| reported.push(words.to_string()),
            failing,
        )
        .expect("what was found");
        assert_eq!(reported, ["untitled:bad: invariant: 7"]);
        let [fault] = &found["untitled:bad"][..] else {
            panic!("{found:?}")
        };
        assert_eq!(fault.severity, Some(DiagnosticSeverity::Error));
        let Message::String(message) = &fault.message else {
            panic!("{fault:?}")
        };
        assert!(
            message.starts_with("a bug in lgm") && message.contains("invariant: 7"),
            "{message}"
        );
        assert!(message.contains("please report it"), "{message}");
        assert_eq!((fault.range.start.line, fault.range.start.character), (1, 6));
        // The other texts have only their own problems.
        assert!(!format!("{:?}", found["untitled:good"]).contains("a bug in lgm"));
    }
}
