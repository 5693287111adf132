//! Affine functions of chosen atoms, and copies between arenas.

use super::Exprs;
use crate::expr::{ExprId, Node};
use rustc_hash::FxHashMap;
use std::collections::hash_map::Entry;

/// `sum of coefficient * atom + rest`; the coefficients and the rest contain no atom.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Affine {
    /// Atoms with their coefficients, in the order of first appearance.
    pub terms: Vec<(ExprId, ExprId)>,
    /// Expressions without atoms.
    pub rest: ExprId,
}

impl Exprs {
    /// Writes an expression as an affine function of the subexpressions that `is_atom` accepts; `None` if it is not affine. Nodes below an
    /// atom are not examined.
    pub fn affine(&mut self, root: ExprId, is_atom: &dyn Fn(&Exprs, ExprId) -> bool) -> Option<Affine> {
        let mut forms: FxHashMap<ExprId, Option<Affine>> = FxHashMap::default();
        let (zero, one) = (self.zero(), self.one());
        for id in self.reachable(&[root]) {
            let node = self.node(id).clone();
            let form = if is_atom(self, id) {
                Some(Affine {
                    terms: vec![(id, one)],
                    rest: zero,
                })
            } else {
                self.affine_node(id, &node, &forms)
            };
            forms.insert(id, form);
        }
        forms.remove(&root).flatten()
    }

    fn affine_node(&mut self, id: ExprId, node: &Node, forms: &FxHashMap<ExprId, Option<Affine>>) -> Option<Affine> {
        let zero = self.zero();
        let is_constant = |form: &Option<Affine>| form.as_ref().is_some_and(|form| form.terms.is_empty());
        if node.children().all(|child| is_constant(&forms[&child])) {
            return Some(Affine {
                terms: Vec::new(),
                rest: id,
            });
        }
        match node {
            Node::Sum(list) => {
                let mut terms: Vec<(ExprId, ExprId)> = Vec::new();
                let mut places: FxHashMap<ExprId, usize> = FxHashMap::default();
                let mut rests = Vec::new();
                for child in list.iter() {
                    let form = forms[child].as_ref()?;
                    for (atom, coefficient) in &form.terms {
                        match places.entry(*atom) {
                            Entry::Occupied(place) => {
                                let term = &mut terms[*place.get()];
                                term.1 = self.add(term.1, *coefficient);
                            }
                            Entry::Vacant(place) => {
                                place.insert(terms.len());
                                terms.push((*atom, *coefficient));
                            }
                        }
                    }
                    rests.push(form.rest);
                }
                let rest = self.sum(rests);
                Some(Affine { terms, rest })
            }
            Node::Product(list) => {
                let mut factors = Vec::new();
                let mut linear = None;
                for child in list.iter() {
                    let form = forms[child].as_ref()?;
                    if form.terms.is_empty() {
                        factors.push(form.rest);
                    } else if linear.replace(form.clone()).is_some() {
                        return None;
                    }
                }
                let factor = self.product(factors);
                let form = linear?;
                Some(Affine {
                    terms: form
                        .terms
                        .into_iter()
                        .map(|(atom, coefficient)| (atom, self.mul(factor, coefficient)))
                        .collect(),
                    rest: self.mul(factor, form.rest),
                })
            }
            Node::If(condition, a, b) => {
                if !is_constant(&forms[condition]) {
                    return None;
                }
                let (a, b) = (forms[a].clone()?, forms[b].clone()?);
                let of_a: FxHashMap<ExprId, ExprId> = a.terms.iter().copied().collect();
                let of_b: FxHashMap<ExprId, ExprId> = b.terms.iter().copied().collect();
                let only_in_b = b.terms.iter().filter(|term| !of_a.contains_key(&term.0));
                let mut terms = Vec::new();
                for (atom, _) in a.terms.iter().chain(only_in_b) {
                    let coefficient = |of: &FxHashMap<ExprId, ExprId>| of.get(atom).copied().unwrap_or(zero);
                    let value = self.if_else(*condition, coefficient(&of_a), coefficient(&of_b));
                    terms.push((*atom, value));
                }
                let rest = self.if_else(*condition, a.rest, b.rest);
                Some(Affine { terms, rest })
            }
            _ => None,
        }
    }

    /// Rebuilds a node with its children replaced, simplified by the builders of this arena. A leaf is unchanged.
    pub fn rebuild(&mut self, node: &Node, replaced: &FxHashMap<ExprId, ExprId>) -> ExprId {
        let list = |list: &[ExprId]| -> Vec<ExprId> { list.iter().map(|child| replaced[child]).collect() };
        match node {
            Node::Number(value) => self.number((**value).clone()),
            Node::Pi => self.pi(),
            Node::Symbol(symbol) => self.symbol(*symbol),
            Node::Sum(children) => self.sum(list(children)),
            Node::Product(children) => self.product(list(children)),
            Node::Power(a, b) => self.power(replaced[a], replaced[b]),
            Node::Call(function, children) => self.call(*function, list(children)),
            Node::Relation(relation, a, b) => self.relation(*relation, replaced[a], replaced[b]),
            Node::Not(a) => self.not(replaced[a]),
            Node::If(c, a, b) => self.if_else(replaced[c], replaced[a], replaced[b]),
        }
    }

    /// Copies an expression from another arena of the same symbols; `copied` maps the nodes that are already here.
    pub fn import(&mut self, from: &Exprs, root: ExprId, copied: &mut FxHashMap<ExprId, ExprId>) -> ExprId {
        let mut stack = vec![root];
        while let Some(id) = stack.last().copied() {
            if copied.contains_key(&id) {
                stack.pop();
                continue;
            }
            let waiting = stack.len();
            stack.extend(from.node(id).children().filter(|child| !copied.contains_key(child)));
            if stack.len() == waiting {
                let here = self.rebuild(from.node(id), copied);
                copied.insert(id, here);
                stack.pop();
            }
        }
        copied[&root]
    }
}
