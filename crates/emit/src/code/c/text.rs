//! Lists, calls and comments in C.

use crate::code::c::dialect::RULES;
use crate::code::functions::wrapped;
use crate::code::names::one_line;
use crate::code::subject::{Named, bracketed, names};
use lgm_model::SiUnit;
use std::fmt::Write;

/// Returns a text that cannot end a comment.
pub(super) fn comment(text: &str) -> String {
    one_line(text)
        .replace("*/", "* /")
        .replace("/*", "/ *")
        .replace("??", "? ?")
}

/// Prints the entries of an array, or `or` if there are no entries.
pub(super) fn list(entries: impl Iterator<Item = String>, or: String) -> String {
    let entries: Vec<String> = entries.collect();
    if entries.is_empty() {
        return or;
    }
    wrapped(&entries)
}

/// Prints `name [unit]`, safe inside a comment.
pub(super) fn remark_of(name: &str, unit: &Option<SiUnit>) -> String {
    comment(format!("{name} {}", bracketed(unit)).trim())
}

/// The maximum width of a line.
const WIDTH: usize = 110;

/// Prints paragraphs as the comment at the head of a file.
pub(super) fn wrapped_comment(paragraphs: &[&str]) -> String {
    let mut lines: Vec<String> = Vec::new();
    for paragraph in paragraphs {
        if !lines.is_empty() {
            lines.push(String::new());
        }
        let mut line = String::new();
        for word in paragraph.split(' ') {
            if !line.is_empty() && line.len() + word.len() > WIDTH {
                lines.push(std::mem::take(&mut line));
            }
            let blank = if line.is_empty() { "" } else { " " };
            line = format!("{line}{blank}{word}");
        }
        lines.push(line);
    }
    let text = lines.join("\n * ").replace(" * \n", " *\n");
    match lines.len() {
        1 => format!("/* {text} */\n"),
        _ => format!("/* {text}\n */\n"),
    }
}

/// Prints a statement with a remark at its end, breaking lines before operators.
pub(super) fn wrapped_code(statement: &str, remark: &str) -> String {
    let mut out = "    ".to_string();
    let mut width = 4;
    let words: Vec<&str> = statement.split(' ').collect();
    for (at, word) in words.iter().enumerate() {
        let next = words.get(at + 1).map_or(0, |next| next.len() + 1);
        let is_operator = matches!(*word, "+" | "-" | "?" | ":" | "&&" | "||");
        if is_operator && width + word.len() + next > WIDTH {
            out.push_str("\n        ");
            width = 8;
        } else if at > 0 {
            out.push(' ');
            width += 1;
        }
        out.push_str(word);
        width += word.len();
    }
    out + remark + "\n"
}

/// Wraps function heads that exceed the line width.
pub(super) fn wrapped_heads(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for line in text.lines() {
        let is_head =
            line.len() > WIDTH && line.contains('(') && line.starts_with(|letter: char| letter.is_ascii_lowercase());
        let place = line
            .get(..WIDTH)
            .filter(|_| is_head)
            .and_then(|start| start.rfind(", "));
        match place {
            Some(place) => {
                out.push_str(&line[..place + 1]);
                out.push_str("\n    ");
                out.push_str(&line[place + 2..]);
            }
            None => out.push_str(line),
        }
        out.push('\n');
    }
    out
}

pub(super) fn integers(entries: &[usize]) -> String {
    list(entries.iter().map(usize::to_string), "0".to_string())
}

/// Prints an enumeration of array indices.
pub(super) fn indices(name: &str, letter: &str, users: &[Named]) -> String {
    let legal = names(users.iter().map(|entry| entry.name.as_str()), RULES, &[]);
    let width = legal.iter().map(String::len).max().unwrap_or(0).min(30) + 1;
    let mut text = "enum {\n".to_string();
    for (at, (entry, legal)) in users.iter().zip(&legal).enumerate() {
        let comma = if at + 1 < users.len() { "," } else { "" };
        let remark = remark_of(&entry.name, &entry.unit);
        let own = format!("{legal}{comma}");
        let _ = writeln!(text, "    {name}_{letter}_{own:width$} /* {remark} */");
    }
    text + "};"
}
