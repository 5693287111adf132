//! Expressions as Typst math.

use super::decimal::decimal;
use super::names::{GREEK, parts_of, rate_of};
use super::{Factor, Fraction, Level, Piece, Pieces, Style, written};
use crate::expr::{ExprId, Exprs, Function, Relation};
use num_rational::BigRational;

/// Writes an expression as Typst math, without the surrounding dollar signs.
pub fn typst(exprs: &Exprs, id: ExprId) -> String {
    written::<Typst>(exprs, id, usize::MAX)
}

/// Typst math.
struct Typst;

impl Style for Typst {
    const PARENTHESES: (&'static str, &'static str) = ("(", ")");
    const PI: &'static str = "pi";
    const NOT: &'static str = "not ";

    fn number_level(value: &BigRational) -> Level {
        match decimal(value) {
            Some(text) if !text.contains('e') => Level::Atom,
            _ => Level::Product,
        }
    }

    fn number(value: &BigRational) -> String {
        match decimal(value) {
            Some(text) => typst_decimal(&text),
            None => format!("{}/{}", value.numer(), value.denom()),
        }
    }

    fn name<'a>(exprs: &'a Exprs, name: &'a str) -> Piece<'a> {
        let inner = rate_of(name);
        Piece::Owned(match (exprs.looks_like_another(inner.unwrap_or(name)), inner) {
            (true, Some(inner)) => format!("dot(mono(\"{inner}\"))"),
            (true, None) => format!("mono(\"{name}\")"),
            (false, _) => typst_name(name),
        })
    }

    fn relation(relation: Relation) -> &'static str {
        match relation {
            Relation::Less => " < ",
            Relation::LessEqual => " <= ",
            Relation::Greater => " > ",
            Relation::GreaterEqual => " >= ",
            Relation::Equal => " = ",
            Relation::NotEqual => " != ",
            Relation::And => " and ",
            Relation::Or => " or ",
        }
    }

    fn power(base: ExprId, exponent: ExprId, pieces: &mut Pieces<'_>) {
        pieces.push(Piece::Expression(base, Level::Atom));
        pieces.push(Piece::Text("^("));
        pieces.push(Piece::Expression(exponent, Level::If));
        pieces.push(Piece::Text(")"));
    }

    // Parentheses around a numerator or denominator are not shown.
    fn fraction(fraction: &Fraction, pieces: &mut Pieces<'_>) {
        let has_line = fraction.parts_below() > 0;
        if has_line {
            pieces.push(Piece::Text("("));
        }
        write_factors(fraction.number.as_deref(), &fraction.numerator, has_line, pieces);
        if has_line {
            pieces.push(Piece::Text(")/("));
            write_factors(fraction.divisor.as_deref(), &fraction.denominator, true, pieces);
            pieces.push(Piece::Text(")"));
        }
    }

    fn call(function: Function) -> (Piece<'static>, &'static str) {
        (Piece::Text(function.facts().typst), ")")
    }

    fn cases(condition: ExprId, then: ExprId, otherwise: ExprId, pieces: &mut Pieces<'_>) {
        pieces.push(Piece::Text("cases("));
        pieces.push(Piece::Expression(then, Level::If));
        pieces.push(Piece::Text(" & \"if\" "));
        pieces.push(Piece::Expression(condition, Level::If));
        pieces.push(Piece::Text(", "));
        pieces.push(Piece::Expression(otherwise, Level::If));
        pieces.push(Piece::Text(" & \"otherwise\")"));
    }
}

/// Writes factors side by side; a single factor that is already in parentheses gets none of its own.
fn write_factors(number: Option<&str>, factors: &[(ExprId, Factor)], enclosed: bool, pieces: &mut Pieces<'_>) {
    match number {
        Some(number) => pieces.push(Piece::Owned(typst_decimal(number))),
        None if factors.is_empty() => pieces.push(Piece::Text("1")),
        None => {}
    }
    for (index, (base, exponent)) in factors.iter().enumerate() {
        if index > 0 || number.is_some() {
            pieces.push(Piece::Text(" "));
        }
        match exponent {
            Factor::Plain if enclosed && factors.len() == 1 && number.is_none() => {
                pieces.push(Piece::Expression(*base, Level::If));
            }
            Factor::Plain => pieces.push(Piece::Expression(*base, Level::Power)),
            Factor::Number(value) => {
                pieces.push(Piece::Expression(*base, Level::Atom));
                pieces.push(Piece::Owned(format!("^({})", Typst::number(value))));
            }
        }
    }
}

/// Formats a decimal, writing the exponent as a power of ten.
fn typst_decimal(text: &str) -> String {
    match text.split_once('e') {
        Some((mantissa, exponent)) => format!("{mantissa} dot 10^({exponent})"),
        None => text.to_string(),
    }
}

/// Formats a name as Typst: Greek names as letters; trailing digits, indices and the owner's name as subscripts.
fn typst_name(name: &str) -> String {
    if let Some(inner) = rate_of(name) {
        let inner = typst_name(inner);
        // The dot is over the letter, and not over its subscripts.
        return match inner.split_once("_(") {
            Some((letter, subscripts)) => format!("dot({letter})_({subscripts}"),
            None => format!("dot({inner})"),
        };
    }
    let parts = parts_of(name);
    let word = |text: &str| match text.chars().count() == 1 && text.chars().all(char::is_alphabetic) {
        true => text.to_string(),
        false => format!("\"{text}\""),
    };
    let letter = match GREEK.contains(&parts.stem) {
        true => parts.stem.to_string(),
        false => word(parts.stem),
    };
    let subscripts = [parts.tail, parts.owner, parts.index];
    let subscripts: Vec<String> = subscripts
        .iter()
        .filter(|part| !part.is_empty())
        .map(|part| word(part))
        .collect();
    match subscripts.is_empty() {
        true => letter,
        false => format!("{letter}_({})", subscripts.join(" \",\" ")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::expr::SymbolKind;

    /// A limit `P_tank` at the pressure of a tank.
    #[test]
    fn names_that_look_alike_are_set_as_they_are_written() {
        let mut exprs = Exprs::default();
        let [limit, state, other, rate] = ["P_tank", "tank.P", "P_lid", "der(P_tank)"]
            .map(|name| exprs.new_symbol(name, SymbolKind::Parameter))
            .map(|symbol| exprs.symbol(symbol));
        exprs.name_outputs(["lid.P".into()]);
        let difference = exprs.sub(limit, state);
        assert_eq!(typst(&exprs, difference), "mono(\"P_tank\") - mono(\"tank.P\")");
        let printed = [difference, other, rate].map(|id| crate::expr::print::latex(&exprs, id));
        let expected = [
            "\\mathtt{P\\_tank} - \\mathtt{tank.P}",
            "\\mathtt{P\\_lid}",
            "\\dot{\\mathtt{P\\_tank}}",
        ];
        assert_eq!(printed, expected);
        assert_eq!(exprs.latex_name("tank.V"), "V_{\\mathrm{tank}}");
    }

    #[test]
    fn names_and_quotients_are_those_of_typst() {
        assert_eq!(typst_name("der(mass.v)"), "dot(v)_(\"mass\")");
        assert_eq!(typst_name("omega2"), "omega_(\"2\")");
        assert_eq!(typst_name("cell[2].c.v[1]"), "v_(\"cell[2].c\" \",\" \"1\")");
        let mut exprs = Exprs::default();
        let [a, b] = ["a", "b"].map(|name| exprs.new_symbol(name, SymbolKind::Parameter));
        let (a, b) = (exprs.symbol(a), exprs.symbol(b));
        let sum = exprs.add(a, b);
        let root = exprs.call(Function::Sqrt, [a]);
        let quotient = exprs.div(root, sum);
        assert_eq!(typst(&exprs, quotient), "(sqrt(a))/(a + b)");
        let step = exprs.if_else(a, quotient, b);
        assert_eq!(
            typst(&exprs, step),
            "cases((sqrt(a))/(a + b) & \"if\" a, b & \"otherwise\")"
        );
    }
}
