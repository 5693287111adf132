//! Sweeps: many runs of one compiled model on threads, while the interpreter is free.

use crate::buffers::{doubles, read};
use crate::errors::{compile_error, compile_error_of};
use crate::run::{Raised, RunInput, given, needs_rate};
use crate::session::Session;
use lgm_model::SiUnit;
use lgm_session::analysis::modes::parameter_entry;
use lgm_session::run::batch::{Batch, in_order};
use lgm_session::run::columns::Written;
use lgm_session::run::failures;
use lgm_session::run::plan::RunOptions;
use lgm_session::run::ready::{Ready, is_interruption};
use lgm_simulate::{Plan, Progress, Stop};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use std::io;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// Time between two checks for signals of the operating system.
const REFRESH: Duration = Duration::from_millis(50);

/// A model that is compiled for many runs.
#[pyclass(frozen, module = "lgm._native")]
pub struct Sweep {
    ready: Ready,
    options: RunOptions,
    positions: Vec<usize>,
    written: Written,
    raised: Raised,
}

/// The result of one run.
struct Made {
    /// The samples of each column in sequence, NaN after a failure.
    values: Vec<f64>,
    /// The reason of a failure, or an empty text.
    failure: String,
    /// True if the run has other sample times than the model.
    is_other: bool,
}

/// Ends the runs when the caller is interrupted.
struct Watch<'w>(&'w AtomicBool);

impl Progress for Watch<'_> {
    fn reached(&self, _: f64) -> Result<(), Stop> {
        match self.0.load(Ordering::Relaxed) {
            true => Err(Stop::Interrupted),
            false => Ok(()),
        }
    }
}

/// Returns true if two plans have the same sample times.
fn has_same_samples(a: &Plan, b: &Plan) -> bool {
    (a.start, a.stop, a.points) == (b.start, b.stop, b.points)
}

impl Sweep {
    /// Compiles the runs of a model that vary these parameters. All columns are kept unless some are named.
    pub fn new(
        py: Python<'_>,
        session: &Session,
        names: &[String],
        inputs: &[RunInput],
        columns: &[String],
        options: RunOptions,
    ) -> PyResult<Sweep> {
        let raised = Raised::default();
        let mut all = Vec::with_capacity(inputs.len());
        for input in inputs {
            all.push((input.0.clone(), given(py, input, &raised)?));
        }
        let prepared = py.detach(|| {
            let varied = session.0.with_varied(names)?;
            varied.as_ref().unwrap_or(&session.0).prepare_batch(&options, &all)
        });
        let ready = prepared.map_err(|faults| compile_error(py, &faults))?.ready;
        needs_rate(&ready, inputs)?;
        if ready.plan.events {
            return Err(PyValueError::new_err(
                "runs with samples at events have different sample times: a sweep requires events=False",
            ));
        }
        let positions = names
            .iter()
            .map(|name| Ok(parameter_entry(&ready.system, name, "sweep")?.0));
        let positions = positions.collect::<Result<Vec<usize>, Box<_>>>();
        let positions = positions.map_err(|fault| compile_error_of(py, &ready.map, vec![*fault]))?;
        let written = match columns.is_empty() {
            true => Written::all(&ready.system),
            false => Written::new(columns, true, &ready.system, &mut Vec::new()),
        };
        Ok(Sweep {
            ready,
            options,
            positions,
            written,
            raised,
        })
    }

    /// Performs one run.
    fn one(&self, batch: &Batch<'_>, values: &[f64], watch: &Watch<'_>) -> Made {
        let points = self.ready.plan.points;
        let mut made = Made {
            values: vec![f64::NAN; self.written.count() * points],
            failure: String::new(),
            is_other: false,
        };
        let point = match batch.point(values) {
            Ok(point) if has_same_samples(&point.plan, &self.ready.plan) => point,
            Ok(_) => {
                made.is_other = true;
                return made;
            }
            Err(failure) => {
                made.failure = failures::sentence(&failure);
                return made;
            }
        };
        let mut row = 0;
        let mut sink = |time: f64, outputs: &[f64], states: &[f64]| {
            made.is_other |= row >= points;
            if row < points {
                for (column, value) in self.written.values(time, outputs, states, &point.inputs).enumerate() {
                    made.values[column * points + row] = value;
                }
            }
            row += 1;
        };
        if let Err(failure) = batch.run(&point, &mut sink, watch)
            && !is_interruption(&failure)
        {
            made.failure = failures::sentence(&failure);
        }
        made
    }
}

/// The samples of each column, all runs in sequence, and the reason of each failure by the number of its run.
type Samples<'py> = (Vec<Bound<'py, PyBytes>>, Vec<(usize, String)>);

#[pymethods]
impl Sweep {
    /// The sample times of all runs.
    fn times<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        let plan = &self.ready.plan;
        doubles(py, &(0..plan.points).map(|row| plan.time(row)).collect::<Vec<f64>>())
    }

    /// The unit of each varied parameter.
    fn units(&self) -> Vec<Option<String>> {
        let parameters = self.ready.system.parameters.iter();
        let units: Vec<&Option<SiUnit>> = parameters
            .flat_map(|parameter| parameter.entries.iter().map(|_| &parameter.unit))
            .collect();
        let units = self.positions.iter().map(|position| units[*position].as_ref());
        units.map(|unit| unit.map(SiUnit::to_string)).collect()
    }

    /// Names, units and kinds of the columns.
    fn columns(&self) -> Vec<(String, Option<String>, &'static str)> {
        let columns = self.written.columns();
        let columns = columns.map(|column| (column.name, column.unit.map(|unit| unit.to_string()), column.kind));
        columns.collect()
    }

    /// Runs the model with each row of values, on this number of threads.
    fn run<'py>(&self, py: Python<'py>, values: &[u8], threads: usize) -> PyResult<Samples<'py>> {
        let values = read(values);
        let count = values.len() / self.positions.len().max(1);
        let (columns, points) = (self.written.count(), self.ready.plan.points);
        let mut tables = vec![vec![f64::NAN; count * points]; columns];
        let mut reasons = Vec::new();
        let (mut last, mut is_other) = (Instant::now(), false);
        let stop = AtomicBool::new(false);
        let mut take = |finished: Option<(usize, Made)>| {
            if let Some((number, made)) = finished {
                is_other |= made.is_other;
                for (table, samples) in tables.iter_mut().zip(made.values.chunks(points)) {
                    table[number * points..][..points].copy_from_slice(samples);
                }
                if !made.failure.is_empty() {
                    reasons.push((number, made.failure));
                }
            }
            if last.elapsed() >= REFRESH {
                last = Instant::now();
                let looked = Python::attach(|py| py.check_signals());
                looked.unwrap_or_else(|error| self.raised.keep(error));
            }
            let goes_on = !is_other && !self.raised.is_there();
            stop.store(!goes_on, Ordering::Relaxed);
            io::Result::Ok(goes_on)
        };
        let ended = py.detach(|| {
            let batch = Batch::new(&self.ready, &self.options, self.positions.clone());
            let watch = Watch(&stop);
            let work = |number: usize| {
                let width = self.positions.len();
                self.one(&batch, &values[number * width..][..width], &watch)
            };
            in_order(count, threads, &work, &mut take)
        });
        if let Some(error) = self.raised.take() {
            return Err(error);
        }
        ended?;
        if is_other {
            return Err(PyValueError::new_err(
                "the sample times of the experiment depend on the parameters of the sweep: pass start, stop and points",
            ));
        }
        let tables = tables.iter().map(|table| doubles(py, table));
        Ok((tables.collect(), reasons))
    }
}
