//! C as tokens: names, numbers, comments, strings, and single characters for everything else.

/// A token of C.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Word<'t> {
    Name(&'t str),
    Number(&'t str),
    Comment(&'t str),
    /// A string literal or a character literal.
    Quoted(&'t str),
    /// Any other character.
    Other(&'t str),
}

impl<'t> Word<'t> {
    pub(super) fn text(&self) -> &'t str {
        match self {
            Word::Name(text) | Word::Number(text) | Word::Comment(text) | Word::Quoted(text) | Word::Other(text) => {
                text
            }
        }
    }
}

/// Splits a text into tokens in order; joined, the tokens are the text.
pub(super) fn words(text: &str) -> impl Iterator<Item = Word<'_>> {
    let mut rest = text;
    std::iter::from_fn(move || {
        let word = first(rest)?;
        rest = &rest[word.text().len()..];
        Some(word)
    })
}

fn first(text: &str) -> Option<Word<'_>> {
    let letter = *text.as_bytes().first()?;
    Some(match letter {
        b'a'..=b'z' | b'A'..=b'Z' | b'_' => Word::Name(while_of_name(text)),
        b'0'..=b'9' => Word::Number(number(text)),
        b'"' | b'\'' => Word::Quoted(quoted(text, letter)),
        b'/' if text.starts_with("/*") => Word::Comment(match text.find("*/") {
            Some(end) => &text[..end + 2],
            None => text,
        }),
        _ => Word::Other(&text[..text.chars().next()?.len_utf8()]),
    })
}

/// Returns the letters, digits and underscores at the beginning of a text.
fn while_of_name(text: &str) -> &str {
    let is_of_name = |letter: &u8| matches!(letter, b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'_');
    let bytes = text.as_bytes();
    let mut end = 0;
    while bytes.get(end).is_some_and(is_of_name) {
        end += 1;
    }
    &text[..end]
}

/// Returns the number at the beginning of a text: `1`, `0.5`, `1e-9`, `1e-6F`.
fn number(text: &str) -> &str {
    let mut last = b' ';
    let end = text.bytes().position(|letter| {
        let is_sign = (letter == b'-' || letter == b'+') && (last == b'e' || last == b'E');
        let is_inside = letter.is_ascii_alphanumeric() || letter == b'.' || is_sign;
        last = letter;
        !is_inside
    });
    &text[..end.unwrap_or(text.len())]
}

fn quoted(text: &str, mark: u8) -> &str {
    let mut is_escaped = false;
    for (at, letter) in text.bytes().enumerate().skip(1) {
        match letter {
            _ if is_escaped => is_escaped = false,
            b'\\' => is_escaped = true,
            letter if letter == mark => return &text[..=at],
            _ => {}
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_join_to_the_text() {
        let text = "x += 1e-9F*f(\"a \\\" /*\"); /* it's \"one\" */ '\\'' a1.b";
        let list: Vec<Word> = words(text).collect();
        assert_eq!(list.iter().map(Word::text).collect::<String>(), text);
        assert!(list.contains(&Word::Number("1e-9F")) && list.contains(&Word::Quoted("\"a \\\" /*\"")));
        assert!(list.contains(&Word::Comment("/* it's \"one\" */")) && list.contains(&Word::Name("a1")));
    }
}
