//! Lengths of functions, determined from the indentation that rustfmt produces.

/// A function: its line from 1, its name, and its number of lines.
pub type Function = (usize, String, usize);

/// The functions of a formatted text, including nested ones.
pub fn functions(text: &str) -> Vec<Function> {
    let lines: Vec<&str> = text.lines().collect();
    let mut found = Vec::new();
    for (at, line) in lines.iter().enumerate() {
        let Some(name) = name_of(line) else { continue };
        let indent = &line[..line.len() - line.trim_start().len()];
        let is_own = |line: &&str| {
            line.strip_prefix(indent)
                .is_some_and(|rest| rest.starts_with(['}', ')']))
        };
        // A signature of several lines ends first; a function without a body ends with a semicolon.
        let mut end = at;
        while !lines[end].ends_with([';', '}']) || end > at && !is_own(&lines[end]) {
            end += 1;
            if end == lines.len() {
                break;
            }
        }
        if end < lines.len() && lines[end].ends_with('}') {
            found.push((at + 1, name.to_string(), end - at + 1));
        }
    }
    found
}

/// The name of the function whose definition begins in a line.
fn name_of(line: &str) -> Option<&str> {
    let mut words = line.trim_start();
    loop {
        let (word, rest) = words.split_once(' ')?;
        match word {
            "fn" => return rest.split(['(', '<']).next(),
            "pub" | "const" | "async" | "unsafe" | "extern" | "\"C\"" => words = rest,
            _ if word.starts_with("pub(") => words = rest.strip_prefix("crate) ").unwrap_or(rest),
            _ => return None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn functions_are_counted_from_their_first_line_to_their_last() {
        let text = "\
pub(crate) fn short() {}

trait T {
    fn without_body(
        a: u8,
    ) -> u8;
    fn again(&self);
}

impl A {
    /// Words.
    pub(super) const fn long<T>(
        a: T,
    ) -> Result<(), T> {
        match a {
            _ => {}
        }
        fn inner() {
            one();
        }
    }
}
";
        let found = functions(text);
        let expected = [(1, "short", 1), (12, "long", 10), (18, "inner", 3)];
        assert_eq!(
            found,
            expected.map(|(line, name, lines)| (line, name.to_string(), lines))
        );
    }
}
