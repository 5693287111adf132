//! The formatter: returns the same text with the layout of docs/language.md.
//!
//! It works on words (tokens and comments), never on the tree, so that nothing is lost. `words` reads them with the spaces between them,
//! `spacing` sets their distances on one line, and `rows` splits them into lines by blocks and statements. `align` aligns similar lines,
//! and `write` writes the text and breaks long lines.
//!
//! Most of the layout is determined by rules. Unambiguous matters of taste follow the author: blank lines, several statements on one line,
//! blocks on one line, columns, and rows of a matrix. Each of these is detected such that the formatted text gives the same result, so that
//! formatting is idempotent.

mod align;
mod limits;
mod rows;
mod spacing;
mod words;
mod write;

use lgm_source::SourceId;
use lgm_source::diagnostic::{Diagnostic, has_errors};

/// Formats a text. For a text with errors, it returns the diagnostics.
///
/// Tokens and comments stay unchanged and in order; only spaces and line breaks change (including a comment's trailing
/// spaces, and `\r\n` becomes `\n`).
pub fn format(source: SourceId, text: &str) -> Result<String, Vec<Diagnostic>> {
    let (_, diagnostics) = super::parse(source, text);
    if has_errors(&diagnostics) {
        return Err(diagnostics);
    }
    let mut words = words::read(text);
    spacing::decide(&mut words);
    let mut rows = rows::arrange(&mut words);
    align::align(&mut words, &mut rows);
    Ok(write::write(&words, &rows))
}
