//! The state variable of each storage, and the resulting change of variables.

use crate::assembly::assemble::Assembled;
use crate::causality::elimination::{Row, add_scaled, scaled};
use crate::index_reduction::{Reduced, substitute};
use lgm_algebra::expr::Evaluated;
use lgm_algebra::{Field, FromExpression};
use lgm_model::{Element, ElementId, Law, Model, PortId, StateChoice, StorageForm};

/// The states requested by the user.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum StateRequest {
    /// Co-energy variables for linear-graph storage, p and q for bond storage.
    #[default]
    Natural,
    /// Co-energy variables for all.
    Power,
    /// Energy variables for all.
    Energy,
}

impl StateRequest {
    /// Returns the state of an element under this request: energy variables for elements with energy.
    pub fn choice_of(self, element: &Element) -> StateChoice {
        match element.is_velocity() {
            true => StateChoice::CoEnergy,
            false => self.choice(element.state_choice),
        }
    }

    /// Returns the default state under this request.
    pub fn choice(self, natural: StateChoice) -> StateChoice {
        match self {
            StateRequest::Natural => natural,
            StateRequest::Power => StateChoice::CoEnergy,
            StateRequest::Energy => StateChoice::Energy,
        }
    }
}

/// An error in a storage value: the element, and the cause if a number could not be computed.
pub(crate) type Fault = (ElementId, Option<Evaluated>);

/// Changes the variables of assembled rows from co-energies z to the states `x = T z + T_u u`. Does nothing if every
/// state is its co-energy.
pub(crate) fn change_states<F: Field + FromExpression>(
    model: &Model,
    field: &mut F,
    reduced: &Reduced<F::Element>,
    assembled: &mut Assembled<F::Element>,
    request: StateRequest,
) -> Result<(), Fault> {
    let energy = |port: &PortId| {
        let element = &model.graph.elements[model.graph.ports[port.index()].element.index()];
        request.choice(element.state_choice) == StateChoice::Energy
    };
    if !reduced.independent.iter().any(energy) {
        return Ok(());
    }
    let mut rows = Vec::with_capacity(reduced.independent.len());
    for (k, port) in reduced.independent.iter().enumerate() {
        rows.push(if energy(port) {
            energy_row(model, field, reduced, assembled, *port)?
        } else {
            vec![(k as u32, field.one())]
        });
    }
    // z = T^-1 (x - T_u u): the inputs and constants move to the right-hand side with opposite signs.
    let storage = assembled.columns.storage as u32;
    let (mut matrix, mut right) = (Vec::new(), Vec::new());
    for (k, row) in rows.iter().enumerate() {
        let left: Row<F::Element> = row.iter().filter(|entry| entry.0 < storage).cloned().collect();
        let mut known = vec![(k as u32, field.one())];
        for (column, value) in row.iter().filter(|entry| entry.0 >= storage) {
            known.push((*column, field.neg(value)));
        }
        matrix.push(left);
        right.push(known);
    }
    let back = lgm_algebra::solve(field, matrix, right).map_err(|singular| {
        (
            model.graph.ports[reduced.independent[singular.row as usize].index()].element,
            None,
        )
    })?;
    let mut rates = Vec::with_capacity(rows.len());
    for row in &rows {
        let rate = assembled
            .rate_of(field, row)
            .expect("invariant: an energy variable depends on co-energies, inputs and constants only");
        rates.push(rate);
    }
    assembled.rates.splice(..rates.len(), rates);
    for list in [
        &mut assembled.rates,
        &mut assembled.measures,
        &mut assembled.dependent_co_energy,
        &mut assembled.shared,
    ] {
        for row in list.iter_mut() {
            *row = substitute(field, row, 0, &back);
        }
    }
    Ok(())
}

/// Returns `p = M z` of one port over its element's ports, with dependent ports replaced by their dependencies.
fn energy_row<F: Field + FromExpression>(
    model: &Model,
    field: &mut F,
    reduced: &Reduced<F::Element>,
    assembled: &Assembled<F::Element>,
    port: PortId,
) -> Result<Row<F::Element>, Fault> {
    let id = model.graph.ports[port.index()].element;
    let values = storage_row(model, field, port)?;
    let mut row = Row::new();
    for (other, value) in values {
        let part = match reduced.independent.binary_search(&other) {
            Ok(k) => vec![(k as u32, value)],
            Err(_) => {
                let k = reduced.dependent.binary_search(&other).map_err(|_| (id, None))?;
                scaled(field, &assembled.dependent_co_energy[k], &value)
            }
        };
        let one = field.one();
        row = add_scaled(field, &row, &part, &one, None, |_| {});
    }
    Ok(row)
}

/// Returns the row of M, `energy variable = M z`, for a storage port; a stiffness is inverted.
pub(crate) fn storage_row<F: Field + FromExpression>(
    model: &Model,
    field: &mut F,
    port: PortId,
) -> Result<Vec<(PortId, F::Element)>, Fault> {
    let id = model.graph.ports[port.index()].element;
    let element = &model.graph.elements[id.index()];
    let Law::Storage { value, form, .. } = &element.law else {
        unreachable!("invariant: only storage has states")
    };
    let ports: Vec<PortId> = element.ports.clone().map(PortId).collect();
    let wanted = (port.0 - element.ports.start) as usize;
    let mut matrix = Vec::with_capacity(ports.len());
    for row in 0..ports.len() {
        let mut entries = Row::new();
        for column in 0..ports.len() {
            let entry = field
                .from_expression(&model.exprs, value.get(row, column))
                .map_err(|fault| (id, Some(fault)))?;
            if !field.is_zero(&entry) {
                entries.push((column as u32, entry));
            }
        }
        matrix.push(entries);
    }
    let row = match form {
        StorageForm::Direct => matrix.swap_remove(wanted),
        StorageForm::Inverse if ports.len() == 1 => match matrix[0].first() {
            Some((_, only)) => vec![(0, field.invert(only))],
            None => return Err((id, None)),
        },
        StorageForm::Inverse => {
            let identity = (0..ports.len()).map(|k| vec![(k as u32, field.one())]).collect();
            let mut inverse = lgm_algebra::solve(field, matrix, identity).map_err(|_| (id, None))?;
            inverse.swap_remove(wanted)
        }
    };
    Ok(row
        .into_iter()
        .map(|(column, value)| (ports[column as usize], value))
        .collect())
}
