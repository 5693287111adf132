//! What must hold of every text, one function for each fuzz target. They panic where it does not hold.

// The tests use a part of what is here each.
#![allow(dead_code, unused_imports)]

pub mod formatter;
mod lg2ss;
mod pipeline;
pub mod places;
pub mod texts;

pub use formatter::formatter;
pub use lg2ss::lg2ss;
pub use pipeline::pipeline;
pub use places::places;

use lgm::diagnostic::{Diagnostic, has_errors};
use lgm::rendering::render;
use lgm::source::{SourceId, SourceMap};
use lgm::syntax::{self, token};

/// Every text lexes: tokens are in order, apart by blanks and comments only, and mean the same on their own.
pub fn tokens(text: &str) {
    let mut map = SourceMap::default();
    let source = map.add("fuzzed.lgm", text, None);
    let lexed = token::lex(source, text);
    let (mut end, mut is_open) = (0, false);
    for (start, token, stop) in &lexed.tokens {
        assert!(end <= *start && start < stop, "tokens overlap at byte {start}");
        assert!(
            texts::is_gap(&text[end..*start], is_open),
            "a word is lost before byte {start}"
        );
        assert!(text.is_char_boundary(*stop), "half a letter ends at byte {stop}");
        // A string without an end takes its line along, and is shown without the blanks at its end.
        (end, is_open) = (*stop, *token == token::Token::Error);
    }
    assert!(texts::is_gap(&text[end..], is_open), "a word is lost after byte {end}");
    for (at, doc) in &lexed.docs {
        assert!(
            lexed.tokens.iter().any(|token| token.0 == *at),
            "no token for the comment {doc:?}"
        );
    }
    if lexed.diagnostics.is_empty() {
        let words: Vec<&str> = lexed.tokens.iter().map(|token| &text[token.0..token.2]).collect();
        let joined = words.join("\n");
        let again = token::lex(source, &joined);
        let kinds =
            |tokens: &[token::Spanned<'_>]| format!("{:?}", tokens.iter().map(|token| token.1).collect::<Vec<_>>());
        assert_eq!(
            kinds(&lexed.tokens),
            kinds(&again.tokens),
            "tokens depend on the blanks between them"
        );
    }
    diagnostics(&map, &lexed.diagnostics);
}

/// Every text parses: all places lie in the text, and a tree without faults is whole.
pub fn parser(text: &str) {
    let mut map = SourceMap::default();
    let source = map.add("fuzzed.lgm", text, None);
    let (tree, found) = syntax::parse(source, text);
    diagnostics(&map, &found);
    let shown = format!("{tree:?}");
    texts::assert_places(&shown, text);
    assert!(
        has_errors(&found) || !texts::has_gap(&shown),
        "a part is missing without an error"
    );
    let (expression, found) = syntax::parse_expression(source, text);
    diagnostics(&map, &found);
    let shown = format!("{expression:?}");
    texts::assert_places(&shown, text);
    assert!(
        has_errors(&found) || !texts::has_gap(&shown),
        "a part is missing without an error"
    );
}

/// What must hold of all that is said to a person: the code has a page, the places lie in the texts.
fn diagnostics(map: &SourceMap, found: &[Diagnostic]) {
    let count = map.iter().count() as u32;
    for diagnostic in found {
        let page = lgm::codes::PAGES.iter().find(|page| page.code == diagnostic.code);
        assert!(page.is_some(), "{} has no page", diagnostic.code);
        assert!(!diagnostic.message.is_empty(), "{} says nothing", diagnostic.code);
        for label in &diagnostic.labels {
            let span = label.span;
            assert!(span.source < SourceId(count), "{diagnostic:?}: there is no such text");
            let text = &map.get(span.source).text;
            assert!(
                span.start <= span.end && text.get(span.start as usize..span.end as usize).is_some(),
                "{diagnostic:?}: no place in a text of {} bytes",
                text.len()
            );
        }
    }
    let shown = render(map, found, false);
    assert_eq!(
        shown.is_empty(),
        found.is_empty(),
        "something is said that is not shown"
    );
}
