//! The linear core, over any field: the equations that remain after dependent storage and dissipators are eliminated.
//!
//! The junction structure is replayed in the field with the pivots that causality chose. The result is w_i, z_d and the
//! solved variables of dissipators over z_i, w_d, u and the other variables of dissipators. Two sparse solves follow:
//! the dissipators' laws (algebraic loops), and the storage laws with `z_d' = S_di z_i' + S_du u'` in them. Eliminating
//! w_d from the second is the bracket `[I; S_di]' M [I; S_di]`, with the terms of u' next to it.

use super::Reduced;
use super::laws::{System, dissipator_system, storage_system};
use crate::causality::Causality;
use crate::causality::elimination::{Row, add_scaled};
use crate::causality::structure::port_column;
use crate::index_reduction::layout::{Layout, Refusal, Solve};
use crate::index_reduction::replay::{Solved, UNDETERMINED, solve_structure, solved_variable};
use crate::index_reduction::rows::substitute;
use lgm_algebra::{Field, FromExpression, Sharing};
use lgm_model::Model;

/// Reduces a graph over a field. `wanted` are the requested columns of the junction structure.
///
/// Returns an error instead of writing out rows with too many entries, as counted by `sharing`, or rates with more than
/// `longest` entries in total.
pub fn reduce<F: Field + FromExpression>(
    model: &Model,
    causality: &Causality,
    field: &mut F,
    wanted: &[u32],
    extent: Solve,
    mut sharing: Sharing<F::Element>,
    longest: usize,
) -> Result<Reduced<F::Element>, Refusal> {
    let layout = Layout::leaving(causality, extent);
    let known = layout.known;
    let solved = solve_structure(model, causality, field, layout, wanted)?;
    let system = dissipator_system(model, causality, field, layout, &solved)?;
    let given = dissipator_rows(field, system, &mut sharing)?;
    if field.exhausted() {
        return Err(Refusal::TooLarge);
    }
    let (conjugates, dependent_co_energy) = storage_sides(causality, field, layout, &solved, &given, &mut sharing)?;
    let system = storage_system(model, causality, field, layout, &conjugates, &dependent_co_energy)?;
    let owners = system.owners;
    let mut rates = solve(field, system.matrix, system.right, &mut sharing, |row| {
        Refusal::SingularStorage(owners[row])
    })?;
    let dependent_conjugates = rates.split_off(known.storage - known.rates);
    let minus = {
        let one = field.one();
        field.neg(&one)
    };
    for (left, known) in system.left_over {
        let left = substitute(field, &left, 0, &dependent_conjugates);
        rates.push(add_scaled(field, &left, &known, &minus, None, |_| {}));
    }
    if rates.iter().map(Vec::len).sum::<usize>() > longest {
        return Err(Refusal::TooManyEntries);
    }
    if field.exhausted() {
        return Err(Refusal::TooLarge);
    }
    let mut answers = Vec::with_capacity(wanted.len());
    for (index, column) in wanted.iter().enumerate() {
        let row = solved.row(*column);
        if row.last().is_some_and(|entry| entry.0 >= UNDETERMINED) {
            return Err(Refusal::Undetermined(index));
        }
        let row = substitute(field, row, layout.dissipator(0), &given);
        answers.push(substitute(field, &row, layout.conjugate(0), &dependent_conjugates));
    }
    if field.exhausted() {
        return Err(Refusal::TooLarge);
    }
    Ok(Reduced {
        known,
        independent: causality.independent.clone(),
        dependent: causality.dependent.clone(),
        sources: causality.sources.iter().chain(&causality.nonlinear).copied().collect(),
        dependent_co_energy,
        shared: sharing.finish(field, &mut [&mut rates, &mut answers]),
        rates,
        wanted: answers,
    })
}

/// Returns the storage equations of the structure: w_i over known columns and w_d, and z_d over known columns.
#[allow(clippy::type_complexity)]
pub(super) fn storage_sides<F: Field + FromExpression>(
    causality: &Causality,
    field: &mut F,
    layout: Layout,
    solved: &Solved<F::Element>,
    given: &[Row<F::Element>],
    sharing: &mut Sharing<F::Element>,
) -> Result<(Vec<Row<F::Element>>, Vec<Row<F::Element>>), Refusal> {
    let mut conjugates = Vec::with_capacity(causality.independent.len());
    for port in &causality.independent {
        let row = solved.row(port_column(*port, solved_variable(causality, *port)));
        let row = substitute(field, row, layout.dissipator(0), given);
        sharing.count(&row);
        if sharing.is_exceeded() {
            return Err(Refusal::TooManyEntries);
        }
        conjugates.push(row);
    }
    let mut dependent_co_energy = Vec::with_capacity(causality.dependent.len());
    for port in &causality.dependent {
        let row = solved.row(port_column(*port, solved_variable(causality, *port)));
        let mut row = match causality.tied.contains(port) {
            true => substitute(field, row, layout.dissipator(0), given),
            false => row.clone(),
        };
        // S_dd = 0 and S_dr = 0 by power conservation, or because of the tie of the storage; entries left by doubles are round-off.
        row.retain(|entry| entry.0 < layout.conjugate(0));
        dependent_co_energy.push(row);
    }
    Ok((conjugates, dependent_co_energy))
}

/// Solves the dissipators' laws.
pub(super) fn dissipator_rows<F: Field + FromExpression>(
    field: &mut F,
    system: System<F::Element>,
    sharing: &mut Sharing<F::Element>,
) -> Result<Vec<Row<F::Element>>, Refusal> {
    let owners = system.owners;
    solve(field, system.matrix, system.right, sharing, |row| {
        Refusal::SingularLoop(owners[row])
    })
}

/// Solves with long rows shared if sharing was requested, otherwise by the field's own method.
fn solve<F: Field>(
    field: &mut F,
    matrix: Vec<Row<F::Element>>,
    right: Vec<Row<F::Element>>,
    sharing: &mut Sharing<F::Element>,
    singular: impl FnOnce(usize) -> Refusal,
) -> Result<Vec<Row<F::Element>>, Refusal> {
    let solution = if sharing.is_idle() {
        lgm_algebra::solve(field, matrix, right)
    } else {
        lgm_algebra::solve_sharing(field, matrix, right, sharing)
    };
    let solution = solution.map_err(|fault| singular(fault.row as usize))?;
    if sharing.is_exceeded() {
        return Err(Refusal::TooManyEntries);
    }
    Ok(solution)
}
