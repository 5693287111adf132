//! The variables that nonlinear laws give: in closed form if possible, otherwise by residuals.

use super::ranges::{has_roots, is_defined_everywhere};
use super::{Blame, Builder, Definition, Value};
use crate::assembly::refusal::Failure;
use crate::formulation::matrices::Present;
use crate::nonlinear::prepare::Prepared;
use lgm_algebra::expr::{ExprId, Exprs, Node, SymbolId, SymbolKind};
use lgm_model::{ElementId, Integral, Law, PortId, Variable};
use rustc_hash::{FxHashMap, FxHashSet};

impl<F: Present> Builder<'_, F> {
    /// Defines the variables that nonlinear laws give: in closed form if possible, otherwise by residuals.
    pub(super) fn nonlinear_laws(&mut self, prepared: &Prepared) -> Result<(), Failure> {
        let model = self.model;
        let first = prepared.causality.sources.len();
        let ports = prepared.causality.nonlinear.iter().zip(first..);
        let positions: FxHashMap<PortId, usize> = ports.map(|(port, position)| (*port, position)).collect();
        let released = prepared.released.iter();
        let released: FxHashMap<SymbolId, &Integral> = released.map(|integral| (integral.symbol, integral)).collect();
        let mut followed: FxHashMap<SymbolId, ExprId> = FxHashMap::default();
        let mut done: FxHashSet<ElementId> = FxHashSet::default();
        for port in &prepared.causality.nonlinear {
            let id = model.graph.ports[port.index()].element;
            if !done.insert(id) {
                continue;
            }
            let Law::Nonlinear(law) = &model.graph.elements[id.index()].law else {
                unreachable!("invariant: ports of nonlinear laws belong to these")
            };
            let mut residuals = law.residuals.clone();
            let mut open: Vec<(SymbolId, SymbolId, SymbolId)> = Vec::new();
            for (at, port) in model.ports_of(id).enumerate() {
                let position = *positions
                    .get(&port)
                    .expect("invariant: all ports of a nonlinear law are taken together");
                let Node::Symbol(symbol) = *self.exprs.node(self.sources[position]) else {
                    unreachable!("invariant: what a nonlinear law gives is a symbol")
                };
                let (effort, flow) = law.variables[at];
                let (given, other) = match prepared.causality.solved[port.index()] {
                    Some(Variable::Effort) => (flow, effort),
                    _ => (effort, flow),
                };
                match law.storage[at].and_then(|(_, energy)| released.get(&energy)) {
                    Some(integral) => {
                        let conjugate = given;
                        let energy = self.derivative_storage(id, &mut residuals, integral, conjugate, symbol)?;
                        followed.insert(integral.symbol, energy);
                    }
                    None => open.push((given, other, symbol)),
                }
            }
            // Each variable is matched with an equation that determines it in closed form; the others are solved numerically.
            let mut left = Vec::new();
            for (given, other, symbol) in open {
                let found = (0..residuals.len()).find_map(|at| {
                    let value = self.exprs.isolate(residuals[at], given)?;
                    Some((at, value))
                });
                match found {
                    Some((at, value)) => {
                        let law = residuals.remove(at);
                        let law = self.law_in_loops(law, value, (given, other), symbol);
                        let (value, blame) = (Value::Explicit(value), Blame::Element(id));
                        self.definitions.insert(symbol, Definition { value, blame, law });
                    }
                    None => left.push((given, symbol)),
                }
            }
            for ((given, symbol), residual) in left.into_iter().zip(residuals) {
                let unknown = self.exprs.symbol(symbol);
                let residual = self
                    .exprs
                    .substitute(&[residual], |other| (other == given).then_some(unknown))[0];
                self.insert(symbol, Value::Implicit(residual), Blame::Element(id));
            }
        }
        if !followed.is_empty() {
            // Other uses of the energy variables refer to the defined symbols.
            let mut known = FxHashMap::default();
            for definition in self.definitions.values_mut() {
                let (Value::Explicit(id) | Value::Implicit(id)) = &mut definition.value;
                let replaced = self
                    .exprs
                    .substitute_on(&[*id], &mut known, |symbol| followed.get(&symbol).copied());
                *id = replaced[0];
            }
        }
        self.followed = followed;
        Ok(())
    }

    /// Defines a storage element whose co-energy is given: its energy variable follows from the law, and the conjugate
    /// from the rate of the energy variable. Returns the defined energy variable.
    fn derivative_storage(
        &mut self,
        id: ElementId,
        residuals: &mut Vec<ExprId>,
        integral: &Integral,
        conjugate: SymbolId,
        symbol: SymbolId,
    ) -> Result<ExprId, Failure> {
        let blame = Blame::Element(id);
        let holds = |exprs: &Exprs, residual: ExprId| exprs.symbols_of(&[residual]).contains(&integral.symbol);
        let at = (0..residuals.len())
            .find(|at| holds(&self.exprs, residuals[*at]))
            .expect("invariant: the law of a storage holds its energy variable");
        let residual = residuals.remove(at);
        let value = match self.exprs.isolate(residual, integral.symbol) {
            Some(value) => Value::Explicit(value),
            None => Value::Implicit(residual),
        };
        // A defined symbol is no longer a state: it becomes a symbol of another kind with the same name.
        let name = self.exprs.symbol_info(integral.symbol).name.clone();
        let energy = self.exprs.new_symbol(name, SymbolKind::Assignment);
        let energy_expr = self.exprs.symbol(energy);
        let value = match value {
            Value::Implicit(residual) => {
                let replaced = self
                    .exprs
                    .substitute(&[residual], |other| (other == integral.symbol).then_some(energy_expr));
                Value::Implicit(replaced[0])
            }
            explicit => explicit,
        };
        self.insert(energy, value, blame);
        // The rate of the energy variable is an expression of the conjugate: `x' = rate(w)`.
        let rate = self.rate_of(energy, blame)?;
        let difference = self.exprs.sub(integral.rate, rate);
        let value = self.exprs.isolate(difference, conjugate);
        let value = match value {
            Some(value) => Value::Explicit(value),
            None => {
                let unknown = self.exprs.symbol(symbol);
                let residual = self
                    .exprs
                    .substitute(&[difference], |other| (other == conjugate).then_some(unknown));
                Value::Implicit(residual[0])
            }
        };
        self.insert(symbol, value, blame);
        Ok(energy_expr)
    }

    /// Returns the residual by which a loop is better solved than by the value. A symbol replaces the variable that the
    /// law gives. The residual is the law itself if the law has a larger domain than the solved form. If the solved
    /// form is a root, this form of the law has no steep kink: the flow of an orifice has an infinite slope at rest,
    /// its pressure does not.
    fn law_in_loops(
        &mut self,
        law: ExprId,
        value: ExprId,
        (given, other): (SymbolId, SymbolId),
        symbol: SymbolId,
    ) -> Option<ExprId> {
        let is_wider = !is_defined_everywhere(&self.exprs, value);
        if !is_wider && !has_roots(&self.exprs, value) {
            return None;
        }
        let mut better = law;
        if !is_wider && has_roots(&self.exprs, law) {
            let inverse = self.exprs.isolate(law, other)?;
            let variable = self.exprs.symbol(other);
            better = self.exprs.sub(variable, inverse);
        }
        if !is_defined_everywhere(&self.exprs, better) || !is_wider && has_roots(&self.exprs, better) {
            return None;
        }
        let unknown = self.exprs.symbol(symbol);
        let replaced = self
            .exprs
            .substitute(&[better], |other| (other == given).then_some(unknown));
        Some(replaced[0])
    }
}
