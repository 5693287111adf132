//! The variables that totals determine, and the rates of the totals.

use super::{Blame, Builder, Value};
use crate::assembly::refusal::Failure;
use crate::formulation::matrices::Present;
use crate::nonlinear::conserved_quantities::Conserved;
use lgm_algebra::expr::{ExprId, SymbolId};
use lgm_model::system::StateSystem;

impl<F: Present> Builder<'_, F> {
    /// Returns an expression with its symbols replaced by their definitions, if these have a closed form.
    fn written_out(&mut self, id: ExprId) -> ExprId {
        let definitions = &self.definitions;
        let value = |symbol: SymbolId| match definitions.get(&symbol)?.value {
            Value::Explicit(value) => Some(value),
            Value::Implicit(_) => None,
        };
        self.exprs.substitute(&[id], value)[0]
    }

    /// Defines the variables that the totals determine, and the rates of the totals. Returns the content of each total,
    /// over these variables.
    pub(super) fn define_conserved(
        &mut self,
        system: &StateSystem,
        quantities: &[Conserved<F::Element>],
        rates: &[SymbolId],
    ) -> Result<Vec<ExprId>, Failure> {
        let mut all = Vec::with_capacity(quantities.len());
        for quantity in quantities {
            let blame =
                Blame::Element(self.model.graph.ports[self.reduced.independent[quantity.state].index()].element);
            let mut terms = Vec::new();
            for (place, factor) in &quantity.masses {
                let variable = match self.co_energies.get(*place).cloned() {
                    Some(row) => self.row(&row)?,
                    None => self.states[*place],
                };
                terms.push(self.exprs.mul(*factor, variable));
            }
            for (energy, factor) in &quantity.held {
                let held = self.followed[energy];
                let held = self.written_out(held);
                // The law is in terms of measured variables; in terms of the states, the loop would contain the variable itself.
                let held = self.written_out(held);
                terms.push(self.exprs.mul(*factor, held));
            }
            for (place, factor) in &quantity.sources {
                terms.push(self.exprs.mul(*factor, self.sources[*place]));
            }
            let held = self.exprs.sum(terms);
            all.push(held);
            let total = self.exprs.symbol(system.states[quantity.state].symbol);
            let residual = self.exprs.sub(total, held);
            self.insert(quantity.variable, Value::Implicit(residual), blame);
            let rate = self.row(&quantity.rate)?;
            let rate = quantity.divisor.map_or(rate, |divisor| self.exprs.div(rate, divisor));
            self.insert(rates[quantity.state], Value::Explicit(rate), blame);
        }
        Ok(all)
    }
}
