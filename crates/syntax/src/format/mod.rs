//! The formatter: one text in, the same text laid out as docs/language.md lays it out.
//!
//! It works on words (tokens and comments), never on the tree, so that nothing can get lost: `words` reads them with
//! the blanks between them, `spacing` says how far apart they stand on one line, `rows` cuts them into lines by blocks
//! and statements, `align` lines up what people line up, `write` puts it down and breaks what is too long.
//!
//! What follows from the text alone is decided by rule. What is a matter of taste follows the author where that is
//! unambiguous: blank lines, several statements on one line, blocks on one line, columns, the rows of a matrix. Each of
//! these is read from the text in a way that reads the same from the result, so that formatting twice changes nothing.

mod align;
mod limits;
mod rows;
mod spacing;
mod words;
mod write;

use lgm_source::SourceId;
use lgm_source::diagnostic::{Diagnostic, has_errors};

/// Lays out a text. One with errors is left alone: its diagnostics are returned.
///
/// Tokens and comments stay as they are and in order; only blanks and line breaks change (a comment's own trailing
/// blanks included, and `\r\n` becomes `\n`).
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
