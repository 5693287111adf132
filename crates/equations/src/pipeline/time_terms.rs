//! Functions of time that step together: multiples of one function share an input, and so does a term of several functions.
//!
//! The result of a jump may depend on which inputs step simultaneously. That depends on the functions rather than their
//! locations: `f + g` in one expression and `-2*f` in another are the two inputs f and g.

use crate::index_reduction::input_owner::owner;
use crate::pipeline::time_inputs::TimeInputs;
use lgm_algebra::expr::{ExprId, Node, SymbolId, SymbolKind};
use rustc_hash::{FxHashMap, FxHashSet};

/// The dependent inputs in terms of others.
type Written = FxHashMap<SymbolId, ExprId>;

impl TimeInputs {
    /// Returns the new inputs that step independently, and the other inputs in terms of these.
    pub(crate) fn steps_apart(&mut self, kept: &FxHashSet<usize>) -> (FxHashSet<usize>, Written) {
        let (own, mut written) = self.multiples(kept);
        let (own, split) = self.shared_terms(own);
        for value in written.values_mut() {
            *value = self
                .model
                .exprs
                .substitute(&[*value], |symbol| split.get(&symbol).copied())[0];
        }
        written.extend(split);
        (own.into_iter().collect(), written)
    }

    /// Returns the new inputs that are not multiples of others, and the other inputs in terms of these.
    fn multiples(&mut self, kept: &FxHashSet<usize>) -> (Vec<usize>, Written) {
        let mut written = Written::default();
        let mut own: Vec<usize> = Vec::new();
        let mut all: Vec<usize> = kept.iter().copied().collect();
        all.sort_unstable();
        for at in all {
            let parts = self.model.inputs[at].signal.map(|signal| self.factors(signal));
            let multiple = own.iter().find_map(|other| {
                let (factor, rest) = parts?;
                let input = &self.model.inputs[*other];
                let (symbol, signal) = (input.symbol, input.signal?);
                let (divisor, same) = self.factors(signal);
                (same == rest && self.is_number(divisor)).then(|| {
                    let exprs = &mut self.model.exprs;
                    let ratio = exprs.div(factor, divisor);
                    let input = exprs.symbol(symbol);
                    exprs.mul(ratio, input)
                })
            });
            match multiple {
                Some(multiple) => {
                    written.insert(self.model.inputs[at].symbol, multiple);
                }
                None => own.push(at),
            }
        }
        (own, written)
    }

    /// Splits off the common terms of several inputs as new inputs; also returns the inputs with such terms in terms of the new ones.
    fn shared_terms(&mut self, own: Vec<usize>) -> (Vec<usize>, Written) {
        let mut terms: Vec<Vec<(ExprId, ExprId)>> = Vec::with_capacity(own.len());
        let mut count: FxHashMap<ExprId, usize> = FxHashMap::default();
        for at in &own {
            let one = self.model.exprs.one();
            let mut found = Vec::new();
            if let Some(signal) = self.model.inputs[*at].signal {
                self.terms(signal, one, &mut found);
            }
            for (_, rest) in &found {
                *count.entry(*rest).or_default() += 1;
            }
            terms.push(found);
        }
        let (mut kept, mut written) = (Vec::new(), Written::default());
        // A multiple of the single term represents it.
        let mut known: FxHashMap<ExprId, ExprId> = FxHashMap::default();
        for (at, terms) in own.iter().zip(&terms) {
            if let [(factor, rest)] = terms[..]
                && self.is_number(factor)
            {
                let exprs = &mut self.model.exprs;
                let input = exprs.symbol(self.model.inputs[*at].symbol);
                known.insert(rest, exprs.div(input, factor));
            }
        }
        for (at, terms) in own.into_iter().zip(terms) {
            let is_shared = |rest: &ExprId| count[rest] > 1 && !self.is_constant(*rest);
            let is_alone = terms.len() == 1 && self.is_number(terms[0].0);
            if is_alone || !terms.iter().any(|(_, rest)| is_shared(rest)) {
                kept.push(at);
                continue;
            }
            let (shared, others): (Vec<_>, Vec<_>) = terms.into_iter().partition(|(_, rest)| is_shared(rest));
            let input = self.model.inputs[at].clone();
            let base = input.name.split("(time)").next().unwrap_or_default();
            let owner = owner(base.to_string(), input.span);
            let mut parts = Vec::new();
            for (factor, rest) in shared {
                let stands = known.get(&rest).copied();
                let stands = stands.unwrap_or_else(|| {
                    kept.push(self.model.inputs.len());
                    self.input_for(rest, &owner, false)
                });
                known.insert(rest, stands);
                parts.push(self.model.exprs.mul(factor, stands));
            }
            let exprs = &mut self.model.exprs;
            let others = others.into_iter().map(|(factor, rest)| exprs.mul(factor, rest));
            let others: Vec<ExprId> = others.collect();
            if !others.is_empty() {
                let others = self.model.exprs.sum(others);
                kept.push(self.model.inputs.len());
                parts.push(self.input_for(others, &owner, false));
            }
            written.insert(input.symbol, self.model.exprs.sum(parts));
        }
        (kept, written)
    }

    /// Collects the terms of a function, each as a constant times the rest.
    fn terms(&mut self, signal: ExprId, factor: ExprId, found: &mut Vec<(ExprId, ExprId)>) {
        let (own, rest) = self.factors(signal);
        let factor = self.model.exprs.mul(factor, own);
        if let Node::Sum(list) = self.model.exprs.node(rest).clone() {
            for part in list.iter() {
                self.terms(*part, factor, found);
            }
            return;
        }
        match found.iter_mut().find(|term| term.1 == rest) {
            Some(term) => term.0 = self.model.exprs.add(term.0, factor),
            None => found.push((factor, rest)),
        }
    }

    /// Splits a function into a constant and the rest.
    fn factors(&mut self, signal: ExprId) -> (ExprId, ExprId) {
        let Node::Product(list) = self.model.exprs.node(signal).clone() else {
            return (self.model.exprs.one(), signal);
        };
        let (constant, rest): (Vec<ExprId>, Vec<ExprId>) = list.iter().partition(|part| self.is_constant(**part));
        let exprs = &mut self.model.exprs;
        (exprs.product(constant), exprs.product(rest))
    }

    /// Returns true if an expression contains only parameters and numbers.
    fn is_constant(&self, id: ExprId) -> bool {
        let exprs = &self.model.exprs;
        let mut nodes = exprs.reachable(&[id]).into_iter();
        nodes.all(|id| match exprs.node(id) {
            Node::Symbol(symbol) => exprs.symbol_info(*symbol).kind == SymbolKind::Parameter,
            node => !matches!(node, Node::Call(..)),
        })
    }

    /// Returns true if an expression is a number other than 0: a parameter may be set to 0 later.
    fn is_number(&self, id: ExprId) -> bool {
        let exprs = &self.model.exprs;
        !exprs.is_zero(id) && exprs.symbols_of(&[id]).is_empty()
    }
}
