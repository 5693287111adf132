//! Runs: inputs of Python's objects, progress, Ctrl-C, and samples as arrays.

use crate::buffers::doubles;
use crate::errors::{compile_error, described};
use lgm_emit::rows::Column;
use lgm_session::Session;
use lgm_session::analysis::sensitivities::prepare_sensitivities;
use lgm_session::diagnostics::as_json;
use lgm_session::run::columns::Written;
use lgm_session::run::failures::{self, instant};
use lgm_session::run::happened::Happened;
use lgm_session::run::inputs::InputValue;
use lgm_session::run::plan::RunOptions;
use lgm_session::run::ready::{Ready, is_interruption};
use lgm_session::run::verified::{Verification, run_verified};
use lgm_simulate::{Failure, Function, Progress, Signal, Sink, Stop, Summary, Table};
use lgm_source::diagnostic::{Diagnostic, has_errors};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

/// The time between two looks at signals of the operating system, and between two reports of progress.
const REFRESH: Duration = Duration::from_millis(50);

/// The signal of an input: its name, its kind (`text`, `number`, `linear`, `held` or `function`), and its parts.
pub type RunInput = (String, String, Py<PyAny>, Option<Py<PyAny>>);

/// The first exception of a callback.
#[derive(Clone, Default)]
pub struct Raised(Arc<Mutex<Option<PyErr>>>);

impl Raised {
    /// Keeps an exception unless there is an earlier one.
    pub fn keep(&self, error: PyErr) {
        let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        kept.get_or_insert(error);
    }

    /// Returns true if there is an exception.
    pub fn is_there(&self) -> bool {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).is_some()
    }

    /// Removes and returns the exception.
    pub fn take(&self) -> Option<PyErr> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).take()
    }
}

/// A number that a function returns at a time.
fn number(function: &Py<PyAny>, time: f64, raised: &Raised) -> f64 {
    Python::attach(|py| {
        let found = function.call1(py, (time,)).and_then(|value| value.extract::<f64>(py));
        found.unwrap_or_else(|error| {
            raised.keep(error);
            f64::NAN
        })
    })
}

/// The signal that an input is given.
pub fn given(py: Python<'_>, input: &RunInput, raised: &Raised) -> PyResult<InputValue> {
    let (name, kind, first, second) = input;
    let second_of = || {
        let second = second.as_ref().map(|second| second.clone_ref(py));
        second.ok_or_else(|| PyValueError::new_err(format!("the signal of `{name}` has one part only")))
    };
    Ok(match kind.as_str() {
        "text" => InputValue::Text(first.extract(py)?),
        "number" => {
            let value = first.extract(py)?;
            InputValue::Signal(Signal::Function(Function::new(move |_| (value, 0.0))))
        }
        "function" => {
            let (function, raised) = (first.clone_ref(py), raised.clone());
            let rate = second.as_ref().map(|rate| rate.clone_ref(py));
            InputValue::Signal(Signal::Function(Function::new(move |time| {
                let value = number(&function, time, &raised);
                let rate = rate.as_ref().map_or(0.0, |rate| number(rate, time, &raised));
                (value, rate)
            })))
        }
        _ => {
            let (times, values) = (first.extract(py)?, second_of()?.extract(py)?);
            InputValue::Signal(Table::new(times, values, kind == "held").into())
        }
    })
}

/// Refuses functions without a rate where the equations contain the rate.
pub fn needs_rate(ready: &Ready, inputs: &[RunInput]) -> PyResult<()> {
    for (name, kind, _, rate) in inputs {
        let place = ready.system.declared_inputs().position(|input| *input.name == **name);
        if kind == "function" && rate.is_none() && place.is_some_and(|at| ready.reads_rate(at)) {
            return Err(PyValueError::new_err(format!(
                "the equations may contain the rate of `{name}`: give a pair of functions, the value and its rate"
            )));
        }
    }
    Ok(())
}

/// Ends a run at Ctrl-C, or at an exception of a callback.
struct Watch<'w> {
    raised: &'w Raised,
    progress: Option<&'w Py<PyAny>>,
    span: (f64, f64),
    last: Mutex<Instant>,
}

impl Progress for Watch<'_> {
    fn reached(&self, time: f64) -> Result<(), Stop> {
        {
            let mut last = self.last.lock().unwrap_or_else(PoisonError::into_inner);
            if last.elapsed() < REFRESH {
                return match self.raised.is_there() {
                    true => Err(Stop::Interrupted),
                    false => Ok(()),
                };
            }
            *last = Instant::now();
        }
        let looked = Python::attach(|py| {
            py.check_signals()?;
            if let Some(progress) = self.progress {
                let (from, to) = self.span;
                progress.call1(py, (((time - from) / (to - from)).clamp(0.0, 1.0),))?;
            }
            Ok(())
        });
        if let Err(error) = looked {
            self.raised.keep(error);
        }
        match self.raised.is_there() {
            true => Err(Stop::Interrupted),
            false => Ok(()),
        }
    }
}

/// Keeps the samples, a vector a column.
struct Kept<'k> {
    columns: &'k Written,
    inputs: &'k lgm_simulate::Inputs,
    times: Vec<f64>,
    values: Vec<Vec<f64>>,
}

impl Sink for Kept<'_> {
    fn row(&mut self, time: f64, outputs: &[f64], states: &[f64]) -> Result<(), Stop> {
        self.times.push(time);
        let values = self.columns.values(time, outputs, states, self.inputs);
        for (kept, value) in self.values.iter_mut().zip(values) {
            kept.push(value);
        }
        Ok(())
    }
}

/// A run that has ended.
pub struct Outcome {
    ready: Ready,
    columns: Vec<Column>,
    times: Vec<f64>,
    values: Vec<Vec<f64>>,
    happened: Happened,
    notes: Vec<Diagnostic>,
    verification: Option<Verification>,
    ended: Result<Summary, Failure>,
}

/// What a run is asked for.
pub struct RunRequest {
    /// The options of the plan.
    pub options: RunOptions,
    /// The signals of the inputs.
    pub inputs: Vec<RunInput>,
    /// A function of the share of the run that is done.
    pub progress: Option<Py<PyAny>>,
    /// True if the run is verified.
    pub verify: bool,
    /// The parameters by which outputs and states are differentiated.
    pub sensitivities: Vec<String>,
}

impl Outcome {
    /// Makes a run.
    pub fn of(py: Python<'_>, session: &Session, request: RunRequest) -> PyResult<Outcome> {
        let RunRequest {
            options,
            inputs,
            progress,
            verify,
            sensitivities,
        } = request;
        let raised = Raised::default();
        let mut all = Vec::with_capacity(inputs.len());
        for input in &inputs {
            all.push((input.0.clone(), given(py, input, &raised)?));
        }
        let prepared = py.detach(|| match sensitivities.is_empty() {
            true => session.prepare(&options, &all),
            false => prepare_sensitivities(session, &options, &all, &sensitivities),
        });
        let prepared = prepared.map_err(|faults| compile_error(py, &faults))?;
        let ready = prepared.ready;
        needs_rate(&ready, &inputs)?;
        let columns = Written::all(&ready.system);
        let mut kept = Kept {
            columns: &columns,
            inputs: &ready.inputs,
            times: Vec::new(),
            values: vec![Vec::new(); columns.count()],
        };
        let watch = Watch {
            raised: &raised,
            progress: progress.as_ref(),
            span: (ready.plan.start, ready.plan.stop),
            last: Mutex::new(Instant::now()),
        };
        let mut happened = Happened::default();
        let mut verification = None;
        let ended = py.detach(|| match verify {
            false => ready.run(&mut kept, &watch, &mut happened),
            true => {
                let run = run_verified(&ready, &prepared.origin, &mut kept, &watch, &mut happened);
                run.map(|(summary, found)| {
                    verification = Some(found);
                    summary
                })
            }
        });
        if let Some(error) = raised.take() {
            return Err(error);
        }
        if let (Ok(_), Some(progress)) = (&ended, &progress) {
            progress.call1(py, (1.0,))?;
        }
        let mut notes = prepared.diagnostics;
        if let Ok(summary) = &ended {
            notes.extend(summary.notes.iter().cloned());
        }
        let (times, values) = (kept.times, kept.values);
        Ok(Outcome {
            columns: columns.columns().collect(),
            ready,
            times,
            values,
            happened,
            notes,
            verification,
            ended,
        })
    }

    /// The parts of a `Result`, and the failure if there is one.
    pub fn into_dict(self, py: Python<'_>) -> PyResult<Bound<'_, PyDict>> {
        let Outcome {
            ready,
            columns,
            times,
            values,
            happened,
            notes,
            verification,
            ended,
        } = self;
        let dict = PyDict::new(py);
        dict.set_item("time", doubles(py, &times))?;
        let list = PyList::empty(py);
        for (column, values) in columns.into_iter().zip(values) {
            let unit = column.unit.map(|unit| unit.to_string());
            list.append((column.name, unit, column.kind, doubles(py, &values)))?;
        }
        dict.set_item("columns", list)?;
        let events = happened.events.into_iter();
        let events = events.map(|event| (event.time, event.kind, event.element, event.from, event.to, event.lost));
        dict.set_item("events", events.collect::<Vec<_>>())?;
        dict.set_item("notes", as_json(&ready.map, &notes).to_string())?;
        if let Some(found) = verification {
            let (text, json) = described(&ready.map, &found.diagnostics);
            let parts = (
                found.summary,
                found.gaps,
                has_errors(&found.diagnostics).then_some((text, json)),
            );
            dict.set_item("verification", parts)?;
        }
        match &ended {
            Ok(summary) => {
                let stats = PyDict::new(py);
                stats.set_item("method", summary.method.word())?;
                for (name, count) in [
                    ("steps", summary.steps),
                    ("rejected", summary.rejected),
                    ("evaluations", summary.evaluations),
                    ("jacobians", summary.jacobians),
                    ("factorisations", summary.factorisations),
                    ("restarts", summary.restarts),
                ] {
                    stats.set_item(name, count)?;
                }
                dict.set_item("stats", stats)?;
            }
            Err(failure) => {
                let (text, json) = match is_interruption(failure) {
                    true => (
                        format!("interrupted at {} s", instant(failure.time)),
                        r#"{"diagnostics": []}"#.into(),
                    ),
                    false => {
                        let diagnostic = failures::diagnostic(failure, &ready.system, &ready.inputs);
                        described(&ready.map, &[diagnostic])
                    }
                };
                dict.set_item("failure", (text, json, failure.time))?;
            }
        }
        Ok(dict)
    }
}
