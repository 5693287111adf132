//! The formatter: the style of docs/language.md, and what it must never do to any text.

#[path = "format/command.rs"]
mod command;
#[path = "format/properties.rs"]
mod properties;
#[path = "format/style.rs"]
mod style;

use lgm::source::SourceId;
use lgm::syntax::{format, parse};

/// Formats a text that has no errors.
fn formatted(text: &str) -> String {
    format(SourceId(0), text).unwrap_or_else(|diagnostics| panic!("{text:.2000}\n{:#?}", &diagnostics[0]))
}

/// The tree of a text as text, without places.
fn tree(text: &str) -> String {
    let (tree, diagnostics) = parse(SourceId(0), text);
    assert!(diagnostics.is_empty(), "{text}\n{diagnostics:#?}");
    let shown = format!("{tree:?}");
    let mut bare = String::new();
    let mut parts = shown.split("Span { source: SourceId(0), start: ");
    bare.push_str(parts.next().unwrap());
    for part in parts {
        bare.push_str(&part[part.find('}').unwrap() + 1..]);
    }
    bare
}

/// The tokens and comments of a text without errors, told apart without the compiler's own lexer.
fn words(text: &str) -> Vec<String> {
    let mut words = Vec::new();
    let mut rest = text.trim_start_matches(['\u{FEFF}', ' ', '\t', '\r', '\n', '\u{C}']);
    while let Some(first) = rest.chars().next() {
        let plain = |c: char| c.is_ascii_alphanumeric() || c == '_';
        let length = if rest.starts_with("//") {
            rest.find('\n').unwrap_or(rest.len())
        } else if let Some(comment) = rest.strip_prefix("/*") {
            2 + comment.find("*/").unwrap() + 2
        } else if let Some(string) = rest.strip_prefix('"') {
            1 + string.find('"').unwrap() + 1
        } else if first.is_ascii_digit() {
            let digits = |text: &str| text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
            let mut length = digits(rest);
            if rest[length..].starts_with('.') && digits(&rest[length + 1..]) > 0 {
                length += 1 + digits(&rest[length + 1..]);
            }
            if rest[length..].starts_with(['e', 'E']) {
                let sign = usize::from(rest[length + 1..].starts_with(['+', '-']));
                let exponent = digits(&rest[length + 1 + sign..]);
                length += if exponent > 0 { 1 + sign + exponent } else { 0 };
            }
            length
        } else if plain(first) {
            rest.find(|c| !plain(c)).unwrap_or(rest.len())
        } else if ["->", "==", "!=", "<=", ">="].iter().any(|sign| rest.starts_with(sign)) {
            2
        } else {
            first.len_utf8()
        };
        let word = rest[..length].replace("\r\n", "\n");
        words.push(match first == '/' && length > 1 {
            true => word.trim_end().to_string(),
            false => word,
        });
        rest = rest[length..].trim_start_matches(['\u{FEFF}', ' ', '\t', '\r', '\n', '\u{C}']);
    }
    words
}

/// What must hold of every text without errors.
fn assert_harmless(text: &str) -> String {
    let first = formatted(text);
    assert_eq!(
        words(text),
        words(&first),
        "a word is lost or moved:\n{text}\n---\n{first}"
    );
    assert_eq!(tree(text), tree(&first), "the tree changes:\n{text}\n---\n{first}");
    let second = formatted(&first);
    if let Some((before, after)) = first
        .lines()
        .zip(second.lines())
        .find(|(before, after)| before != after)
    {
        panic!("formatting again changes\n{before}\nto\n{after}\nin\n{first}");
    }
    assert_eq!(first, second, "formatting again changes the end");
    for line in first.lines().filter(|line| line.ends_with(char::is_whitespace)) {
        assert!(text.contains("/*"), "blanks at the end of `{line}`");
    }
    assert!(
        !text.contains("/*") && !first.contains("\n\n\n") || text.contains("/*"),
        "two blank lines:\n{first}"
    );
    assert!(!first.starts_with('\n'));
    assert!(
        first.is_empty() || first.ends_with('\n') && !first.ends_with("\n\n"),
        "{first:?}"
    );
    first
}
