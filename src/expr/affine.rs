//! Expressions as affine functions of chosen atoms, and derivatives.

use super::{ExprId, Exprs, Function, Node, SymbolId};
use rustc_hash::FxHashMap;

/// `sum of coefficient * atom + rest`; the coefficients and the rest hold no atom.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Affine {
    /// Atoms with their coefficients, in the order of first appearance.
    pub terms: Vec<(ExprId, ExprId)>,
    /// What holds no atom.
    pub rest: ExprId,
}

impl Exprs {
    /// Writes an expression as an affine function of the sub-expressions that `is_atom` accepts; none where it is not one.
    /// Nothing below an atom is looked at.
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
                let mut sum = Affine {
                    terms: Vec::new(),
                    rest: zero,
                };
                for child in list.iter() {
                    let form = forms[child].clone()?;
                    self.accumulate(&mut sum, form);
                }
                Some(sum)
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
                let mut atoms: Vec<ExprId> = a.terms.iter().map(|term| term.0).collect();
                atoms.extend(
                    b.terms
                        .iter()
                        .map(|term| term.0)
                        .filter(|atom| !a.terms.iter().any(|term| term.0 == *atom)),
                );
                let coefficient = |form: &Affine, atom: ExprId| {
                    form.terms
                        .iter()
                        .find(|term| term.0 == atom)
                        .map_or(zero, |term| term.1)
                };
                let mut terms = Vec::new();
                for atom in atoms {
                    let value = self.if_else(*condition, coefficient(&a, atom), coefficient(&b, atom));
                    terms.push((atom, value));
                }
                let rest = self.if_else(*condition, a.rest, b.rest);
                Some(Affine { terms, rest })
            }
            _ => None,
        }
    }

    fn accumulate(&mut self, sum: &mut Affine, form: Affine) {
        for (atom, coefficient) in form.terms {
            match sum.terms.iter_mut().find(|term| term.0 == atom) {
                Some(term) => term.1 = self.add(term.1, coefficient),
                None => sum.terms.push((atom, coefficient)),
            }
        }
        sum.rest = self.add(sum.rest, form.rest);
    }

    /// The derivative of an expression with respect to a symbol. Steps are taken as constant between their jumps; `None`
    /// where an `int` or `der` call depends on the symbol.
    pub fn differentiate(&mut self, root: ExprId, symbol: SymbolId, time: SymbolId) -> Option<ExprId> {
        let (zero, one) = (self.zero(), self.one());
        let mut rates: FxHashMap<ExprId, ExprId> = FxHashMap::default();
        for id in self.reachable(&[root]) {
            let node = self.node(id).clone();
            let depends_on_time = matches!(&node, Node::Call(Function::Ramp, _)) && symbol == time;
            let rate = if !depends_on_time && node.children().all(|child| self.is_zero(rates[&child])) {
                if node == Node::Symbol(symbol) { one } else { zero }
            } else {
                self.node_rate(id, &node, &rates, symbol == time)?
            };
            rates.insert(id, rate);
        }
        Some(rates[&root])
    }

    fn node_rate(
        &mut self,
        id: ExprId,
        node: &Node,
        rates: &FxHashMap<ExprId, ExprId>,
        in_time: bool,
    ) -> Option<ExprId> {
        let one = self.one();
        Some(match node {
            Node::Number(_) | Node::Pi | Node::Symbol(_) | Node::Relation(..) | Node::Not(_) => self.zero(),
            Node::Sum(list) => {
                let list: Vec<ExprId> = list.iter().map(|child| rates[child]).collect();
                self.sum(list)
            }
            Node::Product(list) => {
                let mut terms = Vec::new();
                for (position, child) in list.iter().enumerate() {
                    let mut factors: Vec<ExprId> = list.to_vec();
                    factors[position] = rates[child];
                    terms.push(self.product(factors));
                }
                self.sum(terms)
            }
            Node::Power(base, exponent) => {
                let (base_rate, exponent_rate) = (rates[base], rates[exponent]);
                let minus_one = self.integer(-1);
                let less = self.sum([*exponent, minus_one]);
                let lower = self.power(*base, less);
                let by_base = self.product([*exponent, lower, base_rate]);
                if self.is_zero(exponent_rate) {
                    by_base
                } else {
                    let logarithm = self.call(Function::Log, [*base]);
                    let by_exponent = self.product([id, logarithm, exponent_rate]);
                    self.sum([by_base, by_exponent])
                }
            }
            Node::If(condition, a, b) => self.if_else(*condition, rates[a], rates[b]),
            Node::Call(function, list) => {
                let x = list[0];
                let outer = match function {
                    Function::Sin => self.call(Function::Cos, [x]),
                    Function::Cos => {
                        let sine = self.call(Function::Sin, [x]);
                        self.neg(sine)
                    }
                    Function::Tan => {
                        let two = self.integer(2);
                        let square = self.power(id, two);
                        self.add(one, square)
                    }
                    Function::Asin | Function::Acos => {
                        let two = self.integer(2);
                        let square = self.power(x, two);
                        let inner = self.sub(one, square);
                        let root = self.call(Function::Sqrt, [inner]);
                        let rate = self.div(one, root);
                        if *function == Function::Asin {
                            rate
                        } else {
                            self.neg(rate)
                        }
                    }
                    Function::Atan => {
                        let two = self.integer(2);
                        let square = self.power(x, two);
                        let inner = self.add(one, square);
                        self.div(one, inner)
                    }
                    Function::Sinh => self.call(Function::Cosh, [x]),
                    Function::Cosh => self.call(Function::Sinh, [x]),
                    Function::Tanh => {
                        let two = self.integer(2);
                        let square = self.power(id, two);
                        self.sub(one, square)
                    }
                    Function::Exp => id,
                    Function::Log => self.div(one, x),
                    Function::Sqrt => {
                        let two = self.integer(2);
                        let twice = self.mul(two, id);
                        self.div(one, twice)
                    }
                    Function::Abs => self.call(Function::Sign, [x]),
                    Function::Sign | Function::Floor | Function::Step | Function::Pulse => self.zero(),
                    Function::Ramp => {
                        let begun = self.call(Function::Step, [x]);
                        let minus = self.neg(begun);
                        let by_start = self.mul(minus, rates[&x]);
                        return Some(if in_time { self.add(begun, by_start) } else { by_start });
                    }
                    Function::Atan2 => {
                        let y = list[1];
                        let two = self.integer(2);
                        let (xx, yy) = (self.power(x, two), self.power(y, two));
                        let norm = self.add(xx, yy);
                        let (a, b) = (self.mul(y, rates[&x]), self.mul(x, rates[&y]));
                        let top = self.sub(a, b);
                        return Some(self.div(top, norm));
                    }
                    Function::Min | Function::Max => {
                        let mut rate = rates[&x];
                        let mut best = x;
                        for &next in &list[1..] {
                            let (low, high) = if *function == Function::Min {
                                (next, best)
                            } else {
                                (best, next)
                            };
                            let takes_next = self.relation(super::Relation::Less, low, high);
                            rate = self.if_else(takes_next, rates[&next], rate);
                            best = self.if_else(takes_next, next, best);
                        }
                        return Some(rate);
                    }
                    Function::Int | Function::Der => return None,
                };
                self.mul(outer, rates[&x])
            }
        })
    }

    /// The node with its children replaced, simplified by the builders of this arena. A leaf is the same leaf.
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

    /// Copies an expression from another arena of the same symbols; `copied` remembers what is here already.
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
