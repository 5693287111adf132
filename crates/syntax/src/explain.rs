//! Explains to the user why the parser stopped.
//!
//! Common mistakes have specific messages (slips.rs); all others get the general message with a few possible replacements.

use super::build::Context;
use super::driver::Stop;
use super::token::{Spanned, Token};
use lgm_source::Span;
use lgm_source::codes::Code;
use lgm_source::diagnostic::Diagnostic;

/// The part of a file being read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FilePart {
    /// The head of an item or a block, up to its brace.
    Header,
    /// An import.
    Import,
    /// A statement of a model or component.
    Statement,
    /// An entry of an element or modal body.
    Law,
    /// An entry of a domain body.
    Domain,
    /// An entry of an experiment.
    Setting,
    /// An entry of a mode.
    Equation,
    /// An entry of a `when` or an `every` block.
    Action,
    /// A whole text that should be one expression.
    Expression,
}

/// A part of the token stream that the parser could not read.
pub struct Fault<'a, 't> {
    /// Provides locations and source text.
    pub context: &'a Context<'t>,
    /// The enclosing item.
    pub part: FilePart,
    /// Its tokens.
    pub tokens: &'a [Spanned<'t>],
    /// The token after it, if any.
    pub next: Option<Spanned<'t>>,
    /// The position at which the parser stopped.
    pub stop: &'a Stop,
}

/// Returns the error of a text that is not an expression; `None` if the lexer has already reported it.
pub fn expression(context: &Context<'_>, tokens: &[Spanned<'_>], stop: &Stop) -> Option<Diagnostic> {
    Fault {
        context,
        part: FilePart::Expression,
        tokens,
        next: None,
        stop,
    }
    .explain()
}

/// Returns the error for a missing `;` after `tokens`.
pub fn missing_semicolon(context: &Context<'_>, part: FilePart, tokens: &[Spanned<'_>]) -> Diagnostic {
    let end = tokens.last().map_or(0, |token| token.2);
    let what = description(context, part, tokens);
    Diagnostic::error(Code::LGM0030, format!("expected `;` after {what}"))
        .label(context.span(end, end), "`;` is missing here")
        .help("write `;` at its end")
        .fix("write `;`", context.span(end, end), ";")
}

/// Returns the error for a missing `{` after the head `tokens`.
pub fn missing_brace(context: &Context<'_>, tokens: &[Spanned<'_>]) -> Diagnostic {
    let (start, end) = (
        tokens.first().map_or(0, |token| token.0),
        tokens.last().map_or(0, |token| token.2),
    );
    let words = context.words(context.span(start, end));
    Diagnostic::error(Code::LGM0049, format!("expected `{{` after `{words}`"))
        .label(context.span(end, end), "`{` is missing here")
        .help("write the body between `{` and `}`")
}

/// Returns the error for a mode outside an element.
pub fn mode_elsewhere(place: &str, span: Span) -> Diagnostic {
    Diagnostic::error(Code::LGM0050, format!("a `mode` is not allowed {place}"))
        .label(span, "a mode is one of the laws of an element")
        .help("write `element Name : domain { mode open { through = 0; } .. }`, and declare an instance of it in the model")
}

/// Returns the error for a missing `}` after a location; `opener` is the token before the block.
pub fn unclosed_block(context: &Context<'_>, opener: Option<Spanned<'_>>, end: usize) -> Diagnostic {
    let mut diagnostic = Diagnostic::error(Code::LGM0034, "this `{` is never closed");
    if let Some((start, Token::BraceOpen, brace)) = opener {
        diagnostic = diagnostic.label(context.span(start, brace), "opened here");
    }
    diagnostic
        .label(context.span(end, end), "expected `}` after this")
        .help("write `}` where the block ends")
        .fix("write `}`", context.span(end, end), "\n}")
}

/// Returns the description of an item, for a message.
fn description(context: &Context<'_>, part: FilePart, tokens: &[Spanned<'_>]) -> String {
    let first = tokens.first().map(|token| token.1);
    let name = tokens.iter().take(2).find_map(|(start, token, end)| match token {
        Token::Name(_) | Token::In | Token::Vector => Some(context.words(context.span(*start, *end))),
        _ => None,
    });
    match (part, first, name) {
        (FilePart::Import, ..) => "this import".to_string(),
        (FilePart::Law, Some(Token::Port), Some(name)) => format!("the port `{name}`"),
        (FilePart::Law, Some(Token::When), _) => "this mode change".to_string(),
        (FilePart::Law | FilePart::Equation, ..) => "this equation".to_string(),
        (FilePart::Action, ..) => "this assignment".to_string(),
        (FilePart::Domain, ..) => "this entry of the domain".to_string(),
        (FilePart::Setting, _, Some(name)) => format!("the setting `{name}`"),
        (FilePart::Statement, Some(Token::Name(_) | Token::In | Token::Vector), Some(name)) => {
            match tokens
                .iter()
                .find(|token| matches!(token.1, Token::Colon | Token::Arrow))
            {
                Some((_, Token::Colon, _)) => format!("the instance `{name}`"),
                _ => "this chain of bonds".to_string(),
            }
        }
        (FilePart::Statement, Some(first), Some(name)) if first.begins_statement() => {
            format!("the declaration of `{name}`")
        }
        _ => "this".to_string(),
    }
}

impl<'t> Fault<'_, 't> {
    /// Returns the reason why the parser stopped; `None` if the lexer has already reported it.
    pub fn explain(&self) -> Option<Diagnostic> {
        // Invalid text is already reported; its consequences are not.
        if self.tokens.iter().any(|token| token.1 == Token::Error) {
            return None;
        }
        Some(self.slip().unwrap_or_else(|| self.general()))
    }

    /// Returns the token at which the parser stopped; none if the part ends there at the end of its line.
    pub(super) fn found(&self) -> Option<Spanned<'t>> {
        let next = || self.next.filter(|next| !self.is_below(*next));
        self.tokens.get(self.stop.index).copied().or_else(next)
    }

    /// Returns true if a token is on a line below the last one of the part.
    fn is_below(&self, next: Spanned<'_>) -> bool {
        let last = self.tokens.last();
        last.is_some_and(|last| self.context.words(self.context.span(last.2, next.0)).contains('\n'))
    }

    pub(super) fn previous(&self) -> Option<Spanned<'t>> {
        self.stop
            .index
            .checked_sub(1)
            .and_then(|index| self.tokens.get(index))
            .copied()
    }

    pub(super) fn previous_token(&self) -> Option<Token<'t>> {
        self.previous().map(|token| token.1)
    }

    pub(super) fn is(&self, token: Token<'_>) -> bool {
        self.found().is_some_and(|found| found.1 == token)
    }

    pub(super) fn span(&self, token: Spanned<'_>) -> Span {
        self.context.span(token.0, token.2)
    }

    pub(super) fn words(&self, token: Spanned<'_>) -> &'t str {
        self.context.words(self.span(token))
    }

    /// Returns the location where the parser stopped, at least one character wide if possible.
    pub(super) fn place(&self) -> Span {
        match (self.found(), self.previous()) {
            (Some(found), _) => self.span(found),
            (None, Some(previous)) => self.context.span(previous.2, previous.2),
            (None, None) => self.context.span(0, 0),
        }
    }

    pub(super) fn found_words(&self) -> String {
        match self.found() {
            Some(found) => format!("`{}`", self.words(found)),
            None if self.part == FilePart::Expression => "the end".to_string(),
            None if self.next.is_some() => "the end of the line".to_string(),
            None => "the end of the file".to_string(),
        }
    }

    /// Returns the brackets that are open where the parser stopped, outermost first.
    pub(super) fn open(&self) -> Vec<Spanned<'t>> {
        let mut open = Vec::new();
        for token in self.tokens.iter().take(self.stop.index) {
            match token.1 {
                Token::ParenOpen | Token::BracketOpen => open.push(*token),
                Token::ParenClose | Token::BracketClose => {
                    open.pop();
                }
                _ => {}
            }
        }
        open
    }

    // ---- Everything else -------------------------------------------------------------------------------------------

    fn general(&self) -> Diagnostic {
        let expected = self.expected_words();
        let after = match self.previous() {
            Some(previous) => format!(" after `{}`", self.words(previous)),
            None => String::new(),
        };
        let message = match expected.is_empty() {
            true => format!("{} is not allowed here", capital(&self.found_words())),
            false => format!("expected {expected}{after}, found {}", self.found_words()),
        };
        let label = match expected.is_empty() {
            true => "not expected here".to_string(),
            false => format!("expected {expected}"),
        };
        Diagnostic::error(Code::LGM0046, message)
            .label(self.place(), label)
            .help(self.example())
    }

    /// Returns at most three tokens that the parser expected where it stopped.
    fn expected_words(&self) -> String {
        let mut words: Vec<String> = Vec::new();
        if self.stop.expects_operand() {
            words.push("an expression".to_string());
        } else if self.stop.expects("name") {
            words.push("a name".to_string());
        }
        if self.stop.expects("string") && !self.stop.expects_operand() {
            words.push("a path in quotes".to_string());
        }
        for sign in [
            ")", "]", "=", ":=", ":", "->", "{", "in", "from", "then", "else", ",", ";", "}",
        ] {
            // `in` is also a name.
            if self.stop.expects(sign) && !(sign == "in" && self.stop.expects("name")) {
                words.push(format!("`{sign}`"));
            }
        }
        words.truncate(3);
        match words.pop() {
            None => String::new(),
            Some(last) if words.is_empty() => last,
            Some(last) => format!("{} or {last}", words.join(", ")),
        }
    }

    /// Returns a correct example of the part, for the help line.
    pub(super) fn example(&self) -> &'static str {
        use Token::*;
        let first = self.tokens.first().map(|token| token.1);
        if self.is(Colon) && self.part != FilePart::Header && self.stop.index > 1 {
            return "a range `a:b` is only allowed in `for i in a:b`, `sum(i in a:b, ..)` and `root(z in a:b, ..)`";
        }
        if self.stop.expects("then") || self.stop.expects("else") {
            return "write `if condition then value else value`";
        }
        let before = self.tokens.get(..self.stop.index).unwrap_or(self.tokens);
        if before.iter().any(|token| token.1 == In) && !self.open().is_empty() {
            return "write `sum(i in 1:N, expression)` or `root(z in a:b, expression)`";
        }
        match before.last().map(|token| token.1) {
            Some(Name("start")) => return "write `start = 1`",
            Some(Name("nominal")) => return "write `nominal = 1`",
            _ => {}
        }
        match (self.part, first) {
            (FilePart::Import, _) => "write `import \"path.lgm\";` for a file, `import name;` for a library module",
            (FilePart::Header, Some(Model)) if self.is(ParenOpen) => {
                "a model has no arguments: declare `param R = ..;` in its body"
            }
            (FilePart::Statement, Some(Signal)) => "write `signal e = expression;`",
            (FilePart::Statement, Some(Discrete)) => "write `discrete n = 0;`",
            (FilePart::Header, Some(Model)) => "a model starts with `model Name {`",
            (FilePart::Header, Some(Component)) => "a component starts with `component Name(R [ohm], const N) {`",
            (FilePart::Header, Some(Element)) => "an element starts with `element Name(m [kg]) : domain {`",
            (FilePart::Header, Some(Modal)) => "a modal block starts with `modal Name(rho, E) : domain {`",
            (FilePart::Header, Some(Domain)) => "a domain starts with `domain name {`",
            (FilePart::Action, _) => "write `x := expression;` or `if condition { x := expression; } else { .. }`",
            (FilePart::Law, Some(When)) => "write `when across > 0 -> conducting;`",
            (FilePart::Equation, _) => "a mode contains equations, such as `through = 0;`",
            (FilePart::Header, Some(Name("mode"))) => "a mode starts with `mode open {`",
            (_, Some(When)) => "write `when condition { x := expression; }`",
            (_, Some(Every)) => "write `every period { x := expression; }` or `every period from first { .. }`",
            (_, Some(For)) => "write `for i in 1:N { .. }`",
            (_, Some(If)) => "write `if N > 1 { .. } else { .. }`",
            (_, Some(Experiment)) => "write `experiment { stop = 5 [s]; points = 501; }`",
            (FilePart::Domain, _) => {
                "a domain contains `across v [V];`, `through i [A];`, `effort = across;` and optionally `pseudo;`"
            }
            (FilePart::Law, Some(Port)) => "write `port a, b;`",
            (FilePart::Law, _) => "write an equation, such as `through = C*der(across);` or `mass = rho*A*L;`",
            (FilePart::Setting, _) => "an experiment contains settings, such as `stop = 5 [s];`",
            (FilePart::Statement, Some(Node | Zero | One)) => "write `node a, b[3] : electrical;`",
            (FilePart::Statement, Some(Port)) => {
                "write `port p, n : electrical;`; an instance cannot be named `port`, which is a reserved word"
            }
            (FilePart::Statement, Some(Param | Const)) => "write `param m = 2 [kg];`",
            (FilePart::Statement, Some(Input)) => "write `input F [N] = 1;`",
            (FilePart::Statement, Some(Output)) => "write `output v = across(mass);`",
            (FilePart::Statement, Some(State)) => "write `state z = int(expr), start = 0;`",
            (FilePart::Statement, Some(Name(_) | In | Vector)) if self.is(Arrow) && self.stop.expects(",") => {
                "each port has one branch `a -> b`; separate branches with commas: `a -> b, c -> d`"
            }
            (FilePart::Statement, Some(Name(_) | In | Vector)) if self.begins_attribute() => {
                "an attribute follows a comma, such as `mass : Mass(m) a -> b, start = 1;`"
            }
            (FilePart::Statement, Some(Name(_) | In | Vector)) => {
                "write `name : Kind(value) a -> b;` for an element, `A -> B -> C;` for bonds"
            }
            (FilePart::Statement, _) => {
                "a statement is a declaration such as `param m = 2;`, an element `name : Kind(value) a -> b;` or a chain `A -> B;`"
            }
            (FilePart::Expression, _) => "write one expression, such as `2 [kg]`, `[1, 2]` or `sin(2*pi*time)`",
            (FilePart::Header, _) => "write `{` and the body",
        }
    }

    /// Returns true if `name = ..` follows where a comma was expected.
    fn begins_attribute(&self) -> bool {
        let at = |index: usize| self.tokens.get(index).map(|token| token.1);
        self.stop.expects(",")
            && matches!(at(self.stop.index), Some(Token::Name(_)))
            && at(self.stop.index + 1) == Some(Token::Equals)
    }
}

fn capital(text: &str) -> String {
    let mut letters = text.chars();
    letters
        .next()
        .map_or(String::new(), |first| first.to_uppercase().chain(letters).collect())
}
