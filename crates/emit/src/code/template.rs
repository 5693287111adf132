//! Templates: texts of a target's folder with places for what differs from model to model.
//!
//! `@key@` is replaced by its value. Lines `@if key@`, `@else@`, `@end@` stand alone; what they enclose is kept where the
//! value is there and not empty. They may be nested.

use rustc_hash::FxHashMap;

/// The values of a template's keys.
#[derive(Clone, Debug, Default)]
pub(crate) struct Values {
    list: FxHashMap<String, String>,
}

impl Values {
    pub(crate) fn set(&mut self, key: impl Into<String>, value: impl Into<String>) -> &mut Values {
        self.list.insert(key.into(), value.into());
        self
    }

    /// A key that only says whether something is so.
    pub(crate) fn flag(&mut self, key: impl Into<String>, holds: bool) -> &mut Values {
        self.set(key, if holds { "yes" } else { "" })
    }

    pub(crate) fn get(&self, key: &str) -> &str {
        match self.list.get(key) {
            Some(value) => value,
            None => panic!("invariant: `{key}` of a template has a value"),
        }
    }

    fn holds(&self, key: &str) -> bool {
        self.list.get(key).is_some_and(|value| !value.is_empty())
    }
}

/// Fills a template in.
pub(crate) fn fill(template: &str, values: &Values) -> String {
    let mut text = String::with_capacity(2 * template.len());
    // Whether the lines here are kept, for every condition that is open.
    let mut kept: Vec<bool> = Vec::new();
    for line in template.lines() {
        let word = line.trim();
        if let Some(key) = word.strip_prefix("@if ").and_then(|rest| rest.strip_suffix('@')) {
            kept.push(values.holds(key));
        } else if word == "@else@" {
            let last = kept.last_mut().expect("invariant: `@else@` stands behind `@if ..@`");
            *last = !*last;
        } else if word == "@end@" {
            kept.pop().expect("invariant: `@end@` stands behind `@if ..@`");
        } else if kept.iter().all(|kept| *kept) {
            replace(line, values, &mut text);
            text.push('\n');
        }
    }
    assert!(kept.is_empty(), "invariant: every `@if ..@` has its `@end@`");
    text
}

/// Replaces the keys of one line; an `@` that encloses no key stays.
fn replace(line: &str, values: &Values, text: &mut String) {
    let mut rest = line;
    while let Some(at) = rest.find('@') {
        text.push_str(&rest[..at]);
        let after = &rest[at + 1..];
        let length = after
            .find(|letter: char| !letter.is_ascii_alphanumeric() && letter != '_')
            .unwrap_or(after.len());
        if length > 0 && after[length..].starts_with('@') {
            text.push_str(values.get(&after[..length]));
            rest = &after[length + 1..];
        } else {
            text.push('@');
            rest = after;
        }
    }
    text.push_str(rest);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_are_replaced_and_conditions_kept() {
        let mut values = Values::default();
        values.set("name", "A").flag("yes", true).flag("no", false);
        let template = "x @name@_y@name@ a@b.c\n@if yes@\n1\n@if no@\n2\n@else@\n3\n@end@\n@end@\n";
        assert_eq!(fill(template, &values), "x A_yA a@b.c\n1\n3\n");
    }
}
