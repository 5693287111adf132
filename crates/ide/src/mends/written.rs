//! Changes that insert the text in the help of a diagnostic where it fits.

use super::places::{Change, Places};
use crate::Edit;
use lgm_source::Span;
use lgm_source::diagnostic::Diagnostic;

/// The beginnings of help texts that contain a replacement. Others describe the current text.
const ASKING: [&str; 8] = [
    "write ",
    "did you mean",
    "the names here are",
    "choose another name",
    "declare a plain name",
    "name an element",
    "give it the index",
    "draw it",
];

/// Returns the complete code snippets of the help in backticks, each inserted at possible positions around the error.
pub(super) fn changes(places: &Places, diagnostic: &Diagnostic, own: &[Span]) -> Vec<Change> {
    let (Some(help), Some(place)) = (&diagnostic.help, own.first()) else {
        return Vec::new();
    };
    if !ASKING.iter().any(|beginning| help.starts_with(beginning)) {
        return Vec::new();
    }
    let pieces = help.split('`').skip(1).step_by(2);
    let whole = |piece: &&str| !piece.contains("..") && !piece.contains("--");
    let mut found = Vec::new();
    for piece in pieces.filter(whole) {
        found.extend(around(places, *place, piece).into_iter().map(|(span, text)| {
            let edit = Edit { span, text };
            (format!("write `{piece}`"), vec![edit])
        }));
    }
    found
}

/// Returns the possible positions of the suggested text, with the current text there.
fn around(places: &Places, place: Span, piece: &str) -> Vec<(Span, String)> {
    let written = |span: Span| (span, piece.to_string());
    if piece.ends_with(';') {
        let statement = places.statement(place);
        let mut found = vec![written(statement)];
        // In a definition, it may be an entry that is missing.
        let open = places.text[place.end as usize..].find('{');
        let body = open.map(|at| place.end as usize + at + 1);
        found.extend(body.map(|at| (places.span(at, at), format!(" {piece}"))));
        return found;
    }
    if piece.starts_with('[') {
        let group = places.group(place, '[', ']');
        let behind = places.span(place.end as usize, place.end as usize);
        return group.into_iter().chain([behind]).map(written).collect();
    }
    let mut found = vec![written(place), written(places.word(place))];
    found.extend(places.call(place).map(written));
    found.push(written(places.with_word_before(place)));
    found.extend(chained(places, place, piece).map(written));
    found.extend(places.value(places.statement(place)).map(written));
    found
}

/// Returns the chain `a < b < c` that is equivalent to `a < b and b < c`.
fn chained(places: &Places, place: Span, piece: &str) -> Option<Span> {
    let (left, right) = piece.split_once(" and ")?;
    let statement = places.statement(place);
    let words = places.words(statement);
    let from = words.find(left)?;
    let tails = right.char_indices().map(|(at, _)| &right[at..]);
    let tail = tails
        .skip(1)
        .find(|tail| words[from + left.len()..].starts_with(*tail))?;
    let start = statement.start as usize + from;
    Some(places.span(start, start + left.len() + tail.len()))
}
