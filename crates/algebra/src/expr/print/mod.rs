//! Expressions as text, as LaTeX and as Typst, with as few parentheses as possible.
//!
//! The content and order of the text are determined here, for every `Style`; a style defines the words, and the form of powers, fractions,
//! calls and cases. Writing uses a stack of pending pieces instead of recursion, so that deep expressions cannot overflow the stack. All
//! text is appended to one string, so the run time is proportional to the length of the text.

mod decimal;
mod latex;
mod names;
mod operations;
mod text;
mod typst;

use super::Exprs;
use crate::expr::{ExprId, Function, Node, Relation};
use decimal::number_parts;
use num_rational::BigRational;
use num_traits::{One, Signed};

pub use decimal::number;
pub use latex::latex;
pub use names::{Mode as LatexMode, escaped as latex_escaped};
pub use operations::operations;
pub use text::{brief, text};
pub use typst::typst;

/// The precedence of an expression, lowest first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Level {
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
    /// The same expression without its minus sign, as a product.
    Magnitude(ExprId),
}

type Pieces<'a> = Vec<Piece<'a>>;

/// The layout of the operands of an expression.
trait Style {
    /// Parentheses.
    const PARENTHESES: (&'static str, &'static str);
    const PI: &'static str;
    const NOT: &'static str;

    /// Returns the precedence of the text of a positive number.
    fn number_level(value: &BigRational) -> Level;

    fn number(value: &BigRational) -> String;

    /// Formats the name of a symbol.
    fn name<'a>(exprs: &'a Exprs, name: &'a str) -> Piece<'a>;

    fn relation(relation: Relation) -> &'static str;

    /// Writes a power whose exponent is not a negative number.
    fn power(base: ExprId, exponent: ExprId, pieces: &mut Pieces<'_>);

    /// Writes a product or a quotient, without its sign.
    fn fraction(fraction: &Fraction, pieces: &mut Pieces<'_>);

    /// Returns the text before and after the arguments of a function.
    fn call(function: Function) -> (Piece<'static>, &'static str);

    fn cases(condition: ExprId, then: ExprId, otherwise: ExprId, pieces: &mut Pieces<'_>);
}

/// Writes an expression, up to about `enough` bytes.
fn written<S: Style>(exprs: &Exprs, id: ExprId, enough: usize) -> String {
    let mut output = String::new();
    let mut stack = vec![Piece::Expression(id, Level::If)];
    let mut pieces = Vec::new();
    while let Some(piece) = stack.pop().filter(|_| output.len() <= enough) {
        match piece {
            Piece::Text(text) => output.push_str(text),
            Piece::Owned(text) => output.push_str(&text),
            Piece::Expression(id, at_least) => {
                let parentheses = level::<S>(exprs, id) < at_least;
                if parentheses {
                    pieces.push(Piece::Text(S::PARENTHESES.0));
                }
                write::<S>(exprs, id, false, &mut pieces);
                if parentheses {
                    pieces.push(Piece::Text(S::PARENTHESES.1));
                }
            }
            Piece::Magnitude(id) => write::<S>(exprs, id, true, &mut pieces),
        }
        stack.extend(pieces.drain(..).rev());
    }
    output
}

/// Writes one node; its parts become pending pieces.
fn write<'a, S: Style>(exprs: &'a Exprs, id: ExprId, magnitude: bool, pieces: &mut Pieces<'a>) {
    match exprs.node(id) {
        Node::Number(value) => {
            let value = if magnitude { value.abs() } else { (**value).clone() };
            pieces.push(Piece::Owned(S::number(&value)));
        }
        Node::Pi => pieces.push(Piece::Text(S::PI)),
        Node::Symbol(symbol) => pieces.push(S::name(exprs, &exprs.symbol_info(*symbol).name)),
        Node::Sum(list) => write_sum(exprs, list, pieces),
        Node::Power(base, exponent) if !exprs.as_number(*exponent).is_some_and(Signed::is_negative) => {
            S::power(*base, *exponent, pieces);
        }
        Node::Product(_) | Node::Power(..) => {
            let fraction = Fraction::new(exprs, id);
            if fraction.negative && !magnitude {
                pieces.push(Piece::Text("-"));
            }
            S::fraction(&fraction, pieces);
        }
        Node::Call(function, list) => {
            let (open, close) = S::call(*function);
            pieces.push(open);
            for (index, argument) in function.written(list).iter().enumerate() {
                if index > 0 {
                    pieces.push(Piece::Text(", "));
                }
                pieces.push(Piece::Expression(*argument, Level::If));
            }
            pieces.push(Piece::Text(close));
        }
        Node::Relation(relation, a, b) => {
            let (left, right) = match relation {
                Relation::And => (Level::And, Level::Not),
                Relation::Or => (Level::Or, Level::And),
                _ => (Level::Sum, Level::Sum),
            };
            pieces.push(Piece::Expression(*a, left));
            pieces.push(Piece::Text(S::relation(*relation)));
            pieces.push(Piece::Expression(*b, right));
        }
        Node::Not(a) => {
            pieces.push(Piece::Text(S::NOT));
            pieces.push(Piece::Expression(*a, Level::Not));
        }
        Node::If(condition, a, b) => S::cases(*condition, *a, *b, pieces),
    }
}

/// Writes terms with their signs between them.
fn write_sum(exprs: &Exprs, list: &[ExprId], pieces: &mut Pieces<'_>) {
    for (index, term) in written_terms(exprs, list).into_iter().enumerate() {
        if is_negative(exprs, term) {
            pieces.push(Piece::Text(if index == 0 { "-" } else { " - " }));
            pieces.push(Piece::Magnitude(term));
        } else {
            if index > 0 {
                pieces.push(Piece::Text(" + "));
            }
            pieces.push(Piece::Expression(term, Level::Product));
        }
    }
}

/// Returns the precedence of an expression's own text.
fn level<S: Style>(exprs: &Exprs, id: ExprId) -> Level {
    match exprs.node(id) {
        Node::Pi | Node::Symbol(_) | Node::Call(..) => Level::Atom,
        Node::Number(value) if value.is_negative() => Level::Sum,
        Node::Number(value) => S::number_level(value),
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

/// Returns true if the text starts with a minus sign that applies to the whole.
fn is_negative(exprs: &Exprs, id: ExprId) -> bool {
    match exprs.node(id) {
        Node::Number(value) => value.is_negative(),
        Node::Product(list) => exprs.as_number(list[0]).is_some_and(Signed::is_negative),
        _ => false,
    }
}

/// Returns the terms of a sum in the order of writing: a positive number, which is stored last, comes first if the first term is negative
/// (`1 - x`).
fn written_terms(exprs: &Exprs, list: &[ExprId]) -> Vec<ExprId> {
    let mut terms = list.to_vec();
    let last = *terms.last().expect("invariant: a sum has at least two terms");
    if is_negative(exprs, terms[0]) && exprs.as_number(last).is_some_and(Signed::is_positive) {
        terms.rotate_right(1);
    }
    terms
}

/// A product or a power, split for writing.
struct Fraction {
    negative: bool,
    /// The leading number; none if it is 1.
    number: Option<String>,
    /// Bases with their exponents; empty if the numerator is 1.
    numerator: Vec<(ExprId, Factor)>,
    /// The numeric divisor; none if it is 1.
    divisor: Option<String>,
    denominator: Vec<(ExprId, Factor)>,
}

/// The exponent of a factor.
enum Factor {
    /// 1
    Plain,
    /// A positive number other than 1.
    Number(BigRational),
}

impl Fraction {
    fn new(exprs: &Exprs, id: ExprId) -> Fraction {
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
                // A second number occurs if the product of the two is out of range.
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

    /// Returns the number of factors in the denominator.
    fn parts_below(&self) -> usize {
        self.denominator.len() + usize::from(self.divisor.is_some())
    }
}
