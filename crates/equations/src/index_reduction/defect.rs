//! The elements that make the equations singular: the null vectors of a singular matrix.
//!
//! They are searched for only after a failure, in a field without round-off, so that the elements involved are determined exactly.

use super::Known;
use super::explicit::{dissipator_rows, storage_sides};
use super::laws::{System, dissipator_system, storage_system};
use crate::causality::Causality;
use crate::causality::elimination::{Elimination, Row};
use crate::causality::structure::port_column;
use crate::index_reduction::layout::Layout;
use crate::index_reduction::replay::{solve_structure, solved_variable};
use crate::index_reduction::rows::substitute;
use lgm_algebra::{Field, FromExpression, Sharing};
use lgm_model::{ElementId, Model, PortId};

/// Beyond this number, defects are not distinguished.
const DEFECTS: usize = 20;
/// With more entries than this the equations are not searched: all storage depends on all other storage.
const ENTRIES: usize = 2_000_000;

/// One way in which the equations leave variables undetermined.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Defect {
    /// True if storage is singular rather than the loop of dissipators.
    pub(crate) storage: bool,
    /// The ports whose unknown variables can change together without a change in any equation.
    pub(crate) ports: Vec<PortId>,
    /// The elements whose equations contradict or repeat each other.
    pub(crate) elements: Vec<ElementId>,
    /// Sources and states that these equations contradict.
    pub(crate) opposed: Vec<PortId>,
}

/// Returns the defects of the dissipators' loop or, if it has none, those of storage. Returns `None` if the structure
/// itself cannot be solved, or if a value cannot be computed.
pub(crate) fn defects<F: Field + FromExpression>(model: &Model, causality: &Causality, field: &mut F) -> Vec<Defect> {
    let layout = Layout::of(causality);
    let Ok(solved) = solve_structure(model, causality, field, layout, &[]) else {
        return Vec::new();
    };
    let Ok(system) = dissipator_system(model, causality, field, layout, &solved) else {
        return Vec::new();
    };
    let found = of_system(
        model,
        causality,
        field,
        layout.known,
        &system,
        &causality.dissipators,
        false,
    );
    if !found.is_empty() {
        return found;
    }
    let mut limited = Sharing::up_to(ENTRIES);
    let Ok(given) = dissipator_rows(field, system, &mut limited) else {
        return Vec::new();
    };
    let Ok((conjugates, dependent)) = storage_sides(causality, field, layout, &solved, &given, &mut limited) else {
        return Vec::new();
    };
    let Ok(system) = storage_system(model, causality, field, layout, &conjugates, &dependent) else {
        return Vec::new();
    };
    let unknowns: Vec<PortId> = causality
        .independent
        .iter()
        .chain(&causality.dependent)
        .copied()
        .collect();
    of_system(model, causality, field, layout.known, &system, &unknowns, true)
}

/// Returns true if the laws of dissipators determine the co-energy variables of all storage that they tie, from states and sources only.
pub(crate) fn are_tied<F: Field + FromExpression>(model: &Model, causality: &Causality, field: &mut F) -> bool {
    let layout = Layout::of(causality);
    let Ok(solved) = solve_structure(model, causality, field, layout, &[]) else {
        return false;
    };
    let given = dissipator_system(model, causality, field, layout, &solved)
        .and_then(|system| dissipator_rows(field, system, &mut Sharing::nothing()));
    let Ok(given) = given else { return false };
    causality.tied.iter().all(|port| {
        let row = solved.row(port_column(*port, solved_variable(causality, *port)));
        let row = substitute(field, row, layout.dissipator(0), &given);
        row.iter()
            .all(|entry| entry.0 < layout.conjugate(0) || field.is_zero(&entry.1))
    })
}

fn of_system<F: Field>(
    model: &Model,
    causality: &Causality,
    field: &mut F,
    known: Known,
    system: &System<F::Element>,
    unknowns: &[PortId],
    storage: bool,
) -> Vec<Defect> {
    let free = null_vectors(field, system.matrix.clone(), unknowns.len());
    if free.is_empty() {
        return Vec::new();
    }
    let mut transposed: Vec<Row<F::Element>> = vec![Row::new(); unknowns.len()];
    for (index, row) in system.matrix.iter().enumerate() {
        for (column, value) in row {
            transposed[*column as usize].push((index as u32, value.clone()));
        }
    }
    let contradictions = null_vectors(field, transposed, system.matrix.len());
    let mut defects = Vec::new();
    for vector in free {
        let ports: Vec<PortId> = vector.iter().map(|entry| unknowns[entry.0 as usize]).collect();
        let mut elements: Vec<ElementId> = Vec::new();
        let mut opposed = Vec::new();
        // The contradiction for these unknowns is between equations of the same elements.
        let owners: Vec<ElementId> = ports
            .iter()
            .map(|port| model.graph.ports[port.index()].element)
            .collect();
        let touches = |contradiction: &&Row<F::Element>| {
            let owned = |entry: &(u32, F::Element)| owners.contains(&system.owners[entry.0 as usize]);
            contradiction.iter().any(owned)
        };
        if let Some(contradiction) = contradictions.iter().find(touches) {
            elements = contradiction
                .iter()
                .map(|(row, _)| system.owners[*row as usize])
                .collect();
            opposed = right_side(causality, field, known, system, contradiction);
        }
        elements.sort_unstable();
        elements.dedup();
        defects.push(Defect {
            storage,
            ports,
            elements,
            opposed,
        });
    }
    defects
}

/// Returns the sources and states on the right side of a sum of equations.
fn right_side<F: Field>(
    causality: &Causality,
    field: &mut F,
    known: Known,
    system: &System<F::Element>,
    factors: &Row<F::Element>,
) -> Vec<PortId> {
    let mut sums = rustc_hash::FxHashMap::default();
    for (row, factor) in factors {
        for (column, value) in &system.right[*row as usize] {
            let product = field.mul(factor, value);
            let sum = sums.entry(*column).or_insert_with(|| field.zero());
            *sum = field.add(sum, &product);
        }
    }
    let mut ports: Vec<PortId> = sums
        .into_iter()
        .filter(|(_, sum)| !field.is_zero(sum))
        .filter_map(|(column, _)| {
            let column = column as usize;
            if column >= known.columns() {
                return None;
            }
            match column.checked_sub(known.storage) {
                None => causality.independent.get(column),
                Some(source) if known.sources > 0 => causality.sources.get(source % known.sources),
                Some(_) => None,
            }
        })
        .copied()
        .collect();
    ports.sort_unstable();
    ports.dedup();
    ports
}

/// Returns independent vectors that the rows map to zero, each as its nonzero entries.
fn null_vectors<F: Field>(field: &mut F, rows: Vec<Row<F::Element>>, columns: usize) -> Vec<Row<F::Element>> {
    let rows: Vec<Row<F::Element>> = rows
        .into_iter()
        .map(|row| row.into_iter().filter(|entry| !field.is_zero(&entry.1)).collect())
        .collect();
    let mut elimination = Elimination::new(rows, columns);
    let free = elimination.pivot_all(field, 0..columns as u32);
    let mut vectors = Vec::new();
    for column in free.into_iter().take(DEFECTS) {
        let mut values: Vec<Option<F::Element>> = vec![None; columns];
        values[column as usize] = Some(field.one());
        for (row, pivot) in elimination.pivots.iter().rev() {
            let (mut sum, mut own) = (field.zero(), field.one());
            for (other, coefficient) in &elimination.rows[*row as usize] {
                if other == pivot {
                    own = coefficient.clone();
                } else if let Some(value) = &values[*other as usize] {
                    let product = field.mul(coefficient, value);
                    sum = field.add(&sum, &product);
                }
            }
            if !field.is_zero(&sum) {
                let quotient = field.div(&sum, &own);
                values[*pivot as usize] = Some(field.neg(&quotient));
            }
        }
        let entries = values.into_iter().enumerate();
        vectors.push(entries.filter_map(|(at, value)| Some((at as u32, value?))).collect());
    }
    vectors
}

#[cfg(test)]
mod tests {
    use super::*;
    use lgm_algebra::PrimeField;

    #[test]
    fn vectors_that_are_sent_to_zero() {
        let minus = PrimeField::MODULUS - 1;
        let rows = vec![vec![(0, 1), (1, 1)], vec![(1, 1), (2, minus)], vec![(0, 1), (2, 1)]];
        let found = null_vectors(&mut PrimeField, rows, 3);
        assert_eq!(found.len(), 1);
        let mut columns: Vec<u32> = found[0].iter().map(|entry| entry.0).collect();
        columns.sort_unstable();
        assert_eq!(columns, [0, 1, 2]);
        let regular = vec![vec![(0, 1)], vec![(0, 1), (1, 1)]];
        assert!(null_vectors(&mut PrimeField, regular, 2).is_empty());
    }
}
