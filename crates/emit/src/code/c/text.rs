//! Lists, calls and comments of C.

use crate::code::c::dialect::RULES;
use crate::code::functions::wrapped;
use crate::code::names::one_line;
use crate::code::subject::{Named, bracketed, names};
use std::fmt::Write;

/// A text that ends no comment.
pub(super) fn comment(text: &str) -> String {
    one_line(text)
        .replace("*/", "* /")
        .replace("/*", "/ *")
        .replace("??", "? ?")
}

/// Entries of an array, or one where there is none.
pub(super) fn list(entries: impl Iterator<Item = String>, or: String) -> String {
    let entries: Vec<String> = entries.collect();
    if entries.is_empty() {
        return or;
    }
    wrapped(&entries)
}

pub(super) fn integers(entries: &[usize]) -> String {
    list(entries.iter().map(usize::to_string), "0".to_string())
}

/// An enumeration of places in an array.
pub(super) fn indices(name: &str, letter: &str, users: &[Named]) -> String {
    if users.is_empty() {
        return "/* There is none. */".to_string();
    }
    let legal = names(users.iter().map(|entry| entry.name.as_str()), RULES, &[]);
    let mut text = "enum {\n".to_string();
    for (at, (entry, legal)) in users.iter().zip(&legal).enumerate() {
        let comma = if at + 1 < users.len() { "," } else { "" };
        let remark = format!("{} {}", entry.name, bracketed(&entry.unit));
        let _ = writeln!(
            text,
            "    {name}_{letter}_{legal} = {at}{comma} /* {} */",
            comment(remark.trim())
        );
    }
    text + "};"
}
