//! From text to flat model: the snippets of the language's description, laws in many arrangements, faults.

#[path = "elaborate/dump.rs"]
mod dump;
#[path = "elaborate/snippets.rs"]
mod snippets;

use lgm::diagnostic::{Diagnostic, render};
use lgm::elaborate::model::Model;
use lgm::elaborate::{Settings, elaborate, load};
use lgm::source::{NoFiles, SourceMap};

/// Elaborates a text with `--set` options.
pub fn run(text: &str, sets: &[&str]) -> (Option<Model>, Vec<Diagnostic>, SourceMap) {
    let mut map = SourceMap::default();
    let root = map.add("model.lgm", text, None);
    let (program, mut diagnostics) = load(&NoFiles, &mut map, root);
    let sets = sets
        .iter()
        .map(|set| (set.to_string(), map.add("--set", *set, None)))
        .collect();
    let (model, more) = elaborate(&program, &map, &Settings { model: None, sets });
    diagnostics.extend(more);
    let failed = lgm::diagnostic::has_errors(&diagnostics);
    (model.filter(|_| !failed), diagnostics, map)
}

/// The model of a text that must have no faults at all.
pub fn good(text: &str) -> Model {
    let (model, diagnostics, map) = run(text, &[]);
    assert!(diagnostics.is_empty(), "{}", render(&map, &diagnostics, false));
    model.expect("a text without faults has a model")
}

#[allow(dead_code)]
/// The text and what is said of it.
pub fn said(text: &str, sets: &[&str]) -> String {
    let (_, diagnostics, map) = run(text, sets);
    format!("{}\n{}", text.trim(), render(&map, &diagnostics, false))
}
