//! Text sizes. Fonts differ between machines; the widths are taken from a wide font, so that a text stays within its box in any font.

/// The font size of names.
pub(crate) const SIZE: f64 = 13.0;

/// The font size of values and of the numbers of bonds.
pub(crate) const SMALL: f64 = 10.5;

/// The height of the box of a line of text.
pub(crate) const LINE: f64 = 16.0;

/// The font size of junction digits and element letters.
pub(crate) const LARGE: f64 = 15.0;

/// Returns the width of a letter of size 1.
fn letter(letter: char) -> f64 {
    match letter {
        'i' | 'j' | 'l' | '.' | ',' | ':' | ';' | '\'' | '|' | '!' => 0.32,
        'f' | 't' | 'r' | '(' | ')' | '[' | ']' | '{' | '}' | ' ' | 'I' | 'J' | '/' | '-' => 0.42,
        'm' | 'w' | 'M' | 'W' | '%' | '@' => 0.95,
        'A'..='Z' => 0.72,
        _ if letter.is_ascii() => 0.62,
        _ => 0.9,
    }
}

/// Returns the width of a text with letters of this size.
pub(crate) fn width(text: &str, size: f64) -> f64 {
    let sum: f64 = text.chars().map(letter).sum();
    (sum * size).ceil() + 2.0
}

/// Returns the width of a text in bold letters.
pub(crate) fn bold_width(text: &str, size: f64) -> f64 {
    (width(text, size) * 1.1).ceil()
}
