//! Readable forms of expressions between two lines of a derivation.

use lgm_algebra::expr::{ExprId, Exprs, Node};
use lgm_equations::lowest_terms;
use rustc_hash::FxHashMap;

/// Multiplies sums by numbers and combines like terms.
pub(super) fn tidy(exprs: &mut Exprs, root: ExprId) -> ExprId {
    let mut known: FxHashMap<ExprId, ExprId> = FxHashMap::default();
    for id in exprs.reachable(&[root]) {
        let node = exprs.node(id).clone();
        let rebuilt = exprs.rebuild(&node, &known);
        let tidied = match exprs.node(rebuilt).clone() {
            Node::Product(list) => distributed(exprs, &list).unwrap_or(rebuilt),
            Node::Sum(list) => collected(exprs, &list),
            _ => rebuilt,
        };
        known.insert(id, tidied);
    }
    known[&root]
}

/// Distributes a number over a sum.
fn distributed(exprs: &mut Exprs, list: &[ExprId]) -> Option<ExprId> {
    let [factor, sum] = *list else { return None };
    exprs.as_number(factor)?;
    let Node::Sum(terms) = exprs.node(sum).clone() else {
        return None;
    };
    let terms: Vec<ExprId> = terms.iter().map(|term| exprs.mul(factor, *term)).collect();
    Some(exprs.sum(terms))
}

/// Combines the like terms of a sum.
fn collected(exprs: &mut Exprs, list: &[ExprId]) -> ExprId {
    let mut terms: Vec<(ExprId, ExprId)> = Vec::new();
    for term in list {
        let (factor, rest) = parts(exprs, *term);
        match terms.iter_mut().find(|known| known.1 == rest) {
            Some(known) => known.0 = exprs.add(known.0, factor),
            None => terms.push((factor, rest)),
        }
    }
    let terms: Vec<ExprId> = terms
        .into_iter()
        .map(|(factor, rest)| exprs.mul(factor, rest))
        .collect();
    exprs.sum(terms)
}

/// Splits a term into a number and the rest.
fn parts(exprs: &mut Exprs, term: ExprId) -> (ExprId, ExprId) {
    let one = exprs.one();
    match exprs.node(term).clone() {
        Node::Number(_) => (term, one),
        Node::Product(list) if exprs.as_number(list[0]).is_some() => {
            let rest = exprs.product(list[1..].iter().copied());
            (list[0], rest)
        }
        _ => (one, term),
    }
}

/// Returns the tidied expression or its lowest terms, whichever is shorter.
pub(super) fn shortest(exprs: &mut Exprs, id: ExprId) -> ExprId {
    let tidied = tidy(exprs, id);
    lowest_terms(exprs, tidied)
}

/// Returns `left = right` with a minus sign on the left moved to the other side.
pub(super) fn positive(exprs: &mut Exprs, left: ExprId, right: ExprId) -> (ExprId, ExprId) {
    match is_negative(exprs, left) {
        true => {
            let (left, right) = (exprs.neg(left), exprs.neg(right));
            (tidy(exprs, left), tidy(exprs, right))
        }
        false => (left, right),
    }
}

/// Returns true if a term has a minus sign.
pub(super) fn is_negative(exprs: &Exprs, id: ExprId) -> bool {
    let number = match exprs.node(id) {
        Node::Product(list) => exprs.as_number(list[0]),
        _ => exprs.as_number(id),
    };
    number.is_some_and(|number| *number.numer() < Default::default())
}
