//! Mistakes in the statement of an element or a component: a name is missing, or a number stands for a node.

use crate::explain::{Fault, FilePart};
use crate::token::Token;
use lgm_source::codes::Code;
use lgm_source::diagnostic::Diagnostic;

impl Fault<'_, '_> {
    /// Recognises `r : Resistor(1) a -> 0;`.
    pub(super) fn ground_by_its_number(&self) -> Option<Diagnostic> {
        let (previous, found) = (self.previous()?, self.found()?);
        let is_end = previous.1 == Token::Arrow && found.1 == Token::Number("0");
        (self.part == FilePart::Statement && is_end).then(|| {
            Diagnostic::error(Code::LGM0046, "a node is a name, not a number")
                .label(self.place(), "the reference node is `gnd`")
                .help("write `gnd`")
                .fix("write `gnd`", self.place(), "gnd")
        })
    }

    /// Recognises `Capacitor(1 [uF]) a -> gnd;`.
    pub(super) fn element_without_name(&self) -> Option<Diagnostic> {
        let first = *self.tokens.first()?;
        let is_kind = matches!(first.1, Token::Name(_)) && self.stop.index == 1 && self.is(Token::ParenOpen);
        if self.part != FilePart::Statement || !is_kind {
            return None;
        }
        let mut level = 0;
        let close = self.tokens.iter().position(|token| {
            match token.1 {
                Token::ParenOpen => level += 1,
                Token::ParenClose => level -= 1,
                _ => {}
            }
            token.1 == Token::ParenClose && level == 0
        })?;
        let branch = self.tokens.get(close + 1..)?;
        if !branch.iter().any(|token| token.1 == Token::Arrow) {
            return None;
        }
        let kind = self.words(first);
        let end = branch.iter().rfind(|token| token.1 != Token::Semicolon)?;
        let branch = self.context.words(self.span(*branch.first()?).to(self.span(*end)));
        let initial = kind.chars().next()?.to_ascii_lowercase();
        Some(
            Diagnostic::error(Code::LGM0046, "an element needs a name")
                .label(self.span(first), "this is its kind")
                .help(format!(
                    "write a name and `:` before it: `{initial}1 : {kind}(..) {branch};`"
                )),
        )
    }

    /// Recognises `f : LowPass(2, w) (x);`.
    pub(super) fn input_without_name(&self) -> Option<Diagnostic> {
        let previous = self.previous()?;
        let is_argument = matches!(previous.1, Token::Name(_)) && (self.is(Token::ParenClose) || self.is(Token::Comma));
        if self.part != FilePart::Statement || !is_argument || !self.stop.expects("=") {
            return None;
        }
        let before = self.tokens.get(..self.stop.index.checked_sub(2)?)?;
        let is_bound = before.last()?.1 == Token::ParenClose
            && self.tokens[self.stop.index - 2].1 == Token::ParenOpen
            && before.iter().any(|token| token.1 == Token::Colon);
        let name = self.words(previous);
        is_bound.then(|| {
            Diagnostic::error(Code::LGM0046, format!("`{name}` is bound to no input or port"))
                .label(self.span(previous), "expected `name = ..`")
                .help(format!(
                    "write the name of the input or port before it, such as `(u = {name})`"
                ))
        })
    }

    /// Returns true between the brackets after a number: `3 [mN.m/(..`.
    pub(super) fn is_inside_unit(&self) -> bool {
        let Some(bracket) = self.open().into_iter().rfind(|token| token.1 == Token::BracketOpen) else {
            return false;
        };
        let before = self.tokens.iter().rfind(|token| token.2 <= bracket.0);
        before.is_some_and(|token| matches!(token.1, Token::Number(_)))
    }
}
