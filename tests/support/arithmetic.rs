//! Evaluates printed expressions: those of the records (`**` for powers) and those of the program (`^`).
//!
//! Deliberately independent of the library: a short recursive-descent parser with doubles.

use std::collections::HashMap;

/// Values of names; entries of vectors and matrices are named `K[1, 2]`.
pub type Bindings = HashMap<String, f64>;

/// The value of an expression. Panics if it is invalid, or if a name has no value.
pub fn evaluate(text: &str, bindings: &Bindings) -> f64 {
    let mut reader = Reader {
        text,
        rest: text,
        bindings,
    };
    let value = reader.sum();
    reader.blanks();
    assert!(reader.rest.is_empty(), "`{}` is left over in `{text}`", reader.rest);
    value
}

struct Reader<'a> {
    text: &'a str,
    rest: &'a str,
    bindings: &'a Bindings,
}

impl<'a> Reader<'a> {
    fn blanks(&mut self) {
        self.rest = self.rest.trim_start();
    }

    fn take(&mut self, word: &str) -> bool {
        self.blanks();
        let taken = self.rest.strip_prefix(word);
        self.rest = taken.unwrap_or(self.rest);
        taken.is_some()
    }

    fn take_while(&mut self, accept: impl Fn(char) -> bool) -> &'a str {
        let end = self.rest.find(|letter| !accept(letter)).unwrap_or(self.rest.len());
        let (taken, rest) = self.rest.split_at(end);
        self.rest = rest;
        taken
    }

    fn sum(&mut self) -> f64 {
        let mut value = self.product();
        loop {
            if self.take("+") {
                value += self.product();
            } else if self.take("-") {
                value -= self.product();
            } else {
                return value;
            }
        }
    }

    fn product(&mut self) -> f64 {
        let mut value = self.signed();
        loop {
            if self.take("*") {
                value *= self.signed();
            } else if self.take("/") {
                value /= self.signed();
            } else {
                return value;
            }
        }
    }

    fn signed(&mut self) -> f64 {
        if self.take("-") { -self.signed() } else { self.power() }
    }

    /// Binds tighter than a leading sign, and is right-associative.
    fn power(&mut self) -> f64 {
        let base = self.primary();
        if self.take("**") || self.take("^") {
            base.powf(self.signed())
        } else {
            base
        }
    }

    fn primary(&mut self) -> f64 {
        if self.take("(") {
            let value = self.sum();
            assert!(self.take(")"), "`)` is missing in `{}`", self.text);
            return value;
        }
        if self.rest.starts_with(|letter: char| letter.is_ascii_digit()) {
            return self.number();
        }
        let mut name = self
            .take_while(|letter| letter.is_ascii_alphanumeric() || "_.".contains(letter))
            .to_owned();
        if self.rest.starts_with('[') {
            name += self.take_while(|letter| letter != ']');
            name += "]";
            assert!(self.take("]"), "`]` is missing in `{}`", self.text);
        }
        if name == "pi" {
            return std::f64::consts::PI;
        }
        if name == "if" {
            return self.choice();
        }
        if name == "max" {
            assert!(self.take("("), "`(` is missing in `{}`", self.text);
            let first = self.sum();
            assert!(self.take(","), "`,` is missing in `{}`", self.text);
            let second = self.sum();
            assert!(self.take(")"), "`)` is missing in `{}`", self.text);
            return first.max(second);
        }
        let function: Option<fn(f64) -> f64> = match name.as_str() {
            "sin" => Some(f64::sin),
            "cos" => Some(f64::cos),
            _ => None,
        };
        if let Some(function) = function {
            // The argument is in parentheses.
            return function(self.primary());
        }
        let value = self.bindings.get(&name);
        *value.unwrap_or_else(|| panic!("`{name}` has no value in `{}`", self.text))
    }

    /// `A < B then C else D`, after `if`.
    fn choice(&mut self) -> f64 {
        let left = self.sum();
        let is_less = self.take("<");
        assert!(is_less || self.take(">"), "no comparison in `{}`", self.text);
        let right = self.sum();
        assert!(self.take("then"), "`then` is missing in `{}`", self.text);
        let first = self.sum();
        assert!(self.take("else"), "`else` is missing in `{}`", self.text);
        let second = self.sum();
        if (left < right) == is_less && left != right {
            first
        } else {
            second
        }
    }

    fn number(&mut self) -> f64 {
        let digits = self.take_while(|letter| letter.is_ascii_digit() || letter == '.');
        let mut number = digits.to_owned();
        if self.rest.starts_with(['e', 'E']) {
            let sign = self.rest[1..].starts_with(['+', '-']);
            let (head, rest) = self.rest.split_at(1 + usize::from(sign));
            self.rest = rest;
            number += head;
            number += self.take_while(|letter| letter.is_ascii_digit());
        }
        number.parse().unwrap()
    }
}
