//! Modes, discrete variables and blocks in an editor.

use crate::{NameKind, Snapshot};
use lgm_source::cancellation::Cancellation;
use lgm_source::{NoFiles, SourceId};

const TEXT: &str = "element Contact(c) : electrical {
  mode open { through = 0; }
    when c -> shut;
  mode shut {
    across = 0;
  }
    when not c -> open;
}
model M {
  input u [V] = sin(time);
  node x, y : electrical;
  discrete hits = 0;
  discrete last = 0;
  source : VoltageSource(u) x -> gnd;
  contact : Contact(u > 0) x -> y, mode = shut;
  load : Resistor(1) y -> gnd;
  when u > 0.5 {
    hits := hits + 1;
  }
  every 1 [ms] from 2 [ms] {
    if u > 0 { last := u; }
  }
  when initially { last := 1; }
  output n = hits;
}
";

fn snapshot(text: &str) -> Snapshot {
    Snapshot::new(&NoFiles, None, "model.lgm", text, Cancellation::default())
}

/// Returns the text, and the location after the nth occurrence of some words.
fn behind(words: &str, nth: usize) -> (Snapshot, (SourceId, u32)) {
    let at = TEXT.match_indices(words).nth(nth).expect("the words").0 + words.len();
    let found = snapshot(TEXT);
    let root = found.root();
    (found, (root, at as u32))
}

#[test]
fn modes_and_discrete_variables_are_symbols() {
    let found = snapshot(TEXT);
    let symbols = found.symbols();
    let kinds = |at: usize| -> Vec<(String, NameKind)> {
        let children = symbols[at].children.iter();
        children.map(|child| (child.name.clone(), child.kind)).collect()
    };
    assert_eq!(
        kinds(0),
        [
            ("c".to_string(), NameKind::Parameter),
            ("open".to_string(), NameKind::Mode),
            ("shut".to_string(), NameKind::Mode)
        ]
    );
    assert!(kinds(1).contains(&("hits".to_string(), NameKind::State)));
}

#[test]
fn modes_lead_to_their_declarations_and_get_other_names() {
    let slice = |found: &Snapshot, span| found.map().slice(span).to_string();
    for (words, nth) in [("-> shut", 0), ("mode = shut", 0), ("mode shut", 0)] {
        let (found, at) = behind(words, nth);
        let span = found.definition(at).expect("a declaration");
        assert_eq!(span.start as usize, TEXT.find("shut {").unwrap(), "{words}");
        assert_eq!(slice(&found, span), "shut");
        assert_eq!(found.references(at, true).len(), 3);
        assert_eq!(found.references(at, false).len(), 2);
        let edits = found.rename(at, "closed").expect("edits");
        assert_eq!(edits.len(), 3);
        assert!(found.rename(at, "open").is_err(), "two modes of one name");
        assert!(found.rename(at, "when").is_err(), "a reserved word");
        assert!(found.rename(at, "shut").expect("no edits").is_empty());
    }
    let (found, at) = behind("discrete hits", 0);
    assert_eq!(found.references(at, true).len(), 4);
}

#[test]
fn modes_have_colors_and_blocks_fold() {
    let found = snapshot(TEXT);
    let modes = found.colors().into_iter().filter(|entry| entry.kind == NameKind::Mode);
    let modes: Vec<(String, bool)> = modes
        .map(|entry| (found.map().slice(entry.span).to_string(), entry.declares))
        .collect();
    let modes: Vec<(&str, bool)> = modes.iter().map(|entry| (entry.0.as_str(), entry.1)).collect();
    assert_eq!(
        modes,
        [
            ("open", true),
            ("shut", false),
            ("shut", true),
            ("open", false),
            ("shut", false)
        ]
    );
    let colors = found.colors();
    assert!(colors.is_sorted_by_key(|entry| entry.span));
    let folds: Vec<String> = found
        .folds()
        .into_iter()
        .map(|span| found.map().slice(span).lines().next().unwrap_or("").to_string())
        .collect();
    assert_eq!(
        folds,
        [
            "element Contact(c) : electrical {",
            "mode open { through = 0; }",
            "mode shut {",
            "model M {",
            "when u > 0.5 {",
            "every 1 [ms] from 2 [ms] {"
        ]
    );
}

#[test]
fn selections_grow_in_modes_and_blocks() {
    let selected = |words: &str| {
        let (found, at) = behind(words, 0);
        let spans = found.selections(at.1).into_iter();
        spans
            .map(|span| found.map().slice(span).to_string())
            .collect::<Vec<_>>()
    };
    assert_eq!(selected("    across")[..2], ["across", "across = 0"]);
    assert_eq!(selected("not c")[..3], ["c", "not c", "when not c -> open;"]);
    assert_eq!(selected("hits := hits")[..2], ["hits", "hits + 1"]);
}

#[test]
fn words_are_explained_in_their_places() {
    let hover = |words: &str, nth: usize| {
        let (found, at) = behind(words, nth);
        found.hover(at).map(|hover| hover.markdown).unwrap_or_default()
    };
    for (words, nth, said) in [
        ("mode", 0, "exactly one mode is active at a time"),
        ("mode", 3, "the mode assumed first at the start"),
        ("mode shut", 0, "A mode of `Contact`."),
        ("-> open", 0, "mode open { through = 0; }"),
        ("when", 0, "becomes true"),
        ("every", 0, "assigns values periodically"),
        ("from", 0, "first instant"),
        ("initially", 0, "before the first row"),
        ("discrete", 0, "changes only at events"),
        ("discrete hits", 0, "discrete hits = 0;"),
    ] {
        let found = hover(words, nth);
        assert!(found.contains(said), "{words}: {found}");
    }
}
