//! The variables that totals determine, and the rates of the totals.

use super::{Blame, Builder, Value};
use crate::diagnosis::refusal::Failure;
use crate::formulation::matrices::Present;
use crate::state_selection::conserved_quantities::Momentum;
use lgm_algebra::expr::{ExprId, SymbolId};
use lgm_model::system::StateSystem;

impl<F: Present> Builder<'_, F> {
    /// An expression with the definitions of its symbols in their places, where these have a closed form.
    fn written_out(&mut self, id: ExprId) -> ExprId {
        let definitions = &self.definitions;
        let value = |symbol: SymbolId| match definitions.get(&symbol)?.value {
            Value::Explicit(value) => Some(value),
            Value::Implicit(_) => None,
        };
        self.exprs.substitute(&[id], value)[0]
    }

    /// Defines the variables that the totals determine, and the rates of the totals. Returns what each total holds, over these
    /// variables.
    pub(super) fn define_momenta(
        &mut self,
        system: &StateSystem,
        momenta: &[Momentum<F::Element>],
        rates: &[SymbolId],
    ) -> Result<Vec<ExprId>, Failure> {
        let mut all = Vec::with_capacity(momenta.len());
        for momentum in momenta {
            let blame = Blame::Element(self.model.ports[self.reduced.independent[momentum.state].index()].element);
            let mut terms = Vec::new();
            for (place, factor) in &momentum.masses {
                let variable = match self.co_energies.get(*place).cloned() {
                    Some(row) => self.row(&row)?,
                    None => self.states[*place],
                };
                terms.push(self.exprs.mul(*factor, variable));
            }
            for (energy, factor) in &momentum.held {
                let held = self.followed[energy];
                let held = self.written_out(held);
                // What it holds is a law over measured variables: over the states, the loop is one of the variable itself.
                let held = self.written_out(held);
                terms.push(self.exprs.mul(*factor, held));
            }
            for (place, factor) in &momentum.sources {
                terms.push(self.exprs.mul(*factor, self.sources[*place]));
            }
            let held = self.exprs.sum(terms);
            all.push(held);
            let total = self.exprs.symbol(system.states[momentum.state].symbol);
            let residual = self.exprs.sub(total, held);
            self.insert(momentum.variable, Value::Implicit(residual), blame);
            let rate = self.row(&momentum.rate)?;
            let rate = momentum.divisor.map_or(rate, |divisor| self.exprs.div(rate, divisor));
            self.insert(rates[momentum.state], Value::Explicit(rate), blame);
        }
        Ok(all)
    }
}
