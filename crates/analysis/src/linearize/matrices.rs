//! A..F at a point, as numbers and in terms of the parameters, and the equations that they define.

use super::corners::decimal;
use crate::linearize::linearization::{Fault, Linearization, is_zero_number};
use lgm_algebra::expr::{ExprId, GradientRow, SymbolId, to_f64};
use lgm_algebra::{Field, FromExpression, RationalFunctions, solve};
use lgm_equations::{is_large, lowest_terms};
use lgm_model::system::{LinearForm, SparseMatrix, StateSystem};
use lgm_numerics::newton::undetermined;
use lgm_source::codes::Code;
use lgm_source::diagnostic::Diagnostic;
use nalgebra::DMatrix;
use num_rational::BigRational;
use rustc_hash::FxHashMap;

/// The maximum number of term operations for loops; beyond it A..F remain numeric.
const OPERATIONS: u64 = 400_000;

/// Matrices with more entries than this are only numeric.
const ENTRIES: usize = 2_500;

/// A..F.
pub(super) struct Form {
    pub(super) symbolic: Option<LinearForm<ExprId>>,
    pub(super) numeric: LinearForm<f64>,
}

/// Computes A..F of the roots at the point.
pub(super) fn at_point(linearization: &mut Linearization<'_>, roots: &[ExprId], symbolic: bool) -> Result<Form, Fault> {
    let columns = linearization.columns();
    let rows = linearization.rows(roots, &columns)?;
    let numbers = numeric_rows(linearization, &rows, &columns)?;
    let counts = Counts::of(&linearization.system);
    let expressions = match symbolic && counts.entries() <= ENTRIES {
        true => symbolic_rows(linearization, &rows, &columns),
        false => None,
    };
    let Some(expressions) = expressions else {
        let numeric = counts.split(&numbers, &|value| *value == 0.0);
        return Ok(Form {
            symbolic: None,
            numeric,
        });
    };
    let system = &linearization.system;
    let form = counts.split(&expressions, &|id| is_zero_number(system, *id));
    // The exact values of the entries as written, rounded once.
    let values = parameter_values(system);
    let numeric = counts.split(
        &expressions
            .iter()
            .zip(&numbers)
            .map(|(list, numbers)| {
                list.iter()
                    .zip(numbers)
                    .map(|(id, number)| match is_zero_number(system, *id) {
                        true => 0.0,
                        false => exact_value(system, &values, *id).unwrap_or(*number),
                    })
                    .collect()
            })
            .collect::<Vec<Vec<f64>>>(),
        &|value| *value == 0.0,
    );
    Ok(Form {
        symbolic: Some(form),
        numeric,
    })
}

fn parameter_values(system: &StateSystem) -> FxHashMap<SymbolId, BigRational> {
    let entries = system.parameters.iter().flat_map(|parameter| &parameter.entries);
    entries.map(|entry| (entry.symbol, entry.value.clone())).collect()
}

fn exact_value(system: &StateSystem, values: &FxHashMap<SymbolId, BigRational>, id: ExprId) -> Option<f64> {
    let found = system
        .exprs
        .evaluate_exact(&[id], &|symbol| values.get(&symbol).cloned());
    found.ok().map(|list| to_f64(&list[0]))
}

/// The counts of states, inputs and outputs.
#[derive(Clone, Copy)]
struct Counts {
    states: usize,
    inputs: usize,
    outputs: usize,
}

impl Counts {
    fn of(system: &StateSystem) -> Counts {
        Counts {
            states: system.states.len(),
            inputs: system.inputs.len(),
            outputs: system.outputs.len(),
        }
    }

    fn width(self) -> usize {
        self.states + 2 * self.inputs
    }

    fn entries(self) -> usize {
        self.width() * (self.states + self.outputs)
    }

    /// Converts dense rows of states and outputs to sparse matrices.
    fn split<T: Clone>(self, rows: &[Vec<T>], is_zero: &dyn Fn(&T) -> bool) -> LinearForm<T> {
        let part = |rows: &[Vec<T>], from: usize, columns: usize| SparseMatrix {
            columns,
            rows: rows
                .iter()
                .map(|row| {
                    let entries = row[from..from + columns].iter().enumerate();
                    let stored = entries.filter(|(_, value)| !is_zero(value));
                    stored.map(|(column, value)| (column as u32, value.clone())).collect()
                })
                .collect(),
        };
        let (states, inputs) = (self.states, self.inputs);
        let (x, y) = rows.split_at(states);
        LinearForm {
            a: part(x, 0, states),
            b: part(x, states, inputs),
            c: part(y, 0, states),
            d: part(y, states, inputs),
            e: part(x, states + inputs, inputs),
            f: part(y, states + inputs, inputs),
            x_offset: None,
            y_offset: None,
        }
    }
}

/// Returns dense numeric rows of derivatives and outputs, with loops resolved.
fn numeric_rows(
    linearization: &Linearization<'_>,
    rows: &[GradientRow],
    columns: &[SymbolId],
) -> Result<Vec<Vec<f64>>, Fault> {
    let counts = Counts::of(&linearization.system);
    let (width, shown) = (counts.width(), counts.states + counts.outputs);
    let mut dense = DMatrix::zeros(rows.len(), columns.len());
    for (row, list) in rows.iter().enumerate() {
        let entries: Vec<ExprId> = list.iter().map(|entry| entry.1).collect();
        for ((column, _), value) in list.iter().zip(linearization.evaluate(&entries)) {
            if !value.is_finite() {
                let name = linearization.name(columns[*column as usize]);
                return Err(Box::new(
                    Diagnostic::error(
                        Code::LGM0706,
                        format!(
                            "{} has no finite derivative with respect to `{name}` at this point",
                            linearization.row_name(row)
                        ),
                    )
                    .label(linearization.model.heading.span, "in this model")
                    .note(format!("at {}", linearization.state_words()))
                    .help("choose another point with `--at`"),
                ));
            }
            dense[(row, *column as usize)] = value;
        }
    }
    let unknowns = columns.len() - width;
    if unknowns > 0 {
        let mut by_unknowns = dense.view((shown, width), (unknowns, unknowns)).into_owned();
        let mut others = dense.view((shown, 0), (unknowns, width)).into_owned();
        for row in 0..unknowns {
            let most = by_unknowns.row(row).amax();
            if most > 0.0 {
                by_unknowns.row_mut(row).scale_mut(1.0 / most);
                others.row_mut(row).scale_mut(1.0 / most);
            }
        }
        if let Some(unknown) = undetermined_unknown(linearization, &rows[shown..], width) {
            return Err(singular_loop(linearization, unknown));
        }
        let follow = by_unknowns
            .lu()
            .solve(&others)
            .ok_or_else(|| singular_loop(linearization, 0))?;
        let through = dense.view((0, width), (shown, unknowns)) * follow;
        let mut direct = dense.view_mut((0, 0), (shown, width));
        direct -= through;
    }
    let list = |row: usize| (0..width).map(|column| dense[(row, column)]).collect();
    Ok((0..shown).map(list).collect())
}

/// Returns an unknown that the residuals do not determine at the point.
fn undetermined_unknown(linearization: &Linearization<'_>, residuals: &[GradientRow], width: usize) -> Option<usize> {
    let unknowns = &linearization.roots.unknowns;
    let entries: Vec<(usize, usize, ExprId)> = residuals
        .iter()
        .enumerate()
        .flat_map(|(row, list)| list.iter().map(move |(column, id)| (row, *column as usize, *id)))
        .filter(|entry| entry.1 >= width)
        .collect();
    let ids: Vec<ExprId> = entries.iter().map(|entry| entry.2).collect();
    let at: Vec<f64> = unknowns
        .iter()
        .map(|symbol| linearization.point.values[symbol])
        .collect();
    undetermined(&at, |at| {
        let value = |symbol: SymbolId| match unknowns.iter().position(|unknown| *unknown == symbol) {
            Some(place) => Some(at[place]),
            None => linearization.point.value(symbol),
        };
        let values = linearization.system.exprs.evaluate_unchecked(&ids, &value);
        let mut jacobian = DMatrix::zeros(unknowns.len(), unknowns.len());
        for ((row, column, _), value) in entries.iter().zip(values) {
            jacobian[(*row, *column - width)] = value;
        }
        jacobian
    })
}

fn singular_loop(linearization: &Linearization<'_>, unknown: usize) -> Fault {
    let name = linearization.name(linearization.roots.unknowns[unknown]);
    Box::new(
        Diagnostic::error(
            Code::LGM0705,
            format!("the algebraic loop does not determine `{name}` near this point: its Jacobian is singular"),
        )
        .label(linearization.model.heading.span, "in this model")
        .note(format!("at {}", linearization.state_words()))
        .help("two solutions of the loop meet here; choose another point with `--at`"),
    )
}

/// Returns the same rows in terms of the parameters, with the point substituted; `None` if they are too large.
fn symbolic_rows(
    linearization: &mut Linearization<'_>,
    rows: &[GradientRow],
    columns: &[SymbolId],
) -> Option<Vec<Vec<ExprId>>> {
    let counts = Counts::of(&linearization.system);
    let (width, shown) = (counts.width(), counts.states + counts.outputs);
    let exact = &linearization.point.exact;
    let exprs = &mut linearization.system.exprs;
    let zero = exprs.zero();
    let mut dense: Vec<Vec<ExprId>> = vec![vec![zero; columns.len()]; rows.len()];
    for (row, list) in rows.iter().enumerate() {
        for (column, id) in list.iter() {
            let value = exprs.substitute(&[*id], |symbol| exact.get(&symbol).copied())[0];
            if is_large(exprs, value) {
                return None;
            }
            dense[row][*column as usize] = lowest_terms(exprs, value);
        }
    }
    let unknowns = columns.len() - width;
    if unknowns == 0 {
        return Some(dense);
    }
    let mut field = RationalFunctions::new(OPERATIONS, RationalFunctions::DEFAULT_TERMS);
    let mut values = Vec::with_capacity(dense.len());
    for row in &dense {
        let mut list = Vec::with_capacity(row.len());
        for id in row {
            list.push(field.from_expression(exprs, *id).ok()?);
        }
        values.push(list);
    }
    let sparse = |list: &[<RationalFunctions as Field>::Element]| -> Vec<(u32, _)> {
        list.iter()
            .cloned()
            .enumerate()
            .map(|(at, value)| (at as u32, value))
            .collect()
    };
    let matrix = values[shown..].iter().map(|row| sparse(&row[width..])).collect();
    let right = values[shown..].iter().map(|row| sparse(&row[..width])).collect();
    let follow = solve(&mut field, matrix, right).ok()?;
    for (row, list) in values[..shown].iter().enumerate() {
        let mut sums: FxHashMap<u32, _> = FxHashMap::default();
        for (unknown, solution) in follow.iter().enumerate() {
            let factor = &list[width + unknown];
            if field.is_zero(factor) {
                continue;
            }
            for (column, value) in solution {
                let product = field.mul(factor, value);
                let before = sums.remove(column).unwrap_or_else(|| list[*column as usize].clone());
                let sum = field.sub(&before, &product);
                sums.insert(*column, sum);
            }
        }
        if field.exhausted() {
            return None;
        }
        for (column, sum) in sums {
            let id = field.to_expression(exprs, &sum);
            if is_large(exprs, id) {
                return None;
            }
            dense[row][column as usize] = lowest_terms(exprs, id);
        }
    }
    dense.truncate(shown);
    dense.iter_mut().for_each(|row| row.truncate(width));
    Some(dense)
}

/// Sets the rates at the point, which are nonzero unless it is an equilibrium; outputs are deviations from their values there.
pub(super) fn set_offsets(linearization: &mut Linearization<'_>, offsets: &[f64]) {
    let exact = linearization.point.exact.clone();
    let system = &mut linearization.system;
    let roots = linearization.roots.all[..system.states.len()].to_vec();
    if let Some(form) = &mut system.matrices.numeric {
        let values = offsets.to_vec();
        form.x_offset = values.iter().any(|value| *value != 0.0).then_some(values);
        form.y_offset = None;
    }
    let Some(mut form) = system.matrices.symbolic.take() else {
        return;
    };
    form.x_offset = None;
    form.y_offset = None;
    if offsets.iter().any(|value| *value != 0.0) {
        let mut list = Vec::with_capacity(roots.len());
        for root in roots {
            let value = system.exprs.substitute(&[root], |symbol| exact.get(&symbol).copied())[0];
            list.push(lowest_terms(&mut system.exprs, value));
        }
        let values = parameter_values(system);
        let numbers: Vec<f64> = list
            .iter()
            .zip(offsets)
            .map(|(id, number)| exact_value(system, &values, *id).unwrap_or(*number))
            .collect();
        let is_left = list.iter().any(|id| !is_zero_number(system, *id));
        form.x_offset = is_left.then_some(list);
        if let Some(numeric) = &mut system.matrices.numeric {
            numeric.x_offset = is_left.then_some(numbers);
        }
    }
    system.matrices.symbolic = Some(form);
}

/// Writes derivatives and outputs as sums of matrix entries times the variables.
pub(super) fn set_equations(system: &mut StateSystem) {
    let exprs = &mut system.exprs;
    let form = match (&system.matrices.symbolic, &system.matrices.numeric) {
        (Some(form), _) => form.clone(),
        (None, Some(form)) => {
            let mut number = |value: &f64| decimal(exprs, *value);
            LinearForm {
                a: form.a.map(&mut number),
                b: form.b.map(&mut number),
                c: form.c.map(&mut number),
                d: form.d.map(&mut number),
                e: form.e.map(&mut number),
                f: form.f.map(&mut number),
                x_offset: form
                    .x_offset
                    .as_ref()
                    .map(|list| list.iter().map(&mut number).collect()),
                y_offset: form
                    .y_offset
                    .as_ref()
                    .map(|list| list.iter().map(&mut number).collect()),
            }
        }
        (None, None) => return,
    };
    let states: Vec<ExprId> = system.states.iter().map(|state| exprs.symbol(state.symbol)).collect();
    let inputs: Vec<ExprId> = system.inputs.iter().map(|input| exprs.symbol(input.symbol)).collect();
    let rates: Vec<ExprId> = system.input_rates.iter().map(|rate| exprs.symbol(*rate)).collect();
    let mut equations = |parts: [(&SparseMatrix<ExprId>, &[ExprId]); 3], offset: &Option<Vec<ExprId>>, count: usize| {
        let mut list = Vec::with_capacity(count);
        for row in 0..count {
            let mut terms = Vec::new();
            for (matrix, variables) in parts {
                for (column, value) in &matrix.rows[row] {
                    terms.push(exprs.mul(*value, variables[*column as usize]));
                }
            }
            terms.extend(offset.as_ref().map(|offset| offset[row]));
            list.push(exprs.sum(terms));
        }
        list
    };
    let parts = [(&form.a, &states[..]), (&form.b, &inputs[..]), (&form.e, &rates[..])];
    let derivatives = equations(parts, &form.x_offset, states.len());
    let parts = [(&form.c, &states[..]), (&form.d, &inputs[..]), (&form.f, &rates[..])];
    let outputs = equations(parts, &form.y_offset, system.outputs.len());
    system.equations.derivatives = derivatives;
    system.equations.output_values = outputs;
    system.equations.assignments.clear();
    system.equations.loops.clear();
    system.equations.mass_form = None;
    system.equations.linear = true;
}
