//! Energy variables as states, in the rows of a reduction.

use crate::assembly::refusal::Failure;
use crate::assembly::states::storage_row;
use crate::causality::elimination::{Row, add_scaled, scaled};
use crate::formulation::matrices::Present;
use crate::index_reduction::{Reduced, substitute};
use lgm_model::Model;

/// Replaces co-energies in every row by the energy variables chosen as states: `z = T^-1 (x - T_u u)`. Returns the rows
/// of the co-energies; none if these are the states.
pub(crate) fn change_states<F: Present>(
    model: &Model,
    field: &mut F,
    reduced: &mut Reduced<F::Element>,
    is_energy: &[bool],
) -> Result<Vec<Row<F::Element>>, Failure> {
    if !is_energy.contains(&true) {
        return Ok(Vec::new());
    }
    let storage = reduced.known.storage as u32;
    let (mut matrix, mut right) = (Vec::new(), Vec::new());
    for (k, port) in reduced.independent.iter().enumerate() {
        let mut row = vec![(k as u32, field.one())];
        if is_energy[k] {
            let id = model.graph.ports[port.index()].element;
            row.clear();
            for (other, value) in storage_row(model, field, *port).map_err(Failure::States)? {
                let part = match reduced.independent.binary_search(&other) {
                    Ok(k) => vec![(k as u32, value)],
                    Err(_) => {
                        let k = reduced.dependent.binary_search(&other);
                        let k = k.map_err(|_| Failure::States((id, None)))?;
                        scaled(field, &reduced.dependent_co_energy[k], &value)
                    }
                };
                let one = field.one();
                row = add_scaled(field, &row, &part, &one, None, |_| {});
            }
        }
        let mut known = vec![(k as u32, field.one())];
        known.extend(
            row.iter()
                .filter(|entry| entry.0 >= storage)
                .map(|(column, value)| (*column, field.neg(value)))
                .collect::<Vec<_>>(),
        );
        row.retain(|entry| entry.0 < storage);
        matrix.push(row);
        right.push(known);
    }
    let back = lgm_algebra::solve(field, matrix, right).map_err(|singular| {
        let port = reduced.independent[singular.row as usize];
        Failure::States((model.graph.ports[port.index()].element, None))
    })?;
    for rows in [
        &mut reduced.rates,
        &mut reduced.wanted,
        &mut reduced.dependent_co_energy,
    ] {
        for row in rows.iter_mut() {
            *row = substitute(field, row, 0, &back);
        }
    }
    Ok(back)
}
