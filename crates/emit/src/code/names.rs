//! The user's names as names of another language: legal, unique, and as close to the original as the language allows. Also
//! the user's texts in remarks and strings.

use rustc_hash::FxHashSet;

/// The reserved names of a language.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Rules {
    /// Words that are not names, with spaces between them.
    pub(crate) reserved: &'static str,
    /// True if names that differ only in case are equal.
    pub(crate) ignores_case: bool,
    /// True if names are written in lower case, with words joined by `_`.
    pub(crate) snake: bool,
}

/// Assigns unique names within one scope.
#[derive(Clone, Debug)]
pub(crate) struct Scope {
    rules: Rules,
    taken: FxHashSet<String>,
    /// Words used by the files themselves; names equal to them are marked like reserved words.
    words: &'static str,
}

impl Scope {
    pub(crate) fn new(rules: Rules) -> Scope {
        Scope {
            rules,
            taken: FxHashSet::default(),
            words: "",
        }
    }

    /// Creates a scope in which the files themselves use these words.
    pub(crate) fn beside(rules: Rules, words: &'static str) -> Scope {
        let mut scope = Scope::new(rules);
        words.split(' ').for_each(|word| scope.reserve(word));
        Scope { words, ..scope }
    }

    /// Reserves a name that the templates use.
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

    /// Returns a name for a user's name: `mass.v` becomes `mass_v`, `K[1, 2]` becomes `K_1_2`, `int` becomes `int_`, and a name
    /// already in use gets a number.
    pub(crate) fn name(&mut self, users: &str) -> String {
        let mut plain = legal(users, self.rules);
        if has_word(self.words, &plain) {
            plain.push('_');
        }
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

/// Returns a legal name, which may not be unique.
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
    if has_word(rules.reserved, &name) {
        name.push('_');
    }
    name
}

/// Returns true if a list of words, with spaces between them, contains a word.
fn has_word(list: &str, word: &str) -> bool {
    list.split(' ').any(|other| other == word)
}

/// Removes line breaks from a text.
pub(crate) fn one_line(text: &str) -> String {
    let plain = text
        .chars()
        .map(|letter| if letter.is_control() { ' ' } else { letter });
    plain.collect()
}

/// Prepares a text for quotation marks: removes line breaks, and puts a backslash before each special character.
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
        reserved: "int while",
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
