//! The linear core of design section 2 over any field.
//!
//! The junction structure is replayed in the field with the pivots that causality chose, which gives w_i, z_d and the
//! solved variables of dissipators over z_i, w_d, u and the other variables of dissipators. Then two sparse solves:
//! the dissipators' laws (algebraic loops), and the storage laws with `z_d' = S_di z_i' + S_du u'` in them. Eliminating w_d
//! from the second is the bracket `[I; S_di]' M [I; S_di]`, with the terms of u' beside it.

use super::{Known, Reduced};
use crate::algebra::{self, Field, FromExpression, SHARED, Sharing};
use crate::causality::Causality;
use crate::causality::elimination::{Elimination, Row, add_scaled, find, scaled};
use crate::causality::structure::port_column;
use crate::elaborate::model::{Dissipator, ElementId, Law, Matrix, Model, PortId, StorageForm, Variable};
use crate::expr::{Evaluated, ExprId};

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
    fn conjugate(self, k: usize) -> u32 {
        (self.known.columns() + k) as u32
    }
    fn dissipator(self, k: usize) -> u32 {
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
        let mut row = solved
            .row(port_column(*port, solved_variable(causality, *port)))
            .clone();
        // S_dd = 0 and S_dr = 0 by power conservation; what doubles leave there is rounding.
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
    fn row(&self, column: u32) -> &Row<E> {
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
    let mut elimination = Elimination::new(rows, structure.columns);
    for &(row, column) in &causality.pivots {
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
fn sum_rows<F: Field>(field: &mut F, mut parts: Vec<Row<F::Element>>) -> Row<F::Element> {
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

/// Adds `factor * row` to a left side over unknowns (columns from `start`) and to a right side over known columns, where it
/// changes its sign.
struct Equation<E> {
    left: Vec<Row<E>>,
    right: Vec<Row<E>>,
}

impl<E: Clone + std::fmt::Debug> Equation<E> {
    fn new() -> Equation<E> {
        Equation {
            left: Vec::new(),
            right: Vec::new(),
        }
    }

    fn add_unknown(&mut self, column: u32, value: E) {
        self.left.push(vec![(column, value)]);
    }

    fn finish<F: Field<Element = E>>(self, field: &mut F) -> (Row<E>, Row<E>) {
        (sum_rows(field, self.left), sum_rows(field, self.right))
    }
}

/// An equation: what multiplies the unknowns, and the right side.
type Sides<E> = (Row<E>, Row<E>);

/// Linear equations: what multiplies the unknowns, the right side over known columns, and the element that each is of.
pub(super) struct System<E> {
    pub(super) matrix: Vec<Row<E>>,
    pub(super) right: Vec<Row<E>>,
    pub(super) owners: Vec<ElementId>,
    /// Equations that are not solved, with their right sides: the laws of independent storage whose rates are columns.
    left_over: Vec<Sides<E>>,
}

/// The dissipators' laws as equations for the variables that the structure takes from them, in the order of the
/// dissipators. Right sides over known columns and w_d, the latter only where a loop through dependent storage needs them
/// (S_rd = 0 makes them vanish).
pub(super) fn dissipator_system<F: Field + FromExpression>(
    model: &Model,
    causality: &Causality,
    field: &mut F,
    layout: Layout,
    solved: &Solved<F::Element>,
) -> Result<System<F::Element>, Refusal> {
    let mut index_of = rustc_hash::FxHashMap::default();
    for (k, port) in causality.dissipators.iter().enumerate() {
        index_of.insert(*port, k as u32);
    }
    let (mut matrix, mut right, mut owners) = (Vec::new(), Vec::new(), Vec::new());
    for (element_index, element) in model.elements.iter().enumerate() {
        let Law::Dissipator(law) = &element.law else { continue };
        let id = ElementId(element_index as u32);
        let ports: Vec<PortId> = element.ports.clone().map(PortId).collect();
        for equation_index in 0..ports.len() {
            let mut equation = Equation::new();
            for (variable, port, value) in dissipator_terms(field, model, law, &ports, equation_index, id)? {
                let unknown = solved_variable(causality, port) != variable;
                if unknown {
                    equation.add_unknown(index_of[&port], value);
                    continue;
                }
                let minus = field.neg(&value);
                let row = solved.row(port_column(port, variable));
                let split = layout.dissipator(0);
                let mut known = Row::new();
                for (column, coefficient) in row {
                    if *column >= split {
                        let product = field.mul(&value, coefficient);
                        equation.add_unknown(column - split, product);
                    } else if *column < layout.conjugate(0) {
                        known.push((*column, field.mul(&minus, coefficient)));
                    }
                }
                equation.right.push(known);
            }
            let (left, known) = equation.finish(field);
            matrix.push(left);
            right.push(known);
            owners.push(id);
        }
    }
    Ok(System {
        matrix,
        right,
        owners,
        left_over: Vec::new(),
    })
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
        algebra::solve(field, matrix, right)
    } else {
        algebra::solve_sharing(field, matrix, right, sharing)
    };
    let solution = solution.map_err(|fault| singular(fault.row as usize))?;
    if sharing.is_exceeded() {
        return Err(Refusal::TooManyEntries);
    }
    Ok(solution)
}

/// The terms of one equation of a dissipator, `sum of value * variable(port) = 0`.
fn dissipator_terms<F: Field + FromExpression>(
    field: &mut F,
    model: &Model,
    law: &Dissipator,
    ports: &[PortId],
    equation: usize,
    id: ElementId,
) -> Result<Vec<(Variable, PortId, F::Element)>, Refusal> {
    let mut terms = Vec::new();
    let mut add = |field: &mut F, variable, matrix: &Matrix, negative: bool| -> Result<(), Refusal> {
        for (k, port) in ports.iter().enumerate() {
            let value = value_of(field, model, matrix.get(equation, k), id)?;
            if !field.is_zero(&value) {
                let value = if negative { field.neg(&value) } else { value };
                terms.push((variable, *port, value));
            }
        }
        Ok(())
    };
    match law {
        Dissipator::Resistance(matrix) => {
            add(field, Variable::Flow, matrix, true)?;
            terms.push((Variable::Effort, ports[equation], field.one()));
        }
        Dissipator::Conductance(matrix) => {
            add(field, Variable::Effort, matrix, true)?;
            terms.push((Variable::Flow, ports[equation], field.one()));
        }
        Dissipator::Implicit(efforts, flows) => {
            add(field, Variable::Effort, efforts, false)?;
            add(field, Variable::Flow, flows, false)?;
        }
    }
    Ok(terms)
}

fn value_of<F: Field + FromExpression>(
    field: &mut F,
    model: &Model,
    id: ExprId,
    element: ElementId,
) -> Result<F::Element, Refusal> {
    field
        .from_expression(&model.exprs, id)
        .map_err(|fault| Refusal::Value(element, fault))
}

fn holder_of_modulus(model: &Model, id: ExprId) -> ElementId {
    let index = model
        .elements
        .iter()
        .position(|element| matches!(&element.law, Law::Coupler { matrix, .. } if matrix.entries.contains(&id)))
        .expect("invariant: a modulus belongs to a coupler");
    ElementId(index as u32)
}

/// The storage laws as equations for the rates of independent storage, then the conjugates w_d of dependent storage.
pub(super) fn storage_system<F: Field + FromExpression>(
    model: &Model,
    causality: &Causality,
    field: &mut F,
    layout: Layout,
    conjugates: &[Row<F::Element>],
    dependent_co_energy: &[Row<F::Element>],
) -> Result<System<F::Element>, Refusal> {
    // Unknowns: z_i' first, then w_d; w_d alone where the rates are columns.
    let storage = causality.independent.len() - layout.known.rates;
    let mut place = rustc_hash::FxHashMap::default();
    for (k, port) in causality.independent.iter().enumerate() {
        place.insert(*port, (true, k));
    }
    for (k, port) in causality.dependent.iter().enumerate() {
        place.insert(*port, (false, k));
    }
    let (mut matrix, mut right, mut owners) = (Vec::new(), Vec::new(), Vec::new());
    // The laws of independent storage, in the order of their ports, where these are not solved.
    let mut left_over: Vec<Sides<F::Element>> = vec![Default::default(); layout.known.rates];
    for (element_index, element) in model.elements.iter().enumerate() {
        let Law::Storage { value, form, .. } = &element.law else {
            continue;
        };
        let id = ElementId(element_index as u32);
        for (row, port) in element.ports.clone().map(PortId).enumerate() {
            let mut equation = Equation::new();
            let one = field.one();
            match form {
                StorageForm::Direct => {
                    add_conjugate(field, &mut equation, layout, place[&port], conjugates, storage, &one)
                }
                StorageForm::Inverse => {
                    add_rate(field, &mut equation, layout, place[&port], dependent_co_energy, &one);
                }
            }
            for (column, other) in element.ports.clone().map(PortId).enumerate() {
                let entry = value_of(field, model, value.get(row, column), id)?;
                if field.is_zero(&entry) {
                    continue;
                }
                let minus = field.neg(&entry);
                match form {
                    StorageForm::Direct => {
                        add_rate(field, &mut equation, layout, place[&other], dependent_co_energy, &minus);
                    }
                    StorageForm::Inverse => {
                        add_conjugate(field, &mut equation, layout, place[&other], conjugates, storage, &minus);
                    }
                }
            }
            let (left, known) = equation.finish(field);
            match place[&port] {
                (true, k) if k < left_over.len() => left_over[k] = (left, known),
                _ => {
                    matrix.push(left);
                    right.push(known);
                    owners.push(id);
                }
            }
        }
    }
    Ok(System {
        matrix,
        right,
        owners,
        left_over,
    })
}

/// Adds `factor * w` of a storage port.
fn add_conjugate<F: Field>(
    field: &mut F,
    equation: &mut Equation<F::Element>,
    layout: Layout,
    (independent, k): (bool, usize),
    conjugates: &[Row<F::Element>],
    storage: usize,
    factor: &F::Element,
) {
    if !independent {
        equation.add_unknown((storage + k) as u32, factor.clone());
        return;
    }
    let minus = field.neg(factor);
    let mut known = Row::new();
    for (column, value) in &conjugates[k] {
        if (layout.conjugate(0)..SHARED).contains(column) {
            let product = field.mul(factor, value);
            equation.add_unknown(column - layout.conjugate(0) + storage as u32, product);
        } else {
            known.push((*column, field.mul(&minus, value)));
        }
    }
    equation.right.push(known);
}

/// Adds `factor * z'` of a storage port; for dependent storage `z_d' = S_di z_i' + S_du u'`, and its drift where moduli
/// change.
fn add_rate<F: Field>(
    field: &mut F,
    equation: &mut Equation<F::Element>,
    layout: Layout,
    (independent, k): (bool, usize),
    dependent_co_energy: &[Row<F::Element>],
    factor: &F::Element,
) {
    let minus = field.neg(factor);
    let are_columns = layout.known.rates > 0;
    if independent {
        if are_columns {
            equation.right.push(vec![(layout.known.rate(k), minus)]);
        } else {
            equation.add_unknown(k as u32, factor.clone());
        }
        return;
    }
    let mut known = Row::new();
    let mut rates = Row::new();
    for (column, value) in &dependent_co_energy[k] {
        if (*column as usize) < layout.known.storage {
            if are_columns {
                rates.push((layout.known.rate(*column as usize), field.mul(&minus, value)));
            } else {
                let product = field.mul(factor, value);
                equation.add_unknown(*column, product);
            }
        } else {
            let source = *column as usize - layout.known.storage;
            known.push((layout.known.source_rate(source), field.mul(&minus, value)));
        }
    }
    if k < layout.known.drifts {
        known.push((layout.known.drift(k), minus));
    }
    known.extend(rates);
    equation.right.push(known);
}
