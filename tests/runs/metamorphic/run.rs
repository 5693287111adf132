//! Compiles and runs a text in this process, within limits.

use lgm::diagnostic::Severity;
use lgm::equations::{Options, StateRequest, StateSystem};
use lgm::kernels::{Arguments, KernelOptions, Kernels};
use lgm::simulate::{FailureKind, Inputs, Plan, Progress, Signal, Stop, Table, simulate};
use nalgebra::{DMatrix, DVector};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::{Duration, Instant};

/// The maximum number of steps of a run.
const STEPS: u64 = 30_000;

/// The maximum duration; steps of large models are slow.
const TIME: Duration = Duration::from_secs(10);

/// The reason why there are no samples.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Fault {
    /// The text has errors: their codes and messages.
    Refused(String),
    /// The run failed, with its message.
    Failed(String),
    /// The run exceeded its limit of steps or time.
    Slow,
    /// The compiler or the run panicked.
    Panicked(String),
}

impl Fault {
    /// Failures of one kind share a keyword.
    pub fn word(&self) -> String {
        match self {
            Fault::Refused(words) => words.split(':').next().unwrap_or("").to_string(),
            Fault::Failed(words) => words.split(['(', ' ', '{']).next().unwrap_or("").to_string(),
            Fault::Slow => "slow".to_string(),
            Fault::Panicked(_) => "panic".to_string(),
        }
    }
}

/// Samples of a run.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Rows {
    pub names: Vec<String>,
    pub times: Vec<f64>,
    pub values: Vec<Vec<f64>>,
    /// The states of the first sample.
    pub first: Vec<f64>,
    /// For each output, its largest change in any sample if each state changed by its own magnitude; empty if not
    /// computed.
    pub by_states: Vec<f64>,
    /// The codes of the run's remarks.
    pub notes: Vec<String>,
}

impl Rows {
    /// The values of an output.
    pub fn column(&self, name: &str) -> Option<Vec<f64>> {
        let at = self.names.iter().position(|other| other == name)?;
        Some(self.values.iter().map(|row| row[at]).collect())
    }

    /// The magnitude of the smallest output above the round-off of the largest one.
    pub fn smallest_column(&self) -> f64 {
        let size = |at: usize| self.values.iter().map(|row| row[at].abs()).fold(0.0, f64::max);
        let sizes: Vec<f64> = (0..self.names.len()).map(size).collect();
        let largest = sizes.iter().copied().fold(0.0, f64::max);
        let seen = sizes.into_iter().filter(|size| *size > 1e-12 * largest);
        seen.fold(largest, f64::min)
    }

    /// The samples at an interval.
    pub fn every(&self, stride: usize) -> Rows {
        Rows {
            names: self.names.clone(),
            times: self.times.iter().copied().step_by(stride).collect(),
            values: self.values.iter().step_by(stride).cloned().collect(),
            first: self.first.clone(),
            by_states: self.by_states.clone(),
            notes: self.notes.clone(),
        }
    }
}

/// A panic is a failure like any other.
pub fn guarded<T>(work: impl FnOnce() -> Result<T, Fault>) -> Result<T, Fault> {
    catch_unwind(AssertUnwindSafe(work)).unwrap_or_else(|panic| {
        let words = panic.downcast_ref::<String>().cloned();
        let words = words.or_else(|| panic.downcast_ref::<&str>().map(|words| words.to_string()));
        Err(Fault::Panicked(words.unwrap_or_default()))
    })
}

/// The equations of a text.
pub fn compile(text: &str, states: StateRequest, symbolic: bool) -> Result<StateSystem, Fault> {
    guarded(|| {
        let mut map = lgm::source::SourceMap::default();
        let root = map.add("random.lgm", text, None);
        let request = lgm::Request {
            equations: Options {
                states,
                symbolic,
                ..Options::default()
            },
            ..lgm::Request::default()
        };
        let (system, diagnostics) = lgm::compile(&lgm::source::NoFiles, &mut map, root, &request);
        system.ok_or_else(|| {
            let errors = diagnostics
                .iter()
                .filter(|diagnostic| diagnostic.severity == Severity::Error);
            let words: Vec<String> = errors
                .map(|error| format!("{}: {}", error.code, error.message))
                .collect();
            Fault::Refused(words.join("; "))
        })
    })
}

/// Ends a run that takes too long.
struct Until(Instant);

impl Progress for Until {
    fn reached(&self, _: f64) -> Result<(), Stop> {
        if Instant::now() > self.0 {
            return Err(Stop::Interrupted);
        }
        Ok(())
    }
}

/// A change of a state that is small relative to it, and large relative to round-off.
const SMALL: f64 = 1e-6;

/// The unknowns of the loops by plain Newton iteration; none if it fails.
fn solved(kernels: &Kernels, system: &StateSystem, at: &Arguments<'_>) -> Option<Vec<f64>> {
    let matrix = &kernels.jacobians(system).residuals_by_unknowns;
    let count = kernels.residuals.outputs();
    if count == 0 {
        return Some(Vec::new());
    }
    let residuals = |unknowns: &[f64]| DVector::from_vec(kernels.residuals.values(&Arguments { unknowns, ..*at }));
    let mut unknowns = vec![0.0; count];
    for _ in 0..60 {
        let here = residuals(&unknowns);
        let at = Arguments {
            unknowns: &unknowns,
            ..*at
        };
        let entries = matrix.values.values(&at);
        let mut slopes = DMatrix::zeros(count, count);
        for row in 0..count {
            for entry in matrix.row_starts[row]..matrix.row_starts[row + 1] {
                slopes[(row, matrix.columns_of[entry])] = entries[entry];
            }
        }
        let step = slopes.lu().solve(&here)?;
        let is_near = step
            .iter()
            .zip(&unknowns)
            .all(|(step, unknown)| step.abs() <= 1e-9 * unknown.abs());
        unknowns
            .iter_mut()
            .zip(step.iter())
            .for_each(|(unknown, step)| *unknown -= step);
        if is_near {
            return Some(unknowns);
        }
    }
    None
}

/// Records the sensitivity of the outputs to the states at one point.
fn see_states(
    most: &mut Vec<f64>,
    system: &StateSystem,
    kernels: &Kernels,
    parameters: &[f64],
    (time, states): (f64, &[f64]),
) {
    let signals = kernels.inputs.values(&Arguments {
        time,
        parameters,
        ..Arguments::default()
    });
    if signals.iter().any(|value| value.is_nan()) {
        return;
    }
    let (inputs, rates) = signals.split_at(signals.len() / 2);
    let outputs = |states: &[f64]| {
        let at = Arguments {
            time,
            parameters,
            states,
            inputs,
            rates,
            ..Arguments::default()
        };
        let unknowns = solved(kernels, system, &at)?;
        Some(kernels.outputs.values(&Arguments {
            unknowns: &unknowns,
            ..at
        }))
    };
    let Some(here) = outputs(states) else { return };
    let mut sums = vec![0.0; here.len()];
    let mut moved = states.to_vec();
    for at in 0..states.len() {
        moved[at] = states[at] * (1.0 + SMALL);
        let Some(there) = outputs(&moved) else { return };
        for ((sum, here), there) in sums.iter_mut().zip(&here).zip(there) {
            *sum += (there - here).abs() / SMALL;
        }
        moved[at] = states[at];
    }
    most.resize(here.len(), 0.0);
    for (most, sum) in most.iter_mut().zip(sums) {
        *most = most.max(sum);
    }
}

/// Runs equations; a table, if given, replaces an input.
pub fn run(system: &StateSystem, plan: &Plan, native: bool, table: Option<Table>) -> Result<Rows, Fault> {
    guarded(|| {
        let kernels = Kernels::new(system, &KernelOptions { native });
        let parameters = kernels.parameters(&[]);
        let mut tables: Vec<Option<Signal>> = system.inputs.iter().map(|_| None).collect();
        if let Some(table) = table {
            tables[0] = Some(table.into());
        }
        let inputs = Inputs::new(system, &kernels, &parameters, tables, plan.start);
        let mut rows = Rows {
            names: system.outputs.iter().map(|output| output.name.to_string()).collect(),
            ..Rows::default()
        };
        let mut sink = |time: f64, outputs: &[f64], states: &[f64]| {
            if rows.times.is_empty() {
                rows.first = states.to_vec();
            }
            rows.times.push(time);
            rows.values.push(outputs.to_vec());
            see_states(&mut rows.by_states, system, &kernels, &parameters, (time, states));
        };
        let plan = Plan {
            max_steps: STEPS,
            ..plan.clone()
        };
        let until = Until(Instant::now() + TIME);
        match simulate(system, &kernels, &parameters, &inputs, &plan, &mut sink, &until) {
            Ok(summary) => {
                rows.notes = summary.notes.iter().map(|note| note.code.to_string()).collect();
                Ok(rows)
            }
            Err(failure) if failure.kind == FailureKind::TooManySteps || failure.is_stop() => Err(Fault::Slow),
            Err(failure) => Err(Fault::Failed(format!("{:?} at {} s", failure.kind, failure.time))),
        }
    })
}
