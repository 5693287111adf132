//! Lists, calls and comments of C.

use crate::code::c::dialect::RULES;
use crate::code::dialect::Array;
use crate::code::functions::wrapped;
use crate::code::names::one_line;
use crate::code::subject::{Named, bracketed, names};
use lgm_kernels::operation::Space;
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

/// The arguments of a call within the model's functions.
pub(super) fn move_call(out: &str) -> impl Fn(Array) -> String + use<> {
    let out = out.to_string();
    move |array| {
        match array {
            Array::Read(Space::Time) => "t",
            Array::Read(Space::Parameters) => "model->p",
            Array::Read(Space::States) => "x",
            Array::Read(Space::Inputs) => "u",
            Array::Read(Space::Rates) => "du",
            Array::Read(Space::Unknowns) => "model->w",
            Array::Read(Space::Numbers) => unreachable!("invariant: tables of numbers are constants"),
            Array::Read(Space::Temporaries) => "model->s",
            Array::Output => &out,
        }
        .to_string()
    }
}

pub(super) fn indented(text: &str) -> String {
    format!("    {text}\n")
}
