//! Common mistakes in modes, blocks of assignments and their heads.

use crate::explain::{Fault, FilePart};
use crate::token::Token;
use lgm_source::codes::Code;
use lgm_source::diagnostic::Diagnostic;

impl Fault<'_, '_> {
    fn first_token(&self) -> Option<Token<'_>> {
        self.tokens.first().map(|token| token.1)
    }

    /// Recognises `when c -> open;` in a model, `when c { x := 1; }` in an element.
    pub(super) fn change_or_block_elsewhere(&self) -> Option<Diagnostic> {
        if self.first_token() != Some(Token::When) {
            return None;
        }
        let first = *self.tokens.first()?;
        match self.part {
            FilePart::Statement if self.is(Token::Arrow) => Some(
                Diagnostic::error(Code::LGM0050, "a mode change is not allowed in a model or a component")
                    .label(self.span(first), "this belongs in an element, after a mode")
                    .help("write `when condition { x := expression; }` for events in a model"),
            ),
            FilePart::Law if self.is(Token::BraceOpen) => Some(
                Diagnostic::error(Code::LGM0050, "a `when` block is not allowed in an element")
                    .label(self.span(first), "this belongs in a model or a component")
                    .help("an element changes its mode with `when condition -> mode;`"),
            ),
            _ => None,
        }
    }

    /// Recognises `hits = hits + 1;` in a block, `param m := 2;`, `x := 1;` outside of a block.
    pub(super) fn assignment_sign(&self) -> Option<Diagnostic> {
        let found = self.found()?;
        let in_block = self.part == FilePart::Action && self.stop.expects(":=");
        match found.1 {
            Token::Equals | Token::EqualEqual if in_block => Some(
                Diagnostic::error(Code::LGM0053, "use `:=` to assign a value")
                    .label(
                        self.place(),
                        "this block runs at an instant, but an equation always holds",
                    )
                    .help("write `:=`")
                    .fix("write `:=`", self.place(), ":="),
            ),
            Token::Plus | Token::Minus | Token::Star | Token::Slash if in_block => {
                let sign = *self.tokens.get(self.stop.index + 1)?;
                let target = self.words(*self.tokens.first()?);
                let (place, operator) = (self.span(found).to(self.span(sign)), self.words(found));
                (sign.1 == Token::Equals && sign.0 == found.2).then(|| {
                    Diagnostic::error(
                        Code::LGM0004,
                        format!("`{operator}=` is not an operator of this language"),
                    )
                    .label(place, "use `:=`")
                    .help(format!("write `{target} := {target} {operator} ..`"))
                })
            }
            Token::Assign if self.stop.expects("=") => Some(
                Diagnostic::error(Code::LGM0053, "use `=` to define a value that always holds")
                    .label(
                        self.place(),
                        "`:=` assigns a value at an instant, in a `when` or an `every` block",
                    )
                    .help("write `=`")
                    .fix("write `=`", self.place(), "="),
            ),
            _ => self.assignment_outside(),
        }
    }

    /// Recognises `x := 1;`, `across(ball) := 0;` as a statement of a model.
    fn assignment_outside(&self) -> Option<Diagnostic> {
        let is_target = |token: &Token<'_>| {
            use Token::*;
            matches!(
                token,
                Name(_) | Number(_) | In | Vector | Dot | ParenOpen | ParenClose | BracketOpen | BracketClose | Comma
            )
        };
        let sign = self.tokens.iter().position(|token| !is_target(&token.1))?;
        let target = self.tokens.first().filter(|_| sign > 0)?;
        let is_assignment = self.tokens[sign].1 == Token::Assign && self.stop.index <= sign;
        if self.part != FilePart::Statement || !is_assignment || !matches!(target.1, Token::Name(_)) {
            return None;
        }
        let words = self.context.words(self.context.span(target.0, self.tokens[sign - 1].2));
        Some(
            Diagnostic::error(Code::LGM0053, "an assignment belongs in a `when` or an `every` block")
                .label(self.span(self.tokens[sign]), "`:=` assigns a value at an instant")
                .help(format!(
                    "write `when condition {{ {words} := ..; }}`, or `signal` and `=` for a value that always holds"
                )),
        )
    }

    /// Recognises `when x > 0 hits := 1;`.
    pub(super) fn block_without_brace(&self) -> Option<Diagnostic> {
        let word = match self.first_token()? {
            Token::When => "when condition",
            Token::Every => "every period",
            _ => return None,
        };
        let assigns = self.tokens.iter().any(|token| token.1 == Token::Assign);
        let previous = self.previous()?;
        (self.part == FilePart::Statement && assigns && self.stop.expects("{")).then(|| {
            Diagnostic::error(
                Code::LGM0049,
                format!(
                    "expected `{{` after `{}`, found {}",
                    self.words(previous),
                    self.found_words()
                ),
            )
            .label(self.place(), "`{` is missing before this")
            .help(format!("write `{word} {{ x := expression; }}`"))
        })
    }

    /// Recognises `every Ts at 2 {`.
    pub(super) fn another_word_for_from(&self) -> Option<Diagnostic> {
        let found = self.found()?;
        let value = self.tokens.get(self.stop.index + 1)?;
        let is_value = matches!(
            value.1,
            Token::Name(_) | Token::Number(_) | Token::ParenOpen | Token::Minus
        );
        (matches!(found.1, Token::Name(_)) && is_value && self.stop.expects("from")).then(|| {
            let word = self.words(found);
            Diagnostic::error(Code::LGM0046, format!("expected `from` or `{{`, found `{word}`"))
                .label(self.place(), "the first instant follows `from`")
                .help(self.example())
        })
    }
}
