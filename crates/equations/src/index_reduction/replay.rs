//! The junction structure solved in a field, with the pivots that causality chose.

use crate::causality::Causality;
use crate::causality::elimination::{Elimination, Row, find, scaled};
use crate::causality::structure::port_column;
use crate::index_reduction::layout::{Layout, Refusal};
use crate::index_reduction::rows::sum_rows;
use lgm_algebra::expr::ExprId;
use lgm_algebra::{Field, FromExpression};
use lgm_model::{ElementId, Law, Model, PortId, Variable};

pub(crate) fn solved_variable(causality: &Causality, port: PortId) -> Variable {
    causality.solved[port.index()].expect("invariant: causality assigns every storage, dissipator and source")
}

/// Columns from here on represent undetermined variables, each with a separate column: the difference of two of them
/// stays undetermined, and their cancellation is visible. All other columns are far below.
pub(crate) const UNDETERMINED: u32 = 1 << 31;

/// Rows of structure columns over the layout's columns; a row that ends in a column from [`UNDETERMINED`] on is
/// undetermined.
pub(crate) struct Solved<E> {
    pub(crate) rows: Vec<Option<Row<E>>>,
}

impl<E> Solved<E> {
    pub(crate) fn row(&self, column: u32) -> &Row<E> {
        self.rows[column as usize]
            .as_ref()
            .expect("invariant: every column that is read was resolved")
    }
}

/// Sets the rows of the given variables: each is its column in the layout.
fn give_columns<F: Field>(causality: &Causality, field: &F, layout: Layout, rows: &mut [Option<Row<F::Element>>]) {
    let mut unit = |field: &F, port: &PortId, variable: Variable, column: u32| {
        rows[port_column(*port, variable) as usize] = Some(vec![(column, field.one())]);
    };
    for (k, port) in causality.independent.iter().enumerate() {
        unit(
            field,
            port,
            solved_variable(causality, *port).conjugate(),
            layout.known.co_energy(k),
        );
    }
    for (k, port) in causality.sources.iter().chain(&causality.nonlinear).enumerate() {
        unit(
            field,
            port,
            solved_variable(causality, *port).conjugate(),
            layout.known.source(k),
        );
    }
    for (k, port) in causality.dependent.iter().enumerate() {
        unit(
            field,
            port,
            solved_variable(causality, *port).conjugate(),
            layout.conjugate(k),
        );
    }
    for (k, port) in causality.dissipators.iter().enumerate() {
        unit(
            field,
            port,
            solved_variable(causality, *port).conjugate(),
            layout.dissipator(k),
        );
    }
}

/// Returns the steps of the elimination whose variables are needed, and the columns that are solved variables of ports.
fn needed_steps<E>(
    causality: &Causality,
    elimination: &Elimination<E>,
    wanted: &[u32],
    step_of: &[u32],
) -> (Vec<bool>, Vec<bool>) {
    let mut needed = vec![false; causality.pivots.len()];
    let mut stack: Vec<u32> = wanted.to_vec();
    let mut of_port = vec![false; causality.structure.columns];
    for port in causality
        .independent
        .iter()
        .chain(&causality.dependent)
        .chain(&causality.dissipators)
    {
        let column = port_column(*port, solved_variable(causality, *port));
        of_port[column as usize] = true;
        stack.push(column);
    }
    while let Some(column) = stack.pop() {
        let step = step_of[column as usize];
        if step != u32::MAX && !std::mem::replace(&mut needed[step as usize], true) {
            let row = causality.pivots[step as usize].0;
            stack.extend(
                elimination.rows[row as usize]
                    .iter()
                    .map(|entry| entry.0)
                    .filter(|other| *other != column),
            );
        }
    }
    (needed, of_port)
}

/// Replays the elimination in the field and writes the needed columns over the unsolved columns.
pub(crate) fn solve_structure<F: Field + FromExpression>(
    model: &Model,
    causality: &Causality,
    field: &mut F,
    layout: Layout,
    wanted: &[u32],
) -> Result<Solved<F::Element>, Refusal> {
    let structure = &causality.structure;
    let rows = structure
        .rows_in(field, |field, id| {
            field.from_expression(&model.exprs, id).map_err(|fault| (id, fault))
        })
        .map_err(|(id, fault)| Refusal::Value(holder_of_modulus(model, id), fault))?;
    let as_they_are = causality.modulated.then(|| rows.clone());
    let mut elimination = Elimination::new(rows, structure.columns);
    let mut is_safe = true;
    for &(row, column) in &causality.pivots {
        // This must precede any division by the pivot: the field keeps the first expression of each value.
        is_safe = !(causality.modulated && elimination.may_vanish(field, row, column));
        if !is_safe {
            break;
        }
        if !elimination.holds(row, column) {
            return Err(if field.exhausted() {
                Refusal::TooLarge
            } else {
                Refusal::LowerRank
            });
        }
        elimination.pivot_on(field, row, column);
    }
    let mut step_of = vec![u32::MAX; structure.columns];
    for (step, (_, column)) in causality.pivots.iter().enumerate() {
        step_of[*column as usize] = step as u32;
    }
    let mut rows: Vec<Option<Row<F::Element>>> = vec![None; structure.columns];
    give_columns(causality, field, layout, &mut rows);
    for (k, column) in causality.free.iter().enumerate() {
        rows[*column as usize] = Some(vec![(UNDETERMINED + k as u32, field.one())]);
    }
    if let Some(structure) = as_they_are.filter(|_| !is_safe) {
        return solve_at_once(causality, field, structure, &step_of, rows);
    }
    // Rows are resolved backwards: a pivot row contains only later pivots and given columns.
    let (needed, of_port) = needed_steps(causality, &elimination, wanted, &step_of);
    for (step, (row, column)) in causality.pivots.iter().enumerate().rev() {
        if needed[step] {
            let mut row = resolve(field, &elimination.rows[*row as usize], *column, &rows);
            if of_port[*column as usize] {
                // The structure determines every port, so an undetermined variable can only be round-off of doubles.
                row.retain(|entry| entry.0 < UNDETERMINED);
            }
            rows[*column as usize] = Some(row);
        }
        if field.exhausted() {
            return Err(Refusal::TooLarge);
        }
    }
    Ok(Solved { rows })
}

/// Solves the rows of the structure together for the columns of all pivots. This is needed if a pivot may pass zero
/// although it is nonzero in general: elimination in the order of priority would divide by it.
pub(crate) fn solve_at_once<F: Field>(
    causality: &Causality,
    field: &mut F,
    structure: Vec<Row<F::Element>>,
    step_of: &[u32],
    mut rows: Vec<Option<Row<F::Element>>>,
) -> Result<Solved<F::Element>, Refusal> {
    let (mut matrix, mut right) = (Vec::new(), Vec::new());
    for (row, _) in &causality.pivots {
        let (mut own, mut side) = (Vec::new(), Vec::new());
        for (column, value) in &structure[*row as usize] {
            match &rows[*column as usize] {
                None => own.push((step_of[*column as usize], value.clone())),
                Some(known) => {
                    let minus = field.neg(value);
                    side.push(scaled(field, known, &minus));
                }
            }
        }
        own.sort_unstable_by_key(|entry| entry.0);
        matrix.push(own);
        right.push(sum_rows(field, side));
    }
    let solution = lgm_algebra::solve(field, matrix, right).map_err(|_| Refusal::LowerRank)?;
    if field.exhausted() {
        return Err(Refusal::TooLarge);
    }
    for ((_, column), row) in causality.pivots.iter().zip(solution) {
        rows[*column as usize] = Some(row);
    }
    Ok(Solved { rows })
}

/// Computes `column = -(other entries)/(its own entry)`, with the other columns replaced by their rows.
pub(crate) fn resolve<F: Field>(
    field: &mut F,
    row: &Row<F::Element>,
    column: u32,
    rows: &[Option<Row<F::Element>>],
) -> Row<F::Element> {
    let at = find(row, column).expect("invariant: a pivot row holds its pivot");
    let inverse = field.invert(&row[at].1);
    let factor = field.neg(&inverse);
    let mut parts = Vec::with_capacity(row.len() - 1);
    for (other, value) in row.iter().filter(|entry| entry.0 != column) {
        let value = field.mul(value, &factor);
        let known = rows[*other as usize]
            .as_ref()
            .expect("invariant: pivots are resolved in reverse order");
        parts.push(if known.len() == 1 {
            vec![(known[0].0, field.mul(&known[0].1, &value))]
        } else {
            scaled(field, known, &value)
        });
    }
    sum_rows(field, parts)
}

pub(crate) fn holder_of_modulus(model: &Model, id: ExprId) -> ElementId {
    let index = model
        .graph
        .elements
        .iter()
        .position(|element| matches!(&element.law, Law::Coupler { matrix, .. } if matrix.entries.contains(&id)))
        .expect("invariant: a modulus belongs to a coupler");
    ElementId(index as u32)
}
