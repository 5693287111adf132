//! Numbers and text in LaTeX.

use crate::significant;
use lgm_algebra::expr::print::{LatexMode, latex_escaped};

/// Prints a number with a power of ten instead of an `e`.
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

/// Escapes plain text for TeX.
pub(super) fn escaped(text: &str) -> String {
    latex_escaped(text, LatexMode::Text)
}
