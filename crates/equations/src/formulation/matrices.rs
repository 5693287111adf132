//! Rows to matrices and equations.

use crate::assembly::outputs::OutputRow;
use crate::assembly::run::Run;
use crate::causality::elimination::Row;
use crate::decimals::shortest_decimal;
use crate::formulation::shared_arena::SharedArena;
use lgm_algebra::expr::{ExprId, Exprs, Node, SymbolId, SymbolKind, to_f64};
use lgm_algebra::{
    DoubleValues, ExactValues, Field, FromExpression, Kernels, RationalFunction, RationalFunctions, SHARED,
};
use lgm_model::Model;
use lgm_model::system::{Assignment, LinearForm, SparseMatrix, StateSystem};
use lgm_readable::{Shortening, is_shorter};
use num_rational::BigRational;
use num_traits::Signed;
use rustc_hash::FxHashMap;

/// A field whose elements can be displayed as expressions.
pub(crate) trait Present: Field + FromExpression {
    /// True if elements are fully cancelled, so that their text is as short as possible. Otherwise text may be
    /// exponentially longer than the shared expression, and is never written.
    const CANCELLED: bool;

    /// True if elements are numbers, so that a value that changes with time cannot be an element.
    const NUMBERS: bool;

    /// Returns the expression that a person would write for the element.
    fn present(&mut self, exprs: &mut Exprs, value: &Self::Element) -> ExprId;

    /// Returns a row over symbols as an expression, if it needs no further simplification.
    fn at_once(&self, _exprs: &mut Exprs, _row: &[(ExprId, Self::Element)]) -> Option<ExprId> {
        None
    }

    /// Returns a key that distinguishes elements, if that is quicker than writing them again: large models contain few distinct numbers.
    fn key(_value: &Self::Element) -> Option<u64> {
        None
    }
}

impl Present for RationalFunctions {
    const CANCELLED: bool = true;
    const NUMBERS: bool = false;

    fn present(&mut self, exprs: &mut Exprs, value: &Self::Element) -> ExprId {
        self.to_expression(exprs, value)
    }

    fn at_once(&self, exprs: &mut Exprs, row: &[(ExprId, RationalFunction)]) -> Option<ExprId> {
        let symbol = |id: ExprId| match exprs.node(id) {
            Node::Symbol(symbol) => Some(Kernels::symbol(*symbol)),
            _ => None,
        };
        let terms = row.iter().map(|(id, coefficient)| Some((symbol(*id)?, coefficient)));
        let sum = RationalFunctions::at_once(self, &terms.collect::<Option<Vec<_>>>()?)?;
        Some(self.to_expression(exprs, &sum))
    }
}

impl Present for ExactValues {
    const CANCELLED: bool = true;
    const NUMBERS: bool = true;

    fn present(&mut self, exprs: &mut Exprs, value: &Self::Element) -> ExprId {
        exprs.number(value.clone())
    }
}

impl Present for DoubleValues {
    const CANCELLED: bool = true;
    const NUMBERS: bool = true;

    fn present(&mut self, exprs: &mut Exprs, value: &Self::Element) -> ExprId {
        exprs.number(shortest_decimal(*value))
    }

    fn key(value: &f64) -> Option<u64> {
        Some(value.to_bits())
    }
}

impl Present for SharedArena {
    const CANCELLED: bool = false;
    const NUMBERS: bool = false;

    fn present(&mut self, exprs: &mut Exprs, value: &Self::Element) -> ExprId {
        self.export(exprs, value)
    }
}

/// Expressions of more nodes than this are written with shared subexpressions. An expression with a small graph may
/// exceed any memory when it is written out: a function of a function of a sum, nested sixty times.
pub(crate) const LONGEST_WRITTEN: u64 = 100_000;

/// Rows with more entries than this are not written over one denominator.
const COMMON_DENOMINATOR: usize = 8;

/// Fills in A..F and the equations in terms of the parameters. Returns false and leaves the system unchanged if
/// the field exceeds its size limit.
pub(crate) fn symbolic<F: Present>(
    model: &Model,
    system: &mut StateSystem,
    run: &Run<F::Element>,
    field: &mut F,
    shortening: &mut Shortening,
) -> bool {
    // Shared rows leave the equations linear, but their dense matrices are not written out.
    let is_linear = run.outputs.iter().all(|output| output.row.is_some());
    let form = {
        let exprs = &mut system.exprs;
        linear_form(run, |value| {
            let id = field.present(exprs, value);
            shortening.of_lowest_terms(exprs, id)
        })
    };
    let written = write_equations(model, system, run, field, shortening);
    if field.exhausted() {
        return false;
    }
    let zero = system.exprs.zero();
    system.equations.derivatives = written.derivatives;
    system.equations.output_values = written.values;
    system.equations.linear = is_linear;
    system.matrices.symbolic = form.map(|form| LinearForm {
        x_offset: written
            .x_offset
            .iter()
            .any(|id| *id != zero)
            .then_some(written.x_offset),
        y_offset: written
            .y_offset
            .iter()
            .any(|id| *id != zero)
            .then_some(written.y_offset),
        ..form
    });
    true
}

/// Equations as expressions.
struct Written {
    derivatives: Vec<ExprId>,
    values: Vec<ExprId>,
    x_offset: Vec<ExprId>,
    /// Zero for outputs that are not affine functions.
    y_offset: Vec<ExprId>,
}

/// Writes the rows of a run as expressions, and their constant parts separately.
fn write_equations<F: Present>(
    model: &Model,
    system: &mut StateSystem,
    run: &Run<F::Element>,
    field: &mut F,
    shortening: &mut Shortening,
) -> Written {
    let mut exprs = std::mem::take(&mut system.exprs);
    let measures = model.measures.iter().enumerate();
    let mut writer = Writer {
        exprs: &mut exprs,
        field,
        shortening,
        run,
        symbols: column_symbols(system, run),
        shared: Vec::new(),
        measures: measures.map(|(index, entry)| (entry.0, index)).collect(),
        presented: FxHashMap::default(),
    };
    let mut written = Written {
        derivatives: Vec::with_capacity(run.rates.len()),
        values: Vec::with_capacity(run.outputs.len()),
        x_offset: Vec::with_capacity(run.rates.len()),
        y_offset: Vec::with_capacity(run.outputs.len()),
    };
    let named = system.equations.assignments.len();
    for (row, index) in run.shared.iter().zip(named + 1..) {
        let value = writer.expression(row, None);
        let symbol = writer.exprs.new_symbol(format!("w{index}"), SymbolKind::Assignment);
        writer.shared.push(symbol);
        system.equations.assignments.push(Assignment { symbol, value });
    }
    for row in &run.rates {
        written.x_offset.push(writer.offset(row));
        written.derivatives.push(writer.expression(row, None));
    }
    for output in &run.outputs {
        let rest = writer.output_rest(system, output);
        let (offset, value) = match &output.row {
            Some(row) => {
                let constant = writer.offset(row);
                (writer.exprs.add(constant, rest), writer.expression(row, Some(rest)))
            }
            None => (rest, writer.nonlinear_output(output.rest)),
        };
        written.y_offset.push(offset);
        written.values.push(value);
    }
    system.exprs = exprs;
    written
}

/// Returns the symbol of each column; `None` for constants.
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
    shortening: &'a mut Shortening,
    run: &'a Run<F::Element>,
    symbols: Vec<Option<SymbolId>>,
    /// The symbols of shared rows.
    shared: Vec<SymbolId>,
    measures: FxHashMap<SymbolId, usize>,
    /// Elements already written, by [`Present::key`].
    presented: FxHashMap<u64, ExprId>,
}

impl<F: Present> Writer<'_, F> {
    /// Calls [`Present::present`] once for each distinct element.
    fn present(&mut self, value: &F::Element) -> ExprId {
        let Some(key) = F::key(value) else {
            let id = self.field.present(self.exprs, value);
            return self.shortening.of_lowest_terms(self.exprs, id);
        };
        if let Some(known) = self.presented.get(&key) {
            return *known;
        }
        let id = self.field.present(self.exprs, value);
        self.presented.insert(key, id);
        id
    }

    /// Returns a row as an expression: over one denominator if that is shorter, otherwise as a sum of products.
    fn expression(&mut self, row: &Row<F::Element>, rest: Option<ExprId>) -> ExprId {
        let mut factors = Vec::with_capacity(row.len());
        let mut varies = false;
        for (column, value) in row {
            if *column >= SHARED {
                varies = true;
                let symbol = self.shared[(*column - SHARED) as usize];
                factors.push((self.exprs.symbol(symbol), value.clone()));
                continue;
            }
            let variable = match self.symbols.get(*column as usize) {
                Some(symbol) => {
                    varies = true;
                    let symbol = symbol.expect("invariant: every state column in a row belongs to a state");
                    self.exprs.symbol(symbol)
                }
                None => self.run.constant(*column),
            };
            factors.push((variable, value.clone()));
        }
        let is_long = factors.len() > COMMON_DENOMINATOR;
        if rest.is_none_or(|rest| self.exprs.is_zero(rest))
            && !is_long
            && !self.field.exhausted()
            && let Some(shortest) = self.field.at_once(self.exprs, &factors)
        {
            return self.shortening.of_lowest_terms(self.exprs, shortest);
        }
        let mut terms = Vec::with_capacity(factors.len() + 1);
        for (variable, value) in &factors {
            let coefficient = self.present(value);
            terms.push(self.exprs.mul(coefficient, *variable));
        }
        terms.extend(rest);
        // Positive terms come before negative ones, as in a textbook.
        terms.sort_by_key(|id| is_negative(self.exprs, *id));
        let apart = self.exprs.sum(terms);
        // A sum that contains a variable is not a number.
        if !F::CANCELLED || F::NUMBERS && varies || is_long || self.field.exhausted() {
            return apart;
        }
        // The shorter form is written.
        match self.over_one_denominator(&factors, rest) {
            Some(together) if self.exprs.is_written_beyond(together, LONGEST_WRITTEN) => apart,
            Some(together) if self.exprs.is_written_beyond(apart, LONGEST_WRITTEN) => together,
            Some(together) => {
                let together = self.shortening.of_lowest_terms(self.exprs, together);
                match is_shorter(self.exprs, together, apart) {
                    true => together,
                    false => apart,
                }
            }
            None => apart,
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

    /// Returns the constant part of a row, in lowest terms if the field has them.
    fn offset(&mut self, row: &Row<F::Element>) -> ExprId {
        let first = self.run.columns.constant(0);
        let factors: Vec<(ExprId, F::Element)> = row
            .iter()
            .filter(|entry| (first..SHARED).contains(&entry.0))
            .map(|(column, value)| (self.run.constant(*column), value.clone()))
            .collect();
        if factors.is_empty() {
            return self.exprs.zero();
        }
        if F::CANCELLED
            && !(F::NUMBERS && factors.iter().any(|factor| self.exprs.changes_with_time(factor.0)))
            && let Some(id) = self.over_one_denominator(&factors, None)
        {
            return self.shortening.of_lowest_terms(self.exprs, id);
        }
        let mut terms = Vec::new();
        for (constant, value) in factors {
            let coefficient = self.present(&value);
            terms.push(self.exprs.mul(coefficient, constant));
        }
        self.exprs.sum(terms)
    }

    /// Returns the parts of an output other than its row: its constant part, and the initial values of the states that it integrates.
    fn output_rest(&mut self, system: &StateSystem, output: &OutputRow<F::Element>) -> ExprId {
        if output.row.is_none() {
            return self.exprs.zero();
        }
        let mut terms = vec![output.rest];
        for (factor, state) in &output.starts {
            let start = system.states[*state].start;
            if !self.exprs.is_zero(start) {
                let factor = self.present(factor);
                let product = self.exprs.mul(factor, start);
                terms.push(self.exprs.neg(product));
            }
        }
        let rest = self.exprs.sum(terms);
        // The expression is in lowest terms, or one number, if the field supports it.
        if !F::CANCELLED || F::NUMBERS && self.exprs.changes_with_time(rest) {
            return rest;
        }
        match self.field.from_expression(self.exprs, rest) {
            Ok(value) => {
                let id = self.field.present(self.exprs, &value);
                self.shortening.of_lowest_terms(self.exprs, id)
            }
            Err(_) => rest,
        }
    }

    /// Returns a nonlinear output with its measured variables replaced by their rows.
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
    /// Returns the expression of a constant's column.
    fn constant(&self, column: u32) -> ExprId {
        let at = (column - self.columns.constant(0)) as usize;
        if at < self.constants.len() {
            self.constants[at]
        } else {
            self.constant_rates[at - self.constants.len()]
        }
    }
}

/// Splits rows into A..F without offsets; returns `None` if an output is not affine, or if rows are shared.
fn linear_form<E, T>(run: &Run<E>, mut convert: impl FnMut(&E) -> T) -> Option<LinearForm<T>> {
    if !run.shared.is_empty() {
        return None;
    }
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

/// Fills in A..F in numbers, and numeric equations if no symbolic ones exist.
///
/// Returns false if a constant part changes with time: it has no number, and appears only in the equations.
pub(crate) fn numeric(
    model: &Model,
    system: &mut StateSystem,
    run: &Run<f64>,
    values: &FxHashMap<SymbolId, BigRational>,
) -> bool {
    let mut steady = true;
    let mut form = linear_form(run, |value| *value);
    // A static model has no derivatives, with or without symbolic equations.
    let is_bare = system.equations.derivatives.is_empty() && system.equations.output_values.is_empty();
    if is_bare || form.is_some() {
        let doubles = values.iter().map(|(symbol, value)| (*symbol, to_f64(value))).collect();
        let mut field = DoubleValues::new(doubles);
        let written = write_equations(model, system, run, &mut field, &mut Shortening::unread());
        // Most rows have no constant part.
        let is_offset = |id: &&ExprId| !system.exprs.is_zero(**id);
        let number = |id: &ExprId| {
            if !is_offset(&id) {
                return 0.0;
            }
            system
                .exprs
                .evaluate_exact(&[*id], &|symbol| values.get(&symbol).cloned())
                .map_or(f64::NAN, |list| to_f64(&list[0]))
        };
        let offsets = |list: &[ExprId]| {
            let list: Vec<f64> = list.iter().map(number).collect();
            list.iter().any(|value| *value != 0.0).then_some(list)
        };
        if let Some(form) = &mut form {
            let all = written.x_offset.iter().chain(&written.y_offset);
            steady = !all.filter(is_offset).any(|id| system.exprs.changes_with_time(*id));
            if steady {
                form.x_offset = offsets(&written.x_offset);
                form.y_offset = offsets(&written.y_offset);
            }
        }
        if is_bare {
            system.equations.linear = run.outputs.iter().all(|output| output.row.is_some());
            system.equations.derivatives = written.derivatives;
            system.equations.output_values = written.values;
        }
    }
    system.matrices.numeric = form;
    steady
}

/// Returns true if an equation or an entry of a matrix is too long to write out.
pub(crate) fn is_too_long(system: &StateSystem) -> bool {
    let equations = system
        .equations
        .derivatives
        .iter()
        .chain(&system.equations.output_values);
    let entries = system.matrices.symbolic.iter().flat_map(|form| {
        let matrices = form.matrices().into_iter();
        let entries = matrices.flat_map(|(_, matrix)| matrix.rows.iter().flatten());
        let offsets = form.x_offset.iter().chain(&form.y_offset).flatten();
        entries.map(|entry| &entry.1).chain(offsets)
    });
    let roots: Vec<ExprId> = equations.chain(entries).copied().collect();
    system.exprs.written_size(&roots) > LONGEST_WRITTEN
}

/// Names every subexpression that is used more than once, so that the text of the equations stays as small as their
/// graph. Already shared rows are renamed consistently with the others.
pub(crate) fn share(system: &mut StateSystem) {
    let mut roots = Vec::new();
    roots.extend(system.equations.derivatives.iter().copied());
    roots.extend(system.equations.output_values.iter().copied());
    if let Some(form) = &system.matrices.symbolic {
        for (_, matrix) in form.matrices() {
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
    // A row's symbol represents its value, which is older: in the order of ids it has already been rebuilt.
    let rows: FxHashMap<ExprId, ExprId> = std::mem::take(&mut system.equations.assignments)
        .into_iter()
        .map(|row| (exprs.symbol(row.symbol), row.value))
        .collect();
    let known: Vec<ExprId> = roots.iter().chain(rows.values()).copied().collect();
    let reachable = exprs.reachable(&known);
    let mut uses: FxHashMap<ExprId, u32> = FxHashMap::default();
    for id in &reachable {
        for child in exprs.node(*id).children() {
            *uses.entry(child).or_default() += 1;
        }
    }
    for root in &roots {
        *uses.entry(*root).or_default() += 1;
    }
    for (symbol, value) in &rows {
        *uses.entry(*value).or_default() += uses.get(symbol).copied().unwrap_or(0);
    }
    let mut replaced: FxHashMap<ExprId, ExprId> = FxHashMap::default();
    for id in reachable {
        if let Some(value) = rows.get(&id) {
            replaced.insert(id, replaced[value]);
            continue;
        }
        let node = exprs.node(id).clone();
        let rebuilt = exprs.rebuild(&node, &replaced);
        let worth = uses.get(&id).copied().unwrap_or(0) > 1 && is_worth_a_name(&exprs, rebuilt);
        let id_now = if worth {
            let name = format!("w{}", system.equations.assignments.len() + 1);
            let symbol = exprs.new_symbol(name, SymbolKind::Assignment);
            system.equations.assignments.push(Assignment { symbol, value: rebuilt });
            exprs.symbol(symbol)
        } else {
            rebuilt
        };
        replaced.insert(id, id_now);
    }
    let now = |id: &mut ExprId| *id = replaced[id];
    system.equations.derivatives.iter_mut().for_each(now);
    system.equations.output_values.iter_mut().for_each(now);
    if let Some(form) = &mut system.matrices.symbolic {
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

/// Returns true if a term begins with a minus.
pub(crate) fn is_negative(exprs: &Exprs, id: ExprId) -> bool {
    let first = match exprs.node(id) {
        Node::Product(list) => list[0],
        _ => id,
    };
    exprs.as_number(first).is_some_and(Signed::is_negative)
}

/// Returns true for expressions that are worth naming: a sum, a call, or a product of more than a number and a symbol.
pub(crate) fn is_worth_a_name(exprs: &Exprs, id: ExprId) -> bool {
    match exprs.node(id) {
        Node::Sum(_) | Node::Call(..) | Node::If(..) => true,
        Node::Product(list) => list.len() > 2 || exprs.as_number(list[0]).is_none(),
        Node::Power(base, _) => !matches!(exprs.node(*base), Node::Symbol(_)),
        _ => false,
    }
}
