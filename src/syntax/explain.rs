//! Says in a user's words why the parser stopped.
//!
//! Each common slip has a function of its own that recognises it from the tokens around the stop; what none of them
//! recognises gets the general sentence, with a few things that could stand there instead.

use super::build::Context;
use super::driver::Stop;
use super::token::{Spanned, Token};
use crate::diagnostic::Diagnostic;
use crate::source::Span;

/// Which part of a file was being read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Part {
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
    /// A whole text that should be one expression.
    Expression,
}

/// A part of the token stream that the parser could not read.
pub struct Fault<'a, 't> {
    /// For places and words.
    pub context: &'a Context<'t>,
    /// What it is a part of.
    pub part: Part,
    /// Its tokens.
    pub tokens: &'a [Spanned<'t>],
    /// The token after it, if any.
    pub next: Option<Spanned<'t>>,
    /// Where the parser stopped.
    pub stop: &'a Stop,
}

/// Why a text is not an expression. `None` where the lexer has said it already.
pub fn expression(context: &Context<'_>, tokens: &[Spanned<'_>], stop: &Stop) -> Option<Diagnostic> {
    Fault {
        context,
        part: Part::Expression,
        tokens,
        next: None,
        stop,
    }
    .explain()
}

/// `;` is missing after `tokens`.
pub fn missing_semicolon(context: &Context<'_>, part: Part, tokens: &[Spanned<'_>]) -> Diagnostic {
    let end = tokens.last().map_or(0, |token| token.2);
    let what = description(context, part, tokens);
    Diagnostic::error("LGM0030", format!("expected `;` after {what}"))
        .label(context.span(end, end), "`;` is missing here")
        .help("write `;` at its end")
}

/// What a part declares or is, for a sentence.
fn description(context: &Context<'_>, part: Part, tokens: &[Spanned<'_>]) -> String {
    let first = tokens.first().map(|token| token.1);
    let name = tokens.iter().take(2).find_map(|(start, token, end)| match token {
        Token::Name(_) | Token::In | Token::Vector => Some(context.words(context.span(*start, *end))),
        _ => None,
    });
    match (part, first, name) {
        (Part::Import, ..) => "this import".to_string(),
        (Part::Law, Some(Token::Port), Some(name)) => format!("the port `{name}`"),
        (Part::Law, ..) => "this equation".to_string(),
        (Part::Domain, ..) => "this entry of the domain".to_string(),
        (Part::Setting, _, Some(name)) => format!("the setting `{name}`"),
        (Part::Statement, Some(Token::Name(_) | Token::In | Token::Vector), Some(name)) => {
            match tokens
                .iter()
                .find(|token| matches!(token.1, Token::Colon | Token::Arrow))
            {
                Some((_, Token::Colon, _)) => format!("the instance `{name}`"),
                _ => "this chain of bonds".to_string(),
            }
        }
        (Part::Statement, Some(first), Some(name)) if first.begins_statement() => {
            format!("the declaration of `{name}`")
        }
        _ => "this".to_string(),
    }
}

impl<'t> Fault<'_, 't> {
    /// Why the parser stopped; `None` where the lexer has said it already.
    pub fn explain(&self) -> Option<Diagnostic> {
        // What was no part of the language has been reported; its consequences are not worth a word.
        if self.tokens.iter().any(|token| token.1 == Token::Error) {
            return None;
        }
        let slips: [fn(&Self) -> Option<Diagnostic>; 10] = [
            Self::if_needs_parentheses,
            Self::reserved_word,
            Self::brackets,
            Self::equation_with_two_equals,
            Self::colon_and_equals,
            Self::comparison_with_one_equals,
            Self::several_in_one,
            Self::unit_without_brackets,
            Self::missing_operator,
            Self::empty_place,
        ];
        Some(
            slips
                .iter()
                .find_map(|slip| slip(self))
                .unwrap_or_else(|| self.general()),
        )
    }

    fn found(&self) -> Option<Spanned<'t>> {
        self.tokens.get(self.stop.index).copied().or(self.next)
    }

    fn previous(&self) -> Option<Spanned<'t>> {
        self.stop
            .index
            .checked_sub(1)
            .and_then(|index| self.tokens.get(index))
            .copied()
    }

    fn previous_token(&self) -> Option<Token<'t>> {
        self.previous().map(|token| token.1)
    }

    fn is(&self, token: Token<'_>) -> bool {
        self.found().is_some_and(|found| found.1 == token)
    }

    fn span(&self, token: Spanned<'_>) -> Span {
        self.context.span(token.0, token.2)
    }

    fn words(&self, token: Spanned<'_>) -> &'t str {
        self.context.words(self.span(token))
    }

    /// The place where the parser stopped, at least one character wide where there is one.
    fn place(&self) -> Span {
        match (self.found(), self.previous()) {
            (Some(found), _) => self.span(found),
            (None, Some(previous)) => self.context.span(previous.2, previous.2),
            (None, None) => self.context.span(0, 0),
        }
    }

    fn found_words(&self) -> String {
        match self.found() {
            Some(found) => format!("`{}`", self.words(found)),
            None if self.part == Part::Expression => "the end".to_string(),
            None => "the end of the file".to_string(),
        }
    }

    /// Brackets that are open where the parser stopped, outermost first.
    fn open(&self) -> Vec<Spanned<'t>> {
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

    // ---- Slips, the surest first -----------------------------------------------------------------------------------

    /// `1 + if c then a else b`
    fn if_needs_parentheses(&self) -> Option<Diagnostic> {
        let inside = self.previous_token().is_some_and(|previous| {
            use Token::*;
            matches!(
                previous,
                Plus | Minus
                    | Star
                    | Slash
                    | Caret
                    | And
                    | Or
                    | Not
                    | If
                    | Then
                    | Else
                    | Less
                    | LessEqual
                    | Greater
                    | GreaterEqual
                    | EqualEqual
                    | NotEqual
            )
        });
        (self.is(Token::If) && inside && self.stop.expects_operand()).then(|| {
            Diagnostic::error("LGM0045", "`if .. then .. else` needs parentheses here")
                .label(self.place(), "inside a larger expression")
                .help("write `(if .. then .. else ..)`")
        })
    }

    /// `param node = 1;`
    fn reserved_word(&self) -> Option<Diagnostic> {
        let found = self.found().filter(|found| found.1.is_reserved())?;
        if !self.stop.expects("name") || self.stop.index >= self.tokens.len() {
            return None;
        }
        // An operator without its left side is no attempt at a name.
        if matches!(found.1, Token::Then | Token::Else | Token::And | Token::Or) && self.stop.expects_operand() {
            return None;
        }
        let word = self.words(found);
        Some(
            Diagnostic::error("LGM0031", format!("`{word}` is a reserved word and cannot be a name"))
                .label(self.place(), "expected a name")
                .help(format!("choose another name, such as `{word}_1`")),
        )
    }

    /// `Mass(m x -> gnd`, `(a]`, `a)`
    fn brackets(&self) -> Option<Diagnostic> {
        let open = self.open();
        let found = self.found();
        let closes = found.is_some_and(|found| matches!(found.1, Token::ParenClose | Token::BracketClose));
        let Some(&opening) = open.last() else {
            if !closes {
                return None;
            }
            let (closer, opener) = match found?.1 {
                Token::ParenClose => (")", "("),
                _ => ("]", "["),
            };
            return Some(
                Diagnostic::error("LGM0033", format!("there is no `{opener}` that this `{closer}` closes"))
                    .label(self.place(), "closes nothing")
                    .help(format!("remove it, or write the `{opener}` that is missing")),
            );
        };
        let closer = if opening.1 == Token::ParenOpen { ")" } else { "]" };
        let opener = self.words(opening);
        if closes && self.words(found?) != closer {
            return Some(
                Diagnostic::error("LGM0033", format!("`{opener}` is closed by `{}`", self.words(found?)))
                    .label(self.place(), format!("expected `{closer}`"))
                    .label(self.span(opening), "the bracket that is open")
                    .help(format!("write `{closer}` here, or close the other bracket first")),
            );
        }
        // Unclosed when the rest of the part does not close it either.
        let mut level = open.len() as i64;
        let mut lowest = level;
        for token in self.tokens.iter().skip(self.stop.index) {
            match token.1 {
                Token::ParenOpen | Token::BracketOpen => level += 1,
                Token::ParenClose | Token::BracketClose => level -= 1,
                _ => {}
            }
            lowest = lowest.min(level);
        }
        if lowest < open.len() as i64 && lowest <= 0 || self.stop.expects_operand() && lowest < open.len() as i64 {
            return None;
        }
        let previous = self.previous()?;
        let place = self.context.span(previous.2, previous.2);
        Some(
            Diagnostic::error("LGM0032", format!("this `{opener}` is never closed"))
                .label(place, format!("expected `{closer}` here"))
                .label(self.span(opening), "opened here")
                .help(format!("write `{closer}` after `{}`", self.words(previous))),
        )
    }

    /// `through == R*across;` as an equation, `param m == 2;`
    fn equation_with_two_equals(&self) -> Option<Diagnostic> {
        let at = if self.is(Token::EqualEqual) && self.stop.expects("=") {
            self.found()?
        } else if self.part == Part::Law && self.stop.expects("=") {
            *self
                .tokens
                .iter()
                .take(self.stop.index)
                .find(|token| token.1 == Token::EqualEqual)?
        } else {
            return None;
        };
        Some(
            Diagnostic::error("LGM0037", "an equation is written with one `=`")
                .label(self.span(at), "`==` compares two values")
                .help("write `=`"),
        )
    }

    /// `param m : 2;`, `mass = Mass(m) x -> gnd;`
    fn colon_and_equals(&self) -> Option<Diagnostic> {
        if self.is(Token::Colon) && self.stop.expects("=") && !self.stop.expects(":") {
            let help = match (self.part, self.previous()) {
                (Part::Statement, Some(previous)) => format!("write `{} = ..`", self.words(previous)),
                _ => "write `=`".to_string(),
            };
            return Some(
                Diagnostic::error("LGM0036", "a value is given with `=`")
                    .label(self.place(), "`:` names a kind or a domain")
                    .help(help),
            );
        }
        let starts_with_name = self
            .tokens
            .first()
            .is_some_and(|first| matches!(first.1, Token::Name(_)));
        if self.is(Token::Equals) && self.stop.expects(":") {
            let name = self.words(*self.tokens.first()?);
            let diagnostic = Diagnostic::error(
                "LGM0036",
                format!("expected `:` after {}, found `=`", description_of_left(self, name)),
            )
            .label(self.place(), "");
            return Some(if self.part == Part::Statement && starts_with_name {
                diagnostic.help(format!(
                    "write `{name} : Kind(..) a -> b;` for an element, `param {name} = ..;` or `signal {name} = ..;` for a value"
                ))
            } else {
                diagnostic.help("write `:`")
            });
        }
        None
    }

    /// `if a = b then`
    fn comparison_with_one_equals(&self) -> Option<Diagnostic> {
        (self.is(Token::Equals) && self.stop.expects("==")).then(|| {
            Diagnostic::error("LGM0038", "`=` cannot stand in an expression")
                .label(self.place(), "")
                .help("to compare, write `==`; to give a value, write one `=` a statement")
        })
    }

    /// `param a = 1, b = 2;`
    fn several_in_one(&self) -> Option<Diagnostic> {
        let first = *self.tokens.first()?;
        let one_name = matches!(first.1, Token::Param | Token::Const | Token::Input);
        (self.part == Part::Statement && one_name && self.is(Token::Comma) && self.open().is_empty()).then(|| {
            let word = self.words(first);
            let next = self
                .tokens
                .get(self.stop.index + 1)
                .map_or("b", |token| self.words(*token));
            Diagnostic::error("LGM0047", format!("one `{word}` declares one name"))
                .label(self.place(), "expected `;`")
                .help(format!("write `;` and a new `{word} {next} = ..;`"))
        })
    }

    /// `2 kg`
    fn unit_without_brackets(&self) -> Option<Diagnostic> {
        let (previous, found) = (self.previous()?, self.found()?);
        let Token::Name(name) = found.1 else { return None };
        if !matches!(previous.1, Token::Number(_)) || !self.stop.expects("*") {
            return None;
        }
        let number = self.words(previous);
        let unit = super::symbols::is_unit(name);
        Some(
            Diagnostic::error(
                "LGM0039",
                format!("expected an operator or a unit in brackets after `{number}`"),
            )
            .label(self.place(), "")
            .help(match unit {
                true => format!("write `{number} [{name}]` for a unit, `{number}*{name}` for a product"),
                false => format!("write `{number}*{name}`"),
            }),
        )
    }

    /// `a b`, `(a)(b)`
    fn missing_operator(&self) -> Option<Diagnostic> {
        let (previous, found) = (self.previous()?, self.found()?);
        let operand = matches!(
            found.1,
            Token::Name(_) | Token::Number(_) | Token::ParenOpen | Token::In | Token::Vector | Token::Not
        );
        if !operand || !self.stop.expects("*") || self.stop.index >= self.tokens.len() {
            return None;
        }
        Some(
            Diagnostic::error(
                "LGM0039",
                format!(
                    "expected an operator between `{}` and `{}`",
                    self.words(previous),
                    self.words(found)
                ),
            )
            .label(self.place(), "")
            .help("write `*` for a product, `,` for a further argument, `;` for a new statement"),
        )
    }

    /// `param m = ;`, `f(a, )`, `a + ;`
    fn empty_place(&self) -> Option<Diagnostic> {
        if !self.stop.expects_operand() || !self.stop.expects("name") || self.stop.expects(";") {
            return None;
        }
        let previous = self.previous()?;
        let words = self.words(previous);
        let help = match previous.1 {
            Token::Comma => "write what belongs there, or remove the `,`".to_string(),
            Token::Equals => "write a value, such as `2 [kg]` or `a + b`".to_string(),
            _ => "write a number, a name, a call or something in parentheses".to_string(),
        };
        Some(
            Diagnostic::error(
                "LGM0048",
                format!("expected an expression after `{words}`, found {}", self.found_words()),
            )
            .label(self.place(), "")
            .help(help),
        )
    }

    // ---- Everything else -------------------------------------------------------------------------------------------

    fn general(&self) -> Diagnostic {
        let expected = self.expected_words();
        let after = match self.previous() {
            Some(previous) => format!(" after `{}`", self.words(previous)),
            None => String::new(),
        };
        let message = match expected.is_empty() {
            true => format!("{} cannot stand here", capital(&self.found_words())),
            false => format!("expected {expected}{after}, found {}", self.found_words()),
        };
        Diagnostic::error("LGM0046", message)
            .label(self.place(), "")
            .help(self.example())
    }

    /// At most three things that could stand where the parser stopped.
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
        for sign in [")", "]", "=", "->", ":", "{", "in", "then", "else", ",", ";", "}"] {
            if self.stop.expects(sign) {
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

    /// A right example of the part, for the help line.
    fn example(&self) -> &'static str {
        use Token::*;
        let first = self.tokens.first().map(|token| token.1);
        match (self.part, first) {
            (Part::Import, _) => "write `import \"path.lgm\";` for a file, `import name;` for a library module",
            (Part::Header, Some(Model)) => "a model starts with `model Name {`",
            (Part::Header, Some(Component)) => "a component starts with `component Name(R [ohm], const N) {`",
            (Part::Header, Some(Element)) => "an element starts with `element Name(m [kg]) : domain {`",
            (Part::Header, Some(Modal)) => "a modal block starts with `modal Name(rho, E) : domain {`",
            (Part::Header, Some(Domain)) => "a domain starts with `domain name {`",
            (_, Some(For)) => "write `for i in 1:N { .. }`",
            (_, Some(If)) => "write `if N > 1 { .. } else { .. }`",
            (_, Some(Experiment)) => "write `experiment { stop = 5 [s]; points = 501; }`",
            (Part::Domain, _) => {
                "a domain holds `across v [V];`, `through i [A];`, `effort = across;` and, where it is, `pseudo;`"
            }
            (Part::Law, Some(Port)) => "write `port a, b;`",
            (Part::Law, _) => "a law is an equation, such as `through = C*der(across);`",
            (Part::Setting, _) => "an experiment holds settings, such as `stop = 5 [s];`",
            (Part::Statement, Some(Node | Zero | One | Port)) => "write `node a, b[3] : electrical;`",
            (Part::Statement, Some(Param | Const)) => "write `param m = 2 [kg];`",
            (Part::Statement, Some(Input)) => "write `input F [N] = 1;`",
            (Part::Statement, Some(Signal | Output)) => "write `output v = across(mass);`",
            (Part::Statement, Some(State)) => "write `state z = int(expr), start = 0;`",
            (Part::Statement, Some(Name(_) | In | Vector)) => {
                "write `name : Kind(value) a -> b;` for an element, `A -> B -> C;` for bonds"
            }
            (Part::Statement, _) => {
                "a statement is a declaration such as `param m = 2;`, an element `name : Kind(value) a -> b;` or a chain `A -> B;`"
            }
            (Part::Expression, _) => "write one expression, such as `2 [kg]`, `[1, 2]` or `sin(2*pi*time)`",
            (Part::Header, _) => "write `{` and the body",
        }
    }
}

/// How the left side of `x = ..` is called in a message.
fn description_of_left(fault: &Fault<'_, '_>, name: &str) -> String {
    match fault.part {
        Part::Statement => format!("`{name}`"),
        _ => "this".to_string(),
    }
}

fn capital(text: &str) -> String {
    let mut letters = text.chars();
    letters
        .next()
        .map_or(String::new(), |first| first.to_uppercase().chain(letters).collect())
}
