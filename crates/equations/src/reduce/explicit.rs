//! The linear core, over any field: what the junction structure leaves once dependent storage and dissipators are eliminated.
//!
//! The junction structure is replayed in the field with the pivots that causality chose, which gives w_i, z_d and the
//! solved variables of dissipators over z_i, w_d, u and the other variables of dissipators. Then two sparse solves:
//! the dissipators' laws (algebraic loops), and the storage laws with `z_d' = S_di z_i' + S_du u'` in them. Eliminating w_d
//! from the second is the bracket `[I; S_di]' M [I; S_di]`, with the terms of u' beside it.

use super::laws::{System, dissipator_system, storage_system};
use super::{Known, Reduced};
use crate::causality::Causality;
use crate::causality::elimination::{Elimination, Row, add_scaled, find, scaled};
use crate::causality::structure::port_column;
use lgm_algebra::expr::{Evaluated, ExprId};
use lgm_algebra::{Field, FromExpression, Sharing};
use lgm_model::{ElementId, Law, Model, PortId, Variable};

/// Why there are no explicit equations.
#[derive(Clone, Debug)]
pub enum Refusal {
    /// A value cannot be computed.
    Value(ElementId, Evaluated),
    /// The numbers have a lower rank than the parameters in general.
    LowerRank,
    /// The dissipators' laws do not determine their variables; the element whose equation has no pivot.
    SingularLoop(ElementId),
    /// The storage laws do not determine the rates; the element whose equation has no pivot.
    SingularStorage(ElementId),
    /// A variable that was asked for is not determined: a circulating flow of an ideal loop. Index of the request.
    Undetermined(usize),
    /// The same of a column of the junction structure that stands for no measured variable.
    UndeterminedColumn(u32),
    /// The size limit of the field was passed.
    TooLarge,
    /// Written out, the rows have more entries than is allowed.
    TooManyEntries,
}

/// Column layout while dissipators and dependent storage are still unknown: [`Known`] columns, then w_d, then the given
/// variable of each dissipator.
#[derive(Clone, Copy)]
pub(super) struct Layout {
    pub(super) known: Known,
    dependent: usize,
}

impl Layout {
    pub(super) fn of(causality: &Causality) -> Layout {
        Layout::leaving(causality, Solve::Rates)
    }
    fn leaving(causality: &Causality, extent: Solve) -> Layout {
        Layout {
            known: Known {
                storage: causality.independent.len(),
                sources: causality.sources.len() + causality.nonlinear.len(),
                drifts: if causality.modulated {
                    causality.dependent.len()
                } else {
                    0
                },
                rates: match extent {
                    Solve::Rates => 0,
                    Solve::Conjugates => causality.independent.len(),
                },
            },
            dependent: causality.dependent.len(),
        }
    }
    pub(super) fn conjugate(self, k: usize) -> u32 {
        (self.known.columns() + k) as u32
    }
    pub(super) fn dissipator(self, k: usize) -> u32 {
        (self.known.columns() + self.dependent + k) as u32
    }
}

/// How far the storage laws are solved.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Solve {
    /// For the rates of independent storage.
    Rates,
    /// For the conjugates of dependent storage alone; the laws of independent storage are left as equations of their rates.
    Conjugates,
}

/// Reduces a graph over a field. `wanted` are columns of the junction structure whose values are asked for.
///
/// Where `sharing` counts entries, or the rates have more than `longest` of them together, it is refused to write them out.
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

/// What the structure gives to storage: w_i over known columns and w_d, and z_d over known columns.
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
        // S_dd = 0 and S_dr = 0 by power conservation, or by what tied the storage; what doubles leave there is rounding.
        row.retain(|entry| entry.0 < layout.conjugate(0));
        dependent_co_energy.push(row);
    }
    Ok((conjugates, dependent_co_energy))
}

pub(super) fn solved_variable(causality: &Causality, port: PortId) -> Variable {
    causality.solved[port.index()].expect("invariant: causality assigns every storage, dissipator and source")
}

/// Columns from here on stand for variables that nothing determines, each with a column of its own, so that a difference
/// of two of them stays undetermined and their cancelling is seen. All other columns are far below.
const UNDETERMINED: u32 = 1 << 31;

/// Rows of structure columns over the layout's columns; a row that ends in a column from [`UNDETERMINED`] on is
/// undetermined.
pub(super) struct Solved<E> {
    rows: Vec<Option<Row<E>>>,
}

impl<E> Solved<E> {
    pub(super) fn row(&self, column: u32) -> &Row<E> {
        self.rows[column as usize]
            .as_ref()
            .expect("invariant: every column that is read was resolved")
    }
}

/// Replays the elimination in the field and writes the needed columns over the columns that were not solved for.
pub(super) fn solve_structure<F: Field + FromExpression>(
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
        // Before anything is divided by it: the field keeps the first expression of each value.
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
    for (k, column) in causality.free.iter().enumerate() {
        rows[*column as usize] = Some(vec![(UNDETERMINED + k as u32, field.one())]);
    }
    if let Some(structure) = as_they_are.filter(|_| !is_safe) {
        return solve_at_once(causality, field, structure, &step_of, rows);
    }
    // Mark what is needed, then resolve it backwards: a pivot row holds later pivots and given columns only.
    let mut needed = vec![false; causality.pivots.len()];
    let mut stack: Vec<u32> = wanted.to_vec();
    let mut of_port = vec![false; structure.columns];
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
    for (step, (row, column)) in causality.pivots.iter().enumerate().rev() {
        if needed[step] {
            let mut row = resolve(field, &elimination.rows[*row as usize], *column, &rows);
            if of_port[*column as usize] {
                // The structure determines every port, so an undetermined variable is here by the rounding of doubles only.
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

/// The rows of the structure solved together, for the columns of all pivots: where one of these may pass zero, though it is not zero in
/// general, elimination in the order of priority would divide by it.
fn solve_at_once<F: Field>(
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

/// `column = -(other entries)/(its own entry)`, with the other columns replaced by their rows.
fn resolve<F: Field>(
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

/// The sum of many rows; pairwise, so that n rows of one entry cost n log n.
pub(super) fn sum_rows<F: Field>(field: &mut F, mut parts: Vec<Row<F::Element>>) -> Row<F::Element> {
    let one = field.one();
    while parts.len() > 1 {
        let mut next = Vec::with_capacity(parts.len().div_ceil(2));
        let mut pairs = parts.into_iter();
        while let Some(first) = pairs.next() {
            next.push(match pairs.next() {
                Some(second) => add_scaled(field, &first, &second, &one, None, |_| {}),
                None => first,
            });
        }
        parts = next;
    }
    parts.pop().unwrap_or_default()
}

/// Replaces the columns `start..start + table.len()` of a row by the table's rows.
pub(crate) fn substitute<F: Field>(
    field: &mut F,
    row: &Row<F::Element>,
    start: u32,
    table: &[Row<F::Element>],
) -> Row<F::Element> {
    let end = start + table.len() as u32;
    if !row.iter().any(|entry| (start..end).contains(&entry.0)) {
        return row.clone();
    }
    let mut parts = vec![
        row.iter()
            .filter(|entry| !(start..end).contains(&entry.0))
            .cloned()
            .collect::<Row<F::Element>>(),
    ];
    for (column, value) in row.iter().filter(|entry| (start..end).contains(&entry.0)) {
        parts.push(scaled(field, &table[(column - start) as usize], value));
    }
    sum_rows(field, parts)
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

/// Solves with long rows shared, if sharing was asked for; the field's own way elsewhere.
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

fn holder_of_modulus(model: &Model, id: ExprId) -> ElementId {
    let index = model
        .elements
        .iter()
        .position(|element| matches!(&element.law, Law::Coupler { matrix, .. } if matrix.entries.contains(&id)))
        .expect("invariant: a modulus belongs to a coupler");
    ElementId(index as u32)
}
