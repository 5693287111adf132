//! Common mistakes: each function recognises one mistake from the tokens around the point where the parser stopped, and suggests a fix.

mod statements;
mod switching;

use super::explain::{Fault, FilePart};
use super::token::Token;
use lgm_source::codes::Code;
use lgm_source::diagnostic::Diagnostic;

impl Fault<'_, '_> {
    /// Returns the error of the first matching mistake, the most certain first.
    pub(super) fn slip(&self) -> Option<Diagnostic> {
        let slips: [fn(&Self) -> Option<Diagnostic>; 25] = [
            Self::ground_by_its_number,
            Self::element_without_name,
            Self::input_without_name,
            Self::arrow_backwards,
            Self::several_ends_of_a_chain,
            Self::junction_by_its_number,
            Self::element_in_chain,
            Self::misplaced_word,
            Self::change_or_block_elsewhere,
            Self::assignment_sign,
            Self::block_without_brace,
            Self::another_word_for_from,
            Self::if_needs_parentheses,
            Self::reserved_word,
            Self::brackets,
            Self::equation_with_two_equals,
            Self::colon_and_equals,
            Self::comparison_with_one_equals,
            Self::several_in_one,
            Self::kind_left_out,
            Self::arguments_without_parentheses,
            Self::law_without_equals,
            Self::unit_without_brackets,
            Self::missing_operator,
            Self::empty_place,
        ];
        slips.iter().find_map(|slip| slip(self))
    }

    /// Recognises `param` in an element, `else` without `if`.
    fn misplaced_word(&self) -> Option<Diagnostic> {
        let found = self
            .found()
            .filter(|_| self.stop.index == 0 && !self.tokens.is_empty())?;
        let word = self.words(found);
        let owner = match self.part {
            FilePart::Statement if found.1 == Token::Else => {
                return Some(
                    Diagnostic::error(Code::LGM0050, "`else` without a preceding `if`")
                        .label(
                            self.place(),
                            "expected a statement; an `if` block has only one `else`, at its end",
                        )
                        .help("write `if condition { .. } else { .. }`"),
                );
            }
            FilePart::Law => "an element or a modal block",
            FilePart::Equation => "a mode",
            FilePart::Action => "a `when` or an `every` block",
            FilePart::Domain => "a domain",
            FilePart::Setting => "an experiment",
            _ => return None,
        };
        let home = match (self.part, found.1) {
            (FilePart::Equation, Token::Port) => "this belongs in the element, before its modes",
            _ => "this belongs in a model or a component",
        };
        found.1.begins_statement().then(|| {
            Diagnostic::error(Code::LGM0050, format!("`{word}` is not allowed in {owner}"))
                .label(self.place(), home)
                .help(self.example())
        })
    }

    /// Recognises `1 + if c then a else b`.
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
            Diagnostic::error(Code::LGM0045, "`if .. then .. else` needs parentheses here")
                .label(self.place(), "inside a larger expression")
                .help("write `(if .. then .. else ..)`")
        })
    }

    /// Recognises `param node = 1;`.
    fn reserved_word(&self) -> Option<Diagnostic> {
        let found = self.found().filter(|found| found.1.is_reserved())?;
        if !self.stop.expects("name") || self.stop.index >= self.tokens.len() {
            return None;
        }
        // An operator without its left operand is not meant as a name.
        if matches!(found.1, Token::Then | Token::Else | Token::And | Token::Or) && self.stop.expects_operand() {
            return None;
        }
        let word = self.words(found);
        Some(
            Diagnostic::error(
                Code::LGM0031,
                format!("`{word}` is a reserved word and cannot be a name"),
            )
            .label(self.place(), "expected a name")
            .help(format!("choose another name, such as `{word}_1`")),
        )
    }

    /// Recognises `Mass(m x -> gnd`, `(a]`, `a)`.
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
                Diagnostic::error(Code::LGM0033, format!("this `{closer}` has no matching `{opener}`"))
                    .label(self.place(), "closes nothing")
                    .help(format!("remove it, or add the missing `{opener}`"))
                    .fix(format!("remove `{closer}`"), self.place(), ""),
            );
        };
        let closer = if opening.1 == Token::ParenOpen { ")" } else { "]" };
        let opener = self.words(opening);
        if closes && self.words(found?) != closer {
            return Some(
                Diagnostic::error(
                    Code::LGM0033,
                    format!("`{opener}` is closed by `{}`", self.words(found?)),
                )
                .label(self.place(), format!("expected `{closer}`"))
                .label(self.span(opening), "the open bracket")
                .help(format!("write `{closer}` here, or close the other bracket first"))
                .fix(format!("write `{closer}`"), self.place(), closer),
            );
        }
        // The bracket is unclosed if the rest of the part does not close it either.
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
            Diagnostic::error(Code::LGM0032, format!("this `{opener}` is never closed"))
                .label(place, format!("expected `{closer}` here"))
                .label(self.span(opening), "opened here")
                .help(format!("write `{closer}` after `{}`", self.words(previous)))
                .fix(format!("write `{closer}`"), place, closer),
        )
    }

    /// Recognises `through == R*across;` as an equation, `param m == 2;`.
    fn equation_with_two_equals(&self) -> Option<Diagnostic> {
        let at = if self.is(Token::EqualEqual) && self.stop.expects("=") {
            self.found()?
        } else if matches!(self.part, FilePart::Law | FilePart::Equation) && self.stop.expects("=") {
            *self
                .tokens
                .iter()
                .take(self.stop.index)
                .find(|token| token.1 == Token::EqualEqual)?
        } else {
            return None;
        };
        Some(
            Diagnostic::error(Code::LGM0037, "equations use a single `=`")
                .label(self.span(at), "`==` compares two values")
                .help("write `=`")
                .fix("write `=`", self.span(at), "="),
        )
    }

    /// Recognises `param m : 2;`, `mass = Mass(m) x -> gnd;`.
    fn colon_and_equals(&self) -> Option<Diagnostic> {
        if self.is(Token::Colon) && self.stop.expects("=") && !self.stop.expects(":") {
            return Some(
                Diagnostic::error(Code::LGM0036, "use `=` to define a value")
                    .label(self.place(), "`:` precedes a kind or a domain")
                    .help("write `=` here")
                    .fix("write `=`", self.place(), "="),
            );
        }
        if !self.is(Token::Equals) || !self.stop.expects(":") {
            return None;
        }
        let (first, previous) = (*self.tokens.first()?, self.previous()?);
        let name = self.words(previous);
        let diagnostic = Diagnostic::error(Code::LGM0036, format!("expected `:` after `{name}`, found `=`"))
            .label(self.place(), "`=` assigns a value, `:` a kind or a domain");
        Some(match first.1 {
            Token::Name(_) => diagnostic.help(format!(
                "write `{name} : Kind(..) a -> b;` for an element, `param {name} = ..;` or `signal {name} = ..;` for a value"
            )),
            _ => diagnostic
                .help(format!("write `{} {name} : ..`", self.words(first)))
                .fix("write `:`", self.place(), ":"),
        })
    }

    /// Recognises `if a = b then`.
    fn comparison_with_one_equals(&self) -> Option<Diagnostic> {
        // The operand before `=` is complete, so only operators of lower precedence are expected.
        let after_operand = ["and", "or", "then", "==", "{"]
            .iter()
            .any(|word| self.stop.expects(word));
        let alone = self.part == FilePart::Expression && self.stop.index > 0;
        let gives = self.is(Token::Equals) || self.is(Token::Assign);
        (gives && !self.stop.expects("=") && (after_operand || alone)).then(|| {
            let sign = self.found_words();
            Diagnostic::error(Code::LGM0038, format!("{sign} is not allowed in an expression"))
                .label(self.place(), format!("{sign} defines a value; it does not compare"))
                .help("to compare, write `==`")
                .fix("write `==`", self.place(), "==")
        })
    }

    /// Recognises `b : x -> gnd;`.
    fn kind_left_out(&self) -> Option<Diagnostic> {
        let colon = self
            .stop
            .index
            .checked_sub(2)
            .and_then(|index| self.tokens.get(index))?;
        let first = *self.tokens.first()?;
        let named = self.part == FilePart::Statement && matches!(first.1, Token::Name(_));
        let found = self.is(Token::Arrow) || self.is(Token::Dot);
        (named && colon.1 == Token::Colon && found).then(|| {
            let name = self.words(first);
            let end = self.words(self.previous().unwrap_or(first));
            Diagnostic::error(Code::LGM0051, format!("`{name}` needs a kind before its branch"))
                .label(self.place(), format!("`{end}` was read as the kind"))
                .help(format!("write `{name} : Kind(value) {end} -> ..;`"))
        })
    }

    /// Recognises `r : Resistor 5 a -> b;`, `m : Mass m x -> gnd;`.
    fn arguments_without_parentheses(&self) -> Option<Diagnostic> {
        if self.part != FilePart::Statement || !self.tokens.iter().any(|token| token.1 == Token::Colon) {
            return None;
        }
        let (found, previous) = (self.found()?, self.previous()?);
        let colon_before = |steps: usize| {
            let index = self.stop.index.checked_sub(steps);
            index
                .and_then(|index| self.tokens.get(index))
                .is_some_and(|token| token.1 == Token::Colon)
        };
        let (kind, value) = match found.1 {
            Token::Number(_) | Token::BracketOpen if colon_before(2) => (previous, found),
            Token::Name(_) if colon_before(3) => (self.tokens[self.stop.index - 2], previous),
            _ => return None,
        };
        let (kind, words) = (self.words(kind), self.words(value));
        let words = if value.1 == Token::BracketOpen { "[..]" } else { words };
        Some(
            Diagnostic::error(Code::LGM0052, format!("the values of `{kind}` belong in parentheses"))
                .label(self.span(value), "expected `(` before this")
                .help(format!("write `{kind}({words})`")),
        )
    }

    /// Recognises `mass 2;`.
    fn law_without_equals(&self) -> Option<Diagnostic> {
        let before = self.tokens.get(..self.stop.index)?;
        let none_yet = !before.iter().any(|token| token.1 == Token::Equals) && self.open().is_empty();
        let previous = self.previous()?;
        let operand = matches!(previous.1, Token::Name(_) | Token::ParenClose | Token::BracketClose);
        let is_law = self.part == FilePart::Equation
            || self.part == FilePart::Law && !self.tokens.first().is_some_and(|token| token.1 == Token::When);
        (is_law && none_yet && operand && !self.is(Token::Semicolon)).then(|| {
            let words = self.words(previous);
            Diagnostic::error(
                Code::LGM0046,
                format!("expected `=` after `{words}`, found {}", self.found_words()),
            )
            .label(self.place(), "expected `=`")
            .help(self.example())
        })
    }

    /// Recognises `param a = 1, b = 2;`.
    fn several_in_one(&self) -> Option<Diagnostic> {
        let first = *self.tokens.first()?;
        let one_name = matches!(first.1, Token::Param | Token::Const | Token::Input);
        (self.part == FilePart::Statement && one_name && self.is(Token::Comma) && self.open().is_empty()).then(|| {
            let word = self.words(first);
            let next = self.tokens.get(self.stop.index + 1);
            if let (Some(before), Some(comma), Some(after)) = (self.previous(), self.found(), next)
                && let (Token::Number(whole), Token::Number(fraction)) = (before.1, after.1)
                && before.2 == comma.0
                && comma.2 == after.0
            {
                let number = format!("{whole}.{fraction}");
                let span = self.span(before).to(self.span(*after));
                return Diagnostic::error(Code::LGM0047, "numbers have a decimal point")
                    .label(self.place(), "this comma separates two values")
                    .help(format!("write `{number}`"))
                    .fix(format!("write `{number}`"), span, number);
            }
            let next = next.map_or("b", |token| self.words(*token));
            Diagnostic::error(Code::LGM0047, format!("one `{word}` declares one name"))
                .label(self.place(), "expected `;`")
                .help(format!("write `;` and a new `{word} {next} = ..;`"))
        })
    }

    /// Recognises `2 kg`.
    fn unit_without_brackets(&self) -> Option<Diagnostic> {
        let (previous, found) = (self.previous()?, self.found()?);
        let Token::Name(name) = found.1 else { return None };
        if !matches!(previous.1, Token::Number(_)) || !self.stop.expects("*") {
            return None;
        }
        let number = self.words(previous);
        let unit = super::symbols::is_unit(name);
        if unit && self.is_inside_unit() {
            return Some(
                Diagnostic::error(Code::LGM0026, format!("`{number}` is not a unit"))
                    .label(self.span(previous), "a unit contains no numbers except `1`")
                    .help("write the number before the brackets, such as `3/1000 [mN.m/rpm]` for 3 mN.m at 1000 rpm"),
            );
        }
        // `1k` as in circuit diagrams.
        let power = match name {
            "k" | "K" => "3",
            "meg" | "Meg" | "M" => "6",
            "G" => "9",
            "u" => "-6",
            "n" => "-9",
            "p" => "-12",
            _ => "",
        };
        // `4k7` as on resistors.
        let (letters, digits) = name.split_at(name.find(|letter: char| letter.is_ascii_digit()).unwrap_or(name.len()));
        let exponent = match letters {
            "k" | "K" => "3",
            "M" => "6",
            "m" => "-3",
            "u" => "-6",
            "n" => "-9",
            "p" => "-12",
            _ => "",
        };
        if !exponent.is_empty()
            && !digits.is_empty()
            && digits.bytes().all(|byte| byte.is_ascii_digit())
            && previous.2 == found.0
        {
            let value = format!("{number}.{digits}e{exponent}");
            return Some(
                Diagnostic::error(Code::LGM0039, "a prefix is not a decimal point")
                    .label(self.place(), "a prefix belongs to a unit in brackets")
                    .help(format!(
                        "write `{value}`, or a unit with its prefix, such as `{number}.{digits} [{letters}ohm]`"
                    ))
                    .fix(
                        format!("write `{value}`"),
                        self.span(previous).to(self.span(found)),
                        value,
                    ),
            );
        }
        if !unit && !power.is_empty() && previous.2 == found.0 {
            return Some(
                Diagnostic::error(Code::LGM0039, "a prefix alone is not a factor")
                    .label(self.place(), "a prefix belongs to a unit in brackets")
                    .help(format!(
                        "write `{number}e{power}`, or a unit with its prefix, such as `{number} [kohm]`"
                    )),
            );
        }
        Some(
            Diagnostic::error(
                Code::LGM0039,
                format!("expected an operator or a unit in brackets after `{number}`"),
            )
            .label(self.place(), "an operator is missing before this")
            .help(match unit {
                true => format!("write `{number} [{name}]` for a unit, `{number}*{name}` for a product"),
                false => format!("write `{number}*{name}`"),
            }),
        )
    }

    /// Recognises `a b`, `(a)(b)`.
    fn missing_operator(&self) -> Option<Diagnostic> {
        let (previous, found) = (self.previous()?, self.found()?);
        let operand = matches!(
            found.1,
            Token::Name(_) | Token::Number(_) | Token::ParenOpen | Token::In | Token::Vector | Token::Not
        );
        if !operand || !self.stop.expects("*") || self.stop.index >= self.tokens.len() {
            return None;
        }
        if let (Token::Name(first), Token::Name(second)) = (previous.1, found.1)
            && super::symbols::is_unit(first)
            && super::symbols::is_unit(second)
            && self.is_inside_unit()
        {
            let place = self.context.span(previous.2, found.0);
            return Some(
                Diagnostic::error(Code::LGM0024, "multiply units with `.`")
                    .label(self.place(), "a `.` is missing before this")
                    .help(format!("write `{first}.{second}`"))
                    .fix(format!("write `{first}.{second}`"), place, "."),
            );
        }
        Some(
            Diagnostic::error(
                Code::LGM0039,
                format!(
                    "expected an operator between `{}` and `{}`",
                    self.words(previous),
                    self.words(found)
                ),
            )
            .label(self.place(), "an operator is missing before this")
            .help("write `*` for a product, `,` for a further argument, `;` for a new statement"),
        )
    }

    /// Recognises `r <- a;`.
    fn arrow_backwards(&self) -> Option<Diagnostic> {
        let (index, less) = (self.stop.index, self.found()?);
        let minus = *self.tokens.get(index + 1)?;
        let is_arrow = less.1 == Token::Less && minus.1 == Token::Minus && less.2 == minus.0;
        if self.part != FilePart::Statement || !is_arrow {
            return None;
        }
        let left = self.previous().map_or("r", |token| self.words(token));
        let right = self.tokens.get(index + 2).map_or("J", |token| self.words(*token));
        Some(
            Diagnostic::error(Code::LGM0046, "arrows are written `->`")
                .label(self.span(less).to(self.span(minus)), "this points backwards")
                .help(format!("write `{right} -> {left};`: power is positive along the arrow")),
        )
    }

    /// Recognises `A -> m, r;`.
    fn several_ends_of_a_chain(&self) -> Option<Diagnostic> {
        let before = self.tokens.get(..self.stop.index)?;
        let is_chain = before.iter().any(|token| token.1 == Token::Arrow)
            && !before
                .iter()
                .any(|token| matches!(token.1, Token::Colon | Token::Equals));
        if self.part != FilePart::Statement || !is_chain || !self.is(Token::Comma) {
            return None;
        }
        let arrow = before.iter().rposition(|token| token.1 == Token::Arrow)?;
        let first = before
            .get(arrow.checked_sub(1)?)
            .map_or("A", |token| self.words(*token));
        let next = self
            .tokens
            .get(self.stop.index + 1)
            .map_or("r", |token| self.words(*token));
        Some(
            Diagnostic::error(Code::LGM0046, "a chain of bonds is a sequence of arrows")
                .label(self.place(), "expected `->` or `;`")
                .help(format!("write a second chain: `{first} -> {next};`")),
        )
    }

    /// Recognises `1 A;`, `0 B;`.
    fn junction_by_its_number(&self) -> Option<Diagnostic> {
        let (first, second) = (*self.tokens.first()?, *self.tokens.get(1)?);
        let word = match first.1 {
            Token::Number("1") => "one",
            Token::Number("0") => "zero",
            _ => return None,
        };
        if self.part != FilePart::Statement || self.stop.index > 1 || !matches!(second.1, Token::Name(_)) {
            return None;
        }
        Some(
            Diagnostic::error(
                Code::LGM0046,
                format!("declare a {}-junction with `{word}`", self.words(first)),
            )
            .label(self.span(first), "a statement cannot start with a number")
            .help(format!("write `{word} {};`", self.words(second))),
        )
    }

    /// Recognises `a -> C:c1;`, `a -> C(2);`.
    fn element_in_chain(&self) -> Option<Diagnostic> {
        let (previous, found) = (self.previous()?, self.found()?);
        let before = self.tokens.get(..self.stop.index)?;
        let in_chain = before.iter().any(|token| token.1 == Token::Arrow);
        let drawn = in_chain || self.tokens.iter().any(|token| token.1 == Token::Arrow);
        let plain = !before.iter().any(|token| token.1 == Token::Colon) && self.open().is_empty();
        if self.part != FilePart::Statement || !drawn || !plain || !matches!(previous.1, Token::Name(_)) {
            return None;
        }
        let kind = self.words(previous);
        let (name, end) = match found.1 {
            Token::Colon if in_chain => {
                let name = self.tokens.get(self.stop.index + 1);
                (name.map_or("name", |name| self.words(*name)), *name.unwrap_or(&found))
            }
            Token::ParenOpen => ("name", found),
            _ => return None,
        };
        Some(
            Diagnostic::error(
                Code::LGM0046,
                "declare an element in a separate statement, not in a chain of bonds",
            )
            .label(self.span(previous).to(self.span(end)), "a chain may contain only names")
            .help(format!(
                "declare it first, `{name} : {kind}(value);`, and bond to its name: `J -> {name};`"
            )),
        )
    }

    /// Recognises `param m = ;`, `f(a, )`, `a + ;`.
    fn empty_place(&self) -> Option<Diagnostic> {
        if !self.stop.expects_operand() || !self.stop.expects("name") || self.stop.expects(";") {
            return None;
        }
        let previous = self.previous()?;
        let words = self.words(previous);
        let help = match previous.1 {
            Token::Comma => "write the missing item, or remove the `,`".to_string(),
            Token::Equals | Token::Assign => "write a value, such as `2 [kg]` or `a + b`".to_string(),
            _ => "write a number, a name, a call or something in parentheses".to_string(),
        };
        Some(
            Diagnostic::error(
                Code::LGM0048,
                format!("expected an expression after `{words}`, found {}", self.found_words()),
            )
            .label(self.place(), "an operand is missing before this")
            .help(help),
        )
    }
}
