//! Reduces arguments of functions and conditions to lowest terms, and decides them if they are the same for all parameters.

use crate::equality::are_equal;
use crate::expr::{ExprId, Exprs, Function, Node, Relation, SymbolId, operations};
use crate::{Field, FromExpression, RationalFunctions};
use num_rational::BigRational;
use num_traits::Zero;
use rustc_hash::FxHashMap;
use std::cmp::Ordering;
use std::convert::Infallible;

/// Parts larger than this stay unchanged.
const LARGE: u64 = 200;

/// The maximum number of term operations for one part.
const OPERATIONS: u64 = 20_000;

/// Returns the expression with the arguments of its functions in lowest terms: `cos(pi*L/L)` is -1. A comparison is decided if the
/// difference of its sides has the same sign for all values of the symbols: `0 < L` holds if L is among the positive symbols. The same
/// applies to `max` and `min`.
pub fn settled(exprs: &mut Exprs, root: ExprId, is_positive: &dyn Fn(SymbolId) -> bool) -> ExprId {
    settled_on(exprs, root, &mut FxHashMap::default(), is_positive)
}

/// Settles expressions that share parts, one after another: `replaced` caches the replacement of each part.
pub fn settled_on(
    exprs: &mut Exprs,
    root: ExprId,
    replaced: &mut FxHashMap<ExprId, ExprId>,
    is_positive: &dyn Fn(SymbolId) -> bool,
) -> ExprId {
    for id in exprs.reachable_beyond(&[root], |id| replaced.contains_key(&id)) {
        let node = exprs.node(id).clone();
        let now = exprs.rebuild(&node, replaced);
        let now = match exprs.node(now).clone() {
            Node::Call(function @ (Function::Min | Function::Max), list) => {
                extreme(exprs, function, &list, is_positive)
            }
            // The form of a function of time identifies it.
            Node::Call(function, list) if !function.is_of_time() => {
                let list: Vec<ExprId> = list.iter().map(|argument| in_lowest_terms(exprs, *argument)).collect();
                exprs.call(function, list)
            }
            // The margin occurs in a condition and in a function, and must stay the same in both.
            Node::If(condition, ..) if matches!(exprs.node(condition), Node::Relation(..)) => {
                match exprs.as_guarded(id) {
                    Some(guarded) => {
                        let margin = in_lowest_terms(exprs, replaced[&guarded.margin]);
                        exprs.guarded_with(id, margin, replaced[&guarded.value])
                    }
                    None => now,
                }
            }
            Node::Relation(relation, a, b) => decided(exprs, relation, (a, b), is_positive).unwrap_or(now),
            _ => now,
        };
        replaced.insert(id, now);
    }
    replaced[&root]
}

/// Returns the expression in lowest terms, if that has fewer operations.
pub fn in_lowest_terms(exprs: &mut Exprs, id: ExprId) -> ExprId {
    match lowest_terms(exprs, id) {
        Some(lowest) if operations(exprs, lowest) < operations(exprs, id) => lowest,
        _ => id,
    }
}

fn lowest_terms(exprs: &mut Exprs, id: ExprId) -> Option<ExprId> {
    if matches!(exprs.node(id), Node::Symbol(_) | Node::Number(_) | Node::Pi) || exprs.is_written_beyond(id, LARGE) {
        return None;
    }
    let mut field = RationalFunctions::new(OPERATIONS, RationalFunctions::DEFAULT_TERMS);
    let value = field.from_expression(exprs, id).ok()?;
    let lowest = (!field.exhausted()).then(|| field.to_expression(exprs, &value))?;
    are_equal(exprs, id, lowest).then_some(lowest)
}

/// Decides a comparison as the number 1 or 0, if it has the same result for all values.
fn decided(
    exprs: &mut Exprs,
    relation: Relation,
    (a, b): (ExprId, ExprId),
    is_positive: &dyn Fn(SymbolId) -> bool,
) -> Option<ExprId> {
    let wanted: fn(Ordering) -> bool = match relation {
        Relation::Less => Ordering::is_lt,
        Relation::LessEqual => Ordering::is_le,
        Relation::Greater => Ordering::is_gt,
        Relation::GreaterEqual => Ordering::is_ge,
        _ => return None,
    };
    let order = compared(exprs, a, b, is_positive)?;
    Some(exprs.integer(i64::from(wanted(order))))
}

/// Returns the order of two values, if it is the same for all values of the symbols.
fn compared(exprs: &mut Exprs, a: ExprId, b: ExprId, is_positive: &dyn Fn(SymbolId) -> bool) -> Option<Ordering> {
    let difference = exprs.sub(a, b);
    let difference = lowest_terms(exprs, difference).unwrap_or(difference);
    sign(exprs, difference, is_positive)
}

/// Returns the sign of a value, as its order relative to 0.
fn sign(exprs: &Exprs, id: ExprId, is_positive: &dyn Fn(SymbolId) -> bool) -> Option<Ordering> {
    let found = exprs.fold(&[id], |_, node, of: &dyn Fn(ExprId) -> Option<Ordering>| {
        let above = |holds: bool| holds.then_some(Ordering::Greater);
        Ok::<_, Infallible>(match node {
            Node::Number(value) => Some((**value).cmp(&BigRational::zero())),
            Node::Pi => Some(Ordering::Greater),
            Node::Symbol(symbol) => above(is_positive(*symbol)),
            Node::Power(base, exponent) => {
                let is_whole = exprs.as_number(*exponent).is_some_and(BigRational::is_integer);
                above(is_whole && of(*base) == Some(Ordering::Greater))
            }
            Node::Product(list) => list.iter().try_fold(Ordering::Greater, |sign, part| {
                Some(match of(*part)? {
                    Ordering::Less => sign.reverse(),
                    Ordering::Equal => Ordering::Equal,
                    Ordering::Greater => sign,
                })
            }),
            Node::Sum(list) => {
                let first = of(list[0]);
                first.filter(|_| list.iter().all(|part| of(*part) == first))
            }
            _ => None,
        })
    });
    let Ok(found) = found;
    found[0]
}

/// Simplifies `max` or `min` by removing arguments that another argument always dominates.
fn extreme(exprs: &mut Exprs, function: Function, list: &[ExprId], is_positive: &dyn Fn(SymbolId) -> bool) -> ExprId {
    let mut kept: Vec<ExprId> = Vec::with_capacity(list.len());
    for argument in list {
        let argument = in_lowest_terms(exprs, *argument);
        let wins = |order: Ordering| match function {
            Function::Max => order.is_ge(),
            _ => order.is_le(),
        };
        let mut is_beaten = false;
        let mut rest = Vec::with_capacity(kept.len());
        for other in kept {
            match compared(exprs, other, argument, is_positive) {
                Some(order) if !is_beaten && wins(order) => {
                    is_beaten = true;
                    rest.push(other);
                }
                Some(order) if !is_beaten && wins(order.reverse()) => {}
                _ => rest.push(other),
            }
        }
        kept = rest;
        if !is_beaten {
            kept.push(argument);
        }
    }
    match kept[..] {
        [only] => only,
        _ => exprs.call(function, kept),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::expr::{End, SymbolKind, text};

    #[test]
    fn what_is_the_same_for_all_values_is_decided() {
        let mut exprs = Exprs::default();
        let mut symbol = |name: &str| exprs.new_symbol(name, SymbolKind::Parameter);
        let (length, other) = (symbol("L"), symbol("x"));
        let (l, x) = (exprs.symbol(length), exprs.symbol(other));
        let (zero, one, two) = (exprs.zero(), exprs.one(), exprs.integer(2));
        let pi = exprs.pi();
        let whole = exprs.mul(pi, l);
        let angle = exprs.div(whole, l);
        let cosine = exprs.call(Function::Cos, [angle]);
        let twice = exprs.mul(two, l);
        let minus = exprs.neg(one);
        let mut choice = |a: ExprId, b: ExprId| {
            let condition = exprs.relation(Relation::Less, a, b);
            exprs.if_else(condition, one, minus)
        };
        let (begin, end, between) = (choice(zero, l), choice(twice, l), choice(x, l));
        let greatest = exprs.call(Function::Max, [x, l, twice]);
        let least = exprs.call(Function::Min, [l, x, twice]);
        for (id, wanted) in [
            (cosine, "-1"),
            (begin, "1"),
            (end, "-1"),
            (between, "if x < L then 1 else -1"),
            (greatest, "max(x, 2*L)"),
            (least, "min(L, x)"),
        ] {
            let found = settled(&mut exprs, id, &|symbol| symbol == length);
            assert_eq!(text(&exprs, found), wanted);
        }
        // A guarded value stays guarded.
        let (half, square) = (exprs.div(pi, two), exprs.neg(x));
        let (first, second) = (exprs.power(half, two), exprs.power(square, two));
        let margin = exprs.sub(first, second);
        let guarded = exprs.guarded(margin, End::Within, x);
        let found = settled(&mut exprs, guarded, &|_| false);
        assert!(exprs.as_guarded(found).is_some(), "{}", text(&exprs, found));
        assert_eq!(
            text(&exprs, found),
            "if pi^2/4 - x^2 >= 0 then x else sqrt(pi^2/4 - x^2)"
        );
        // The sign of x is unknown.
        assert_eq!(settled(&mut exprs, begin, &|_| false), begin);
    }
}
