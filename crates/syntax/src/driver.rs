//! Runs the generated parser over tokens.

use super::build::{Context, Parsed};
use super::grammar::lgm::RootParser;
use super::token::{Spanned, Token};
use lalrpop_util::ParseError;

/// The position at which the parser stopped, and the tokens expected there.
#[derive(Debug)]
pub struct Stop {
    /// The index of the unexpected token; the number of tokens if they ended too early.
    pub index: usize,
    /// Terminals of the grammar, without quotes.
    pub expected: Vec<String>,
}

impl Stop {
    /// Returns true if the parser could have read this terminal.
    pub fn expects(&self, terminal: &str) -> bool {
        self.expected.iter().any(|expected| expected == terminal)
    }

    /// Returns true if an expression could have started here.
    pub fn expects_operand(&self) -> bool {
        self.expects("number")
    }
}

/// Finds words that are names elsewhere: the `from` of `every period from first {` follows an operand, where no name can be; `table` and
/// `function` start a declaration and precede its name.
#[derive(Default)]
struct Heads {
    in_every: bool,
    after_operand: bool,
    /// True if the last token was not the start of a declaration.
    is_inside: bool,
}

impl Heads {
    fn read<'t>(&mut self, token: Token<'t>, next: Option<Token<'t>>) -> Token<'t> {
        let after_operand = std::mem::take(&mut self.after_operand);
        let is_end = matches!(token, Token::Semicolon | Token::BraceOpen | Token::BraceClose);
        let is_inside = std::mem::replace(&mut self.is_inside, !is_end);
        let names_next = matches!(next, Some(Token::Name(_) | Token::In | Token::Vector));
        match token {
            Token::Name("table") if !is_inside && names_next => return Token::Table,
            Token::Name("function") if !is_inside && names_next => return Token::Function,
            Token::Every => self.in_every = true,
            Token::BraceOpen | Token::BraceClose | Token::Semicolon => self.in_every = false,
            Token::Name("from") if self.in_every && after_operand => return Token::From,
            Token::Name(_) | Token::In | Token::Vector | Token::Number(_) | Token::ParenClose | Token::BracketClose => {
                self.after_operand = true;
            }
            _ => {}
        }
        token
    }
}

/// Parses `tokens` with the start symbol `start`.
pub fn run<'t>(context: &Context<'t>, start: Token<'t>, tokens: &[Spanned<'t>]) -> Result<Parsed, Stop> {
    let mut taken = 0;
    let first = tokens.first().map_or(0, |token| token.0);
    let mut heads = Heads::default();
    let rest = tokens.iter().enumerate().map(|(at, (start, token, end))| {
        taken += 1;
        let next = tokens.get(at + 1).map(|next| next.1);
        (*start, heads.read(*token, next), *end)
    });
    let stream = std::iter::once((first, start, first)).chain(rest).map(Ok);
    let result = RootParser::new().parse(context, stream);
    result.map_err(|error| {
        let (index, expected) = match error {
            ParseError::UnrecognizedEof { expected, .. } => (tokens.len(), expected),
            ParseError::UnrecognizedToken { expected, .. } => (taken.max(1) - 1, expected),
            ParseError::ExtraToken { .. } => (taken.max(1) - 1, Vec::new()),
            // Neither the lexer nor an action of the grammar returns one of these.
            ParseError::InvalidToken { .. } | ParseError::User { .. } => (0, Vec::new()),
        };
        Stop {
            index,
            expected: expected
                .iter()
                .map(|terminal| terminal.trim_matches('"').to_string())
                .collect(),
        }
    })
}
