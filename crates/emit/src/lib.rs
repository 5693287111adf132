//! State equations and trajectories as text for people, typesetters and tools: one file per target.
//!
//! AFTER THIS POINT all data is text. Every target reads the same [`StateSystem`], and none modifies the system.

pub mod chapter;
pub mod code;
mod columns;
mod document;
mod html;
mod json;
mod json_format;
mod json_rows;
mod latex;
mod latex_lines;
mod latex_words;
#[cfg(feature = "parquet")]
mod parquet_rows;
pub mod plot;
mod repeating;
pub mod rows;
mod text;

pub use html::{displayed, html, html_body, stretched_html};
pub use json::json;
pub use json_format::{write_compact, write_in_lines};
pub use json_rows::{json_patterns, stretched_json};
pub use latex::{columns, latex, latex_body, stretched_latex};
pub use text::{TextOptions, definitions, stretched_text, text};

use lgm_algebra::expr::{ExprId, Exprs, print};
use lgm_model::ParameterEntry;
use lgm_model::system::{LinearForm, StateSystem};
use num_rational::BigRational;
use num_traits::ToPrimitive;

/// Beyond this number of states, matrices are listed by their nonzero entries unless the options request otherwise.
pub const SPARSE_STATES: usize = 500;

/// Larger matrices are listed only on request: they are unreadable, and the equations contain the same information.
const MOST_ENTRIES: usize = 5000;

/// The matrices to show, for every target.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct MatrixOptions {
    /// Numbers instead of expressions in terms of the parameters.
    pub numeric: bool,
    /// Only nonzero entries, for any size.
    pub sparse: bool,
    /// The equations in blocks, if the system has a block form.
    pub blocks: bool,
}

impl MatrixOptions {
    /// True if nonzero entries are listed instead of whole matrices.
    fn lists_entries(self, system: &StateSystem) -> bool {
        self.sparse || system.states.len() > SPARSE_STATES
    }

    /// Returns the options of short systems that represent a long one with this number of states; none if the long system is
    /// needed.
    fn of_sections(self, states: usize, flat: bool) -> Option<MatrixOptions> {
        // Matrices of smaller systems are drawn whole.
        let is_needed = states <= SPARSE_STATES || flat || self.sparse || self.blocks;
        (!is_needed).then_some(MatrixOptions { sparse: true, ..self })
    }
}

/// The layout of rows and matrices in documents.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DocumentOptions {
    /// The shown part of the matrices.
    pub matrices: MatrixOptions,
    /// Matrices with more entries than this are listed only on request.
    pub most_entries: usize,
    /// One row for each state, equation and output; otherwise, rows that repeat over indices are combined into one row.
    pub flat: bool,
}

impl From<MatrixOptions> for DocumentOptions {
    fn from(matrices: MatrixOptions) -> DocumentOptions {
        DocumentOptions {
            matrices,
            most_entries: MOST_ENTRIES,
            flat: false,
        }
    }
}

impl Default for DocumentOptions {
    fn default() -> DocumentOptions {
        MatrixOptions::default().into()
    }
}

/// The matrices A..F of a system in the requested form; none if the system lacks this form.
#[derive(Clone, Copy, Debug)]
enum Matrices<'a> {
    Symbolic(&'a LinearForm<ExprId>),
    Numeric(&'a LinearForm<f64>),
}

impl<'a> Matrices<'a> {
    fn of(system: &'a StateSystem, options: MatrixOptions) -> Option<Matrices<'a>> {
        if !system.equations.linear {
            None
        } else if options.numeric {
            system.matrices.numeric.as_ref().map(Matrices::Numeric)
        } else {
            system.matrices.symbolic.as_ref().map(Matrices::Symbolic)
        }
    }
}

/// Returns the formula of a parameter entry. The root of an equation has no formula: its value is a plain number.
fn formula(exprs: &Exprs, entry: &ParameterEntry) -> Option<ExprId> {
    entry.derived.filter(|id| exprs.as_number(*id).is_none())
}

/// Returns the shortest text that reads back as the same double: `2`, `0.1`, `1e-9`.
fn shortest(value: f64) -> String {
    let text = format!("{value:?}");
    match text.strip_suffix(".0") {
        Some(integer) => integer.to_string(),
        None => text,
    }
}

/// Formats a number with at most this number of significant digits, without trailing zeros: `0.333333`, `1.5e-7`, `2`.
pub fn significant(value: f64, digits: usize) -> String {
    if value == 0.0 || !value.is_finite() {
        return if value == 0.0 { "0".into() } else { format!("{value}") };
    }
    let scientific = format!("{value:.*e}", digits.saturating_sub(1));
    let Some((mantissa, exponent)) = scientific.split_once('e') else {
        return scientific;
    };
    let exponent: i32 = exponent.parse().unwrap_or(0);
    if (-5..=digits as i32 + 1).contains(&exponent) {
        // Print the rounded value in plain digits. It was rounded above, so 9.9999999 does not become 10.0000.
        let decimals = (digits as i32 - 1 - exponent).max(0) as usize;
        let rounded: f64 = scientific.parse().unwrap_or(value);
        trim_zeros(&format!("{rounded:.decimals$}")).to_string()
    } else {
        format!("{}e{exponent}", trim_zeros(mantissa))
    }
}

fn trim_zeros(text: &str) -> &str {
    if text.contains('.') {
        text.trim_end_matches('0').trim_end_matches('.')
    } else {
        text
    }
}

/// Returns the double nearest to an exact value.
fn double(value: &BigRational) -> f64 {
    // A value beyond the range of doubles becomes infinite; a finite ratio never converts to none.
    value.to_f64().unwrap_or(f64::NAN)
}

/// Prints an expression in the syntax of the language.
fn expression(exprs: &Exprs, id: ExprId) -> String {
    print::text(exprs, id)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_have_so_many_digits_and_no_more() {
        assert_eq!(significant(1.0 / 3.0, 6), "0.333333");
        assert_eq!(significant(-2.0, 6), "-2");
        assert_eq!(significant(1.5e-7, 6), "1.5e-7");
        assert_eq!(significant(0.99999999, 6), "1");
        assert_eq!(significant(9_999_999.0, 6), "10000000");
        assert_eq!(significant(2.1e11, 6), "2.1e11");
        assert_eq!(significant(1234.5678, 6), "1234.57");
        assert_eq!(significant(0.0, 6), "0");
        assert_eq!(shortest(0.1), "0.1");
        assert_eq!(shortest(2.0), "2");
        assert_eq!(shortest(1e-9), "1e-9");
    }
}
