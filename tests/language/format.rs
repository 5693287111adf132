//! The formatter: the style of docs/language.md, and invariants for any text.

#[path = "../../fuzz/src/checks/mod.rs"]
pub(crate) mod checks;
mod command;
mod properties;
mod style;

use checks::formatter::{assert_harmless as assert_same_model, tree};
use checks::texts::words;
use lgm::source::SourceId;
use lgm::syntax::{format, parse};

/// Formats a text that has no errors.
fn formatted(text: &str) -> String {
    format(SourceId(0), text).unwrap_or_else(|diagnostics| panic!("{text:.2000}\n{:#?}", &diagnostics[0]))
}

/// Invariants of every text without errors or warnings; returns the formatted text.
fn assert_harmless(text: &str) -> String {
    let (_, diagnostics) = parse(SourceId(0), text);
    assert!(diagnostics.is_empty(), "{text}\n{diagnostics:#?}");
    let first = formatted(text);
    assert_same_model(text, &first);
    first
}
