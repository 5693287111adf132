//! Expressions in the language's own syntax.

use super::decimal::{decimal, number};
use super::{Factor, Fraction, Level, Piece, Pieces, Style, written};
use crate::expr::{ExprId, Exprs, Function, Relation};
use num_rational::BigRational;

/// Writes an expression in the language's syntax.
pub fn text(exprs: &Exprs, id: ExprId) -> String {
    written::<Text>(exprs, id, usize::MAX)
}

/// Writes an expression for a message, truncated if it is long. An expression that is small as a graph may exceed any memory as text.
pub fn brief(exprs: &Exprs, id: ExprId) -> String {
    const SHOWN: usize = 120;
    let mut text = written::<Text>(exprs, id, SHOWN);
    if text.len() > SHOWN {
        let mut end = SHOWN;
        while !text.is_char_boundary(end) {
            end -= 1;
        }
        text.truncate(end);
        text.push_str(" ..");
    }
    text
}

/// The language's own syntax.
struct Text;

impl Style for Text {
    const PARENTHESES: (&'static str, &'static str) = ("(", ")");
    const PI: &'static str = "pi";
    const NOT: &'static str = "not ";

    fn number_level(value: &BigRational) -> Level {
        match decimal(value) {
            Some(_) => Level::Atom,
            None => Level::Product,
        }
    }

    fn number(value: &BigRational) -> String {
        number(value)
    }

    fn name<'a>(_: &'a Exprs, name: &'a str) -> Piece<'a> {
        Piece::Text(name)
    }

    fn relation(relation: Relation) -> &'static str {
        match relation {
            Relation::Less => " < ",
            Relation::LessEqual => " <= ",
            Relation::Greater => " > ",
            Relation::GreaterEqual => " >= ",
            Relation::Equal => " == ",
            Relation::NotEqual => " != ",
            Relation::And => " and ",
            Relation::Or => " or ",
        }
    }

    fn power(base: ExprId, exponent: ExprId, pieces: &mut Pieces<'_>) {
        pieces.push(Piece::Expression(base, Level::Atom));
        pieces.push(Piece::Text("^"));
        pieces.push(Piece::Expression(exponent, Level::Power));
    }

    fn fraction(fraction: &Fraction, pieces: &mut Pieces<'_>) {
        let mut separator = "";
        if let Some(number) = &fraction.number {
            pieces.push(Piece::Owned(number.clone()));
            separator = "*";
        } else if fraction.numerator.is_empty() {
            pieces.push(Piece::Text("1"));
        }
        write_factors(&fraction.numerator, &mut separator, pieces);
        let below = fraction.parts_below();
        if below == 0 {
            return;
        }
        pieces.push(Piece::Text(if below > 1 { "/(" } else { "/" }));
        let mut separator = "";
        if let Some(divisor) = &fraction.divisor {
            pieces.push(Piece::Owned(divisor.clone()));
            separator = "*";
        }
        write_factors(&fraction.denominator, &mut separator, pieces);
        if below > 1 {
            pieces.push(Piece::Text(")"));
        }
    }

    fn call(function: Function) -> (Piece<'static>, &'static str) {
        (Piece::Owned(format!("{}(", function.name())), ")")
    }

    fn cases(condition: ExprId, then: ExprId, otherwise: ExprId, pieces: &mut Pieces<'_>) {
        pieces.push(Piece::Text("if "));
        pieces.push(Piece::Expression(condition, Level::Or));
        pieces.push(Piece::Text(" then "));
        pieces.push(Piece::Expression(then, Level::Or));
        pieces.push(Piece::Text(" else "));
        // A chain of `else if` needs no parentheses.
        pieces.push(Piece::Expression(otherwise, Level::If));
    }
}

fn write_factors(factors: &[(ExprId, Factor)], separator: &mut &'static str, pieces: &mut Pieces<'_>) {
    for (base, exponent) in factors {
        pieces.push(Piece::Text(separator));
        *separator = "*";
        match exponent {
            Factor::Plain => pieces.push(Piece::Expression(*base, Level::Power)),
            Factor::Number(value) => {
                pieces.push(Piece::Expression(*base, Level::Atom));
                let exponent = match decimal(value) {
                    Some(text) => format!("^{text}"),
                    None => format!("^({}/{})", value.numer(), value.denom()),
                };
                pieces.push(Piece::Owned(exponent));
            }
        }
    }
}
