//! From the reduced graph to rows over states, inputs and input rates: sources and their values, controlled sources,
//! declared integrals, and every measured variable.
//!
//! A controlled source is a source for causality. Here, after causality and reduction, its value closes an outer loop,
//! solved like any other.

use crate::causality::elimination::{Row, RowSum, add_scaled, scaled};
use crate::index_reduction::{Reduced, substitute};
use lgm_algebra::expr::{Affine, Evaluated, ExprId, Exprs, Node, SymbolId, SymbolKind};
use lgm_algebra::{Field, FromExpression};
use lgm_model::{ElementId, Law, Model, PortId};
use rustc_hash::FxHashMap;

/// Columns of assembled rows.
///
/// In order: states of storage (first co-energies, later the chosen states), states of declared integrals, states added
/// for outputs, inputs, input rates, source constants, their rates, and, while the outer loop is unsolved, the values
/// and rates of controlled sources.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Columns {
    pub(crate) storage: usize,
    pub(crate) integrals: usize,
    pub(crate) added: usize,
    pub(crate) inputs: usize,
    pub(crate) constants: usize,
    pub(crate) controlled: usize,
}

impl Columns {
    pub(crate) fn states(self) -> usize {
        self.storage + self.integrals + self.added
    }
    pub(crate) fn integral(self, k: usize) -> u32 {
        (self.storage + k) as u32
    }
    pub(crate) fn added(self, k: usize) -> u32 {
        (self.storage + self.integrals + k) as u32
    }
    pub(crate) fn input(self, k: usize) -> u32 {
        (self.states() + k) as u32
    }
    pub(crate) fn input_rate(self, k: usize) -> u32 {
        (self.states() + self.inputs + k) as u32
    }
    pub(crate) fn constant(self, k: usize) -> u32 {
        (self.states() + 2 * self.inputs + k) as u32
    }
    pub(crate) fn constant_rate(self, k: usize) -> u32 {
        (self.states() + 2 * self.inputs + self.constants + k) as u32
    }
    pub(crate) fn controlled(self, k: usize) -> u32 {
        (self.states() + 2 * self.inputs + 2 * self.constants + k) as u32
    }
    pub(crate) fn controlled_rate(self, k: usize) -> u32 {
        (self.states() + 2 * self.inputs + 2 * self.constants + self.controlled + k) as u32
    }
}

/// Obstacles to the assembly.
#[derive(Clone, Debug)]
pub(crate) enum Obstacle {
    /// The index of a declared integral whose integrand needs a derivative that does not exist.
    NoRateOfIntegral(usize),
    /// A second derivative would be needed, and no single element requires it.
    SecondRateInModel,
    /// An algebraic loop that no single element closes has no solution.
    SingularLoop,
    /// The index of a declared integral whose rate depends on itself, without an element in the loop.
    SingularIntegral(usize),
    /// A controlled source would need the second derivative of an input.
    SecondRate(ElementId),
    /// The loop that a controlled source closes has no solution.
    SingularControl(ElementId),
    /// A coefficient cannot be computed.
    Value(Evaluated),
    /// The derivative of a source's value is needed but does not exist.
    NoRate(ElementId),
}

/// Everything as rows over [`Columns`].
#[derive(Clone, Debug)]
pub(crate) struct Assembled<E> {
    pub(crate) columns: Columns,
    /// Rates of storage co-energies and declared integrals, in the order of their columns.
    pub(crate) rates: Vec<Row<E>>,
    /// The measured variables, in the order of [`Model::measures`].
    pub(crate) measures: Vec<Row<E>>,
    /// `z_d` of dependent storage.
    pub(crate) dependent_co_energy: Vec<Row<E>>,
    /// Shared rows, see [`Reduced::shared`].
    pub(crate) shared: Vec<Row<E>>,
    /// The constants' expressions, over parameters and time.
    pub(crate) constants: Vec<ExprId>,
    /// Their time derivatives.
    pub(crate) constant_rates: Vec<ExprId>,
    symbols: Symbols,
}

/// The column or measurement of each symbol.
#[derive(Clone, Debug, Default)]
pub(crate) struct Symbols {
    inputs: FxHashMap<SymbolId, usize>,
    measures: FxHashMap<SymbolId, usize>,
    integrals: FxHashMap<SymbolId, usize>,
}

impl Symbols {
    fn of(model: &Model) -> Symbols {
        Symbols {
            inputs: model
                .inputs
                .iter()
                .enumerate()
                .map(|(k, input)| (input.symbol, k))
                .collect(),
            measures: model
                .measures
                .iter()
                .enumerate()
                .map(|(k, entry)| (entry.0, k))
                .collect(),
            integrals: model
                .integrals
                .iter()
                .enumerate()
                .map(|(k, entry)| (entry.symbol, k))
                .collect(),
        }
    }
}

/// Returns true if an expression is a variable of the equations: an input, a state or a measured variable.
pub(crate) fn is_variable(exprs: &Exprs, id: ExprId) -> bool {
    match exprs.node(id) {
        Node::Symbol(symbol) => matches!(
            exprs.symbol_info(*symbol).kind,
            SymbolKind::Input | SymbolKind::InputRate | SymbolKind::State | SymbolKind::Measure
        ),
        _ => false,
    }
}

/// Returns rows of every source's value over the columns, then of every source's rate.
fn source_rows<F: Field + FromExpression>(
    exprs: &Exprs,
    field: &mut F,
    (values, controlled): (&[SourceValue], &[usize]),
    symbols: &Symbols,
    columns: Columns,
    constant_of: &FxHashMap<ExprId, usize>,
) -> Result<Vec<Row<F::Element>>, Obstacle> {
    let mut table = Vec::with_capacity(2 * values.len());
    let mut rates_table = Vec::with_capacity(values.len());
    for (k, value) in values.iter().enumerate() {
        if let Some(position) = controlled.iter().position(|index| *index == k) {
            table.push(vec![(columns.controlled(position), field.one())]);
            rates_table.push(vec![(columns.controlled_rate(position), field.one())]);
            continue;
        }
        let (mut row, mut rate) = (Row::new(), Row::new());
        for (atom, coefficient) in &value.form.terms {
            let input = variable_index(exprs, *atom, &symbols.inputs)
                .expect("invariant: a source that is not controlled depends on inputs only");
            let coefficient = field.from_expression(exprs, *coefficient).map_err(Obstacle::Value)?;
            if !field.is_zero(&coefficient) {
                row.push((columns.input(input), coefficient.clone()));
                rate.push((columns.input_rate(input), coefficient));
            }
        }
        if let Some(constant) = constant_of.get(&value.form.rest) {
            row.push((columns.constant(*constant), field.one()));
            rate.push((columns.constant_rate(*constant), field.one()));
        }
        row.sort_by_key(|entry| entry.0);
        rate.sort_by_key(|entry| entry.0);
        table.push(row);
        rates_table.push(rate);
    }
    table.append(&mut rates_table);
    Ok(table)
}

/// Assembles the equations; `added` columns are reserved for states that outputs add.
pub(crate) fn assemble<F: Field + FromExpression>(
    model: &Model,
    exprs: &mut Exprs,
    field: &mut F,
    reduced: &Reduced<F::Element>,
    added: usize,
) -> Result<Assembled<F::Element>, Obstacle> {
    let symbols = Symbols::of(model);
    let values = source_values(model, exprs, &reduced.sources);
    let mut constants = Vec::new();
    let mut constant_rates = Vec::new();
    let mut constant_of: FxHashMap<ExprId, usize> = FxHashMap::default();
    let mut integrands = Vec::with_capacity(model.integrals.len());
    for integral in &model.integrals {
        let form = exprs
            .affine(integral.rate, &is_variable)
            .expect("invariant: models with nonlinear integrals are formulated in the room `nonlinear`");
        integrands.push(form);
    }
    let rests = values
        .iter()
        .map(|value| (value.form.rest, Obstacle::NoRate(value.element)))
        .chain(
            integrands
                .iter()
                .enumerate()
                .map(|(index, form)| (form.rest, Obstacle::NoRateOfIntegral(index))),
        );
    for (rest, obstacle) in rests {
        if !exprs.is_zero(rest) && !constant_of.contains_key(&rest) {
            constant_of.insert(rest, constants.len());
            constants.push(rest);
            let rate = exprs.differentiate(rest, model.time).ok_or(obstacle)?;
            constant_rates.push(rate);
        }
    }
    let controlled: Vec<usize> = (0..values.len()).filter(|k| values[*k].is_controlled(exprs)).collect();
    let columns = Columns {
        storage: reduced.known.storage,
        integrals: model.integrals.len(),
        added,
        inputs: model.inputs.len(),
        constants: constants.len(),
        controlled: controlled.len(),
    };
    let table = source_rows(exprs, field, (&values, &controlled), &symbols, columns, &constant_of)?;
    let start = reduced.known.source(0);
    let mut convert = |rows: &[Row<F::Element>]| -> Vec<Row<F::Element>> {
        rows.iter().map(|row| substitute(field, row, start, &table)).collect()
    };
    let mut assembled = Assembled {
        columns,
        rates: convert(&reduced.rates),
        measures: convert(&reduced.wanted),
        dependent_co_energy: convert(&reduced.dependent_co_energy),
        shared: convert(&reduced.shared),
        constants,
        constant_rates,
        symbols,
    };
    for form in &integrands {
        let mut row = assembled.row_of(exprs, field, &form.terms).map_err(Obstacle::Value)?;
        if let Some(constant) = constant_of.get(&form.rest) {
            let (unit, one) = (vec![(columns.constant(*constant), field.one())], field.one());
            row = add_scaled(field, &row, &unit, &one, None, |_| {});
        }
        assembled.rates.push(row);
    }
    if !controlled.is_empty() {
        let loops: Vec<&SourceValue> = controlled.iter().map(|k| &values[*k]).collect();
        close_loops(exprs, field, &mut assembled, &loops, &constant_of)?;
    }
    Ok(assembled)
}

fn variable_index(exprs: &Exprs, id: ExprId, table: &FxHashMap<SymbolId, usize>) -> Option<usize> {
    match exprs.node(id) {
        Node::Symbol(symbol) => table.get(symbol).copied(),
        _ => None,
    }
}

/// A source port's value, `sum of coefficient * variable + constant`.
struct SourceValue {
    element: ElementId,
    form: Affine,
}

impl SourceValue {
    /// Returns true if it depends on more than inputs.
    fn is_controlled(&self, exprs: &Exprs) -> bool {
        self.form.terms.iter().any(|(atom, _)| match exprs.node(*atom) {
            Node::Symbol(symbol) => exprs.symbol_info(*symbol).kind != SymbolKind::Input,
            _ => true,
        })
    }
}

fn source_values(model: &Model, exprs: &mut Exprs, ports: &[PortId]) -> Vec<SourceValue> {
    let mut values = Vec::with_capacity(ports.len());
    for port in ports {
        let id = model.graph.ports[port.index()].element;
        let element = &model.graph.elements[id.index()];
        let Law::Source { values: list, .. } = &element.law else {
            unreachable!("invariant: only sources have source ports")
        };
        let value = list[(port.0 - element.ports.start) as usize];
        let form = exprs
            .affine(value, &is_variable)
            .expect("invariant: models with nonlinear sources are formulated in the room `nonlinear`");
        values.push(SourceValue { element: id, form });
    }
    values
}

impl<E: Clone + std::fmt::Debug> Assembled<E> {
    /// Returns the row of a linear combination of variables; the caller omits the constant terms.
    pub(crate) fn row_of<F: Field<Element = E> + FromExpression>(
        &self,
        exprs: &Exprs,
        field: &mut F,
        terms: &[(ExprId, ExprId)],
    ) -> Result<Row<E>, Evaluated> {
        let mut sum = RowSum::default();
        for (atom, coefficient) in terms {
            let coefficient = field.from_expression(exprs, *coefficient)?;
            if field.is_zero(&coefficient) {
                continue;
            }
            let row = self.variable_row(exprs, field, *atom);
            sum.add(field, &row, &coefficient);
        }
        Ok(sum.total(field))
    }

    /// Returns the row of one variable.
    pub(crate) fn variable_row<F: Field<Element = E>>(&self, exprs: &Exprs, field: &F, atom: ExprId) -> Row<E> {
        if let Some(k) = variable_index(exprs, atom, &self.symbols.measures) {
            return self.measures[k].clone();
        }
        let column = if let Some(k) = variable_index(exprs, atom, &self.symbols.inputs) {
            self.columns.input(k)
        } else {
            let k = variable_index(exprs, atom, &self.symbols.integrals)
                .expect("invariant: a variable is an input, a measure or a declared integral");
            self.columns.integral(k)
        };
        vec![(column, field.one())]
    }

    /// Returns the time derivative of a row; the error is the column of a rate that the row already contains.
    pub(crate) fn rate_of<F: Field<Element = E>>(&self, field: &mut F, row: &Row<E>) -> Result<Row<E>, u32> {
        let columns = self.columns;
        let mut sum = RowSum::default();
        for (column, value) in row {
            let part = if (*column as usize) < columns.storage + columns.integrals {
                scaled(field, &self.rates[*column as usize], value)
            } else if (columns.input(0)..columns.input_rate(0)).contains(column) {
                vec![(column + columns.inputs as u32, value.clone())]
            } else if (columns.constant(0)..columns.constant_rate(0)).contains(column) {
                vec![(column + columns.constants as u32, value.clone())]
            } else if (columns.controlled(0)..columns.controlled_rate(0)).contains(column) {
                vec![(column + columns.controlled as u32, value.clone())]
            } else {
                return Err(*column);
            };
            let one = field.one();
            sum.add(field, &part, &one);
        }
        Ok(sum.total(field))
    }
}

/// Solves for the values of controlled sources, and for their rates if these are needed.
fn close_loops<F: Field + FromExpression>(
    exprs: &Exprs,
    field: &mut F,
    assembled: &mut Assembled<F::Element>,
    loops: &[&SourceValue],
    constant_of: &FxHashMap<ExprId, usize>,
) -> Result<(), Obstacle> {
    let columns = assembled.columns;
    let count = loops.len();
    let mut value_rows = Vec::with_capacity(count);
    for value in loops {
        let mut row = assembled
            .row_of(exprs, field, &value.form.terms)
            .map_err(Obstacle::Value)?;
        if let Some(constant) = constant_of.get(&value.form.rest) {
            let unit = vec![(columns.constant(*constant), field.one())];
            let one = field.one();
            row = add_scaled(field, &row, &unit, &one, None, |_| {});
        }
        value_rows.push(row);
    }
    let holds_rate = |row: &Row<F::Element>| row.iter().any(|entry| entry.0 >= columns.controlled_rate(0));
    let needs_rates = assembled.rates.iter().any(holds_rate)
        || assembled.measures.iter().any(holds_rate)
        || value_rows.iter().any(holds_rate);
    let mut rows = value_rows.clone();
    if needs_rates {
        for (k, row) in value_rows.iter().enumerate() {
            let rate = assembled
                .rate_of(field, row)
                .map_err(|_| Obstacle::SecondRate(loops[k].element))?;
            rows.push(rate);
        }
    }
    // unknown - (its row) = 0, with unknowns on the left and known columns on the right.
    let (mut matrix, mut right) = (Vec::new(), Vec::new());
    let first = columns.controlled(0);
    for (k, row) in rows.iter().enumerate() {
        let mut left = vec![(k as u32, field.one())];
        let mut known = Row::new();
        let mut minus = Row::new();
        for (column, value) in row {
            if *column >= first {
                minus.push((column - first, field.neg(value)));
            } else {
                known.push((*column, value.clone()));
            }
        }
        let one = field.one();
        left = add_scaled(field, &left, &minus, &one, None, |_| {});
        matrix.push(left);
        right.push(known);
    }
    let solution = lgm_algebra::solve(field, matrix, right)
        .map_err(|singular| Obstacle::SingularControl(loops[singular.row as usize % count].element))?;
    for rows in [
        &mut assembled.rates,
        &mut assembled.measures,
        &mut assembled.dependent_co_energy,
        &mut assembled.shared,
    ] {
        for row in rows.iter_mut() {
            *row = substitute(field, row, first, &solution);
        }
    }
    Ok(())
}
