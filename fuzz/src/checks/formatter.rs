//! The formatter: what it must never do to any text.

use super::texts::{without_places, words};
use lgm::diagnostic::has_errors;
use lgm::source::{SourceId, SourceMap};
use lgm::syntax::{format, parse};

/// A text is refused with an error, or laid out so that no word is lost, the tree stays, and laying it out again
/// changes nothing.
pub fn formatter(text: &str) {
    match format(SourceId(0), text) {
        Err(found) => {
            let mut map = SourceMap::default();
            map.add("fuzzed.lgm", text, None);
            super::diagnostics(&map, &found);
            assert!(has_errors(&found), "refused without an error");
        }
        Ok(first) => {
            assert_harmless(text, &first);
        }
    }
}

/// The tree of a text without errors, as text, without places.
pub fn tree(text: &str) -> String {
    let (tree, diagnostics) = parse(SourceId(0), text);
    assert!(!has_errors(&diagnostics), "{text}\n{diagnostics:#?}");
    without_places(&format!("{tree:?}"))
}

/// What must hold of a text without errors and the same text formatted.
pub fn assert_harmless(text: &str, first: &str) {
    assert_eq!(
        words(text),
        words(first),
        "a word is lost or moved:\n{text}\n---\n{first}"
    );
    assert_eq!(tree(text), tree(first), "the tree changes:\n{text}\n---\n{first}");
    let second = format(SourceId(0), first);
    let second = second.unwrap_or_else(|diagnostics| panic!("{first:.2000}\n{:#?}", &diagnostics[0]));
    let mut lines = first.lines().zip(second.lines());
    if let Some((before, after)) = lines.find(|(before, after)| before != after) {
        panic!("formatting again changes\n{before}\nto\n{after}\nin\n{first}");
    }
    assert_eq!(first, second, "formatting again changes the end");
    let comments = text.contains("/*");
    for line in first.lines().filter(|line| line.ends_with(char::is_whitespace)) {
        assert!(comments, "blanks at the end of `{line}`");
    }
    assert!(comments || !first.contains("\n\n\n"), "two blank lines:\n{first}");
    assert!(!first.starts_with('\n'), "a blank line first:\n{first}");
    let ends = first.ends_with('\n') && !first.ends_with("\n\n");
    assert!(first.is_empty() || ends, "{first:?} does not end with one line's end");
}
