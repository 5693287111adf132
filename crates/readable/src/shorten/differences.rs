//! Sums over states and inputs whose coefficients are shorter for differences: the equations of networks of resistances.
//!
//! `f*x + g*y` is `f*(x - y) + (f + g)*y`. A flow through a resistance has one coefficient for both of its ends, and a
//! coefficient that is a sum of several flows is shorter without one of them.

use super::collect::Collector;
use super::length::Length;
use super::names::name_of;
use super::terms::Term;
use super::written::{by_hand, factors_of, number_apart};
use crate::factor::multiply;
use lgm_algebra::expr::{ExprId, Exprs, Node, SymbolKind};
use lgm_algebra::{Field, FromExpression, RationalFunction, RationalFunctions};
use num_rational::BigRational;
use num_traits::Signed;

/// Sums over more variables than this stay unchanged.
const VARIABLES: usize = 8;

/// Longer expressions stay unchanged.
const LARGEST: u64 = 600;

/// The maximum number of term operations for one sum.
const OPERATIONS: u64 = 100_000;

/// A coefficient, and the variable that it multiplies or the difference from another one.
struct Flow {
    coefficient: RationalFunction,
    variable: ExprId,
    /// The other end, and true for a difference, false for a sum.
    against: Option<(ExprId, bool)>,
}

impl Flow {
    /// Returns the term of a sum as a number and factors with their exponents; the number is positive if a difference absorbs the sign.
    fn term(&self, exprs: &mut Exprs, field: &RationalFunctions) -> Option<(BigRational, Vec<(ExprId, i32)>)> {
        let coefficient = field.to_expression(exprs, &self.coefficient);
        let coefficient = by_hand(exprs, coefficient).unwrap_or(coefficient);
        let (mut number, mut factors) = number_apart(exprs, factors_of(exprs, coefficient))?;
        let driver = match self.against {
            None => self.variable,
            Some((end, true)) if number.is_negative() => {
                number = -number;
                exprs.sub(end, self.variable)
            }
            Some((end, true)) => exprs.sub(self.variable, end),
            Some((end, false)) => exprs.add(self.variable, end),
        };
        factors.push((driver, 1));
        Some((number, factors))
    }
}

/// Writes an expression in lowest terms as a sum of flows; returns `None` if no difference makes a coefficient shorter.
pub(super) fn of_differences(exprs: &mut Exprs, lowest: ExprId) -> Option<ExprId> {
    // Differences over a product are found when terms are collected.
    let is_sum = |base: ExprId| matches!(exprs.node(base), Node::Sum(_));
    let has_sum_below = factors_of(exprs, lowest)
        .iter()
        .any(|(base, power)| *power < 0 && is_sum(*base));
    if !has_sum_below || exprs.written_size(&[lowest]) > LARGEST {
        return None;
    }
    let affine = exprs.affine(lowest, &|exprs, id| match exprs.node(id) {
        Node::Symbol(symbol) => matches!(exprs.symbol_info(*symbol).kind, SymbolKind::State | SymbolKind::Input),
        _ => false,
    })?;
    if !(2..=VARIABLES).contains(&affine.terms.len()) || !exprs.is_zero(affine.rest) {
        return None;
    }
    let mut field = RationalFunctions::new(OPERATIONS, RationalFunctions::DEFAULT_TERMS);
    let mut flows = Vec::with_capacity(affine.terms.len());
    for (variable, coefficient) in affine.terms {
        let coefficient = field.from_expression(exprs, coefficient).ok()?;
        flows.push(Flow {
            coefficient,
            variable,
            against: None,
        });
    }
    // The order of declarations decides nothing: names do.
    flows.sort_by_cached_key(|flow| name_of(exprs, flow.variable));
    let mut apart = Vec::with_capacity(flows.len());
    for flow in &flows {
        for coefficient in with_own_denominators(exprs, &mut field, &flow.coefficient) {
            apart.push(Flow {
                coefficient,
                variable: flow.variable,
                against: None,
            });
        }
    }
    let split = (apart.len() > flows.len())
        .then(|| written(exprs, &mut field, apart))
        .flatten();
    let whole = written(exprs, &mut field, flows);
    match (whole, split) {
        (Some(whole), Some(split)) if Length::of(exprs, split).is_less(exprs, Length::of(exprs, whole)) => Some(split),
        (whole, split) => whole.or(split),
    }
}

/// Writes a sum of flows with the differences that make its coefficients shorter; returns `None` if no coefficient
/// becomes shorter or is a sum.
fn written(exprs: &mut Exprs, field: &mut RationalFunctions, mut flows: Vec<Flow>) -> Option<ExprId> {
    let mut is_shorter = flows.windows(2).any(|pair| pair[0].variable == pair[1].variable);
    while let Some((end, flow, sum, is_opposite)) = best_difference(field, &flows) {
        is_shorter = true;
        flows[flow].against = Some((flows[end].variable, is_opposite));
        flows[end].coefficient = sum;
    }
    if !is_shorter || field.exhausted() {
        return None;
    }
    let kept = flows.iter().filter(|flow| !flow.coefficient.is_zero());
    let terms: Vec<_> = kept.map(|flow| flow.term(exprs, field)).collect::<Option<_>>()?;
    let mut collector = Collector::new(exprs);
    let terms = terms.into_iter().map(|(number, factors)| {
        let mut term = Term::number(number);
        for (base, power) in factors {
            let factor = collector.factor(base);
            multiply(&mut term.powers, factor, power);
        }
        term
    });
    let terms = terms.collect();
    let whole = collector.as_term(terms);
    Some(collector.whole(&whole))
}

/// Writes a coefficient as a sum in which losses to ground with their own resistances are separate:
/// `(R1 + R2 + R3)/(R3*(R1 + R2))` is `1/R3 + 1/(R1 + R2)`.
fn with_own_denominators(
    exprs: &mut Exprs,
    field: &mut RationalFunctions,
    coefficient: &RationalFunction,
) -> Vec<RationalFunction> {
    let (mut parts, mut rest) = (Vec::new(), coefficient.clone());
    let whole = field.to_expression(exprs, coefficient);
    let below = factors_of(exprs, whole).into_iter().filter(|(_, power)| *power == -1);
    let mut below: Vec<ExprId> = below.map(|(base, _)| base).collect();
    below.sort_by_cached_key(|base| name_of(exprs, *base));
    for base in below {
        let Node::Symbol(symbol) = *exprs.node(base) else {
            continue;
        };
        // The part of its product that does not vanish with it.
        let whole = field.to_expression(exprs, &rest);
        let times = exprs.mul(whole, base);
        let Ok(times) = field.from_expression(exprs, times) else {
            continue;
        };
        let times = field.to_expression(exprs, &times);
        let zero = exprs.zero();
        let residue = exprs.substitute(&[times], |other| (other == symbol).then_some(zero))[0];
        let own = exprs.div(residue, base);
        let Ok(own) = field.from_expression(exprs, own) else {
            continue;
        };
        let left = field.sub(&rest, &own);
        let is_apart = !own.is_zero() && !left.is_zero() && own.denominator().term_count() == 1;
        if is_apart && size(&own) + size(&left) <= size(&rest) + 1 {
            parts.push(own);
            rest = left;
        }
    }
    parts.push(rest);
    parts
}

fn size(f: &RationalFunction) -> usize {
    f.numerator().term_count() + f.denominator().term_count()
}

/// Returns the difference that shortens a coefficient most: the end with this coefficient, the flow, the new
/// coefficient, and true for a difference, false for a sum of both variables.
fn best_difference(field: &mut RationalFunctions, flows: &[Flow]) -> Option<(usize, usize, RationalFunction, bool)> {
    let mut best: Option<(usize, (usize, usize, RationalFunction, bool))> = None;
    for (end, of_end) in flows.iter().enumerate().filter(|each| each.1.against.is_none()) {
        for (flow, of_flow) in flows.iter().enumerate() {
            if of_flow.variable == of_end.variable
                || of_flow.against.is_some()
                || of_flow.coefficient.is_zero()
                || of_end.coefficient.is_zero()
            {
                continue;
            }
            for is_opposite in [true, false] {
                let sum = match is_opposite {
                    true => field.add(&of_end.coefficient, &of_flow.coefficient),
                    false => field.sub(&of_end.coefficient, &of_flow.coefficient),
                };
                let own = if sum.is_zero() { 0 } else { size(&sum) };
                let Some(saved) = size(&of_end.coefficient).checked_sub(own).filter(|saved| *saved > 0) else {
                    continue;
                };
                if best.as_ref().is_none_or(|known| saved > known.0) {
                    best = Some((saved, (end, flow, sum, is_opposite)));
                }
            }
        }
    }
    best.map(|found| found.1)
}
