//! The words of a text: its tokens and comments in order, each with the blanks in front of it.

use super::super::token::Token;
use logos::Logos;

/// A token or a comment, as the author placed it and as it shall be placed.
pub(super) struct Word<'t> {
    pub kind: Kind<'t>,
    /// As written, without blanks at its end.
    pub text: &'t str,
    /// Line breaks between the word before it and this one.
    pub breaks: usize,
    /// Blanks in front of it on its line.
    pub spaces: usize,
    /// Its column in the source, in characters from zero.
    pub column: usize,

    /// Blanks to write in front of it when it does not start a line.
    pub gap: usize,
    /// Whether a line that is too long may be broken in front of it: the lower the level, the better the place.
    pub split: Option<u32>,
    /// The bracket that closes or opens what this one opens or closes.
    pub partner: usize,
    /// A column that may be lined up with those of other lines.
    pub stop: Option<Stop>,
    /// On the bracket that opens a matrix: what its rows are to each other.
    pub matrix: Option<Matrix>,
}

/// What a word is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind<'t> {
    /// A token of the language.
    Token(Token<'t>),
    /// `// ..` or `/// ..`: nothing can follow it on its line.
    LineComment,
    /// `/* .. */` on one line.
    BlockComment,
    /// `/* .. */` over several lines.
    LongComment,
}

/// A place in a line that people line up with the same place in the lines around it.
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

/// How the rows of a matrix were written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Matrix {
    /// There is only one.
    Single,
    /// One after the other.
    Flat,
    /// Each on its own line.
    Rows,
}

impl<'t> Word<'t> {
    /// The token, unless it is a comment.
    pub fn token(&self) -> Option<Token<'t>> {
        match self.kind {
            Kind::Token(token) => Some(token),
            _ => None,
        }
    }

    /// Whether it is this token.
    pub fn is(&self, token: Token<'_>) -> bool {
        self.kind == Kind::Token(token)
    }

    pub fn is_comment(&self) -> bool {
        self.token().is_none()
    }

    /// Whether a line must end behind it.
    pub fn ends_line(&self) -> bool {
        matches!(self.kind, Kind::LineComment | Kind::LongComment)
    }

    /// Columns that it takes on the line where it ends.
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
