//! The laws of dissipators and of storage as sparse linear equations over the columns of a solved junction structure.

use crate::causality::Causality;
use crate::causality::elimination::Row;
use crate::causality::structure::port_column;
use crate::index_reduction::layout::{Layout, Refusal};
use crate::index_reduction::replay::{Solved, solved_variable};
use crate::index_reduction::rows::sum_rows;
use lgm_algebra::expr::ExprId;
use lgm_algebra::{Field, FromExpression, SHARED};
use lgm_model::{Dissipator, ElementId, Law, Matrix, Model, PortId, StorageForm, Variable};

/// Adds `factor * row` to a left side over unknowns (columns from `start`) and to a right side over known columns,
/// where the sign changes.
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

/// An equation: the coefficients of the unknowns, and the right side.
pub(super) type Sides<E> = (Row<E>, Row<E>);

/// Linear equations: the coefficients of the unknowns, the right sides over known columns, and the element of each equation.
pub(super) struct System<E> {
    pub(super) matrix: Vec<Row<E>>,
    pub(super) right: Vec<Row<E>>,
    pub(super) owners: Vec<ElementId>,
    /// Unsolved equations with their right sides: the laws of independent storage whose rates are columns.
    pub(super) left_over: Vec<Sides<E>>,
}

/// Returns the dissipators' laws as equations for the variables that they give to the structure, in the order of the
/// dissipators. Right sides are over known columns and w_d. The latter appear only for storage that is tied by the laws
/// of dissipators; elsewhere they vanish because S_rd = 0, and doubles leave only round-off.
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
    for (element_index, element) in model.graph.elements.iter().enumerate() {
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
                    } else if *column < layout.conjugate(0) || is_tied(causality, layout, *column) {
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

/// Returns true if a column is the w_d of tied storage.
fn is_tied(causality: &Causality, layout: Layout, column: u32) -> bool {
    let port = causality.dependent.get((column - layout.conjugate(0)) as usize);
    port.is_some_and(|port| causality.tied.contains(port))
}

/// Returns the terms of one equation of a dissipator, `sum of value * variable(port) = 0`.
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

pub(super) fn value_of<F: Field + FromExpression>(
    field: &mut F,
    model: &Model,
    id: ExprId,
    element: ElementId,
) -> Result<F::Element, Refusal> {
    field
        .from_expression(&model.exprs, id)
        .map_err(|fault| Refusal::Value(element, fault))
}

/// Returns the storage laws as equations for the rates of independent storage, then for the conjugates w_d of dependent storage.
pub(super) fn storage_system<F: Field + FromExpression>(
    model: &Model,
    causality: &Causality,
    field: &mut F,
    layout: Layout,
    conjugates: &[Row<F::Element>],
    dependent_co_energy: &[Row<F::Element>],
) -> Result<System<F::Element>, Refusal> {
    // Unknowns: z_i' first, then w_d; only w_d if the rates are columns.
    let storage = causality.independent.len() - layout.known.rates;
    let mut place = rustc_hash::FxHashMap::default();
    for (k, port) in causality.independent.iter().enumerate() {
        place.insert(*port, (true, k));
    }
    for (k, port) in causality.dependent.iter().enumerate() {
        place.insert(*port, (false, k));
    }
    let (mut matrix, mut right, mut owners) = (Vec::new(), Vec::new(), Vec::new());
    // The laws of independent storage, in the order of their ports, if they are not solved.
    let mut left_over: Vec<Sides<F::Element>> = vec![Default::default(); layout.known.rates];
    for (element_index, element) in model.graph.elements.iter().enumerate() {
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

/// Adds `factor * z'` of a storage port; for dependent storage `z_d' = S_di z_i' + S_du u'`, plus its drift if moduli change.
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
