//! Variables of the graph in terms of the given variables at its ports, as expressions.

use crate::assembly::linearity;
use crate::formulation::matrices::Present;
use crate::index_reduction::{Layout, UNDETERMINED, solve_structure};
use crate::parameter_values::parameter_values;
use crate::pipeline::assigned::Assigned;
use lgm_algebra::expr::{ExprId, Exprs};
use lgm_algebra::{ExactValues, RationalFunctions};
use lgm_model::PortId;

/// A variable as a sum over ports, each with the coefficient of the variable that its element gives.
pub type OverGiven = Vec<(PortId, ExprId)>;

impl Assigned<'_> {
    /// Expresses columns of the junction structure over the given variables of ports: the co-energy of independent
    /// storage, the conjugate of dependent storage, the variables of sources, and the given variables of dissipators
    /// and of nonlinear laws. `exprs` is a copy of the model's expressions, to which the coefficients are added;
    /// undetermined columns are `None`.
    ///
    /// Returns `None` if sources conflict, or if the coefficients are too large to read.
    pub fn over_given(&self, exprs: &mut Exprs, wanted: &[u32]) -> Option<Vec<Option<OverGiven>>> {
        if !self.is_sound {
            return None;
        }
        match self.general || linearity::applies(&self.model) {
            true => self.rows_in(&mut RationalFunctions::default(), exprs, wanted),
            // The structure is valid only for these values.
            false => self.rows_in(&mut ExactValues::new(parameter_values(&self.model)), exprs, wanted),
        }
    }

    fn rows_in<F: Present>(&self, field: &mut F, exprs: &mut Exprs, wanted: &[u32]) -> Option<Vec<Option<OverGiven>>> {
        let layout = Layout::of(&self.causality);
        let mut port_of = self.ports_by_column(layout);
        for (k, port) in self.causality.dependent.iter().enumerate() {
            port_of.insert(layout.conjugate(k), *port);
        }
        let solved = solve_structure(&self.model, &self.causality, field, layout, wanted).ok()?;
        let mut found = Vec::with_capacity(wanted.len());
        for column in wanted {
            let row = solved.rows[*column as usize].as_deref()?;
            let is_open = row.iter().any(|entry| entry.0 >= UNDETERMINED);
            let entries = row.iter().filter(|entry| !field.is_zero(&entry.1));
            let entries: Vec<_> = entries.cloned().collect();
            let written = entries.into_iter().map(|(column, value)| {
                let port = port_of.get(&column).copied();
                port.map(|port| (port, field.present(exprs, &value)))
            });
            found.push(if is_open {
                None
            } else {
                written.collect::<Option<OverGiven>>()
            });
        }
        (!field.exhausted()).then_some(found)
    }
}
