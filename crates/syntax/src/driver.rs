//! Runs the generated parser over tokens.

use super::build::{Context, Parsed};
use super::grammar::lgm::RootParser;
use super::token::{Spanned, Token};
use lalrpop_util::ParseError;

/// Where the parser stopped, and what it could have read there.
#[derive(Debug)]
pub struct Stop {
    /// Index of the token it did not expect; the number of tokens when they ended too early.
    pub index: usize,
    /// Terminals of the grammar, without quotes.
    pub expected: Vec<String>,
}

impl Stop {
    /// Whether the parser could have read this terminal.
    pub fn expects(&self, terminal: &str) -> bool {
        self.expected.iter().any(|expected| expected == terminal)
    }

    /// Whether an expression could have started here.
    pub fn expects_operand(&self) -> bool {
        self.expects("number")
    }
}

/// Parses `tokens` as what `start` says.
pub fn run<'t>(context: &Context<'t>, start: Token<'t>, tokens: &[Spanned<'t>]) -> Result<Parsed, Stop> {
    let mut taken = 0;
    let first = tokens.first().map_or(0, |token| token.0);
    let stream = std::iter::once((first, start, first)).chain(tokens.iter().map(|token| {
        taken += 1;
        *token
    }));
    let result = RootParser::new().parse(context, stream.map(Ok));
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
