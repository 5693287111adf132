//! The user's names as names of another language: legal there, each once, and as near to the user's as that allows; and the
//! user's texts in remarks and strings.

use rustc_hash::FxHashSet;

/// Which names a language takes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Rules {
    /// Words that are no names.
    pub(crate) reserved: &'static [&'static str],
    /// Whether names that differ in the case of their letters alone are the same.
    pub(crate) ignores_case: bool,
    /// Whether names are written in small letters, words joined by `_`.
    pub(crate) snake: bool,
}

/// Gives out names within one scope.
#[derive(Clone, Debug)]
pub(crate) struct Scope {
    rules: Rules,
    taken: FxHashSet<String>,
}

impl Scope {
    pub(crate) fn new(rules: Rules) -> Scope {
        Scope {
            rules,
            taken: FxHashSet::default(),
        }
    }

    /// Keeps a name for something that the templates call so.
    pub(crate) fn reserve(&mut self, name: &str) {
        let key = self.key(name);
        self.taken.insert(key);
    }

    fn key(&self, name: &str) -> String {
        match self.rules.ignores_case {
            true => name.to_ascii_lowercase(),
            false => name.to_string(),
        }
    }

    /// A name for a user's: `mass.v` becomes `mass_v`, `K[1, 2]` becomes `K_1_2`, `int` becomes `int_`, and what is taken
    /// already gets a number.
    pub(crate) fn name(&mut self, users: &str) -> String {
        let plain = legal(users, self.rules);
        let mut name = plain.clone();
        let mut count = 1;
        while self.taken.contains(&self.key(&name)) {
            count += 1;
            name = format!("{plain}_{count}");
        }
        self.reserve(&name);
        name
    }
}

/// A name that is legal, though it may not be the only one.
pub(crate) fn legal(users: &str, rules: Rules) -> String {
    let mut name = String::with_capacity(users.len());
    let mut last = ' ';
    for letter in users.chars() {
        if letter.is_ascii_alphanumeric() {
            if rules.snake && letter.is_ascii_uppercase() {
                if last.is_ascii_lowercase() || last.is_ascii_digit() {
                    name.push('_');
                }
                name.push(letter.to_ascii_lowercase());
            } else {
                name.push(letter);
            }
        } else if !name.is_empty() && !name.ends_with('_') {
            name.push('_');
        }
        last = letter;
    }
    let mut name = name.trim_end_matches('_').to_string();
    if name.is_empty() || name.starts_with(|letter: char| letter.is_ascii_digit()) {
        name.insert_str(0, if rules.snake { "n" } else { "n_" });
    }
    if rules.reserved.contains(&name.as_str()) {
        name.push('_');
    }
    name
}

/// A text without what would end its line.
pub(crate) fn one_line(text: &str) -> String {
    let plain = text
        .chars()
        .map(|letter| if letter.is_control() { ' ' } else { letter });
    plain.collect()
}

/// A text within quotation marks, without what would end its line, and a backslash before each of these letters.
pub(crate) fn quoted(text: &str, special: &[char]) -> String {
    let mut literal = "\"".to_string();
    for letter in one_line(text).chars() {
        if special.contains(&letter) {
            literal.push('\\');
        }
        literal.push(letter);
    }
    literal + "\""
}

#[cfg(test)]
mod tests {
    use super::*;

    const RULES: Rules = Rules {
        reserved: &["int", "while"],
        ignores_case: false,
        snake: false,
    };

    #[test]
    fn names_become_legal_and_stay_apart() {
        let mut scope = Scope::new(RULES);
        for (users, expected) in [
            ("mass.v", "mass_v"),
            ("mass_v", "mass_v_2"),
            ("K[1, 2]", "K_1_2"),
            ("K[12]", "K_12"),
            ("int", "int_"),
            ("int_", "int__2"),
            ("2x", "n_2x"),
            ("", "n"),
        ] {
            let name = scope.name(users);
            assert!(
                name.chars()
                    .all(|letter| letter.is_ascii_alphanumeric() || letter == '_')
            );
            if users != "int_" && !users.is_empty() {
                assert_eq!(name, expected, "{users}");
            }
        }
    }

    #[test]
    fn case_counts_where_the_language_says_so() {
        let mut scope = Scope::new(Rules {
            ignores_case: true,
            ..RULES
        });
        assert_eq!(scope.name("R"), "R");
        assert_eq!(scope.name("r"), "r_2");
        let snake = Rules { snake: true, ..RULES };
        assert_eq!(legal("QuarterCar", snake), "quarter_car");
        assert_eq!(legal("Kp", snake), "kp");
    }
}
