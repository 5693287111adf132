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

/// Finds the `from` of `every period from first {`, which is a name elsewhere: it follows an operand, where no name can be.
#[derive(Default)]
struct Heads {
    in_every: bool,
    after_operand: bool,
}

impl Heads {
    fn read<'t>(&mut self, token: Token<'t>) -> Token<'t> {
        let after_operand = std::mem::take(&mut self.after_operand);
        match token {
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
    let stream = std::iter::once((first, start, first)).chain(tokens.iter().map(|token| {
        taken += 1;
        *token
    }));
    let mut heads = Heads::default();
    let stream = stream.map(|(start, token, end)| Ok((start, heads.read(token), end)));
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
