//! Rates: total time derivatives of definitions, the drift of dependent storage, and `der(..)` and `int(..)` in
//! expressions.
//!
//! A rate is a symbol when it is requested; its expression is written later, when all definitions exist. The rates of
//! coupled symbols therefore need no order. Laws have no second rates, which would be further states; outputs may, as
//! long as no second rate of an input is in them.

use super::{Blame, Builder, Value, Waiting};
use crate::assembly::refusal::Failure;
use crate::formulation::matrices::Present;
use lgm_algebra::expr::{ExprId, Function, Node, SymbolId, SymbolKind};
use rustc_hash::FxHashMap;

impl<F: Present> Builder<'_, F> {
    /// Writes a rate or a drift that was requested.
    pub(super) fn write(&mut self, waiting: Waiting) -> Result<(), Failure> {
        match waiting {
            Waiting::Drift(symbol, k) => {
                let port = self.reduced.dependent[k];
                let blame = Blame::Element(self.model.graph.ports[port.index()].element);
                let mut terms = Vec::new();
                for (column, value) in self.reduced.dependent_co_energy[k].clone() {
                    let coefficient = self.field.present(&mut self.exprs, &value);
                    let rate = self.rate(coefficient, blame)?;
                    let variable = self.column(column)?;
                    terms.push(self.exprs.mul(rate, variable));
                }
                let value = self.exprs.sum(terms);
                self.insert(symbol, Value::Explicit(value), blame);
            }
            Waiting::Rate(symbol, of) => {
                let Some(definition) = self.definitions.get(&of).copied() else {
                    // This is a rate itself, which is written first.
                    self.waiting.insert(0, waiting);
                    return Ok(());
                };
                let blame = self.asking.unwrap_or(definition.blame);
                let value = match definition.value {
                    Value::Explicit(value) => self.rate(value, blame)?,
                    Value::Implicit(residual) => {
                        // The residual stays zero: its partial derivative times the rate cancels the other contributions.
                        let partial = self.partial(residual, of, blame)?;
                        let zero = self.exprs.zero();
                        let rate = self.rates.insert(of, zero);
                        let others = self.rate(residual, blame);
                        if let Some(rate) = rate {
                            self.rates.insert(of, rate);
                        }
                        let others = others?;
                        let quotient = self.exprs.div(others, partial);
                        self.exprs.neg(quotient)
                    }
                };
                self.insert(symbol, Value::Explicit(value), blame);
            }
        }
        Ok(())
    }

    fn partial(&mut self, id: ExprId, symbol: SymbolId, blame: Blame) -> Result<ExprId, Failure> {
        self.exprs.differentiate(id, symbol).ok_or_else(|| blame.no_rate(false))
    }

    /// Returns the total time derivative of an expression.
    pub(super) fn rate(&mut self, id: ExprId, blame: Blame) -> Result<ExprId, Failure> {
        let mut terms = vec![self.partial(id, self.time, blame)?];
        for symbol in self.exprs.symbols_of(&[id]) {
            let kind = self.exprs.symbol_info(symbol).kind;
            if matches!(kind, SymbolKind::Parameter | SymbolKind::Time) {
                continue;
            }
            let partial = self.partial(id, symbol, blame)?;
            if self.exprs.is_zero(partial) {
                continue;
            }
            let rate = self.rate_of(symbol, blame)?;
            terms.push(self.exprs.mul(partial, rate));
        }
        Ok(self.exprs.sum(terms))
    }

    /// Returns the rate of a symbol: known for states and inputs, requested for others.
    pub(super) fn rate_of(&mut self, symbol: SymbolId, blame: Blame) -> Result<ExprId, Failure> {
        if self.asking.is_none() {
            self.rated.insert(symbol);
        }
        if let Some(rate) = self.rates.get(&symbol) {
            return Ok(*rate);
        }
        let is_rate = self.exprs.symbol_info(symbol).kind == SymbolKind::InputRate;
        // An output shows values during the run; a law would need the effect of a second rate at the start.
        if self.asking.is_some() && self.switched.contains(&symbol) {
            return Ok(self.exprs.zero());
        }
        if is_rate || self.asking.is_none() && self.of_first_order.contains(&symbol) {
            return Err(blame.no_rate(true));
        }
        let name = format!("der({})", self.exprs.symbol_info(symbol).name);
        let rate = self.exprs.new_symbol(name, SymbolKind::Assignment);
        self.of_first_order.insert(rate);
        let expr = self.exprs.symbol(rate);
        self.rates.insert(symbol, expr);
        self.waiting.push(Waiting::Rate(rate, symbol));
        Ok(expr)
    }

    /// Returns an expression with `der(..)` replaced by rates, and `int(..)` by the corresponding states minus their initial values.
    pub(super) fn without_calls(
        &mut self,
        root: ExprId,
        held: &FxHashMap<ExprId, (ExprId, ExprId)>,
        blame: Blame,
    ) -> Result<ExprId, Failure> {
        let mut replaced: FxHashMap<ExprId, ExprId> = FxHashMap::default();
        for id in self.exprs.reachable(&[root]) {
            let node = self.exprs.node(id).clone();
            let now = match &node {
                Node::Call(Function::Der, list) => self.rate(replaced[&list[0]], blame)?,
                Node::Call(Function::Int, list) => match held.get(&list[0]) {
                    Some((state, start)) => self.exprs.sub(*state, *start),
                    None => return Err(blame.no_rate(false)),
                },
                Node::Symbol(symbol) => self.followed.get(symbol).copied().unwrap_or(id),
                _ => self.exprs.rebuild(&node, &replaced),
            };
            replaced.insert(id, now);
        }
        Ok(replaced[&root])
    }
}
