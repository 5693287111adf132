//! MATLAB matrices of positive integers, each entry with its location in the text.
//!
//! Rows end at `;` or at the end of a line, entries are separated by commas or spaces, `...` continues a line, and `%` starts a comment. A
//! leading `name =` is skipped, so that a printed matrix can be pasted unchanged. Rows may have their own brackets, as in other languages.
//! An input in which such brackets mean something else in MATLAB (one long row) is never a valid matrix here.

use lgm_source::codes::Code;
use lgm_source::diagnostic::Diagnostic;
use lgm_source::{SourceId, SourceMap, Span};

/// The text is not a matrix of numbers.
const NOT_A_MATRIX: Code = Code::LGM0801;
/// Brackets are missing, unclosed or followed by more text.
const BRACKETS: Code = Code::LGM0802;
/// A number that is not a positive integer.
const NOT_A_COUNT: Code = Code::LGM0803;

/// One number with its location.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Entry {
    pub(super) value: u32,
    pub(super) span: Span,
}

/// One row, never empty.
#[derive(Clone, Debug)]
pub(super) struct Row {
    pub(super) entries: Vec<Entry>,
}

impl Row {
    /// Returns the span from the first entry to the last.
    pub(super) fn span(&self) -> Span {
        let first = self.entries.first().expect("invariant: a row has entries");
        let last = self.entries.last().expect("invariant: a row has entries");
        first.span.to(last.span)
    }
}

/// All rows, not necessarily of one width.
#[derive(Clone, Debug)]
pub(super) struct Matrix {
    pub(super) rows: Vec<Row>,
    /// From bracket to bracket.
    pub(super) span: Span,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Token {
    Open,
    Close,
    Comma,
    Semicolon,
    NewLine,
    Equals,
    Word,
    /// `None` if the number was already rejected.
    Number(Option<u32>),
}

/// Reads one matrix; returns `None` if it has an error.
pub(super) fn parse(map: &SourceMap, source: SourceId, faults: &mut Vec<Diagnostic>) -> Option<Matrix> {
    let before = faults.len();
    let tokens = tokens(&map.get(source).text, source, faults);
    let matrix = Parser {
        tokens: &tokens,
        end: Span::new(source, map.get(source).text.len(), map.get(source).text.len()),
        faults,
    }
    .matrix();
    matrix.filter(|_| faults.len() == before)
}

fn tokens(text: &str, source: SourceId, faults: &mut Vec<Diagnostic>) -> Vec<(Token, Span)> {
    let bytes = text.as_bytes();
    let mut tokens = Vec::new();
    let mut at = 0;
    while at < bytes.len() {
        let start = at;
        let token = match bytes[at] {
            b'[' => Some(Token::Open),
            b']' => Some(Token::Close),
            b',' => Some(Token::Comma),
            b';' => Some(Token::Semicolon),
            b'\n' => Some(Token::NewLine),
            b'=' => Some(Token::Equals),
            _ => None,
        };
        if let Some(token) = token {
            at += 1;
            tokens.push((token, Span::new(source, start, at)));
        } else if matches!(bytes[at], b' ' | b'\t' | b'\r') {
            at += 1;
        } else if text[at..].starts_with("...") {
            // Everything up to and including the line's end belongs to the continuation.
            at = end_of_line(bytes, at);
            at += usize::from(at < bytes.len());
        } else if bytes[at] == b'%' {
            at = end_of_line(bytes, at);
        } else if let Some(end) = number_end(bytes, at) {
            at = end;
            let span = Span::new(source, start, end);
            tokens.push((Token::Number(count(&text[start..end], span, faults)), span));
        } else if bytes[at].is_ascii_alphabetic() {
            while at < bytes.len() && (bytes[at].is_ascii_alphanumeric() || bytes[at] == b'_') {
                at += 1;
            }
            tokens.push((Token::Word, Span::new(source, start, at)));
        } else {
            at = unexpected_end(text, at);
            faults.push(
                Diagnostic::error(
                    NOT_A_MATRIX,
                    format!("`{}` is not allowed in a matrix", &text[start..at]),
                )
                .label(
                    Span::new(source, start, at),
                    "not a number, a comma, a semicolon or a bracket",
                )
                .help("write a MATLAB matrix of whole numbers, such as `[1 2 1 4; 2 2 1 3]`"),
            );
        }
    }
    tokens
}

fn end_of_line(bytes: &[u8], from: usize) -> usize {
    let rest = &bytes[from..];
    from + rest.iter().position(|byte| *byte == b'\n').unwrap_or(rest.len())
}

/// Returns the end of a run of unexpected characters, which is reported as one error.
fn unexpected_end(text: &str, from: usize) -> usize {
    let known = |letter: char| letter.is_ascii_alphanumeric() || letter.is_whitespace() || "[],;=%.+-".contains(letter);
    let mut letters = text[from..].char_indices();
    letters.next();
    letters
        .find(|(_, letter)| known(*letter))
        .map_or(text.len(), |(offset, _)| from + offset)
}

/// Returns the end of a number that starts here, with its sign, fraction and exponent.
fn number_end(bytes: &[u8], start: usize) -> Option<usize> {
    let digit = |at: usize| bytes.get(at).is_some_and(u8::is_ascii_digit);
    let digits = |mut at: usize| {
        while digit(at) {
            at += 1;
        }
        at
    };
    let mut at = start + usize::from(matches!(bytes[start], b'+' | b'-'));
    let starts = digit(at) || (bytes.get(at) == Some(&b'.') && digit(at + 1));
    if !starts {
        return None;
    }
    at = digits(at);
    // `2...` is the number 2 with a continuation after it.
    if bytes.get(at) == Some(&b'.') && !bytes[at..].starts_with(b"...") {
        at = digits(at + 1);
    }
    if matches!(bytes.get(at), Some(b'e' | b'E')) {
        let exponent = at + 1 + usize::from(matches!(bytes.get(at + 1), Some(b'+' | b'-')));
        if digit(exponent) {
            at = digits(exponent);
        }
    }
    Some(at)
}

fn count(text: &str, span: Span, faults: &mut Vec<Diagnostic>) -> Option<u32> {
    let plain = text.strip_prefix('+').unwrap_or(text);
    if let Ok(value) = plain.parse::<u32>()
        && value > 0
    {
        return Some(value);
    }
    let whole = plain.trim_start_matches('-').bytes().all(|byte| byte.is_ascii_digit());
    let what = if plain.starts_with('-') {
        "is negative"
    } else if !whole {
        "is not written as a whole number"
    } else if plain.bytes().all(|byte| byte == b'0') {
        "is not positive"
    } else {
        "is too large"
    };
    faults.push(
        Diagnostic::error(NOT_A_COUNT, format!("`{text}` {what}"))
            .label(span, "expected a positive whole number")
            .help("branches, nodes and types are numbered 1, 2, 3, ..; values of elements are set in the model, not in the matrix"),
    );
    None
}

struct Parser<'a> {
    tokens: &'a [(Token, Span)],
    end: Span,
    faults: &'a mut Vec<Diagnostic>,
}

impl Parser<'_> {
    fn matrix(mut self) -> Option<Matrix> {
        let open = self.opening()?;
        let mut rows = Vec::new();
        let mut row: Vec<Option<Entry>> = Vec::new();
        let mut inner: Option<Span> = None;
        // True if a comma may follow the last entry of this row.
        let mut comma_may_follow = false;
        while let Some((token, span)) = self.next() {
            match token {
                Token::Number(value) => {
                    row.push(value.map(|value| Entry { value, span }));
                    comma_may_follow = true;
                }
                Token::Comma if !comma_may_follow => {
                    self.fault(
                        NOT_A_MATRIX,
                        "there is no entry before this comma",
                        span,
                        "nothing to separate",
                    )
                    .help = Some("write one comma or a space between two entries".to_owned());
                }
                Token::Comma => comma_may_follow = false,
                Token::Semicolon if inner.is_some() => {
                    self.fault(
                        BRACKETS,
                        "a row in its own brackets ends with `]`",
                        span,
                        "inside a row",
                    )
                    .help = Some("write `]` here, or remove the inner brackets".to_owned());
                }
                Token::NewLine if inner.is_some() => {}
                Token::Semicolon | Token::NewLine => {
                    finish(&mut row, &mut rows);
                    comma_may_follow = false;
                }
                Token::Open if inner.is_none() && row.is_empty() => inner = Some(span),
                Token::Open => {
                    self.fault(
                        BRACKETS,
                        "this bracket opens a matrix inside a row",
                        span,
                        "not expected here",
                    )
                    .help = Some("write a row as `1 2 1 4` and separate rows with `;`".to_owned());
                    return None;
                }
                Token::Close => {
                    finish(&mut row, &mut rows);
                    if inner.take().is_none() {
                        self.nothing_more();
                        return Some(Matrix {
                            rows,
                            span: open.to(span),
                        });
                    }
                    comma_may_follow = true;
                }
                Token::Word | Token::Equals => {
                    self.fault(NOT_A_MATRIX, "a matrix may contain only numbers", span, "not a number")
                        .help =
                        Some("write the numbers of branches, nodes and types; types range from 1 to 7".to_owned());
                }
            }
        }
        self.fault(
            BRACKETS,
            "this bracket is never closed",
            inner.unwrap_or(open),
            "opened here",
        )
        .help = Some("write `]` at the end of the matrix".to_owned());
        None
    }

    /// Skips `name =` and consumes the first bracket.
    fn opening(&mut self) -> Option<Span> {
        if let Some(equals) = self.tokens.iter().position(|(token, _)| *token == Token::Equals) {
            let name = &self.tokens[..equals];
            if name
                .iter()
                .all(|(token, _)| matches!(token, Token::Word | Token::NewLine))
            {
                self.tokens = &self.tokens[equals + 1..];
            }
        }
        while let Some((Token::NewLine, _)) = self.tokens.first() {
            self.next();
        }
        match self.next() {
            Some((Token::Open, span)) => Some(span),
            other => {
                let span = other.map_or(self.end, |(_, span)| span);
                self.fault(BRACKETS, "a matrix starts with `[`", span, "expected `[` here")
                    .help = Some("write the matrix in brackets, such as `[1 2 1 4; 2 2 1 3]`".to_owned());
                None
            }
        }
    }

    /// Checks that nothing follows the matrix except an optional semicolon, as after any MATLAB statement.
    fn nothing_more(&mut self) {
        while let Some((token, span)) = self.next() {
            if matches!(token, Token::NewLine | Token::Semicolon) {
                continue;
            }
            let last = self.tokens.last().map_or(span, |(_, last)| *last);
            self.fault(
                BRACKETS,
                "the matrix ends before this text",
                span.to(last),
                "expected the end of the matrix",
            )
            .help = Some("remove this, or move the closing bracket after it".to_owned());
            return;
        }
    }

    fn next(&mut self) -> Option<(Token, Span)> {
        let (first, rest) = self.tokens.split_first()?;
        self.tokens = rest;
        Some(*first)
    }

    fn fault(&mut self, code: Code, message: &str, span: Span, label: &str) -> &mut Diagnostic {
        self.faults.push(Diagnostic::error(code, message).label(span, label));
        self.faults.last_mut().expect("invariant: one was pushed just now")
    }
}

/// Finishes a row. Empty rows (`;;`, blank lines) are skipped; a rejected number is already reported.
fn finish(row: &mut Vec<Option<Entry>>, rows: &mut Vec<Row>) {
    let entries: Option<Vec<Entry>> = std::mem::take(row).into_iter().collect();
    if let Some(entries) = entries.filter(|entries| !entries.is_empty()) {
        rows.push(Row { entries });
    }
}
