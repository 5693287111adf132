//! Expressions as text in the language's own syntax, with as few parentheses as it takes.
//!
//! Writing uses a stack of pending pieces instead of recursion, so that depth costs no stack, and appends to one
//! string, so that time is proportional to the length of the text.

use super::Exprs;
use crate::expr::{ExprId, Node, Relation};
use num_bigint::BigInt;
use num_integer::Integer as _;
use num_rational::BigRational;
use num_traits::{One, Signed, ToPrimitive, Zero};

pub use super::print_latex::{Mode as LatexMode, escaped as latex_escaped, latex, latex_name};

/// How tightly an expression binds, loosest first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Level {
    If,
    Or,
    And,
    Not,
    Comparison,
    Sum,
    Product,
    Power,
    Atom,
}

/// A pending piece of text.
enum Piece<'a> {
    Text(&'a str),
    Owned(String),
    /// An expression, in parentheses if it binds less tightly than this.
    Expression(ExprId, Level),
    /// The same expression without its minus sign.
    Magnitude(ExprId, Level),
}

/// Writes an expression in the language's syntax.
pub fn text(exprs: &Exprs, id: ExprId) -> String {
    written(exprs, id, usize::MAX)
}

/// The same for a sentence: only the beginning of what is long. What is small as a graph may be longer than any memory.
pub fn brief(exprs: &Exprs, id: ExprId) -> String {
    const SHOWN: usize = 120;
    let mut text = written(exprs, id, SHOWN);
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

/// Writes an expression, until there are more bytes than this.
fn written(exprs: &Exprs, id: ExprId, enough: usize) -> String {
    let mut output = String::new();
    let mut stack = vec![Piece::Expression(id, Level::If)];
    let mut pieces = Vec::new();
    while let Some(piece) = stack.pop().filter(|_| output.len() <= enough) {
        match piece {
            Piece::Text(text) => output.push_str(text),
            Piece::Owned(text) => output.push_str(&text),
            Piece::Expression(id, at_least) => write(exprs, id, at_least, false, &mut pieces),
            Piece::Magnitude(id, at_least) => write(exprs, id, at_least, true, &mut pieces),
        }
        stack.extend(pieces.drain(..).rev());
    }
    output
}

/// The level of an expression's own text.
pub(super) fn level(exprs: &Exprs, id: ExprId) -> Level {
    match exprs.node(id) {
        Node::Pi | Node::Symbol(_) | Node::Call(..) => Level::Atom,
        Node::Number(value) if value.is_negative() => Level::Sum,
        Node::Number(value) => match decimal(value) {
            Some(_) => Level::Atom,
            None => Level::Product,
        },
        Node::Sum(_) => Level::Sum,
        Node::Product(_) if is_negative(exprs, id) => Level::Sum,
        Node::Product(_) => Level::Product,
        Node::Power(_, exponent) => match exprs.as_number(*exponent) {
            Some(value) if value.is_negative() => Level::Product,
            _ => Level::Power,
        },
        Node::Relation(Relation::Or, ..) => Level::Or,
        Node::Relation(Relation::And, ..) => Level::And,
        Node::Relation(..) => Level::Comparison,
        Node::Not(_) => Level::Not,
        Node::If(..) => Level::If,
    }
}

/// Whether the text starts with a minus sign that belongs to the whole.
pub(super) fn is_negative(exprs: &Exprs, id: ExprId) -> bool {
    match exprs.node(id) {
        Node::Number(value) => value.is_negative(),
        Node::Product(list) => exprs.as_number(list[0]).is_some_and(Signed::is_negative),
        _ => false,
    }
}

/// The terms of a sum in the order of writing: a positive number, which is kept last, leads where the first term
/// is negative (`1 - x`).
pub(super) fn written_terms(exprs: &Exprs, list: &[ExprId]) -> Vec<ExprId> {
    let mut terms = list.to_vec();
    let last = *terms.last().expect("invariant: a sum has at least two terms");
    if is_negative(exprs, terms[0]) && exprs.as_number(last).is_some_and(Signed::is_positive) {
        terms.rotate_right(1);
    }
    terms
}

/// A product or a power taken apart for writing.
pub(super) struct Fraction {
    pub(super) negative: bool,
    /// The number in front, none where it is 1.
    pub(super) number: Option<String>,
    /// Bases with their exponents, none where it is 1.
    pub(super) numerator: Vec<(ExprId, Factor)>,
    /// The number below the line, none where it is 1.
    pub(super) divisor: Option<String>,
    pub(super) denominator: Vec<(ExprId, Factor)>,
}

/// The exponent of a factor.
pub(super) enum Factor {
    /// 1
    Plain,
    /// A positive number other than 1.
    Number(BigRational),
}

impl Fraction {
    pub(super) fn new(exprs: &Exprs, id: ExprId) -> Fraction {
        let mut fraction = Fraction {
            negative: false,
            number: None,
            numerator: Vec::new(),
            divisor: None,
            denominator: Vec::new(),
        };
        let list = match exprs.node(id) {
            Node::Product(list) => list,
            _ => std::slice::from_ref(&id),
        };
        for factor in list {
            match exprs.node(*factor) {
                // A second number is there where the two together are beyond the range of numbers.
                Node::Number(value)
                    if fraction.number.is_none() && fraction.divisor.is_none() && !fraction.negative =>
                {
                    fraction.negative = value.is_negative();
                    (fraction.number, fraction.divisor) = number_parts(&value.abs());
                }
                Node::Power(base, exponent) => match exprs.as_number(*exponent) {
                    Some(value) if value.is_negative() => {
                        let exponent = -value;
                        let exponent = if exponent.is_one() {
                            Factor::Plain
                        } else {
                            Factor::Number(exponent)
                        };
                        fraction.denominator.push((*base, exponent));
                    }
                    Some(value) => fraction.numerator.push((*base, Factor::Number(value.clone()))),
                    None => fraction.numerator.push((*factor, Factor::Plain)),
                },
                _ => fraction.numerator.push((*factor, Factor::Plain)),
            }
        }
        fraction
    }
}

fn write<'a>(exprs: &'a Exprs, id: ExprId, at_least: Level, magnitude: bool, pieces: &mut Vec<Piece<'a>>) {
    let own = if magnitude { Level::Product } else { level(exprs, id) };
    let parentheses = own < at_least;
    if parentheses {
        pieces.push(Piece::Text("("));
    }
    match exprs.node(id) {
        Node::Number(value) => {
            let value = if magnitude { value.abs() } else { (**value).clone() };
            pieces.push(Piece::Owned(number(&value)));
        }
        Node::Pi => pieces.push(Piece::Text("pi")),
        Node::Symbol(symbol) => pieces.push(Piece::Text(&exprs.symbol_info(*symbol).name)),
        Node::Sum(list) => {
            for (index, term) in written_terms(exprs, list).into_iter().enumerate() {
                if is_negative(exprs, term) {
                    pieces.push(Piece::Text(if index == 0 { "-" } else { " - " }));
                    pieces.push(Piece::Magnitude(term, Level::Product));
                } else {
                    if index > 0 {
                        pieces.push(Piece::Text(" + "));
                    }
                    pieces.push(Piece::Expression(term, Level::Product));
                }
            }
        }
        Node::Product(_) => write_fraction(&Fraction::new(exprs, id), magnitude, pieces),
        Node::Power(base, exponent) => match exprs.as_number(*exponent) {
            Some(value) if value.is_negative() => write_fraction(&Fraction::new(exprs, id), magnitude, pieces),
            _ => {
                pieces.push(Piece::Expression(*base, Level::Atom));
                pieces.push(Piece::Text("^"));
                pieces.push(Piece::Expression(*exponent, Level::Power));
            }
        },
        Node::Call(function, list) => {
            pieces.push(Piece::Text(function.name()));
            pieces.push(Piece::Text("("));
            for (index, argument) in function.written(list).iter().enumerate() {
                if index > 0 {
                    pieces.push(Piece::Text(", "));
                }
                pieces.push(Piece::Expression(*argument, Level::If));
            }
            pieces.push(Piece::Text(")"));
        }
        Node::Relation(relation, a, b) => {
            let (word, left, right) = match relation {
                Relation::Less => (" < ", Level::Sum, Level::Sum),
                Relation::LessEqual => (" <= ", Level::Sum, Level::Sum),
                Relation::Greater => (" > ", Level::Sum, Level::Sum),
                Relation::GreaterEqual => (" >= ", Level::Sum, Level::Sum),
                Relation::Equal => (" == ", Level::Sum, Level::Sum),
                Relation::NotEqual => (" != ", Level::Sum, Level::Sum),
                Relation::And => (" and ", Level::And, Level::Not),
                Relation::Or => (" or ", Level::Or, Level::And),
            };
            pieces.push(Piece::Expression(*a, left));
            pieces.push(Piece::Text(word));
            pieces.push(Piece::Expression(*b, right));
        }
        Node::Not(a) => {
            pieces.push(Piece::Text("not "));
            pieces.push(Piece::Expression(*a, Level::Not));
        }
        Node::If(condition, a, b) => {
            pieces.push(Piece::Text("if "));
            pieces.push(Piece::Expression(*condition, Level::Or));
            pieces.push(Piece::Text(" then "));
            pieces.push(Piece::Expression(*a, Level::Or));
            pieces.push(Piece::Text(" else "));
            // A chain of `else if` needs no parentheses.
            pieces.push(Piece::Expression(*b, Level::If));
        }
    }
    if parentheses {
        pieces.push(Piece::Text(")"));
    }
}

fn write_fraction(fraction: &Fraction, magnitude: bool, pieces: &mut Vec<Piece>) {
    if fraction.negative && !magnitude {
        pieces.push(Piece::Text("-"));
    }
    let mut separator = "";
    if let Some(number) = &fraction.number {
        pieces.push(Piece::Owned(number.clone()));
        separator = "*";
    } else if fraction.numerator.is_empty() {
        pieces.push(Piece::Text("1"));
    }
    write_factors(&fraction.numerator, &mut separator, pieces);
    let below = fraction.denominator.len() + usize::from(fraction.divisor.is_some());
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

fn write_factors(factors: &[(ExprId, Factor)], separator: &mut &'static str, pieces: &mut Vec<Piece>) {
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

/// A number as text: a decimal where that is exact and short, otherwise a fraction.
pub fn number(value: &BigRational) -> String {
    decimal(value).unwrap_or_else(|| format!("{}/{}", value.numer(), value.denom()))
}

/// A positive coefficient as a number in front and a number below the line. Halves, quarters and eighths of small
/// numbers are fractions, as people write them; other terminating decimals stay decimals, as they were typed.
fn number_parts(value: &BigRational) -> (Option<String>, Option<String>) {
    let small = BigInt::from(10);
    let common = *value.numer() < small && [2, 4, 8].iter().any(|d| *value.denom() == BigInt::from(*d));
    let shown = |text: String| (text != "1").then_some(text);
    if !common && let Some(text) = decimal(value) {
        return (shown(text), None);
    }
    let whole = |value: &BigInt| shown(number(&BigRational::from_integer(value.clone())));
    (whole(value.numer()), whole(value.denom()))
}

/// The decimal that is exactly the number, if it has at most 17 digits; integers always have one.
pub(super) fn decimal(value: &BigRational) -> Option<String> {
    if value.is_zero() {
        return Some("0".to_string());
    }
    let (digits, exponent) = match short_decimal_parts(value) {
        Some((mantissa, exponent)) => (mantissa.to_string(), exponent),
        None => {
            let (mantissa, exponent) = decimal_parts(value)?;
            (mantissa.to_string(), exponent)
        }
    };
    let sign = if value.is_negative() { "-" } else { "" };
    if digits.len() > 17 && !value.is_integer() {
        return None;
    }
    let length = digits.len() as i64;
    // The place of the decimal point, counted from the left of the digits.
    let point = length + exponent;
    let text = if exponent >= 0 && point <= 15 && (exponent < 5 || point <= 6) {
        format!("{digits}{}", "0".repeat(exponent as usize))
    } else if exponent < 0 && point > 0 {
        format!("{}.{}", &digits[..point as usize], &digits[point as usize..])
    } else if exponent < 0 && point > -4 {
        format!("0.{}{digits}", "0".repeat(-point as usize))
    } else if (0..5).contains(&exponent) {
        format!("{digits}{}", "0".repeat(exponent as usize))
    } else if length == 1 {
        format!("{digits}e{exponent}")
    } else {
        format!("{}.{}e{}", &digits[..1], &digits[1..], point - 1)
    };
    Some(format!("{sign}{text}"))
}

/// [`decimal_parts`] of a number that fits machine words, as nearly all do; none where it does not, or does not
/// terminate.
fn short_decimal_parts(value: &BigRational) -> Option<(u128, i64)> {
    let (numerator, denominator) = (value.numer().to_i64()?, value.denom().to_u64()?);
    let mut mantissa = u128::from(numerator.unsigned_abs());
    let twos = denominator.trailing_zeros();
    let mut rest = denominator >> twos;
    let mut fives = 0;
    while rest.is_multiple_of(5) {
        rest /= 5;
        fives += 1;
    }
    if rest != 1 {
        return None;
    }
    let places = twos.max(fives);
    let factor = 5u128
        .checked_pow(places - fives)?
        .checked_mul(2u128.checked_pow(places - twos)?)?;
    mantissa = mantissa.checked_mul(factor)?;
    let mut exponent = -i64::from(places);
    while mantissa.is_multiple_of(10) {
        mantissa /= 10;
        exponent += 1;
    }
    Some((mantissa, exponent))
}

/// The positive mantissa without trailing zeros and the power of ten, if the number terminates.
fn decimal_parts(value: &BigRational) -> Option<(BigInt, i64)> {
    let mut mantissa = value.numer().abs();
    let mut exponent = 0i64;
    if !value.denom().is_one() {
        let mut rest = value.denom().clone();
        // Every factor 2 below the line is a factor 5 above a power of ten, and the other way round.
        let twos = rest.trailing_zeros().unwrap_or(0);
        rest >>= twos;
        let five = BigInt::from(5);
        let mut fives = 0u64;
        // More than a thousand places are beyond any number that is written as a decimal.
        while rest.is_multiple_of(&five) && fives < 1100 {
            rest /= &five;
            fives += 1;
        }
        if !rest.is_one() || twos > 1100 {
            return None;
        }
        let places = twos.max(fives);
        mantissa *= five.pow((places - fives).to_u32()?) * BigInt::from(2).pow((places - twos).to_u32()?);
        exponent = -(places as i64);
    }
    let ten = BigInt::from(10);
    loop {
        let (quotient, remainder) = mantissa.div_rem(&ten);
        if !remainder.is_zero() {
            return Some((mantissa, exponent));
        }
        mantissa = quotient;
        exponent += 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn machine_words_and_large_numbers_give_the_same_decimals() {
        let numerators = [1i64, 3, 7, 10, 12_500, 99_999, 1 << 40, i64::MAX, -48];
        let denominators = [1u64, 2, 3, 8, 10, 125, 1_000_000, 1 << 50, 5u64.pow(20), u64::MAX];
        for numerator in numerators {
            for denominator in denominators {
                let value = BigRational::new(BigInt::from(numerator), BigInt::from(denominator));
                if let Some((mantissa, exponent)) = short_decimal_parts(&value) {
                    assert_eq!(
                        decimal_parts(&value),
                        Some((BigInt::from(mantissa), exponent)),
                        "{value}"
                    );
                }
            }
        }
        let half = BigRational::new(BigInt::from(-1), BigInt::from(2));
        assert_eq!(short_decimal_parts(&half), Some((5, -1)));
    }
}
