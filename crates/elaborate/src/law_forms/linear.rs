//! Linear forms: an expression as a sum of coefficients times variables, their rates and their integrals.

use lgm_algebra::expr::{ExprId, Exprs, Function, Node, SymbolId};
use rustc_hash::FxHashMap;
use std::collections::BTreeMap;

/// A variable of a law with the number of times it is differentiated; -1 is its integral.
pub(crate) type Term = (u32, i8);

/// `constant + sum of coefficient * variable`
#[derive(Clone, Debug)]
pub(crate) struct Linear {
    pub terms: BTreeMap<Term, ExprId>,
    pub constant: ExprId,
}

/// The part of an expression that is nonlinear in the variables.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct NotLinear;

/// Returns the linear forms of several expressions in the given variables.
pub(crate) fn linear_forms(
    exprs: &mut Exprs,
    roots: &[ExprId],
    variables: &FxHashMap<SymbolId, u32>,
) -> Result<Vec<Linear>, NotLinear> {
    let zero = exprs.zero();
    let mut forms: FxHashMap<ExprId, Linear> = FxHashMap::default();
    for id in exprs.reachable(roots) {
        let node = exprs.node(id).clone();
        let constant = Linear {
            terms: BTreeMap::new(),
            constant: id,
        };
        let form = match &node {
            Node::Symbol(symbol) => match variables.get(symbol) {
                Some(variable) => Linear {
                    terms: [((*variable, 0), exprs.one())].into_iter().collect(),
                    constant: zero,
                },
                None => constant,
            },
            node if node.children().all(|child| forms[&child].terms.is_empty()) => constant,
            Node::Sum(list) => {
                let mut terms: BTreeMap<Term, Vec<ExprId>> = BTreeMap::new();
                let mut constants = Vec::new();
                for child in list.iter() {
                    let form = &forms[child];
                    constants.push(form.constant);
                    for (term, coefficient) in &form.terms {
                        terms.entry(*term).or_default().push(*coefficient);
                    }
                }
                Linear {
                    terms: terms.into_iter().map(|(term, list)| (term, exprs.sum(list))).collect(),
                    constant: exprs.sum(constants),
                }
            }
            Node::Product(list) => {
                let mut varying = None;
                let mut factors = Vec::new();
                for child in list.iter() {
                    let form = &forms[child];
                    if form.terms.is_empty() {
                        factors.push(form.constant);
                    } else if varying.replace(*child).is_some() {
                        return Err(NotLinear);
                    }
                }
                let Some(varying) = varying else {
                    return Err(NotLinear);
                };
                let inner = forms[&varying].clone();
                let factor = exprs.product(factors);
                Linear {
                    terms: inner
                        .terms
                        .into_iter()
                        .map(|(term, value)| (term, exprs.mul(factor, value)))
                        .collect(),
                    constant: exprs.mul(factor, inner.constant),
                }
            }
            Node::Call(function @ (Function::Int | Function::Der), list) => {
                let inner = forms[&list[0]].clone();
                let step = if *function == Function::Der { 1 } else { -1 };
                // The rate or integral of an expression that is not a variable would require its time dependence.
                if !exprs.is_zero(inner.constant) {
                    return Err(NotLinear);
                }
                Linear {
                    terms: inner
                        .terms
                        .into_iter()
                        .map(|((at, order), value)| ((at, order + step), value))
                        .collect(),
                    constant: zero,
                }
            }
            _ => return Err(NotLinear),
        };
        forms.insert(id, form);
    }
    Ok(roots.iter().map(|root| forms[root].clone()).collect())
}
