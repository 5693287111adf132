//! A loop with its controller: the exact discrete equations from one period to the next, if all sampled blocks have the same period.

use super::discrete::exponential;
use crate::eigen::poles::eigenvalues;
use crate::values::dense;
use lgm_algebra::expr::{ExprId, Exprs, Function, Node, SymbolId};
use lgm_equations::Options;
use lgm_equations::switching::{Events, InModes};
use lgm_model::switching::{EventBlock, Target, Trigger};
use lgm_model::system::{LinearForm, StateSystem};
use lgm_source::codes::Code;
use lgm_source::diagnostic::Diagnostic;
use nalgebra::{DMatrix, DVector, RowDVector};
use num_complex::Complex;
use rustc_hash::FxHashMap;
use std::cell::Cell;
use std::sync::Arc;

/// Periods with a relative difference below this value are equal.
const EQUAL_PERIODS: f64 = 1e-12;

/// A sampled loop from one period to the next, without its inputs.
#[derive(Clone, Debug)]
pub struct Sampled {
    /// The period in seconds.
    pub period: f64,
    /// Names of the states and of the discrete variables, in this order.
    pub names: Vec<Arc<str>>,
    /// The matrix of one period, which begins just before the first block.
    pub matrix: DMatrix<f64>,
    /// The eigenvalues of the matrix: the poles in z.
    pub z: Vec<Complex<f64>>,
    /// True if blocks are nonlinear, so that the poles describe small motions about the initial values.
    pub is_linearised: bool,
}

/// Derives the sampled loop of a model in its initial modes, whose equations are `first`, for small motions about the initial values.
/// Limits that are inactive there have no effect.
///
/// # Errors
///
/// LGM0945 if blocks have several periods, if conditions or nonlinear equations occur, or if the model has no block.
pub fn sampled(events: &Events, options: &Options, first: &StateSystem) -> Result<Sampled, Box<Diagnostic>> {
    let period = common_period(events.blocks())?;
    let modes = events.model().switching.first_modes();
    let options = Options {
        numeric: true,
        ..options.clone()
    };
    let made = events.formulate_watched(&modes, &options);
    let InModes {
        combination, system, ..
    } = made.map_err(|found| {
        Box::new(
            found
                .into_iter()
                .next()
                .unwrap_or_else(|| refusal("there are no equations")),
        )
    })?;
    let Some(form) = system.matrices.numeric.as_ref().filter(|_| system.equations.linear) else {
        return Err(Box::new(refusal(
            "the equations are not linear with constant coefficients",
        )));
    };
    let discretes = &events.model().switching.discretes;
    let (n, m) = (system.states.len(), discretes.len());
    let inputs: Vec<usize> = discretes.iter().map(|discrete| discrete.input).collect();
    let names = system.states.iter().map(|state| state.name.clone());
    let names: Vec<Arc<str>> = names
        .chain(discretes.iter().map(|discrete| discrete.name.clone()))
        .collect();
    let plant = Plant {
        events,
        form,
        read: &combination.read,
        inputs,
        states: n,
        options: &options,
        names: &names,
        starts: system.states.iter().map(|state| start_of(first, &state.name)).collect(),
        values: values(events),
        is_linearised: Cell::new(false),
    };
    let mut matrix = DMatrix::identity(n + m, n + m);
    let mut time = 0.0;
    for (offset, blocks) in instants(events.blocks(), period) {
        matrix = plant.flow(offset - time) * matrix;
        matrix = plant.jump(&blocks)? * matrix;
        time = offset;
    }
    matrix = plant.flow(period - time) * matrix;
    let is_linearised = plant.is_linearised.get();
    let z = eigenvalues(matrix.clone()).ok_or_else(|| Box::new(refusal("its eigenvalues could not be computed")))?;
    // A value that a block overwrites before it is read is lost within one period: a pole at 0.
    let least = f64::EPSILON * matrix.norm() * (n + m) as f64;
    let z = z
        .into_iter()
        .map(|z| if z.norm() <= least { Complex::ZERO } else { z })
        .collect();
    Ok(Sampled {
        period,
        names,
        matrix,
        z,
        is_linearised,
    })
}

fn refusal(why: &str) -> Diagnostic {
    Diagnostic::error(
        Code::LGM0945,
        format!("there is no sampled loop with poles in z: {why}"),
    )
    .help("all `every` blocks must have one period, and everything else must be linear and free of `when` blocks")
}

/// Returns the common period of all blocks.
fn common_period(blocks: &[EventBlock]) -> Result<f64, Box<Diagnostic>> {
    let mut found: Option<f64> = None;
    for block in blocks {
        match (block.trigger, found) {
            (Trigger::Every { period, .. }, None) => found = Some(period),
            (Trigger::Every { period, .. }, Some(known)) if (period - known).abs() <= EQUAL_PERIODS * known => {}
            (Trigger::Every { .. }, _) => {
                return Err(Box::new(
                    refusal("its blocks have several periods").label(block.span, "another period"),
                ));
            }
            (Trigger::Initially, _) => {}
            (Trigger::Becomes(_), _) => {
                let fault = refusal("a `when` block runs each time its condition becomes true");
                return Err(Box::new(fault.label(block.span, "this block")));
            }
        }
    }
    found.ok_or_else(|| Box::new(refusal("it has no `every` block")))
}

/// Returns the instants of a period at which blocks run, in order, with the blocks in the order of the text.
fn instants(blocks: &[EventBlock], period: f64) -> Vec<(f64, Vec<usize>)> {
    let mut found: Vec<(f64, Vec<usize>)> = Vec::new();
    for (at, block) in blocks.iter().enumerate() {
        let Trigger::Every { first, .. } = block.trigger else {
            continue;
        };
        let rest = first.rem_euclid(period);
        let offset = if period - rest <= EQUAL_PERIODS * period {
            0.0
        } else {
            rest
        };
        match found
            .iter_mut()
            .find(|known| (known.0 - offset).abs() <= EQUAL_PERIODS * period)
        {
            Some(known) => known.1.push(at),
            None => found.push((offset, vec![at])),
        }
    }
    found.sort_by(|a, b| a.0.total_cmp(&b.0));
    found
}

/// Returns the values of parameters, and the initial values of discrete variables, by symbol.
fn values(events: &Events) -> FxHashMap<SymbolId, f64> {
    let model = events.model();
    let entries = model.parameters.iter().flat_map(|parameter| &parameter.entries);
    let mut values: FxHashMap<SymbolId, f64> = entries
        .map(|entry| (entry.symbol, lgm_algebra::expr::to_f64(&entry.value)))
        .collect();
    for discrete in &model.switching.discretes {
        let input = &model.inputs[discrete.input];
        let start = input.signal.expect("invariant: a discrete variable has a start");
        let found = model
            .exprs
            .evaluate_unchecked(&[start], &|symbol| values.get(&symbol).copied());
        values.insert(input.symbol, found[0]);
    }
    values
}

/// Returns the initial value of a state with this name; 0 for a state that the model's own equations do not contain.
fn start_of(first: &StateSystem, name: &str) -> f64 {
    let state = first.states.iter().find(|state| *state.name == *name);
    state.map_or(0.0, |state| state.start_value)
}

/// Returns true if a value depends on the integer part of a varying quantity.
fn is_rounded(exprs: &Exprs, value: ExprId, of_symbol: &FxHashMap<SymbolId, RowDVector<f64>>) -> bool {
    let parts = exprs.reachable(&[value]).into_iter();
    parts.into_iter().any(|part| match exprs.node(part) {
        Node::Call(Function::Floor, arguments) => {
            let symbols = exprs.symbols_of(arguments);
            symbols.iter().any(|symbol| of_symbol.contains_key(symbol))
        }
        _ => false,
    })
}

/// Returns the value of a symbol; declared inputs and time are 0 at the start.
fn known(values: &FxHashMap<SymbolId, f64>, symbol: SymbolId) -> Option<f64> {
    Some(values.get(&symbol).copied().unwrap_or(0.0))
}

/// The continuous part, and the blocks linearised about the initial values.
struct Plant<'p> {
    events: &'p Events,
    form: &'p LinearForm<f64>,
    read: &'p [usize],
    inputs: Vec<usize>,
    states: usize,
    options: &'p Options,
    names: &'p [Arc<str>],
    /// The initial values of the states.
    starts: Vec<f64>,
    values: FxHashMap<SymbolId, f64>,
    /// True if a derivative of a block is not constant.
    is_linearised: Cell<bool>,
}

impl Plant<'_> {
    fn size(&self) -> usize {
        self.states + self.inputs.len()
    }

    /// Returns the columns of the discrete variables.
    fn columns(&self, matrix: &DMatrix<f64>) -> DMatrix<f64> {
        DMatrix::from_fn(matrix.nrows(), self.inputs.len(), |row, column| {
            matrix[(row, self.inputs[column])]
        })
    }

    /// Returns the change of states and discrete variables while no block runs.
    fn flow(&self, duration: f64) -> DMatrix<f64> {
        let (n, size) = (self.states, self.size());
        let mut whole = DMatrix::zeros(size, size);
        whole
            .view_mut((0, 0), (n, n))
            .copy_from(&(dense(&self.form.a) * duration));
        let b = self.columns(&dense(&self.form.b));
        whole.view_mut((0, n), (n, size - n)).copy_from(&(b * duration));
        exponential(whole)
    }

    /// Returns the change of states and discrete variables by the blocks of one instant.
    fn jump(&self, blocks: &[usize]) -> Result<DMatrix<f64>, Box<Diagnostic>> {
        let (n, size) = (self.states, self.size());
        let (c, d) = (dense(&self.form.c), self.columns(&dense(&self.form.d)));
        let mut rows: Vec<RowDVector<f64>> = (0..size)
            .map(|at| {
                let mut row = RowDVector::zeros(size);
                row[at] = 1.0;
                row
            })
            .collect();
        let model = self.events.model();
        let mut values = self.values.clone();
        let discretes = model.switching.discretes.iter();
        let symbols: Vec<SymbolId> = discretes.map(|discrete| model.inputs[discrete.input].symbol).collect();
        let starts = self
            .starts
            .iter()
            .copied()
            .chain(symbols.iter().map(|symbol| values[symbol]));
        let point = DVector::from_iterator(size, starts);
        let mut of_symbol: FxHashMap<SymbolId, RowDVector<f64>> = FxHashMap::default();
        for (symbol, output) in self.events.held().zip(self.read) {
            let mut row = RowDVector::zeros(size);
            row.columns_mut(0, n).copy_from(&c.row(*output));
            row.columns_mut(n, size - n).copy_from(&d.row(*output));
            let offset = self.form.y_offset.as_ref().map_or(0.0, |offset| offset[*output]);
            values.insert(symbol, (&row * &point)[0] + offset);
            of_symbol.insert(symbol, row);
        }
        let mut exprs = self.events.exprs().clone();
        for (at, symbol) in symbols.iter().enumerate() {
            of_symbol.insert(*symbol, rows[n + at].clone());
        }
        for at in blocks {
            for assignment in &self.events.blocks()[*at].assignments {
                if is_rounded(&exprs, assignment.value, &of_symbol) {
                    let fault = refusal("a block rounds its inputs, and `floor` has no useful derivative");
                    return Err(Box::new(fault.label(assignment.span, "rounded here")));
                }
                let row = self.row(&mut exprs, assignment.value, &of_symbol, &values)?;
                let value = exprs.evaluate_unchecked(&[assignment.value], &|symbol| known(&values, symbol))[0];
                match assignment.target {
                    Target::Discrete(discrete) => {
                        values.insert(symbols[discrete], value);
                        of_symbol.insert(symbols[discrete], row.clone());
                        rows[n + discrete] = row;
                    }
                    Target::Temporary(symbol) => {
                        values.insert(symbol, value);
                        of_symbol.insert(symbol, row);
                    }
                    Target::State(symbol) => {
                        let integral = model.integrals.iter().find(|integral| integral.symbol == symbol);
                        let integral = integral.expect("invariant: a target is an integral of the model");
                        let name = model.path_name(integral.path);
                        rows[self.state(&name)?] = row;
                    }
                    Target::Storage(port) => {
                        let name = self.events.storage_name(port, self.options);
                        rows[self.state(&name)?] = row;
                    }
                }
            }
        }
        // Steps of discrete variables change states through E.
        let e = self.columns(&dense(&self.form.e));
        for discrete in 0..size - n {
            let mut step = rows[n + discrete].clone();
            step[n + discrete] -= 1.0;
            for state in 0..n {
                rows[state] += &step * e[(state, discrete)];
            }
        }
        Ok(DMatrix::from_rows(&rows))
    }

    fn state(&self, name: &str) -> Result<usize, Box<Diagnostic>> {
        let found = self.names[..self.states].iter().position(|state| **state == *name);
        found.ok_or_else(|| Box::new(refusal(&format!("`{name}` is set but is not a state"))))
    }

    /// Returns the derivative of a value with respect to states and discrete variables just before the instant.
    fn row(
        &self,
        exprs: &mut Exprs,
        value: ExprId,
        of_symbol: &FxHashMap<SymbolId, RowDVector<f64>>,
        values: &FxHashMap<SymbolId, f64>,
    ) -> Result<RowDVector<f64>, Box<Diagnostic>> {
        let mut row = RowDVector::zeros(self.size());
        for symbol in exprs.symbols_of(&[value]) {
            let Some(of) = of_symbol.get(&symbol) else { continue };
            let derivative = exprs.differentiate(value, symbol);
            let derivative = derivative.ok_or_else(|| Box::new(refusal("a block has no derivative")))?;
            let moves = exprs
                .symbols_of(&[derivative])
                .iter()
                .any(|symbol| of_symbol.contains_key(symbol));
            if moves {
                self.is_linearised.set(true);
            }
            let found = exprs.evaluate_unchecked(&[derivative], &|symbol| known(values, symbol));
            if !found[0].is_finite() {
                return Err(Box::new(refusal("a block has no derivative at the initial values")));
            }
            row += of * found[0];
        }
        Ok(row)
    }
}
