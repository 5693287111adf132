//! The arithmetic of conditions and array sizes.

use super::words::{Word, words};
use rustc_hash::FxHashMap;

/// Evaluates an expression over known macros; none if the text contains other macros or is not such an expression.
pub(super) fn value(text: &str, numbers: &FxHashMap<&'static str, usize>) -> Option<usize> {
    let list: Vec<Word> = words(text)
        .filter(|word| !word.text().trim().is_empty() && !matches!(word, Word::Comment(_)))
        .collect();
    let mut reader = Reader { rest: &list, numbers };
    let value = reader.sum_of_conditions()?;
    reader.rest.is_empty().then_some(value)
}

struct Reader<'r> {
    rest: &'r [Word<'r>],
    numbers: &'r FxHashMap<&'static str, usize>,
}

impl Reader<'_> {
    /// Consumes this sign if the next words spell it, and returns true in that case.
    fn takes(&mut self, sign: &str) -> bool {
        let letters = sign.chars().count();
        let next: String = self.rest.iter().take(letters).map(Word::text).collect();
        let is_next = next == sign;
        if is_next {
            self.rest = &self.rest[letters..];
        }
        is_next
    }

    fn sum_of_conditions(&mut self) -> Option<usize> {
        let mut value = self.product_of_conditions()?;
        while self.takes("||") {
            value = usize::from((self.product_of_conditions()? != 0) | (value != 0));
        }
        Some(value)
    }

    fn product_of_conditions(&mut self) -> Option<usize> {
        let mut value = self.relation()?;
        while self.takes("&&") {
            value = usize::from((self.relation()? != 0) & (value != 0));
        }
        Some(value)
    }

    fn relation(&mut self) -> Option<usize> {
        let value = self.sum()?;
        if self.takes("==") {
            return Some(usize::from(self.sum()? == value));
        }
        if self.takes(">") {
            return Some(usize::from(value > self.sum()?));
        }
        Some(value)
    }

    fn sum(&mut self) -> Option<usize> {
        let mut value = self.product()?;
        while self.takes("+") {
            value += self.product()?;
        }
        Some(value)
    }

    fn product(&mut self) -> Option<usize> {
        let mut value = self.factor()?;
        while self.takes("*") {
            value *= self.factor()?;
        }
        Some(value)
    }

    fn factor(&mut self) -> Option<usize> {
        if self.takes("!") {
            return Some(usize::from(self.factor()? == 0));
        }
        if self.takes("(") {
            let value = self.sum_of_conditions()?;
            return self.takes(")").then_some(value);
        }
        let (word, rest) = self.rest.split_first()?;
        self.rest = rest;
        match word {
            Word::Number(text) => text.parse().ok(),
            Word::Name(name) => self.numbers.get(name).copied(),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn conditions_and_sizes_have_values() {
        let numbers: FxHashMap<&str, usize> = [("A", 2), ("B", 0)].into_iter().collect();
        for (text, expected) in [
            ("A", Some(2)),
            ("A == 1", Some(0)),
            ("A > 1", Some(1)),
            ("B || A", Some(1)),
            ("!(A && B)", Some(1)),
            ("A * (2 * A + 2)", Some(12)),
            ("C", None),
            ("A <", None),
        ] {
            assert_eq!(value(text, &numbers), expected, "{text}");
        }
    }
}
