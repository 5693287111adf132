//! Parts of a text around a location, found only from characters, so that this also works for a text with errors.

use crate::Edit;
use lgm_source::{SourceId, Span};

/// A change with its title.
pub(super) type Change = (String, Vec<Edit>);

/// A text in which locations are examined.
#[derive(Clone, Copy, Debug)]
pub(super) struct Places<'t> {
    pub text: &'t str,
    pub source: SourceId,
}

impl<'t> Places<'t> {
    pub(super) fn words(&self, span: Span) -> &'t str {
        self.text
            .get(span.start as usize..span.end as usize)
            .unwrap_or_default()
    }

    pub(super) fn span(&self, start: usize, end: usize) -> Span {
        Span::new(self.source, start, end)
    }

    /// Returns the letters, digits, dots and exponents around a location.
    pub(super) fn word(&self, span: Span) -> Span {
        let is_part = |letter: char| letter.is_ascii_alphanumeric() || matches!(letter, '_' | '.' | '^');
        let (start, end) = (span.start as usize, span.end as usize);
        let before = self.text[..start].trim_end_matches(is_part).len();
        let behind = self.text[end..].trim_start_matches(is_part);
        self.span(before, self.text.len() - behind.len())
    }

    /// Returns the location together with the word before it.
    pub(super) fn with_word_before(&self, span: Span) -> Span {
        let front = self.text[..span.start as usize].trim_end_matches([' ', '\t']);
        let is_part = |letter: char| letter.is_ascii_alphanumeric() || matches!(letter, '_' | '.');
        self.span(front.trim_end_matches(is_part).len(), span.end as usize)
    }

    /// Returns the innermost brackets of the given kind around a location.
    pub(super) fn group(&self, span: Span, opening: char, closing: char) -> Option<Span> {
        let within = |letters: &mut dyn Iterator<Item = (usize, char)>, ends: char, begins: char| {
            let mut depth = 0_i32;
            for (at, letter) in letters {
                if letter == ends && depth == 0 {
                    return Some(at);
                }
                if matches!(letter, ';' | '{' | '}') {
                    return None;
                }
                depth += i32::from(letter == begins) - i32::from(letter == ends);
            }
            None
        };
        let start = within(
            &mut self.text[..span.start as usize].char_indices().rev(),
            opening,
            closing,
        )?;
        let behind = span.end as usize;
        let end = within(&mut self.text[behind..].char_indices(), closing, opening)?;
        Some(self.span(start, behind + end + 1))
    }

    /// Returns the call around a location: its name and its arguments.
    pub(super) fn call(&self, span: Span) -> Option<Span> {
        let group = self.group(span, '(', ')')?;
        let name = self.text[..group.start as usize].trim_end_matches(|letter: char| letter.is_ascii_alphanumeric());
        (name.len() < group.start as usize).then(|| self.span(name.len(), group.end as usize))
    }

    /// Returns the name of a call.
    pub(super) fn name_of(&self, call: Span) -> Option<Span> {
        let open = self.words(call).find('(')?;
        Some(self.span(call.start as usize, call.start as usize + open))
    }

    /// Returns the statement or entry around a location, with its semicolon.
    pub(super) fn statement(&self, span: Span) -> Span {
        let before = &self.text[..span.start as usize];
        let mut start = before.rfind([';', '{', '}']).map_or(0, |at| at + 1);
        // Comments before it do not belong to it.
        loop {
            let rest = &self.text[start..span.start as usize];
            let blank = rest.len() - rest.trim_start().len();
            start += blank;
            match rest[blank..].starts_with("//").then(|| rest[blank..].find('\n')) {
                Some(Some(end)) => start += end,
                _ => break,
            }
        }
        let behind = &self.text[span.end as usize..];
        let end = match self.words(span).ends_with(';') {
            true => 0,
            false => behind.find([';', '}']).unwrap_or(behind.len()),
        };
        let closes = usize::from(behind[end..].starts_with(';') && !self.words(span).ends_with(';'));
        self.span(start, span.end as usize + end + closes)
    }

    /// Returns the first word of a statement.
    pub(super) fn keyword(&self, statement: Span) -> Span {
        let words = self.words(statement);
        let end = words
            .find(|letter: char| !letter.is_ascii_alphanumeric())
            .unwrap_or(words.len());
        self.span(statement.start as usize, statement.start as usize + end)
    }

    /// Returns the value of a statement: the text between its first `=` and its end.
    pub(super) fn value(&self, statement: Span) -> Option<Span> {
        let words = self.words(statement);
        let from = words.find('=')? + 1;
        let from = from + words[from..].len() - words[from..].trim_start().len();
        let to = words.trim_end_matches(';').len();
        (from < to).then(|| self.span(statement.start as usize + from, statement.start as usize + to))
    }

    /// Returns the span of a list item, with the comma that its removal would leave over.
    pub(super) fn listed(&self, span: Span) -> Option<Span> {
        let (before, behind) = (&self.text[..span.start as usize], &self.text[span.end as usize..]);
        let start = before.rfind([',', '(', ';', '{'])?;
        let mut depth = 0_i32;
        let end = behind.char_indices().find(|(_, letter)| {
            depth += i32::from(matches!(letter, '(' | '[')) - i32::from(matches!(letter, ')' | ']'));
            depth < 0 || depth == 0 && matches!(letter, ',' | ';')
        });
        let (end, closing) = end?;
        match (before[start..].starts_with(','), closing) {
            (true, _) => Some(self.span(start, span.end as usize + end)),
            (false, ',') => Some(self.span(start + 1, span.end as usize + end + 1)),
            _ => None,
        }
    }

    /// Returns a part with its whole line, if the line contains nothing else.
    pub(super) fn with_line(&self, span: Span) -> Span {
        let (start, end) = (span.start as usize, span.end as usize);
        let line = self.text[..start].rfind('\n').map_or(0, |at| at + 1);
        let behind = &self.text[end..];
        let next = behind.find('\n').map_or(behind.len(), |at| at + 1);
        let is_alone = self.text[line..start].trim().is_empty() && behind[..next].trim().is_empty();
        if is_alone { self.span(line, end + next) } else { span }
    }
}
