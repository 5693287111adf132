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
    let letter = text.chars().next()?;
    let until =
        |is_inside: &dyn Fn(char) -> bool| &text[..text.find(|letter| !is_inside(letter)).unwrap_or(text.len())];
    let is_of_name = |letter: char| letter.is_ascii_alphanumeric() || letter == '_';
    Some(match letter {
        'a'..='z' | 'A'..='Z' | '_' => Word::Name(until(&is_of_name)),
        '0'..='9' => Word::Number(number(text)),
        '"' | '\'' => Word::Quoted(quoted(text, letter)),
        '/' if text.starts_with("/*") => Word::Comment(match text.find("*/") {
            Some(end) => &text[..end + 2],
            None => text,
        }),
        _ => Word::Other(&text[..letter.len_utf8()]),
    })
}

/// Returns the number at the beginning of a text: `1`, `0.5`, `1e-9`, `1e-6F`.
fn number(text: &str) -> &str {
    let mut last = ' ';
    let end = text.find(|letter: char| {
        let is_sign = (letter == '-' || letter == '+') && (last == 'e' || last == 'E');
        let is_inside = letter.is_ascii_alphanumeric() || letter == '.' || is_sign;
        last = letter;
        !is_inside
    });
    &text[..end.unwrap_or(text.len())]
}

fn quoted(text: &str, mark: char) -> &str {
    let mut is_escaped = false;
    for (at, letter) in text.char_indices().skip(1) {
        match letter {
            _ if is_escaped => is_escaped = false,
            '\\' => is_escaped = true,
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
