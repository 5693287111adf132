//! Rows to matrices and equations.

use super::formulate::Run;
use super::outputs::OutputRow;
use super::shared::SharedArena;
use super::system::{Assignment, LinearForm, SparseMatrix, StateSystem};
use crate::algebra::{Field, FromExpression, RationalFunctions};
use crate::causality::elimination::Row;
use crate::elaborate::model::Model;
use crate::expr::{ExprId, Exprs, Node, SymbolId, SymbolKind, text};
use num_bigint::BigInt;
use num_rational::BigRational;
use num_traits::{Signed, Zero};
use rustc_hash::FxHashMap;

/// A field whose elements can be shown as expressions.
pub(crate) trait Present: Field + FromExpression {
    /// Whether elements are fully cancelled, so that their text is as short as they are. Otherwise text may be exponentially
    /// longer than the shared expression, and is never made.
    const CANCELLED: bool;

    /// The expression that a person would write for the element.
    fn present(&mut self, exprs: &mut Exprs, value: &Self::Element) -> ExprId;
}

impl Present for RationalFunctions {
    const CANCELLED: bool = true;

    fn present(&mut self, exprs: &mut Exprs, value: &Self::Element) -> ExprId {
        self.to_expression(exprs, value)
    }
}

impl Present for SharedArena {
    const CANCELLED: bool = false;

    fn present(&mut self, exprs: &mut Exprs, value: &Self::Element) -> ExprId {
        self.export(exprs, value)
    }
}

/// Rows with more entries than this are not tried over one denominator.
const COMMON_DENOMINATOR: usize = 8;

/// Fills in A..F and the equations over the parameters. False where the field's size limit was passed; the system is then as before.
pub(crate) fn symbolic<F: Present>(
    model: &Model,
    system: &mut StateSystem,
    run: &Run<F::Element>,
    field: &mut F,
) -> bool {
    let mut exprs = std::mem::take(&mut system.exprs);
    let mut writer = Writer {
        exprs: &mut exprs,
        field,
        run,
        symbols: column_symbols(system, run),
        measures: model
            .measures
            .iter()
            .enumerate()
            .map(|(index, entry)| (entry.0, index))
            .collect(),
    };
    let form = linear_form(run, |value| writer.field.present(writer.exprs, value));
    let (mut derivatives, mut values, mut x_offset, mut y_offset) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
    for row in &run.rates {
        x_offset.push(writer.offset(row));
        derivatives.push(writer.expression(row, None));
    }
    for output in &run.outputs {
        let rest = writer.output_rest(system, output);
        match &output.row {
            Some(row) => {
                let constant = writer.offset(row);
                y_offset.push(writer.exprs.add(constant, rest));
                values.push(writer.expression(row, Some(rest)));
            }
            None => values.push(writer.nonlinear_output(output.rest)),
        }
    }
    let zero = writer.exprs.zero();
    let exhausted = writer.field.exhausted();
    system.exprs = exprs;
    if exhausted {
        return false;
    }
    system.derivatives = derivatives;
    system.output_values = values;
    system.linear = form.is_some();
    system.symbolic = form.map(|form| LinearForm {
        x_offset: x_offset.iter().any(|id| *id != zero).then_some(x_offset),
        y_offset: y_offset.iter().any(|id| *id != zero).then_some(y_offset),
        ..form
    });
    true
}

/// The symbol of each column that has one; none for constants.
fn column_symbols<E>(system: &StateSystem, run: &Run<E>) -> Vec<Option<SymbolId>> {
    let mut symbols: Vec<Option<SymbolId>> = system.states.iter().map(|state| Some(state.symbol)).collect();
    symbols.resize(run.columns.states(), None);
    symbols.extend(system.inputs.iter().map(|input| Some(input.symbol)));
    symbols.extend(system.input_rates.iter().map(|symbol| Some(*symbol)));
    symbols
}

/// Writes rows over a field as expressions.
struct Writer<'a, F: Present> {
    exprs: &'a mut Exprs,
    field: &'a mut F,
    run: &'a Run<F::Element>,
    symbols: Vec<Option<SymbolId>>,
    measures: FxHashMap<SymbolId, usize>,
}

impl<F: Present> Writer<'_, F> {
    /// A row as an expression: over one denominator where that is shorter, as a sum of products elsewhere.
    fn expression(&mut self, row: &Row<F::Element>, rest: Option<ExprId>) -> ExprId {
        let mut factors = Vec::with_capacity(row.len());
        for (column, value) in row {
            let variable = match self.symbols.get(*column as usize) {
                Some(symbol) => {
                    let symbol = symbol.expect("invariant: every state column in a row belongs to a state");
                    self.exprs.symbol(symbol)
                }
                None => self.run.constant(*column),
            };
            factors.push((variable, value.clone()));
        }
        let mut terms = Vec::with_capacity(factors.len() + 1);
        for (variable, value) in &factors {
            let coefficient = self.field.present(self.exprs, value);
            terms.push(self.exprs.mul(coefficient, *variable));
        }
        terms.extend(rest);
        // What adds comes before what takes away, as people write it.
        terms.sort_by_key(|id| is_negative(self.exprs, *id));
        let apart = self.exprs.sum(terms);
        if !F::CANCELLED || factors.len() > COMMON_DENOMINATOR || self.field.exhausted() {
            return apart;
        }
        // A person writes whichever of the two is shorter.
        match self.over_one_denominator(&factors, rest) {
            Some(together) if text(self.exprs, together).len() <= text(self.exprs, apart).len() => together,
            _ => apart,
        }
    }

    fn over_one_denominator(&mut self, factors: &[(ExprId, F::Element)], rest: Option<ExprId>) -> Option<ExprId> {
        let mut sum = self.field.zero();
        let rest = rest.map(|id| (id, self.field.one()));
        for (variable, value) in factors.iter().chain(&rest) {
            let variable = self.field.from_expression(self.exprs, *variable).ok()?;
            let product = self.field.mul(value, &variable);
            sum = self.field.add(&sum, &product);
        }
        Some(self.field.present(self.exprs, &sum))
    }

    /// The constant part of a row, in lowest terms where the field has them.
    fn offset(&mut self, row: &Row<F::Element>) -> ExprId {
        let first = self.run.columns.constant(0);
        let factors: Vec<(ExprId, F::Element)> = row
            .iter()
            .filter(|entry| entry.0 >= first)
            .map(|(column, value)| (self.run.constant(*column), value.clone()))
            .collect();
        if F::CANCELLED
            && let Some(id) = self.over_one_denominator(&factors, None)
        {
            return id;
        }
        let mut terms = Vec::new();
        for (constant, value) in factors {
            let coefficient = self.field.present(self.exprs, &value);
            terms.push(self.exprs.mul(coefficient, constant));
        }
        self.exprs.sum(terms)
    }

    /// What an output has beside its row: its own constant part, and the starts of the states that it integrates.
    fn output_rest(&mut self, system: &StateSystem, output: &OutputRow<F::Element>) -> ExprId {
        if output.row.is_none() {
            return self.exprs.zero();
        }
        let mut terms = vec![output.rest];
        for (factor, state) in &output.starts {
            let start = system.states[*state].start;
            if !self.exprs.is_zero(start) {
                let factor = self.field.present(self.exprs, factor);
                let product = self.exprs.mul(factor, start);
                terms.push(self.exprs.neg(product));
            }
        }
        self.exprs.sum(terms)
    }

    /// An output that is not affine: its measured variables are replaced by their rows.
    fn nonlinear_output(&mut self, value: ExprId) -> ExprId {
        let mut replacement: FxHashMap<SymbolId, ExprId> = FxHashMap::default();
        for symbol in self.exprs.symbols_of(&[value]) {
            if let Some(index) = self.measures.get(&symbol) {
                let row = self.run.measures[*index].clone();
                replacement.insert(symbol, self.expression(&row, None));
            }
        }
        self.exprs
            .substitute(&[value], |symbol| replacement.get(&symbol).copied())[0]
    }
}

impl<E> Run<E> {
    /// The expression of a constant's column.
    fn constant(&self, column: u32) -> ExprId {
        let at = (column - self.columns.constant(0)) as usize;
        if at < self.constants.len() {
            self.constants[at]
        } else {
            self.constant_rates[at - self.constants.len()]
        }
    }
}

/// Splits rows into A..F without offsets; none where an output is not affine.
fn linear_form<E, T>(run: &Run<E>, mut convert: impl FnMut(&E) -> T) -> Option<LinearForm<T>> {
    let columns = run.columns;
    let states = columns.states() - (columns.added - run.added.len());
    let mut split = |rows: &mut dyn Iterator<Item = Option<&Row<E>>>| {
        let mut parts = [states, columns.inputs, columns.inputs].map(|columns| SparseMatrix {
            columns,
            rows: Vec::new(),
        });
        for row in rows {
            let mut lists = [Vec::new(), Vec::new(), Vec::new()];
            for (column, value) in row? {
                let (part, first) = if *column < columns.input(0) {
                    (0, 0)
                } else if *column < columns.input_rate(0) {
                    (1, columns.input(0))
                } else if *column < columns.constant(0) {
                    (2, columns.input_rate(0))
                } else {
                    continue;
                };
                lists[part].push((*column - first, convert(value)));
            }
            for (part, list) in parts.iter_mut().zip(lists) {
                part.rows.push(list);
            }
        }
        Some(parts)
    };
    let [a, b, e] = split(&mut run.rates.iter().map(Some))?;
    let [c, d, f] = split(&mut run.outputs.iter().map(|output| output.row.as_ref()))?;
    Some(LinearForm {
        a,
        b,
        c,
        d,
        e,
        f,
        x_offset: None,
        y_offset: None,
    })
}

/// Fills in A..F in numbers, and the equations with numbers in them where no symbolic ones are there.
pub(crate) fn numeric(system: &mut StateSystem, run: &Run<f64>, values: &FxHashMap<SymbolId, BigRational>) {
    let mut form = linear_form(run, |value| *value);
    if let Some(form) = &mut form {
        let constant = |column: u32| {
            system
                .exprs
                .evaluate_exact(&[run.constant(column)], &|symbol| values.get(&symbol).cloned())
                .map_or(f64::NAN, |list| crate::expr::to_f64(&list[0]))
        };
        let first = run.columns.constant(0);
        let offset = |row: &Row<f64>| -> f64 {
            row.iter()
                .filter(|entry| entry.0 >= first)
                .map(|(column, value)| value * constant(*column))
                .sum()
        };
        let rest = |output: &OutputRow<f64>| -> f64 {
            let own = system
                .exprs
                .evaluate_exact(&[output.rest], &|symbol| values.get(&symbol).cloned())
                .map_or(f64::NAN, |list| crate::expr::to_f64(&list[0]));
            let starts: f64 = output
                .starts
                .iter()
                .map(|(factor, state)| factor * system.states[*state].start_value)
                .sum();
            own - starts
        };
        let x_offset: Vec<f64> = run.rates.iter().map(offset).collect();
        let y_offset: Vec<f64> = run
            .outputs
            .iter()
            .map(|output| output.row.as_ref().map_or(0.0, offset) + rest(output))
            .collect();
        form.x_offset = x_offset.iter().any(|value| *value != 0.0).then_some(x_offset);
        form.y_offset = y_offset.iter().any(|value| *value != 0.0).then_some(y_offset);
    }
    // A static model has no derivatives, with or without symbolic equations.
    if system.derivatives.is_empty() && system.output_values.is_empty() {
        system.linear = form.is_some();
        numeric_equations(system, run);
    }
    system.numeric = form;
}

/// The shortest decimal that reads back as the same double: 0.1, where the double itself has 55 digits.
fn shortest_decimal(value: f64) -> BigRational {
    let text = format!("{value:e}");
    let parts = text.split_once('e').and_then(|(mantissa, exponent)| {
        let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
        let digits: BigInt = format!("{whole}{fraction}").parse().ok()?;
        let exponent = exponent.parse::<i32>().ok()? - fraction.len() as i32;
        Some((digits, exponent))
    });
    // Only what is not finite has no digits; the reduction has refused such values before.
    parts.map_or_else(BigRational::zero, |(digits, exponent)| {
        BigRational::from_integer(digits) * BigRational::from_integer(BigInt::from(10)).pow(exponent)
    })
}

/// The equations with numbers for coefficients.
fn numeric_equations(system: &mut StateSystem, run: &Run<f64>) {
    let symbols = column_symbols(system, run);
    let mut exprs = std::mem::take(&mut system.exprs);
    let write = |exprs: &mut Exprs, row: &Row<f64>| {
        let mut terms = Vec::with_capacity(row.len());
        for (column, value) in row {
            let variable = match symbols.get(*column as usize) {
                Some(symbol) => {
                    let symbol = symbol.expect("invariant: every state column in a row belongs to a state");
                    exprs.symbol(symbol)
                }
                None => run.constant(*column),
            };
            let number = exprs.number(shortest_decimal(*value));
            terms.push(exprs.mul(number, variable));
        }
        exprs.sum(terms)
    };
    system.derivatives = run.rates.iter().map(|row| write(&mut exprs, row)).collect();
    system.output_values = run
        .outputs
        .iter()
        .map(|output| match &output.row {
            Some(row) => {
                let value = write(&mut exprs, row);
                exprs.add(value, output.rest)
            }
            None => output.rest,
        })
        .collect();
    system.exprs = exprs;
}

/// Names every subexpression that is used more than once, so that the equations' text stays as small as their graph.
pub(crate) fn share(system: &mut StateSystem) {
    let mut roots = Vec::new();
    roots.extend(system.derivatives.iter().copied());
    roots.extend(system.output_values.iter().copied());
    if let Some(form) = &system.symbolic {
        for matrix in [&form.a, &form.b, &form.c, &form.d, &form.e, &form.f] {
            roots.extend(matrix.rows.iter().flatten().map(|entry| entry.1));
        }
        roots.extend(
            form.x_offset
                .iter()
                .flatten()
                .chain(form.y_offset.iter().flatten())
                .copied(),
        );
    }
    let mut exprs = std::mem::take(&mut system.exprs);
    let reachable = exprs.reachable(&roots);
    let mut uses: FxHashMap<ExprId, u32> = FxHashMap::default();
    for id in &reachable {
        for child in exprs.node(*id).children() {
            *uses.entry(child).or_default() += 1;
        }
    }
    for root in &roots {
        *uses.entry(*root).or_default() += 1;
    }
    let mut replaced: FxHashMap<ExprId, ExprId> = FxHashMap::default();
    for id in reachable {
        let node = exprs.node(id).clone();
        let rebuilt = exprs.rebuild(&node, &replaced);
        let worth = uses.get(&id).copied().unwrap_or(0) > 1 && is_worth_a_name(&exprs, rebuilt);
        let id_now = if worth {
            let name = format!("w{}", system.assignments.len() + 1);
            let symbol = exprs.new_symbol(name, SymbolKind::Assignment);
            system.assignments.push(Assignment { symbol, value: rebuilt });
            exprs.symbol(symbol)
        } else {
            rebuilt
        };
        replaced.insert(id, id_now);
    }
    let now = |id: &mut ExprId| *id = replaced[id];
    system.derivatives.iter_mut().for_each(now);
    system.output_values.iter_mut().for_each(now);
    if let Some(form) = &mut system.symbolic {
        for matrix in [
            &mut form.a,
            &mut form.b,
            &mut form.c,
            &mut form.d,
            &mut form.e,
            &mut form.f,
        ] {
            matrix.rows.iter_mut().flatten().for_each(|entry| now(&mut entry.1));
        }
        form.x_offset.iter_mut().flatten().for_each(now);
        form.y_offset.iter_mut().flatten().for_each(now);
    }
    system.exprs = exprs;
}

/// Whether a term begins with a minus.
fn is_negative(exprs: &Exprs, id: ExprId) -> bool {
    let first = match exprs.node(id) {
        Node::Product(list) => list[0],
        _ => id,
    };
    exprs.as_number(first).is_some_and(Signed::is_negative)
}

/// A name is worth it for a sum, a call, or a product of more than a number and a symbol.
fn is_worth_a_name(exprs: &Exprs, id: ExprId) -> bool {
    match exprs.node(id) {
        Node::Sum(_) | Node::Call(..) | Node::If(..) => true,
        Node::Product(list) => list.len() > 2 || exprs.as_number(list[0]).is_none(),
        Node::Power(base, _) => !matches!(exprs.node(*base), Node::Symbol(_)),
        _ => false,
    }
}
