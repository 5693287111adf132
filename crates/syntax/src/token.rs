//! Text to tokens. Every text lexes. Text that is not a token of the language is reported here. It is either fixed (`.5` counts as `0.5`)
//! or left in the stream as [`Token::Error`], which no rule of the grammar accepts.

mod conditional;
mod letters;

use conditional::conditional;
use letters::{is_in_unit, likely_meaning};
use lgm_source::codes::Code;
use lgm_source::diagnostic::{Diagnostic, MOST_FAULTS};
use lgm_source::{SourceId, Span};
use logos::Logos;
use std::sync::Arc;

/// A token of the language.
#[derive(Logos, Clone, Copy, Debug, PartialEq, Eq)]
#[logos(skip r"[ \t\r\n\x0C\u{FEFF}]+")]
pub enum Token<'t> {
    // These six never reach the grammar: the lexer below turns them into comments, errors or other tokens.
    /// `// ..`, `/// ..`
    #[regex(r"//[^\n]*", allow_greedy = true)]
    LineComment(&'t str),
    /// `/* .. */`
    #[token("/*", block_comment)]
    BlockComment(bool),
    /// A string that is unclosed at the end of its line.
    #[regex(r#""[^"\n]*"#)]
    OpenText(&'t str),
    /// A string in single quotes.
    #[regex(r"'[^'\n]*'")]
    SingleQuoted(&'t str),
    /// `.5`
    #[regex(r"\.[0-9]+([eE][+-]?[0-9]+)?")]
    LeadingDot(&'t str),
    /// An operator of another language: `&&`, `**`.
    #[regex(r"&&|\|\||\*\*|!|<>|~=|=>|=<")]
    Foreign(&'t str),
    /// Reported text that is not part of the language.
    Error,

    // Inserted before the tokens by the driver to select the start symbol.
    /// A whole file follows.
    StartFile,
    /// One item follows.
    StartItem,
    /// The head of an item or a block, up to its brace, follows.
    StartHeader,
    /// One statement follows.
    StartStatement,
    /// One entry of an element or modal body follows.
    StartLaw,
    /// One entry of a domain body follows.
    StartDomain,
    /// One entry of an experiment follows.
    StartSetting,
    /// One entry of a mode follows.
    StartEquation,
    /// One entry of a `when` or an `every` block follows.
    StartAction,
    /// An expression follows.
    StartExpression,
    /// `from` in the head of `every period from first {`; the driver converts it from a name.
    From,
    /// `table` at the start of a declaration; the driver converts it from a name.
    Table,
    /// `function` at the start of an item; the driver converts it from a name.
    Function,
    /// Inserted by recovery for the faulty value of a declaration.
    Missing,
    /// Inserted by recovery before the readable part of a faulty statement.
    Faulty,

    /// A plain name.
    #[regex(r"[A-Za-z_][A-Za-z0-9_]*")]
    Name(&'t str),
    /// A decimal number.
    #[regex(r"[0-9]+(\.[0-9]+)?([eE][+-]?[0-9]+)?")]
    Number(&'t str),
    /// A string with its quotes.
    #[regex(r#""[^"\n]*""#)]
    Text(&'t str),

    /// `import`
    #[token("import")]
    Import,
    /// `domain`
    #[token("domain")]
    Domain,
    /// `element`
    #[token("element")]
    Element,
    /// `component`
    #[token("component")]
    Component,
    /// `modal`
    #[token("modal")]
    Modal,
    /// `model`
    #[token("model")]
    Model,
    /// `node`
    #[token("node")]
    Node,
    /// `zero`
    #[token("zero")]
    Zero,
    /// `one`
    #[token("one")]
    One,
    /// `param`
    #[token("param")]
    Param,
    /// `const`
    #[token("const")]
    Const,
    /// `input`
    #[token("input")]
    Input,
    /// `output`
    #[token("output")]
    Output,
    /// `signal`
    #[token("signal")]
    Signal,
    /// `state`
    #[token("state")]
    State,
    /// `port`
    #[token("port")]
    Port,
    /// `experiment`
    #[token("experiment")]
    Experiment,
    /// `discrete`
    #[token("discrete")]
    Discrete,
    /// `when`
    #[token("when")]
    When,
    /// `every`
    #[token("every")]
    Every,
    /// `for`
    #[token("for")]
    For,
    /// `if`
    #[token("if")]
    If,
    /// `then`
    #[token("then")]
    Then,
    /// `else`
    #[token("else")]
    Else,
    /// `and`
    #[token("and")]
    And,
    /// `or`
    #[token("or")]
    Or,
    /// `not`
    #[token("not")]
    Not,
    /// `in`, a plain name everywhere except in a range.
    #[token("in")]
    In,
    /// `vector`, a plain name everywhere except after a declared name.
    #[token("vector")]
    Vector,

    /// `+`
    #[token("+")]
    Plus,
    /// `-`
    #[token("-")]
    Minus,
    /// `*`
    #[token("*")]
    Star,
    /// `/`
    #[token("/")]
    Slash,
    /// `^`
    #[token("^")]
    Caret,
    /// `=`
    #[token("=")]
    Equals,
    /// `==`
    #[token("==")]
    EqualEqual,
    /// `!=`
    #[token("!=")]
    NotEqual,
    /// `<`
    #[token("<")]
    Less,
    /// `<=`
    #[token("<=")]
    LessEqual,
    /// `>`
    #[token(">")]
    Greater,
    /// `>=`
    #[token(">=")]
    GreaterEqual,
    /// `->`
    #[token("->")]
    Arrow,
    /// `:=`
    #[token(":=")]
    Assign,
    /// `.`
    #[token(".")]
    Dot,
    /// `%`, a unit.
    #[token("%")]
    Percent,
    /// `,`
    #[token(",")]
    Comma,
    /// `:`
    #[token(":")]
    Colon,
    /// `;`
    #[token(";")]
    Semicolon,
    /// `(`
    #[token("(")]
    ParenOpen,
    /// `)`
    #[token(")")]
    ParenClose,
    /// `[`
    #[token("[")]
    BracketOpen,
    /// `]`
    #[token("]")]
    BracketClose,
    /// `{`
    #[token("{")]
    BraceOpen,
    /// `}`
    #[token("}")]
    BraceClose,
}

/// Returns true for a keyword that cannot be a name. The words `in` and `vector` can be names.
pub fn is_reserved(word: &str) -> bool {
    let mut tokens = Token::lexer(word);
    match (tokens.next(), tokens.next()) {
        (Some(Ok(token)), None) => token.is_reserved(),
        _ => false,
    }
}

/// Consumes a block comment; returns `false` if it is unclosed.
fn block_comment<'t>(lexer: &mut logos::Lexer<'t, Token<'t>>) -> bool {
    let rest = lexer.remainder();
    match rest.find("*/") {
        Some(at) => lexer.bump(at + 2),
        None => lexer.bump(rest.len()),
    }
    rest.contains("*/")
}

impl Token<'_> {
    /// Returns true if it is a reserved word.
    pub fn is_reserved(&self) -> bool {
        use Token::*;
        self.begins_item() || self.begins_statement() || matches!(self, Then | Else | And | Or | Not)
    }

    /// Returns true if it is a reserved word that opens an item.
    pub fn begins_item(&self) -> bool {
        use Token::*;
        matches!(self, Import | Domain | Element | Component | Modal | Model)
    }

    /// Returns true if it is a reserved word that opens a statement.
    pub fn begins_statement(&self) -> bool {
        use Token::*;
        matches!(
            self,
            Node | Zero
                | One
                | Param
                | Const
                | Input
                | Output
                | Signal
                | State
                | Port
                | Experiment
                | Discrete
                | When
                | Every
                | For
                | If
        )
    }

    /// Returns true if it is a word: a name or a reserved word.
    pub fn is_word(&self) -> bool {
        matches!(self, Token::Name(_) | Token::In | Token::Vector) || self.is_reserved()
    }
}

/// A token with its byte range, in the form that the grammar reads.
pub type Spanned<'t> = (usize, Token<'t>, usize);

/// The result of lexing a text.
#[derive(Debug, Default)]
pub struct Lexed<'t> {
    /// Tokens in order with their byte ranges, without comments and spaces.
    pub tokens: Vec<Spanned<'t>>,
    /// `///` comments, joined, each with the start of the token that follows it; in order.
    pub docs: Vec<(usize, Arc<str>)>,
    /// Comments in order, including their delimiters. An unclosed comment extends to the end of the text.
    pub comments: Vec<Comment>,
    /// Errors, with codes `LGM0001` to `LGM0019`.
    pub diagnostics: Vec<Diagnostic>,
}

/// The bytes of a comment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Comment {
    /// The first byte.
    pub start: usize,
    /// One past the last byte; for `// ..` the end of the line.
    pub end: usize,
    /// True if a letter typed at the end belongs to the comment: for `// ..`, and if `*/` is missing.
    pub is_open: bool,
}

impl Lexed<'_> {
    /// Returns the comment that a letter typed at a byte would belong to.
    pub fn comment_at(&self, at: usize) -> Option<Comment> {
        let last = self.comments[..self.comments.partition_point(|comment| comment.start < at)].last();
        last.filter(|comment| at < comment.end || comment.is_open && at == comment.end)
            .copied()
    }

    fn report(&mut self, diagnostic: Diagnostic) {
        if self.diagnostics.len() < MOST_FAULTS {
            self.diagnostics.push(diagnostic);
        }
    }
}

/// Splits a text into tokens.
pub fn lex(source: SourceId, text: &str) -> Lexed<'_> {
    let mut lexed = Lexed::default();
    let mut doc: Vec<&str> = Vec::new();
    let mut lexer = Token::lexer(text);
    while let Some(result) = lexer.next() {
        let start = lexer.span().start;
        let mut end = lexer.span().end;
        let place = |end: usize| Span::new(source, start, end);
        let token = match result {
            Ok(Token::LineComment(comment)) => {
                let is_open = true;
                lexed.comments.push(Comment { start, end, is_open });
                if let Some(line) = comment.strip_prefix("///").filter(|line| !line.starts_with('/')) {
                    let line = line.trim_end();
                    doc.push(line.strip_prefix(' ').unwrap_or(line));
                }
                continue;
            }
            Ok(Token::BlockComment(closed)) => {
                let is_open = !closed;
                lexed.comments.push(Comment { start, end, is_open });
                if !closed {
                    lexed.report(
                        Diagnostic::error(Code::LGM0001, "this comment is never closed")
                            .label(place(start + 2), "it starts here and extends to the end of the file")
                            .help("write `*/` where the comment ends"),
                    );
                }
                continue;
            }
            Ok(Token::OpenText(open)) => {
                end = start + open.trim_end().len();
                misquoted(&mut lexed, Token::OpenText(open), place(end))
            }
            Ok(token @ Token::SingleQuoted(_)) => misquoted(&mut lexed, token, place(end)),
            Ok(Token::LeadingDot(digits)) => leading_dot(&mut lexed, &text[..start], digits, place(end)),
            Ok(Token::Number(digits)) => match trailing_dot(text, end) {
                None => Token::Number(digits),
                Some(length) => {
                    lexer.bump(length);
                    end += length;
                    lexed.report(
                        Diagnostic::error(Code::LGM0003, "a number needs digits on both sides of its dot")
                            .label(place(end), "no digit after the dot")
                            .help(format!("write `{digits}.0{}`", &text[start + digits.len() + 1..end])),
                    );
                    Token::Number(digits)
                }
            },
            Ok(Token::Foreign(sign)) => {
                let (token, right) = foreign(sign);
                lexed.report(
                    Diagnostic::error(Code::LGM0004, format!("`{sign}` is not a symbol of this language"))
                        .label(place(end), format!("use `{right}`"))
                        .help(format!("write `{right}`")),
                );
                token
            }
            Ok(token) => token,
            Err(()) => {
                let (length, token) = stranger(&mut lexed, source, text, start);
                let extra = (start + length).saturating_sub(end);
                lexer.bump(extra);
                end = end.max(start + length);
                token
            }
        };
        // A foreign letter within a word includes the letters before it.
        let start = match (token, lexed.tokens.last()) {
            (Token::Name(word), Some((_, _, _))) if word.len() > end - start => {
                let (first, _, _) = lexed.tokens.pop().expect("invariant: just looked at");
                first
            }
            _ => start,
        };
        if !doc.is_empty() {
            lexed.docs.push((start, doc.join("\n").into()));
            doc.clear();
        }
        lexed.tokens.push((start, token, end));
    }
    lexed
}

/// Reports a string that is unclosed or in single quotes; returns the token to continue with.
fn misquoted<'t>(lexed: &mut Lexed<'t>, token: Token<'t>, place: Span) -> Token<'t> {
    let Token::SingleQuoted(quoted) = token else {
        lexed.report(
            Diagnostic::error(Code::LGM0002, "this string has no closing quote")
                .label(place, "the line ends before the string does")
                .help("write `\"` at its end"),
        );
        return Token::Error;
    };
    lexed.report(
        Diagnostic::error(Code::LGM0002, "strings use double quotes")
            .label(place, "single quotes")
            .help(format!("write `\"{}\"`", quoted.trim_matches('\''))),
    );
    Token::Text(quoted)
}

/// Reports digits with a leading dot, after the text `before`; returns the token to continue with.
fn leading_dot<'t>(lexed: &mut Lexed<'t>, before: &str, digits: &'t str, place: Span) -> Token<'t> {
    if before.ends_with(|last: char| last.is_ascii_alphanumeric() || "_])".contains(last)) {
        lexed.report(
            Diagnostic::error(
                Code::LGM0003,
                "refer to a port or a member by its name, not by a number",
            )
            .label(place, "no name")
            .help(
                "write the name after the dot, such as `T.in` and `T.out`; an index is written in brackets, \
                `T[1]`",
            ),
        );
        return Token::Error;
    }
    lexed.report(
        Diagnostic::error(Code::LGM0003, "a number needs digits on both sides of its dot")
            .label(place, "no digit before the dot")
            .help(format!("write `0{digits}`")),
    );
    // Its value is irrelevant now; without the dot it is a number.
    Token::Number(&digits[1..])
}

/// Returns the length of a dot (and an exponent) after the digits that end at `end`. No digit follows the dot, and it is not the dot of a
/// product of units such as `m^2.s`.
fn trailing_dot(text: &str, end: usize) -> Option<usize> {
    // `1..n` is a range of other languages.
    let rest = text[end..].strip_prefix('.').filter(|rest| !rest.starts_with('.'))?;
    let mut letters = rest.chars();
    match letters.next() {
        Some('e' | 'E') => {
            let digits = rest[1..].trim_start_matches(['+', '-']);
            let length = digits.find(|c: char| !c.is_ascii_digit()).unwrap_or(digits.len());
            let signs = rest.len() - 1 - digits.len();
            let stops = !digits[length..].starts_with(|c: char| c.is_ascii_alphanumeric() || c == '_');
            (length > 0 && signs <= 1 && stops).then_some(2 + signs + length)
        }
        Some(letter) if letter.is_alphanumeric() || letter == '_' || letter == '(' => None,
        _ => Some(1),
    }
}

/// Returns the token to continue with after a foreign operator, and the replacement of the operator.
fn foreign(sign: &str) -> (Token<'static>, &'static str) {
    match sign {
        "&&" => (Token::And, "and"),
        "||" => (Token::Or, "or"),
        "**" => (Token::Caret, "^"),
        "!" => (Token::Not, "not"),
        "=>" => (Token::GreaterEqual, ">="),
        "=<" => (Token::LessEqual, "<="),
        _ => (Token::NotEqual, "!="),
    }
}

/// Reports invalid text at `start`; returns its length and the token to continue with.
fn stranger<'t>(lexed: &mut Lexed<'t>, source: SourceId, text: &'t str, start: usize) -> (usize, Token<'t>) {
    let letter = text[start..].chars().next().unwrap_or(' ');
    if !letter.is_alphanumeric() {
        let shown = match letter.is_control() {
            true => letter.escape_unicode().to_string(),
            false => letter.to_string(),
        };
        let token = match letter {
            '·' | '×' | '⋅' if is_in_unit(&text[..start]) => Token::Dot,
            '·' | '×' | '⋅' => Token::Star,
            '−' | '–' => Token::Minus,
            '→' => Token::Arrow,
            '≤' => Token::LessEqual,
            '≥' => Token::GreaterEqual,
            '≠' => Token::NotEqual,
            _ => Token::Error,
        };
        // A sequence of them is one error.
        let length = match token {
            Token::Error => text[start..]
                .find(|other| other != letter)
                .unwrap_or(text.len() - start),
            _ => letter.len_utf8(),
        };
        let place = Span::new(source, start, start + length);
        let mut diagnostic = Diagnostic::error(Code::LGM0005, format!("`{shown}` is not a symbol of this language"))
            .label(place, "not expected here");
        if token == Token::Dot {
            diagnostic = diagnostic
                .help("write a dot, such as `[N.m]`")
                .fix("write `.`", place, ".");
        } else if let Some(right) = likely_meaning(letter) {
            let words = format!("write `{right}`");
            diagnostic = diagnostic.help(words.clone()).fix(words, place, right);
        } else {
            diagnostic = diagnostic.help(match letter {
                '#' => "write `// text` for a comment".to_string(),
                '?' => conditional(text, start),
                _ => "remove it".to_string(),
            });
        }
        lexed.report(diagnostic);
        return (length, token);
    }
    let rest = &text[start..];
    let length = rest
        .find(|c: char| !(c.is_alphanumeric() || c == '_'))
        .unwrap_or(rest.len());
    // Adjacent letters before it belong to the same word.
    let first = match lexed.tokens.last() {
        Some((first, before, end)) if *end == start && before.is_word() => *first,
        _ => start,
    };
    let word = &text[first..start + length];
    let plain: String = word
        .chars()
        .map(|c| likely_meaning(c).map_or(c.to_string(), str::to_string))
        .collect();
    let mut diagnostic = Diagnostic::error(
        Code::LGM0006,
        format!("`{word}` is not a name: names consist of ASCII letters, digits and `_`"),
    )
    .label(
        Span::new(source, first, start + length),
        format!("`{letter}` is not an ASCII letter"),
    );
    diagnostic = match plain.is_ascii() {
        true => diagnostic.help(format!("write `{plain}`")),
        false => diagnostic.help("use the letters a to z, A to Z, digits and `_`"),
    };
    lexed.report(diagnostic);
    (length, Token::Name(word))
}

#[cfg(test)]
mod tests {
    use super::is_reserved;

    #[test]
    fn words_of_the_language_are_no_names() {
        for word in ["model", "one", "for", "not", "experiment"] {
            assert!(is_reserved(word), "{word}");
        }
        for word in ["in", "vector", "modelled", "across", "gnd", "", "+", "a b"] {
            assert!(!is_reserved(word), "{word}");
        }
    }
}
