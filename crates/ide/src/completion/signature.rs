//! The formals of what is being written.

use super::place::Before;
use super::scope::formals;
use crate::{Signature, Snapshot};
use lgm_source::Span;
use lgm_syntax::token::Token;

/// The formals of the element or component whose parentheses are open at a byte of the root text.
pub(crate) fn signature(snapshot: &Snapshot, at: u32) -> Option<Signature> {
    let text = snapshot.map().get(snapshot.root()).text.clone();
    let mut before = Before::new(snapshot, &text, at);
    // A word that is being written belongs to the argument.
    if before.word.start < before.word.end {
        before.word = Span {
            end: before.word.start,
            ..before.word
        };
    }
    let (mut place, mut commas) = before.open()?;
    // Out of the brackets of a unit or an index, and of the calls in an argument.
    while before.tokens[place].1 == Token::BracketOpen || before.kind_before(place).is_none() {
        before.tokens.truncate(place);
        (place, commas) = before.open()?;
    }
    let id = before.kind_before(place)?;
    let named = before.argument_name(place);
    let analysis = snapshot.analysis();
    let mut label = format!("{}(", analysis.get(id).name);
    let mut ranges = Vec::new();
    let mut by_name = None;
    for (index, formal) in formals(snapshot, id).into_iter().enumerate() {
        by_name = by_name.or((named == Some(&*analysis.get(formal).name)).then_some(index));
        if index > 0 {
            label.push_str(", ");
        }
        let from = label.len();
        label.push_str(snapshot.map().slice(analysis.get(formal).span));
        ranges.push(from..label.len());
    }
    label.push(')');
    let active = by_name.or(Some(commas)).filter(|active| *active < ranges.len());
    let documentation = analysis.get(id).doc.as_ref().map(|doc| doc.trim().to_string());
    Some(Signature {
        label,
        formals: ranges,
        active,
        documentation,
    })
}
