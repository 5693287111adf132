//! A loop with its controller: the exact discrete equations from one period to the next, where all sampled blocks have one period.

use super::discrete::exponential;
use crate::modes::poles::eigenvalues;
use crate::values::dense;
use lgm_algebra::expr::{ExprId, Exprs, SymbolId};
use lgm_equations::Options;
use lgm_equations::switching::{Events, InModes};
use lgm_model::switching::{Block, Target, Trigger};
use lgm_model::system::LinearForm;
use lgm_source::codes::Code;
use lgm_source::diagnostic::Diagnostic;
use nalgebra::{DMatrix, RowDVector};
use num_complex::Complex;
use rustc_hash::FxHashMap;
use std::sync::Arc;

/// Periods that differ by this share of them are one.
const SAME: f64 = 1e-12;

/// A sampled loop from one period to the next, without its inputs.
#[derive(Clone, Debug)]
pub struct Sampled {
    /// The period in seconds.
    pub period: f64,
    /// Names of the states and of the discrete variables, in this order.
    pub names: Vec<Arc<str>>,
    /// What becomes of them in one period, from just before the first block of a period.
    pub matrix: DMatrix<f64>,
    /// The eigenvalues of the matrix: the poles in z.
    pub z: Vec<Complex<f64>>,
}

/// The sampled loop of a model in the modes that it is in. Blocks are linear about the starts: a limit that is not met there has no
/// part in it.
///
/// # Errors
///
/// LGM0945 where blocks have several periods, where conditions or nonlinear equations take part, or where there is no block.
pub fn sampled(events: &Events, options: &Options) -> Result<Sampled, Box<Diagnostic>> {
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
    let Some(form) = system.numeric.as_ref().filter(|_| system.linear) else {
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
        values: values(events),
    };
    let mut matrix = DMatrix::identity(n + m, n + m);
    let mut time = 0.0;
    for (offset, blocks) in instants(events.blocks(), period) {
        matrix = plant.flow(offset - time) * matrix;
        matrix = plant.jump(&blocks)? * matrix;
        time = offset;
    }
    matrix = plant.flow(period - time) * matrix;
    let z = eigenvalues(matrix.clone()).ok_or_else(|| Box::new(refusal("its eigenvalues were not found")))?;
    // What a block overwrites before it is read is forgotten within one period: a pole at 0.
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
    })
}

fn refusal(why: &str) -> Diagnostic {
    Diagnostic::error(
        Code::LGM0945,
        format!("there is no sampled loop with poles in z: {why}"),
    )
    .help("all `every` blocks must have one period, and everything else must be linear and free of `when` blocks")
}

/// The one period of all blocks.
fn common_period(blocks: &[Block]) -> Result<f64, Box<Diagnostic>> {
    let mut found: Option<f64> = None;
    for block in blocks {
        match (block.trigger, found) {
            (Trigger::Every { period, .. }, None) => found = Some(period),
            (Trigger::Every { period, .. }, Some(known)) if (period - known).abs() <= SAME * known => {}
            (Trigger::Every { .. }, _) => {
                return Err(Box::new(
                    refusal("its blocks have several periods").label(block.span, "another period"),
                ));
            }
            (Trigger::Initially, _) => {}
            (Trigger::Becomes(_), _) => {
                let fault = refusal("a `when` block runs whenever its condition becomes true");
                return Err(Box::new(fault.label(block.span, "this block")));
            }
        }
    }
    found.ok_or_else(|| Box::new(refusal("it has no `every` block")))
}

/// The instants of a period at which blocks run, in order, with the blocks in the order of the text.
fn instants(blocks: &[Block], period: f64) -> Vec<(f64, Vec<usize>)> {
    let mut found: Vec<(f64, Vec<usize>)> = Vec::new();
    for (at, block) in blocks.iter().enumerate() {
        let Trigger::Every { first, .. } = block.trigger else {
            continue;
        };
        let rest = first.rem_euclid(period);
        let offset = if period - rest <= SAME * period { 0.0 } else { rest };
        match found.iter_mut().find(|known| (known.0 - offset).abs() <= SAME * period) {
            Some(known) => known.1.push(at),
            None => found.push((offset, vec![at])),
        }
    }
    found.sort_by(|a, b| a.0.total_cmp(&b.0));
    found
}

/// Values of parameters, and of discrete variables at the start, by their symbols.
fn values(events: &Events) -> FxHashMap<SymbolId, f64> {
    let model = events.model();
    let entries = model.parameters.iter().flat_map(|parameter| &parameter.entries);
    let mut values: FxHashMap<SymbolId, f64> = entries
        .map(|entry| (entry.symbol, lgm_algebra::expr::to_f64(&entry.value)))
        .collect();
    for discrete in &model.switching.discretes {
        let input = &model.inputs[discrete.input];
        let start = input.signal.map(|start| {
            model
                .exprs
                .evaluate_unchecked(&[start], &|symbol| values.get(&symbol).copied())
        });
        values.insert(input.symbol, start.map_or(0.0, |found| found[0]));
    }
    values
}

/// The continuous part, and the blocks about the starts.
struct Plant<'p> {
    events: &'p Events,
    form: &'p LinearForm<f64>,
    read: &'p [usize],
    inputs: Vec<usize>,
    states: usize,
    options: &'p Options,
    names: &'p [Arc<str>],
    values: FxHashMap<SymbolId, f64>,
}

impl Plant<'_> {
    fn size(&self) -> usize {
        self.states + self.inputs.len()
    }

    /// Columns of the discrete variables.
    fn columns(&self, matrix: &DMatrix<f64>) -> DMatrix<f64> {
        DMatrix::from_fn(matrix.nrows(), self.inputs.len(), |row, column| {
            matrix[(row, self.inputs[column])]
        })
    }

    /// What becomes of states and discrete variables while no block runs.
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

    /// What blocks at one instant make of states and discrete variables.
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
        let mut of_symbol: FxHashMap<SymbolId, RowDVector<f64>> = FxHashMap::default();
        for (symbol, output) in self.events.held().zip(self.read) {
            let mut row = RowDVector::zeros(size);
            row.columns_mut(0, n).copy_from(&c.row(*output));
            row.columns_mut(n, size - n).copy_from(&d.row(*output));
            of_symbol.insert(symbol, row);
        }
        let mut exprs = self.events.exprs().clone();
        let mut values = self.values.clone();
        let model = self.events.model();
        for (at, discrete) in model.switching.discretes.iter().enumerate() {
            of_symbol.insert(model.inputs[discrete.input].symbol, rows[n + at].clone());
        }
        for at in blocks {
            for assignment in &self.events.blocks()[*at].assignments {
                let row = self.row(&mut exprs, assignment.value, &of_symbol, &values)?;
                match assignment.target {
                    Target::Discrete(discrete) => {
                        of_symbol.insert(
                            model.inputs[model.switching.discretes[discrete].input].symbol,
                            row.clone(),
                        );
                        rows[n + discrete] = row;
                    }
                    Target::Choice(symbol) => {
                        let found =
                            exprs.evaluate_unchecked(&[assignment.value], &|symbol| values.get(&symbol).copied());
                        values.insert(symbol, found[0]);
                    }
                    Target::State(symbol) => {
                        let integral = model.integrals.iter().find(|integral| integral.symbol == symbol);
                        let name = integral
                            .map(|integral| model.path_name(integral.path))
                            .unwrap_or_default();
                        rows[self.state(&name)?] = row;
                    }
                    Target::Storage(port) => {
                        let name = self.events.storage_name(port, self.options);
                        rows[self.state(&name)?] = row;
                    }
                }
            }
        }
        // Steps of discrete variables move states by E.
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
        found.ok_or_else(|| Box::new(refusal(&format!("`{name}` is set, and is no state"))))
    }

    /// The derivative of a value, over states and discrete variables just before the instant.
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
            let found = exprs.evaluate_unchecked(&[derivative], &|symbol| {
                Some(values.get(&symbol).copied().unwrap_or(0.0))
            });
            if !found[0].is_finite() {
                return Err(Box::new(refusal("a block has no derivative at the starts")));
            }
            row += of * found[0];
        }
        Ok(row)
    }
}
