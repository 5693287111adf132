//! Expressions as LaTeX, for `amsmath`.

use super::Exprs;
use super::print::{Factor, Fraction, Level, decimal, is_negative, level, written_terms};
use crate::expr::{ExprId, Function, Node, Relation};
use num_rational::BigRational;
use num_traits::{One, Signed};

/// A pending piece of text.
enum Piece {
    Text(&'static str),
    Owned(String),
    Expression(ExprId, Level),
    Magnitude(ExprId),
}

/// Writes an expression as LaTeX mathematics, without the surrounding dollar signs.
pub fn latex(exprs: &Exprs, id: ExprId) -> String {
    let mut output = String::new();
    let mut stack = vec![Piece::Expression(id, Level::If)];
    let mut pieces = Vec::new();
    while let Some(piece) = stack.pop() {
        match piece {
            Piece::Text(text) => output.push_str(text),
            Piece::Owned(text) => output.push_str(&text),
            Piece::Expression(id, at_least) => write(exprs, id, at_least, false, &mut pieces),
            Piece::Magnitude(id) => write(exprs, id, Level::Product, true, &mut pieces),
        }
        stack.extend(pieces.drain(..).rev());
    }
    output
}

fn write(exprs: &Exprs, id: ExprId, at_least: Level, magnitude: bool, pieces: &mut Vec<Piece>) {
    let own = match exprs.node(id) {
        _ if magnitude => Level::Product,
        // Cases have a brace of their own, and need parentheses where text needs them.
        Node::Number(value) if value.is_positive() && decimal(value).is_some_and(|text| text.contains('e')) => {
            Level::Product
        }
        _ => level(exprs, id),
    };
    let parentheses = own < at_least;
    if parentheses {
        pieces.push(Piece::Text("\\left("));
    }
    match exprs.node(id) {
        Node::Number(value) => {
            let value = if magnitude { value.abs() } else { (**value).clone() };
            pieces.push(Piece::Owned(latex_number(&value)));
        }
        Node::Pi => pieces.push(Piece::Text("\\pi")),
        Node::Symbol(symbol) => pieces.push(Piece::Owned(latex_name(&exprs.symbol_info(*symbol).name))),
        Node::Sum(list) => {
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
        Node::Product(_) => write_fraction(&Fraction::new(exprs, id), magnitude, pieces),
        Node::Power(base, exponent) => match exprs.as_number(*exponent) {
            Some(value) if value.is_negative() => write_fraction(&Fraction::new(exprs, id), magnitude, pieces),
            _ => {
                pieces.push(Piece::Expression(*base, Level::Atom));
                pieces.push(Piece::Text("^{"));
                pieces.push(Piece::Expression(*exponent, Level::If));
                pieces.push(Piece::Text("}"));
            }
        },
        Node::Call(function, list) => write_call(*function, list, pieces),
        Node::Relation(relation, a, b) => {
            let (word, left, right) = match relation {
                Relation::Less => (" < ", Level::Sum, Level::Sum),
                Relation::LessEqual => (" \\le ", Level::Sum, Level::Sum),
                Relation::Greater => (" > ", Level::Sum, Level::Sum),
                Relation::GreaterEqual => (" \\ge ", Level::Sum, Level::Sum),
                Relation::Equal => (" = ", Level::Sum, Level::Sum),
                Relation::NotEqual => (" \\ne ", Level::Sum, Level::Sum),
                Relation::And => (" \\land ", Level::And, Level::Not),
                Relation::Or => (" \\lor ", Level::Or, Level::And),
            };
            pieces.push(Piece::Expression(*a, left));
            pieces.push(Piece::Text(word));
            pieces.push(Piece::Expression(*b, right));
        }
        Node::Not(a) => {
            pieces.push(Piece::Text("\\lnot "));
            pieces.push(Piece::Expression(*a, Level::Not));
        }
        Node::If(condition, a, b) => {
            pieces.push(Piece::Text("\\begin{cases} "));
            pieces.push(Piece::Expression(*a, Level::If));
            pieces.push(Piece::Text(" & \\text{if } "));
            pieces.push(Piece::Expression(*condition, Level::If));
            pieces.push(Piece::Text(" \\\\ "));
            pieces.push(Piece::Expression(*b, Level::If));
            pieces.push(Piece::Text(" & \\text{otherwise} \\end{cases}"));
        }
    }
    if parentheses {
        pieces.push(Piece::Text("\\right)"));
    }
}

fn write_call(function: Function, list: &[ExprId], pieces: &mut Vec<Piece>) {
    let (open, close) = match function {
        Function::Sqrt => ("\\sqrt{", "}"),
        Function::Abs => ("\\left|", "\\right|"),
        Function::Floor => ("\\left\\lfloor ", "\\right\\rfloor "),
        Function::Sin => ("\\sin\\left(", "\\right)"),
        Function::Cos => ("\\cos\\left(", "\\right)"),
        Function::Tan => ("\\tan\\left(", "\\right)"),
        Function::Asin => ("\\arcsin\\left(", "\\right)"),
        Function::Acos => ("\\arccos\\left(", "\\right)"),
        Function::Atan => ("\\arctan\\left(", "\\right)"),
        Function::Sinh => ("\\sinh\\left(", "\\right)"),
        Function::Cosh => ("\\cosh\\left(", "\\right)"),
        Function::Tanh => ("\\tanh\\left(", "\\right)"),
        Function::Exp => ("\\exp\\left(", "\\right)"),
        Function::Log => ("\\ln\\left(", "\\right)"),
        Function::Min => ("\\min\\left(", "\\right)"),
        Function::Max => ("\\max\\left(", "\\right)"),
        Function::Sign => ("\\operatorname{sgn}\\left(", "\\right)"),
        Function::Int => ("\\int\\left(", "\\right) dt"),
        Function::Der => ("\\frac{d}{dt}\\left(", "\\right)"),
        Function::Atan2 => ("\\operatorname{atan2}\\left(", "\\right)"),
        Function::Step => ("\\operatorname{step}\\left(", "\\right)"),
        Function::Pulse => ("\\operatorname{pulse}\\left(", "\\right)"),
        Function::Ramp => ("\\operatorname{ramp}\\left(", "\\right)"),
    };
    pieces.push(Piece::Text(open));
    for (index, argument) in function.written(list).iter().enumerate() {
        if index > 0 {
            pieces.push(Piece::Text(", "));
        }
        pieces.push(Piece::Expression(*argument, Level::If));
    }
    pieces.push(Piece::Text(close));
}

fn write_fraction(fraction: &Fraction, magnitude: bool, pieces: &mut Vec<Piece>) {
    if fraction.negative && !magnitude {
        pieces.push(Piece::Text("-"));
    }
    let below = fraction.denominator.len() + usize::from(fraction.divisor.is_some());
    if below > 0 {
        pieces.push(Piece::Text("\\frac{"));
    }
    write_factors(fraction.number.as_deref(), &fraction.numerator, below > 0, pieces);
    if below > 0 {
        pieces.push(Piece::Text("}{"));
        write_factors(fraction.divisor.as_deref(), &fraction.denominator, true, pieces);
        pieces.push(Piece::Text("}"));
    }
}

/// Factors side by side; a single one that has braces around it needs no parentheses.
fn write_factors(number: Option<&str>, factors: &[(ExprId, Factor)], braced: bool, pieces: &mut Vec<Piece>) {
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

/// A decimal with its power of ten written as one.
fn latex_decimal(text: &str) -> String {
    match text.split_once('e') {
        Some((mantissa, exponent)) => format!("{mantissa} \\cdot 10^{{{exponent}}}"),
        None => text.to_string(),
    }
}

/// A name as LaTeX: Greek names as letters, trailing digits, indices and the owner's name as subscripts.
pub fn latex_name(name: &str) -> String {
    // The time derivative of an input is a symbol of its own, named after the input.
    if let Some(inner) = name.strip_prefix("der(").and_then(|rest| rest.strip_suffix(')')) {
        return format!("\\dot{{{}}}", latex_name(inner));
    }
    // `cell[2].c.v[1]`: the last member is the quantity, what stands before it is where.
    let (owner, member) = match name.rfind('.') {
        Some(dot) => (&name[..dot], &name[dot + 1..]),
        None => ("", name),
    };
    let (base, index) = match member.find('[') {
        Some(at) => (&member[..at], member[at + 1..].trim_end_matches(']')),
        None => (member, ""),
    };
    let (stem, tail) = match base.find('_') {
        Some(at) if at > 0 && at + 1 < base.len() => (&base[..at], &base[at + 1..]),
        _ => {
            let digits = base.len() - base.trim_end_matches(|c: char| c.is_ascii_digit()).len();
            base.split_at(base.len() - if digits < base.len() { digits } else { 0 })
        }
    };
    let mut subscripts = Vec::new();
    if !tail.is_empty() {
        let plain = tail.len() == 1 || tail.chars().all(|c| c.is_ascii_digit());
        subscripts.push(if plain {
            escaped(tail, Mode::Formula)
        } else {
            format!("\\mathrm{{{}}}", escaped(tail, Mode::Formula))
        });
    }
    if !owner.is_empty() {
        subscripts.push(format!("\\mathrm{{{}}}", escaped(owner, Mode::Formula)));
    }
    if !index.is_empty() {
        subscripts.push(escaped(index, Mode::Formula));
    }
    let letter = if GREEK.contains(&stem) {
        format!("\\{stem}")
    } else if stem.chars().count() == 1 {
        escaped(stem, Mode::Formula)
    } else {
        format!("\\mathit{{{}}}", escaped(stem, Mode::Formula))
    };
    if subscripts.is_empty() {
        return letter;
    }
    format!("{letter}_{{{}}}", subscripts.join(","))
}

/// Names of letters that LaTeX has commands for.
const GREEK: [&str; 34] = [
    "alpha", "beta", "gamma", "delta", "epsilon", "zeta", "eta", "theta", "iota", "kappa", "lambda", "mu", "nu", "xi",
    "pi", "rho", "sigma", "tau", "upsilon", "phi", "chi", "psi", "omega", "Gamma", "Delta", "Theta", "Lambda", "Xi",
    "Pi", "Sigma", "Upsilon", "Phi", "Psi", "Omega",
];

/// Where a text stands in a document of TeX.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    /// Between dollars.
    Formula,
    /// In running text.
    Text,
}

/// A text with TeX's own characters made harmless.
pub fn escaped(text: &str, mode: Mode) -> String {
    let mut escaped = String::new();
    for c in text.chars() {
        match (c, mode) {
            ('_' | '%' | '#' | '&' | '$' | '{' | '}', _) => {
                escaped.push('\\');
                escaped.push(c);
            }
            ('\\', Mode::Formula) => escaped.push_str("\\backslash "),
            ('^', Mode::Formula) => escaped.push_str("\\wedge "),
            ('~', Mode::Formula) => escaped.push_str("\\sim "),
            ('\\', Mode::Text) => escaped.push_str("\\textbackslash{}"),
            ('^', Mode::Text) => escaped.push_str("\\textasciicircum{}"),
            ('~', Mode::Text) => escaped.push_str("\\textasciitilde{}"),
            _ => escaped.push(c),
        }
    }
    escaped
}
