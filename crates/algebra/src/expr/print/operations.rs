//! The number of operations of an expression as written, which measures its length.

use super::{Factor, Fraction, is_negative, written_terms};
use crate::expr::{ExprId, Exprs, Node};
use num_traits::Signed;
use rustc_hash::FxHashMap;

/// Counts the signs, functions and conditions of the written expression. Shared parts count at each occurrence.
pub fn operations(exprs: &Exprs, id: ExprId) -> u64 {
    let mut known: FxHashMap<ExprId, u64> = FxHashMap::default();
    for part in exprs.reachable(&[id]) {
        let count = own_operations(exprs, part, &known);
        known.insert(part, count);
    }
    known[&id]
}

fn own_operations(exprs: &Exprs, id: ExprId, known: &FxHashMap<ExprId, u64>) -> u64 {
    let all = |list: &[ExprId]| list.iter().map(|part| known[part]).fold(0, u64::saturating_add);
    match exprs.node(id) {
        Node::Number(value) => {
            let is_fraction = super::decimal::decimal(value).is_none();
            u64::from(is_fraction) + u64::from(value.is_negative())
        }
        Node::Pi | Node::Symbol(_) => 0,
        Node::Sum(list) => {
            let terms = written_terms(exprs, list);
            // The minus sign of a later term is the sign between two terms.
            let signs = terms[1..].iter().filter(|term| is_negative(exprs, **term)).count() as u64;
            all(list).saturating_sub(signs).saturating_add(list.len() as u64 - 1)
        }
        Node::Power(base, exponent) if !exprs.as_number(*exponent).is_some_and(Signed::is_negative) => {
            all(&[*base, *exponent]).saturating_add(1)
        }
        Node::Product(_) | Node::Power(..) => {
            let fraction = Fraction::new(exprs, id);
            let above = fraction.numerator.len() + usize::from(fraction.number.is_some());
            let signs = above.saturating_sub(1) + fraction.parts_below() + usize::from(fraction.negative);
            let factors = fraction.numerator.iter().chain(&fraction.denominator);
            factors.fold(signs as u64, |sum, (base, exponent)| {
                let power = u64::from(matches!(exponent, Factor::Number(_)));
                sum.saturating_add(known[base]).saturating_add(power)
            })
        }
        Node::Call(_, list) => all(list).saturating_add(1),
        Node::Relation(_, a, b) => all(&[*a, *b]).saturating_add(1),
        Node::Not(a) => known[a].saturating_add(1),
        Node::If(condition, a, b) => all(&[*condition, *a, *b]).saturating_add(1),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::expr::{Function, SymbolKind, text};

    /// Counts the operators and function names in a text whose symbols are single letters.
    fn in_text(text: &str) -> u64 {
        let signs = text.chars().filter(|letter| "+-*/^".contains(*letter)).count();
        (signs + text.matches("sin").count()) as u64
    }

    #[test]
    fn operations_are_those_of_the_text() {
        let mut exprs = Exprs::default();
        let mut symbol = |name: &str| {
            let symbol = exprs.new_symbol(name, SymbolKind::Parameter);
            exprs.symbol(symbol)
        };
        let (a, b, c) = (symbol("a"), symbol("b"), symbol("c"));
        let (two, three) = (exprs.integer(2), exprs.integer(3));
        let square = exprs.power(a, two);
        let inverse = exprs.integer(-2);
        let inverse = exprs.power(b, inverse);
        let third = exprs.div(square, three);
        let minus = exprs.neg(third);
        let ratio = exprs.mul(square, inverse);
        let sine = exprs.call(Function::Sin, [ratio]);
        let difference = exprs.sub(b, c);
        let product = exprs.product([minus, difference, inverse]);
        let sum = exprs.sum([minus, sine, three]);
        let whole = exprs.div(product, sum);
        let parts = [
            a, square, inverse, third, minus, ratio, sine, difference, product, sum, whole,
        ];
        for id in parts {
            let text = text(&exprs, id);
            assert_eq!(operations(&exprs, id), in_text(&text), "{text}");
        }
    }
}
