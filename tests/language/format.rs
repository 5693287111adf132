//! The formatter: the style of docs/language.md, and what it must never do to any text.

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

/// What must hold of every text without errors or warnings; the text formatted.
fn assert_harmless(text: &str) -> String {
    let (_, diagnostics) = parse(SourceId(0), text);
    assert!(diagnostics.is_empty(), "{text}\n{diagnostics:#?}");
    let first = formatted(text);
    assert_same_model(text, &first);
    first
}
