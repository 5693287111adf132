//! Sums and differences of angles: `cos(a)*cos(b) + sin(a)*sin(b)` is `cos(a - b)`.

use crate::factor::Factor;
use lgm_algebra::expr::{ExprId, Exprs, Function, Node};
use num_rational::BigRational;
use num_traits::{One, Zero};
use rustc_hash::FxHashMap;

/// The maximum number of terms of a sum that is simplified.
const LONGEST: usize = 60;

/// Applies the addition theorems of sine and cosine to an expression if they merge two terms.
pub(crate) fn joined(exprs: &mut Exprs, root: ExprId) -> ExprId {
    let parts = exprs.reachable(&[root]);
    let is_angle = |id: &ExprId| matches!(exprs.node(*id), Node::Call(Function::Sin | Function::Cos, _));
    if !parts.iter().any(is_angle) {
        return root;
    }
    let mut replaced: FxHashMap<ExprId, ExprId> = FxHashMap::default();
    for id in parts {
        let node = exprs.node(id).clone();
        let now = exprs.rebuild(&node, &replaced);
        let mut now = equal_factors_joined(exprs, now);
        while let Some(shorter) = join_once(exprs, now) {
            now = shorter;
        }
        replaced.insert(id, now);
    }
    replaced[&root]
}

/// A term as a number, two factors that are sines or cosines, and the rest.
struct Term {
    number: BigRational,
    /// Function and argument, in an order that does not depend on the order of declarations.
    pair: [(Function, ExprId); 2],
    rest: Vec<ExprId>,
}

/// Writes equal factors of a product as powers: `cos(a)*cos(a)` results if two angles become equal.
fn equal_factors_joined(exprs: &mut Exprs, id: ExprId) -> ExprId {
    let Node::Product(list) = exprs.node(id).clone() else {
        return id;
    };
    let mut joined: Vec<(ExprId, BigRational)> = Vec::with_capacity(list.len());
    for factor in list.iter() {
        let (base, exponent) = match exprs.node(*factor) {
            Node::Power(base, exponent) => match exprs.as_number(*exponent) {
                Some(exponent) if exponent.is_integer() => (*base, exponent.clone()),
                _ => (*factor, BigRational::one()),
            },
            _ => (*factor, BigRational::one()),
        };
        match joined.iter_mut().find(|known| known.0 == base) {
            Some(known) => known.1 += exponent,
            None => joined.push((base, exponent)),
        }
    }
    if joined.len() == list.len() {
        return id;
    }
    let mut factors = Vec::with_capacity(joined.len());
    for (factor, count) in joined {
        let count = exprs.number(count);
        factors.push(exprs.power(factor, count));
    }
    exprs.product(factors)
}

/// Adds up equal terms of a sum: the difference of `a + b` and b is a.
fn like_terms_joined(exprs: &mut Exprs, id: ExprId) -> ExprId {
    let Node::Sum(list) = exprs.node(id).clone() else {
        return id;
    };
    let mut joined: Vec<(BigRational, Vec<ExprId>)> = Vec::with_capacity(list.len());
    for term in list.iter() {
        let (number, factors) = plain(exprs, *term);
        match joined.iter_mut().find(|known| known.1 == factors) {
            Some(known) => known.0 += number,
            None => joined.push((number, factors)),
        }
    }
    if joined.len() == list.len() {
        return id;
    }
    let mut terms = Vec::with_capacity(joined.len());
    for (number, factors) in joined {
        let number = exprs.number(number);
        terms.push(exprs.product([number].into_iter().chain(factors)));
    }
    exprs.sum(terms)
}

fn join_once(exprs: &mut Exprs, id: ExprId) -> Option<ExprId> {
    let Node::Sum(list) = exprs.node(id).clone() else {
        return None;
    };
    if list.len() > LONGEST {
        return None;
    }
    if let Some(shorter) = squares_joined(exprs, &list) {
        return Some(shorter);
    }
    let terms: Vec<Vec<Term>> = list.iter().map(|term| splits(exprs, *term)).collect();
    for first in 0..list.len() {
        for second in first + 1..list.len() {
            for a in &terms[first] {
                for b in &terms[second] {
                    let Some((function, sum, number)) = theorem(a, b) else {
                        continue;
                    };
                    let (x, y) = (a.pair[0].1, a.pair[1].1);
                    let argument = if sum { exprs.add(x, y) } else { exprs.sub(x, y) };
                    let argument = like_terms_joined(exprs, argument);
                    let call = exprs.call(function, [argument]);
                    let number = exprs.number(number);
                    let mut factors = vec![number];
                    factors.extend(&a.rest);
                    factors.push(call);
                    let one = exprs.product(factors);
                    let others = (0..list.len()).filter(|k| *k != first && *k != second);
                    let mut all: Vec<ExprId> = others.map(|k| list[k]).collect();
                    all.insert(first.min(all.len()), one);
                    return Some(exprs.sum(all));
                }
            }
        }
    }
    None
}

/// Splits a term into a number and its other factors, sorted.
fn plain(exprs: &Exprs, term: ExprId) -> (BigRational, Vec<ExprId>) {
    let list: Vec<ExprId> = match exprs.node(term) {
        Node::Product(list) => list.to_vec(),
        _ => vec![term],
    };
    let mut number = BigRational::one();
    let mut factors = Vec::with_capacity(list.len());
    for factor in list {
        match exprs.as_number(factor) {
            Some(value) => number *= value,
            None => factors.push(factor),
        }
    }
    factors.sort_unstable();
    (number, factors)
}

/// A squared sine or cosine, extracted from a term.
struct Square {
    function: Function,
    angle: ExprId,
    number: BigRational,
    /// The other factors, sorted.
    rest: Vec<ExprId>,
}

fn squares(exprs: &mut Exprs, (number, factors): &(BigRational, Vec<ExprId>)) -> Vec<Square> {
    let mut found = Vec::new();
    for (at, factor) in factors.iter().enumerate() {
        let Node::Power(base, exponent) = *exprs.node(*factor) else {
            continue;
        };
        let Node::Call(function @ (Function::Sin | Function::Cos), list) = exprs.node(base) else {
            continue;
        };
        let (function, angle) = (*function, list[0]);
        let two = BigRational::from_integer(2.into());
        let Some(exponent) = exprs
            .as_number(exponent)
            .filter(|exponent| exponent.is_integer() && **exponent >= two)
        else {
            continue;
        };
        let left = exponent - two;
        let mut rest: Vec<ExprId> = factors
            .iter()
            .enumerate()
            .filter(|(k, _)| *k != at)
            .map(|(_, id)| *id)
            .collect();
        if !left.is_zero() {
            let left = exprs.number(left);
            rest.push(exprs.power(base, left));
            rest.sort_unstable();
        }
        found.push(Square {
            function,
            angle,
            number: number.clone(),
            rest,
        });
    }
    found
}

/// Merges squares: `a*sin(x)^2 + a*cos(x)^2` is a, `a - a*cos(x)^2` is `a*sin(x)^2`, and `a*cos(x)^2 - a*sin(x)^2` is `a*cos(2*x)`.
fn squares_joined(exprs: &mut Exprs, list: &[ExprId]) -> Option<ExprId> {
    let plain: Vec<(BigRational, Vec<ExprId>)> = list.iter().map(|term| plain(exprs, *term)).collect();
    let all: Vec<Vec<Square>> = plain.iter().map(|term| squares(exprs, term)).collect();
    let join = |exprs: &mut Exprs, pair: (usize, usize), number: BigRational, rest: &[ExprId], more: Option<ExprId>| {
        let mut factors = vec![exprs.number(number)];
        factors.extend(rest);
        factors.extend(more);
        let one = exprs.product(factors);
        let others = (0..list.len()).filter(|k| *k != pair.0 && *k != pair.1);
        let mut terms: Vec<ExprId> = others.map(|k| list[k]).collect();
        terms.insert(pair.0.min(pair.1).min(terms.len()), one);
        exprs.sum(terms)
    };
    for first in 0..list.len() {
        for square in &all[first] {
            for second in 0..list.len() {
                if second == first {
                    continue;
                }
                let fits = |other: &&Square| {
                    other.angle == square.angle && other.function != square.function && other.rest == square.rest
                };
                if let Some(other) = all[second].iter().find(fits) {
                    if other.number == square.number {
                        return Some(join(exprs, (first, second), square.number.clone(), &square.rest, None));
                    }
                    if other.number == -square.number.clone() && square.function == Function::Cos {
                        let two = exprs.integer(2);
                        let double = exprs.mul(two, square.angle);
                        let turn = exprs.call(Function::Cos, [double]);
                        let number = square.number.clone();
                        return Some(join(exprs, (first, second), number, &square.rest, Some(turn)));
                    }
                }
                let (number, factors) = &plain[second];
                if *factors == square.rest && *number == -square.number.clone() {
                    let other = match square.function {
                        Function::Sin => Function::Cos,
                        _ => Function::Sin,
                    };
                    let turn = exprs.call(other, [square.angle]);
                    let two = exprs.integer(2);
                    let squared = exprs.power(turn, two);
                    return Some(join(
                        exprs,
                        (first, second),
                        number.clone(),
                        &square.rest,
                        Some(squared),
                    ));
                }
            }
        }
    }
    None
}

/// Returns all ways to extract two sines or cosines of different arguments from a product.
fn splits(exprs: &Exprs, term: ExprId) -> Vec<Term> {
    let Node::Product(list) = exprs.node(term) else {
        return Vec::new();
    };
    let mut number = BigRational::one();
    let mut factors = Vec::with_capacity(list.len());
    for factor in list.iter() {
        match exprs.as_number(*factor) {
            Some(value) => number = value.clone(),
            None => factors.push(*factor),
        }
    }
    let turn = |id: ExprId| match exprs.node(id) {
        Node::Call(function @ (Function::Sin | Function::Cos), list) => Some((*function, list[0])),
        _ => None,
    };
    let mut found = Vec::new();
    for first in 0..factors.len() {
        for second in first + 1..factors.len() {
            let (Some(a), Some(b)) = (turn(factors[first]), turn(factors[second])) else {
                continue;
            };
            if a.1 == b.1 {
                continue;
            }
            let place = |one: &(Function, ExprId)| Factor::new(exprs, one.1);
            let pair = if place(&a) < place(&b) { [a, b] } else { [b, a] };
            let mut rest: Vec<ExprId> = (0..factors.len())
                .filter(|k| *k != first && *k != second)
                .map(|k| factors[k])
                .collect();
            rest.sort_unstable();
            found.push(Term {
                number: number.clone(),
                pair,
                rest,
            });
        }
    }
    found
}

/// Returns the combination of two terms: a function of the sum (`true`) or of the difference of the arguments, and its factor.
fn theorem(a: &Term, b: &Term) -> Option<(Function, bool, BigRational)> {
    use Function::{Cos, Sin};
    let same_arguments = a.pair[0].1 == b.pair[0].1 && a.pair[1].1 == b.pair[1].1;
    if !same_arguments || a.rest != b.rest {
        return None;
    }
    let opposite = a.number == -b.number.clone();
    if !opposite && a.number != b.number {
        return None;
    }
    let functions = |term: &Term| (term.pair[0].0, term.pair[1].0);
    match (functions(a), functions(b)) {
        // cos x cos y -+ sin x sin y = cos(x +- y)
        ((Cos, Cos), (Sin, Sin)) => Some((Cos, opposite, a.number.clone())),
        ((Sin, Sin), (Cos, Cos)) => Some((Cos, opposite, b.number.clone())),
        // sin x cos y +- cos x sin y = sin(x +- y)
        ((Sin, Cos), (Cos, Sin)) => Some((Sin, !opposite, a.number.clone())),
        ((Cos, Sin), (Sin, Cos)) => Some((Sin, !opposite, b.number.clone())),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use lgm_algebra::expr::{SymbolKind, text};

    #[test]
    fn squares_of_sine_and_cosine_become_one() {
        let mut exprs = Exprs::default();
        let symbols = ["a", "m"].map(|name| exprs.new_symbol(name, SymbolKind::State));
        let [a, m] = symbols.map(|symbol| exprs.symbol(symbol));
        let two = exprs.integer(2);
        let (sine, cosine) = (exprs.call(Function::Sin, [a]), exprs.call(Function::Cos, [a]));
        let (sine, cosine) = (exprs.power(sine, two), exprs.power(cosine, two));
        let (sine, cosine) = (exprs.mul(m, sine), exprs.mul(m, cosine));
        let (less_sine, less_cosine) = (exprs.neg(sine), exprs.neg(cosine));
        for (terms, wanted) in [
            ([sine, cosine, a], "m + a"),
            ([m, less_cosine, a], "m*sin(a)^2 + a"),
            ([m, less_sine, a], "m*cos(a)^2 + a"),
            ([cosine, less_sine, a], "m*cos(2*a) + a"),
        ] {
            let sum = exprs.sum(terms);
            let short = joined(&mut exprs, sum);
            assert_eq!(text(&exprs, short), wanted);
        }
    }

    /// The sum of an angle and the difference of two is one angle.
    #[test]
    fn angles_that_cancel_are_left_out() {
        let mut exprs = Exprs::default();
        let symbols = ["a", "b"].map(|name| exprs.new_symbol(name, SymbolKind::State));
        let [a, b] = symbols.map(|symbol| exprs.symbol(symbol));
        let difference = exprs.sub(b, a);
        use Function::{Cos, Sin};
        let first = [exprs.call(Cos, [a]), exprs.call(Cos, [difference])];
        let second = [exprs.integer(-1), exprs.call(Sin, [a]), exprs.call(Sin, [difference])];
        let terms = [exprs.product(first), exprs.product(second)];
        let sum = exprs.sum(terms);
        let product = exprs.mul(sum, sum);
        let [short, square] = [sum, product].map(|id| joined(&mut exprs, id));
        assert_eq!(text(&exprs, short), "cos(b)");
        assert_eq!(text(&exprs, square), "cos(b)^2");
    }

    #[test]
    fn two_products_of_angles_become_one() {
        let mut exprs = Exprs::default();
        let symbols = ["a", "b", "m"].map(|name| exprs.new_symbol(name, SymbolKind::State));
        let [a, b, m] = symbols.map(|symbol| exprs.symbol(symbol));
        let product = |exprs: &mut Exprs, sign: i64, f: Function, g: Function| {
            let (f, g, sign) = (exprs.call(f, [a]), exprs.call(g, [b]), exprs.integer(sign));
            exprs.product([sign, m, f, g])
        };
        use Function::{Cos, Sin};
        for (first, second, sign, wanted) in [
            ((Cos, Cos), (Sin, Sin), 1, "m*cos(a - b)"),
            ((Cos, Cos), (Sin, Sin), -1, "m*cos(a + b)"),
            ((Sin, Cos), (Cos, Sin), 1, "m*sin(a + b)"),
            ((Sin, Cos), (Cos, Sin), -1, "m*sin(a - b)"),
        ] {
            let (x, y) = (
                product(&mut exprs, 1, first.0, first.1),
                product(&mut exprs, sign, second.0, second.1),
            );
            let sum = exprs.sum([x, y, m]);
            let short = joined(&mut exprs, sum);
            assert_eq!(text(&exprs, short), format!("{wanted} + m"));
        }
    }
}
