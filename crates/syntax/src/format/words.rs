//! The words of a text: its tokens and comments in order, each with the spaces before it.

use super::super::token::Token;
use logos::Logos;

/// A token or a comment, with its original and its new placement.
pub(super) struct Word<'t> {
    pub kind: Kind<'t>,
    /// As written, without trailing spaces.
    pub text: &'t str,
    /// The number of line breaks between the previous word and this one.
    pub breaks: usize,
    /// The number of spaces before it on its line.
    pub spaces: usize,
    /// Its column in the source, in characters from zero.
    pub column: usize,

    /// The number of spaces to write before it if it does not start a line.
    pub gap: usize,
    /// The level of a possible line break before the word: lower levels are preferred. None if no break is allowed.
    pub split: Option<u32>,
    /// The index of the matching bracket.
    pub partner: usize,
    /// A column that may be aligned with columns of other lines.
    pub stop: Option<Stop>,
    /// For the opening bracket of a matrix, the layout of its rows.
    pub matrix: Option<Matrix>,
}

/// The kind of a word.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind<'t> {
    /// A token of the language.
    Token(Token<'t>),
    /// `// ..` or `/// ..`, always the last word on its line.
    LineComment,
    /// `/* .. */` on one line.
    BlockComment,
    /// `/* .. */` over several lines.
    LongComment,
}

/// A position in a line that can be aligned with the same position in neighbouring lines.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Stop {
    /// The `:` after a declared name, or after the head of an item.
    Colon,
    /// The first branch of an instance.
    Branch,
    /// The arrow of that branch.
    Arrow,
    /// The `=` of a declaration or an equation.
    Equals,
    /// The `{` of a block.
    Open,
    /// The `when` of a change of modes, `when across > 0 -> conducting;`.
    Change,
}

/// The layout of the rows of a matrix in the source.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Matrix {
    /// A single row.
    Single,
    /// Several rows on one line.
    Flat,
    /// Each on its own line.
    Rows,
}

impl<'t> Word<'t> {
    /// Returns the token, unless it is a comment.
    pub fn token(&self) -> Option<Token<'t>> {
        match self.kind {
            Kind::Token(token) => Some(token),
            _ => None,
        }
    }

    /// Returns true if the word is this token.
    pub fn is(&self, token: Token<'_>) -> bool {
        self.kind == Kind::Token(token)
    }

    pub fn is_comment(&self) -> bool {
        self.token().is_none()
    }

    /// Returns true if a line must end after the word.
    pub fn ends_line(&self) -> bool {
        matches!(self.kind, Kind::LineComment | Kind::LongComment)
    }

    /// Returns the number of columns of the word on the line where it ends.
    pub fn width(&self) -> usize {
        let last = match self.kind {
            Kind::LongComment => self.text.rsplit('\n').next().unwrap_or(""),
            _ => self.text,
        };
        last.chars().count()
    }
}

/// Reads the words of a text without errors.
pub(super) fn read(text: &str) -> Vec<Word<'_>> {
    let mut words = Vec::new();
    let mut lexer = Token::lexer(text);
    let (mut end, mut column) = (0, 0);
    while let Some(result) = lexer.next() {
        let span = lexer.span();
        let written = &text[span.clone()];
        let token = result.expect("invariant: a text without errors has no strange signs");
        let (kind, written) = match token {
            Token::LineComment(_) => (Kind::LineComment, written.trim_end()),
            Token::BlockComment(_) if written.contains('\n') => (Kind::LongComment, written),
            Token::BlockComment(_) => (Kind::BlockComment, written),
            token => (Kind::Token(token), written),
        };
        let blanks = &text[end..span.start];
        let breaks = blanks.bytes().filter(|byte| *byte == b'\n').count();
        let spaces = blanks.rsplit('\n').next().unwrap_or("").chars().count();
        column = match breaks {
            0 => column + spaces,
            _ => spaces,
        };
        let word = Word {
            kind,
            text: written,
            breaks,
            spaces,
            column,
            gap: 1,
            split: None,
            partner: words.len(),
            stop: None,
            matrix: None,
        };
        column = match kind {
            Kind::LongComment => word.width(),
            _ => column + word.width(),
        };
        words.push(word);
        end = span.end;
    }
    words
}
