//! Unique names for a generated text.

use rustc_hash::FxHashSet;

/// The names in use.
#[derive(Default)]
pub(super) struct Names {
    taken: FxHashSet<String>,
}

impl Names {
    /// Reserves a name.
    pub(super) fn take(&mut self, name: &str) {
        self.taken.insert(name.to_string());
    }

    /// Returns an unused name similar to `like`, made of letters, digits and `_`: `cell[2].c` becomes `cell_2_c`.
    pub(super) fn fresh(&mut self, like: &str) -> String {
        let mut name = String::new();
        for letter in like.chars() {
            match letter {
                letter if letter.is_ascii_alphanumeric() || letter == '_' => name.push(letter),
                '.' | '[' | ',' => name.push('_'),
                _ => {}
            }
        }
        if name.chars().next().is_none_or(|first| first.is_ascii_digit()) {
            name.insert(0, 'n');
        }
        let is_free = |name: &str, taken: &FxHashSet<String>| {
            !taken.contains(name) && !lgm_syntax::is_reserved(name) && !matches!(name, "gnd" | "time" | "pi")
        };
        while !is_free(&name, &self.taken) {
            name.push('_');
        }
        self.taken.insert(name.clone());
        name
    }
}

/// Formats a sum of products `factor*variable` with text factors; terms with the factor 0 are omitted.
pub(super) fn sum(terms: impl IntoIterator<Item = (String, String)>) -> String {
    let mut text = String::new();
    for (factor, variable) in terms {
        let term = match factor.as_str() {
            "0" | "0.0" => continue,
            "1" | "1.0" => variable,
            "-1" | "-1.0" => format!("-{variable}"),
            _ if is_sum(&factor) => format!("({factor})*{variable}"),
            _ => match (factor.strip_prefix("1/"), factor.strip_prefix("-1/")) {
                (Some(below), _) if is_factor(below) => format!("{variable}/{below}"),
                (_, Some(below)) if is_factor(below) => format!("-{variable}/{below}"),
                _ => format!("{factor}*{variable}"),
            },
        };
        match term.strip_prefix('-') {
            _ if text.is_empty() => text = term,
            Some(positive) => text.push_str(&format!(" - {positive}")),
            None => text.push_str(&format!(" + {term}")),
        }
    }
    if text.is_empty() { "0".to_string() } else { text }
}

/// Returns true if an expression is a sum or a conditional outside all brackets.
pub(super) fn is_sum(text: &str) -> bool {
    let mut depth = 0;
    text.starts_with("if ")
        || text.char_indices().any(|(at, letter)| {
            match letter {
                '(' | '[' => depth += 1,
                ')' | ']' => depth -= 1,
                _ => {}
            }
            depth == 0 && (text[at..].starts_with(" + ") || text[at..].starts_with(" - "))
        })
}

/// Returns true if a text can be divided without brackets: outside all brackets, powers are its only binary operators.
fn is_factor(text: &str) -> bool {
    let mut depth = 0;
    !text.chars().any(|letter| {
        match letter {
            '(' | '[' => depth += 1,
            ')' | ']' => depth -= 1,
            _ => {}
        }
        depth == 0 && matches!(letter, '+' | '-' | '*' | '/' | ' ')
    })
}

/// Returns the words of a text that may be names.
pub(super) fn words(text: &str) -> impl Iterator<Item = &str> {
    let is_part = |letter: char| letter.is_ascii_alphanumeric() || letter == '_';
    text.split(move |letter| !is_part(letter))
        .filter(|word| !word.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_made_of_letters_and_differ() {
        let mut names = Names::default();
        names.take("cell_2_c");
        assert_eq!(names.fresh("cell[2].c"), "cell_2_c_");
        assert_eq!(names.fresh("a[1, 2]"), "a_1_2");
        assert_eq!(names.fresh("model"), "model_");
    }

    #[test]
    fn sums_have_the_brackets_that_they_need() {
        let pair = |factor: &str, variable: &str| (factor.to_string(), variable.to_string());
        let list = [pair("a - b", "x"), pair("-1", "y"), pair("0", "z"), pair("-2*c", "u")];
        assert_eq!(sum(list), "(a - b)*x - y - 2*c*u");
        let list = [pair("1/K", "u"), pair("-1/(a*b)", "x"), pair("1/a*b", "y")];
        assert_eq!(sum(list), "u/K - x/(a*b) + 1/a*b*y");
        assert_eq!(sum([]), "0");
    }
}
