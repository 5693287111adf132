//! Numbers and words in LaTeX.

use crate::significant;

/// A number with a power of ten instead of an `e`.
pub(super) fn number(value: f64) -> String {
    if value.is_infinite() {
        return if value > 0.0 { "\\infty" } else { "-\\infty" }.to_string();
    }
    let text = significant(value, 6);
    match text.split_once('e') {
        Some((mantissa, exponent)) => format!("{mantissa} \\cdot 10^{{{exponent}}}"),
        None => text,
    }
}

/// Plain text, with TeX's own characters made harmless.
pub(super) fn escaped(text: &str) -> String {
    let mut out = String::new();
    for letter in text.chars() {
        match letter {
            '_' | '&' | '%' | '#' | '$' | '{' | '}' => {
                out.push('\\');
                out.push(letter);
            }
            '\\' => out.push_str("\\textbackslash{}"),
            '^' => out.push_str("\\textasciicircum{}"),
            '~' => out.push_str("\\textasciitilde{}"),
            _ => out.push(letter),
        }
    }
    out
}
