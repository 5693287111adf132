//! Normal forms by symbolica, using only its published interface.
//!
//! Compiled only with the cargo feature `symbolica`. The library's licence and its limits without a licence key are described in README.md;
//! none of its code runs before the first normal form is requested.

use crate::expr::{ExprId, Exprs, Node, SymbolId};
use num_bigint::BigInt;
use num_rational::BigRational;
use num_traits::{Signed, ToPrimitive};
use rustc_hash::FxHashMap;
use std::str::FromStr;
use symbolica::atom::{Atom, AtomCore, AtomView, FunctionBuilder, Symbol};
use symbolica::domains::integer::Integer;
use symbolica::symbol;

/// The maximum number of term products in one sum or product before cancellation.
const LARGEST_STEP: usize = 100_000;
/// The maximum number for all steps together: some seconds.
const ALL_STEPS: usize = 5_000_000;
/// Results longer than this stay expanded: they are unreadable, and factors are expensive to find.
const LONGEST_TO_FACTOR: usize = 200;
/// The largest power that is expanded to a polynomial.
const HIGHEST_POWER: i64 = 64;

/// The normal forms found so far; none for an expression whose normal form would be too large.
#[derive(Clone, Debug, Default)]
pub(crate) struct Atoms {
    known: FxHashMap<ExprId, Option<Atom>>,
    steps: usize,
}

impl Atoms {
    /// Returns the expression in lowest terms, factored if it is short.
    pub(crate) fn normal_form(&mut self, exprs: &mut Exprs, root: ExprId) -> Option<ExprId> {
        let mut stack = vec![root];
        while let Some(&id) = stack.last() {
            let before = stack.len();
            stack.extend(parts(exprs, id).iter().filter(|part| !self.known.contains_key(part)));
            if stack.len() > before {
                continue;
            }
            stack.pop();
            if !self.known.contains_key(&id) {
                let atom = self.combine(exprs, id);
                self.known.insert(id, atom);
            }
        }
        let atom = self.known[&root].as_ref()?;
        let atom = if size(atom.as_view()) <= LONGEST_TO_FACTOR {
            atom.factor()
        } else {
            atom.clone()
        };
        Some(express(exprs, atom.as_view()))
    }

    /// Returns the normal form of one node from the normal forms of its parts.
    fn combine(&mut self, exprs: &Exprs, id: ExprId) -> Option<Atom> {
        match exprs.node(id) {
            Node::Number(value) => Some(number(value)),
            Node::Sum(list) => self.join(list, |a, b| a + b),
            Node::Product(list) => self.join(list, |a, b| a * b),
            Node::Power(base, exponent) => match whole_power(exprs, *exponent) {
                Some(power) => {
                    let base = self.known[base].clone()?;
                    let step = size(base.as_view()).checked_pow(power.unsigned_abs() as u32);
                    if base.is_zero() || !self.afford(step) {
                        return None;
                    }
                    Some(base.pow(power).together())
                }
                None => Some(variable(id)),
            },
            _ => Some(variable(id)),
        }
    }

    /// Joins the parts by halves, so that a long sum of fractions grows evenly, and cancels at every step.
    fn join(&mut self, list: &[ExprId], operation: impl Fn(&Atom, &Atom) -> Atom) -> Option<Atom> {
        let mut atoms = Vec::with_capacity(list.len());
        for part in list {
            atoms.push(self.known[part].clone()?);
        }
        while atoms.len() > 1 {
            let mut halved = Vec::with_capacity(atoms.len().div_ceil(2));
            for pair in atoms.chunks(2) {
                halved.push(match pair {
                    [a, b] => {
                        if !self.afford(size(a.as_view()).checked_mul(size(b.as_view()))) {
                            return None;
                        }
                        operation(a, b).together()
                    }
                    _ => pair[0].clone(),
                });
            }
            atoms = halved;
        }
        atoms.pop()
    }

    /// Returns true if a step of this size is within the limit; the step is then counted.
    fn afford(&mut self, step: Option<usize>) -> bool {
        let step = step.unwrap_or(usize::MAX);
        self.steps = self.steps.saturating_add(step.min(LARGEST_STEP));
        step <= LARGEST_STEP && self.steps <= ALL_STEPS
    }
}

/// Returns the exponent of a power that is a rational function of its base.
fn whole_power(exprs: &Exprs, exponent: ExprId) -> Option<i64> {
    let exponent = exprs.as_number(exponent).filter(|value| value.is_integer())?;
    exponent.to_i64().filter(|power| power.abs() <= HIGHEST_POWER)
}

/// Returns the parts of an expression from which its normal form is computed.
fn parts(exprs: &Exprs, id: ExprId) -> &[ExprId] {
    match exprs.node(id) {
        Node::Sum(list) | Node::Product(list) => list,
        Node::Power(base, exponent) if whole_power(exprs, *exponent).is_some() => std::slice::from_ref(base),
        _ => &[],
    }
}

/// Returns the function that represents an expression by its number: one name in the library's global table, and no user's name.
fn node_function() -> Symbol {
    symbol!("lgm::node")
}

/// Returns the symbol for an expression that is a symbol, or counts as one.
fn variable(id: ExprId) -> Atom {
    FunctionBuilder::new(node_function())
        .add_arg(Atom::num(i64::from(id.0)))
        .finish()
}

/// Converts a number to the library's type.
fn number(value: &BigRational) -> Atom {
    let whole = |value: &BigInt| match value.to_i64() {
        Some(small) => Atom::num(small),
        None => Atom::num(
            Integer::from_str(&value.to_string()).expect("invariant: the digits of an integer are an integer"),
        ),
    };
    whole(value.numer()) / whole(value.denom())
}

/// Converts a number from the library's type.
fn as_number(view: AtomView) -> BigRational {
    let text = view.to_canonical_string();
    text.parse()
        .unwrap_or_else(|_| panic!("invariant: `{text}` is a rational number"))
}

/// Returns an upper bound for the number of terms of numerator and denominator together, after expansion.
fn size(view: AtomView) -> usize {
    let (numerator, denominator) = terms(view);
    numerator.saturating_add(denominator)
}

/// Returns upper bounds for the numbers of terms of the numerator and the denominator of a normal form, after expansion.
fn terms(view: AtomView) -> (usize, usize) {
    match view {
        AtomView::Add(sum) => {
            let count = sum.iter().map(|term| terms(term).0);
            (count.fold(0, usize::saturating_add), 1)
        }
        AtomView::Mul(product) => product.iter().map(terms).fold((1, 1), |sizes, other| {
            (sizes.0.saturating_mul(other.0), sizes.1.saturating_mul(other.1))
        }),
        AtomView::Pow(power) => {
            let (base, exponent) = power.get_base_exp();
            let exponent = as_number(exponent);
            let times = exponent.numer().magnitude().to_u32().unwrap_or(u32::MAX);
            let count = terms(base).0.saturating_pow(times);
            if exponent.is_negative() { (1, count) } else { (count, 1) }
        }
        _ => (1, 1),
    }
}

/// Converts back to an expression: terms and factors in the order of declaration, positive terms first.
fn express(exprs: &mut Exprs, view: AtomView) -> ExprId {
    match view {
        AtomView::Num(_) => exprs.number(as_number(view)),
        AtomView::Fun(call) => {
            let argument = call.iter().next().map(as_number);
            let id = argument.and_then(|number| number.to_integer().to_u32());
            ExprId(id.expect("invariant: a call is the function of nodes at the number of one"))
        }
        AtomView::Pow(power) => {
            let (base, exponent) = power.get_base_exp();
            let (base, exponent) = (express(exprs, base), express(exprs, exponent));
            exprs.power(base, exponent)
        }
        AtomView::Mul(product) => {
            let mut factors: Vec<ExprId> = product.iter().map(|factor| express(exprs, factor)).collect();
            let negative = factors.iter().position(|id| is_negative(exprs, *id));
            let mixed = factors.iter().position(|id| has_mixed_signs(exprs, *id));
            if let (Some(number), Some(sum)) = (negative, mixed) {
                factors[number] = exprs.neg(factors[number]);
                factors[sum] = opposite_sum(exprs, factors[sum]);
            }
            factors.sort_by_key(|id| place(exprs, *id));
            exprs.product(factors)
        }
        AtomView::Add(sum) => {
            let terms = sum.iter().map(|term| express(exprs, term)).collect();
            ordered_sum(exprs, terms)
        }
        AtomView::Var(_) => unreachable!("invariant: every variable was written as a call"),
    }
}

/// Returns the sum of the terms in the customary order.
fn ordered_sum(exprs: &mut Exprs, mut terms: Vec<ExprId>) -> ExprId {
    terms.sort_by_cached_key(|id| order(exprs, *id));
    exprs.sum(terms)
}

/// Returns true if the expression is a negative number.
fn is_negative(exprs: &Exprs, id: ExprId) -> bool {
    exprs.as_number(id).is_some_and(|number| number.is_negative())
}

/// Returns true if a term is a negative number, or begins with one.
fn takes_away(exprs: &Exprs, id: ExprId) -> bool {
    match exprs.node(id) {
        Node::Product(list) => is_negative(exprs, list[0]),
        _ => is_negative(exprs, id),
    }
}

/// Returns true if a sum has positive and negative terms, so that a sign is better written inside: `b - a`, not `-(a - b)`.
fn has_mixed_signs(exprs: &Exprs, id: ExprId) -> bool {
    match exprs.node(id) {
        Node::Sum(list) => {
            let negative = list.iter().filter(|term| takes_away(exprs, **term)).count();
            0 < negative && negative < list.len()
        }
        _ => false,
    }
}

/// Returns a sum times -1, term by term.
fn opposite_sum(exprs: &mut Exprs, id: ExprId) -> ExprId {
    let Node::Sum(list) = exprs.node(id).clone() else {
        return exprs.neg(id);
    };
    let terms = list.iter().map(|term| exprs.neg(*term)).collect();
    ordered_sum(exprs, terms)
}

/// Returns the rank of a factor in a product: symbols in the order of declaration, then sums, then other expressions. The second part is
/// the exponent, so that higher powers come first.
fn place(exprs: &Exprs, id: ExprId) -> (u64, i64) {
    const SUMS: u64 = 1 << 32;
    let (base, exponent) = match exprs.node(id) {
        Node::Power(base, exponent) => (*base, whole_power(exprs, *exponent).unwrap_or(1)),
        _ => (id, 1),
    };
    let place = match exprs.node(base) {
        Node::Symbol(SymbolId(index)) => u64::from(*index),
        Node::Sum(_) => SUMS,
        _ => SUMS + 1,
    };
    (place, -exponent)
}

/// Returns the rank of a term in a sum: positive terms first, then by factors.
fn order(exprs: &Exprs, id: ExprId) -> (bool, Vec<(u64, i64)>) {
    let factors = match exprs.node(id) {
        Node::Product(list) => list,
        _ => std::slice::from_ref(&id),
    };
    let variables = factors.iter().filter(|factor| exprs.as_number(**factor).is_none());
    (
        takes_away(exprs, id),
        variables.map(|factor| place(exprs, *factor)).collect(),
    )
}
