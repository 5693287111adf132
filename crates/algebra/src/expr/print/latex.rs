//! Expressions as LaTeX, for `amsmath`.

use super::decimal::decimal;
use super::{Factor, Fraction, Level, Piece, Pieces, Style, written};
use crate::expr::{ExprId, Exprs, Function, Relation};
use num_rational::BigRational;
use num_traits::{One, Signed};

/// Writes an expression as LaTeX mathematics, without the surrounding dollar signs.
pub fn latex(exprs: &Exprs, id: ExprId) -> String {
    written::<Latex>(exprs, id, usize::MAX)
}

/// LaTeX mathematics.
struct Latex;

impl Style for Latex {
    const PARENTHESES: (&'static str, &'static str) = ("\\left(", "\\right)");
    const PI: &'static str = "\\pi";
    const NOT: &'static str = "\\lnot ";

    fn number_level(value: &BigRational) -> Level {
        match decimal(value) {
            Some(text) if !text.contains('e') => Level::Atom,
            _ => Level::Product,
        }
    }

    fn number(value: &BigRational) -> String {
        latex_number(value)
    }

    fn name<'a>(exprs: &'a Exprs, name: &'a str) -> Piece<'a> {
        Piece::Owned(exprs.latex_name(name))
    }

    fn relation(relation: Relation) -> &'static str {
        match relation {
            Relation::Less => " < ",
            Relation::LessEqual => " \\le ",
            Relation::Greater => " > ",
            Relation::GreaterEqual => " \\ge ",
            Relation::Equal => " = ",
            Relation::NotEqual => " \\ne ",
            Relation::And => " \\land ",
            Relation::Or => " \\lor ",
        }
    }

    fn power(base: ExprId, exponent: ExprId, pieces: &mut Pieces<'_>) {
        pieces.push(Piece::Expression(base, Level::Atom));
        pieces.push(Piece::Text("^{"));
        pieces.push(Piece::Expression(exponent, Level::If));
        pieces.push(Piece::Text("}"));
    }

    fn fraction(fraction: &Fraction, pieces: &mut Pieces<'_>) {
        let has_line = fraction.parts_below() > 0;
        if has_line {
            pieces.push(Piece::Text("\\frac{"));
        }
        write_factors(fraction.number.as_deref(), &fraction.numerator, has_line, pieces);
        if has_line {
            pieces.push(Piece::Text("}{"));
            write_factors(fraction.divisor.as_deref(), &fraction.denominator, true, pieces);
            pieces.push(Piece::Text("}"));
        }
    }

    fn call(function: Function) -> (Piece<'static>, &'static str) {
        let [open, close] = function.facts().latex;
        (Piece::Text(open), close)
    }

    // Cases have their own brace, and need parentheses where plain text needs them.
    fn cases(condition: ExprId, then: ExprId, otherwise: ExprId, pieces: &mut Pieces<'_>) {
        pieces.push(Piece::Text("\\begin{cases} "));
        pieces.push(Piece::Expression(then, Level::If));
        pieces.push(Piece::Text(" & \\text{if } "));
        pieces.push(Piece::Expression(condition, Level::If));
        pieces.push(Piece::Text(" \\\\ "));
        pieces.push(Piece::Expression(otherwise, Level::If));
        pieces.push(Piece::Text(" & \\text{otherwise} \\end{cases}"));
    }
}

/// Writes factors side by side; a single factor in braces needs no parentheses.
fn write_factors(number: Option<&str>, factors: &[(ExprId, Factor)], braced: bool, pieces: &mut Pieces<'_>) {
    match number {
        Some(number) => pieces.push(Piece::Owned(latex_decimal(number))),
        None if factors.is_empty() => pieces.push(Piece::Text("1")),
        None => {}
    }
    for (index, (base, exponent)) in factors.iter().enumerate() {
        if index > 0 || number.is_some() {
            pieces.push(Piece::Text(" \\, "));
        }
        match exponent {
            Factor::Plain if braced && factors.len() == 1 && number.is_none() => {
                pieces.push(Piece::Expression(*base, Level::If));
            }
            Factor::Plain => pieces.push(Piece::Expression(*base, Level::Power)),
            Factor::Number(value) => {
                pieces.push(Piece::Expression(*base, Level::Atom));
                pieces.push(Piece::Owned(format!("^{{{}}}", latex_number(value))));
            }
        }
    }
}

fn latex_number(value: &BigRational) -> String {
    match decimal(value) {
        Some(text) => latex_decimal(&text),
        None => {
            let sign = if value.is_negative() { "-" } else { "" };
            let numerator = BigRational::new(value.numer().abs(), One::one());
            let denominator = BigRational::new(value.denom().clone(), One::one());
            format!(
                "{sign}\\frac{{{}}}{{{}}}",
                latex_number(&numerator),
                latex_number(&denominator)
            )
        }
    }
}

/// Formats a decimal, writing the exponent as a power of ten.
fn latex_decimal(text: &str) -> String {
    match text.split_once('e') {
        Some((mantissa, exponent)) => format!("{mantissa} \\cdot 10^{{{exponent}}}"),
        None => text.to_string(),
    }
}
