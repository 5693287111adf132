//! Texts read without the compiler's own lexer.

/// What stands between words.
const BLANKS: [char; 6] = ['\u{FEFF}', ' ', '\t', '\r', '\n', '\u{C}'];

/// Returns true if there are blanks and comments only; the last comment may be left open.
pub fn is_blank(text: &str) -> bool {
    let mut rest = text.trim_start_matches(BLANKS);
    while !rest.is_empty() {
        if rest.starts_with("//") {
            rest = rest.find('\n').map_or("", |end| &rest[end..]);
        } else if let Some(comment) = rest.strip_prefix("/*") {
            rest = comment.find("*/").map_or("", |end| &comment[end + 2..]);
        } else {
            return false;
        }
        rest = rest.trim_start_matches(BLANKS);
    }
    true
}

/// Returns true if nothing is lost between two tokens, of which the first may be a string without an end.
pub fn is_gap(text: &str, is_open: bool) -> bool {
    is_blank(if is_open { text.trim_start() } else { text })
}

/// The tokens and comments of a text without errors.
pub fn words(text: &str) -> Vec<String> {
    let mut words = Vec::new();
    let mut rest = text.trim_start_matches(BLANKS);
    while let Some(first) = rest.chars().next() {
        let plain = |c: char| c.is_ascii_alphanumeric() || c == '_';
        let length = if rest.starts_with("//") {
            rest.find('\n').unwrap_or(rest.len())
        } else if let Some(comment) = rest.strip_prefix("/*") {
            2 + comment.find("*/").expect("a comment that ends") + 2
        } else if let Some(string) = rest.strip_prefix('"') {
            1 + string.find('"').expect("a string that ends") + 1
        } else if first.is_ascii_digit() {
            number(rest)
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
        rest = rest[length..].trim_start_matches(BLANKS);
    }
    words
}

/// The length of the number that a text starts with.
fn number(text: &str) -> usize {
    let digits = |text: &str| text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
    let mut length = digits(text);
    if text[length..].starts_with('.') && digits(&text[length + 1..]) > 0 {
        length += 1 + digits(&text[length + 1..]);
    }
    if text[length..].starts_with(['e', 'E']) {
        let sign = usize::from(text[length + 1..].starts_with(['+', '-']));
        let exponent = digits(&text[length + 1 + sign..]);
        length += if exponent > 0 { 1 + sign + exponent } else { 0 };
    }
    length
}

const SPAN: &str = "Span { source: SourceId(0), start: ";

/// Panics unless every place in a tree, as `{:?}` shows it, is a range of whole letters of the text.
pub fn assert_places(tree: &str, text: &str) {
    for part in tree.split(SPAN).skip(1) {
        let place = part
            .split_once('}')
            .and_then(|parts| parts.0.trim_end().split_once(", end: "));
        let (start, end) = place.expect("a place has a start and an end");
        let number = |digits: &str| digits.parse::<usize>().expect("a place is in numbers");
        let range = number(start)..number(end);
        assert!(text.get(range.clone()).is_some(), "{range:?} is no place in the text");
    }
}

/// Returns true if a tree, as `{:?}` shows it, has an expression that is not there. Texts in it stand in quotes, and quotes
/// within them behind a backslash, so that no comment is taken for one.
pub fn has_gap(tree: &str) -> bool {
    let mut outside = true;
    for part in tree.split('"') {
        if outside && part.contains("kind: Missing") {
            return true;
        }
        // A quote behind an odd number of backslashes belongs to the text that it stands in.
        let escaped = !outside && part.bytes().rev().take_while(|byte| *byte == b'\\').count() % 2 == 1;
        outside = if escaped { false } else { !outside };
    }
    false
}

/// A tree, as `{:?}` shows it, without its places.
pub fn without_places(tree: &str) -> String {
    let mut parts = tree.split(SPAN);
    let mut bare = parts.next().unwrap_or_default().to_string();
    for part in parts {
        bare.push_str(part.split_once('}').map_or(part, |parts| parts.1));
    }
    bare
}
