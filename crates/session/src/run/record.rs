//! A run of a model for other commands, with its samples in memory.

use crate::run::failures;
use crate::run::inputs::InputOptions;
use crate::run::plan::{RunOptions, length_by_modes};
use crate::run::ready::compiled;
use lgm_equations::StateSystem;
use lgm_kernels::Kernels;
use lgm_model::Model;
use lgm_simulate::{Failure, FailureKind, Inputs, Plan, Progress, Sink, Stop, Summary, simulate};
use lgm_source::SourceMap;
use lgm_source::diagnostic::Diagnostic;
use std::borrow::Cow;
use std::time::{Duration, Instant};

/// The relative tolerance of a run to a point of linearisation, unless the experiment has a smaller one.
const FOLLOWED: f64 = 1e-9;

/// The experiment of a model, ready to run.
pub struct Prepared<'s> {
    /// The equations of the model.
    pub system: Cow<'s, StateSystem>,
    /// The equations as functions of arrays.
    pub kernels: Kernels,
    /// The values of all entries of all parameters.
    pub parameters: Vec<f64>,
    /// The signals of the inputs.
    pub inputs: Inputs,
    /// The plan of the run.
    pub plan: Plan,
}

/// Prepares the experiment of a model, or returns a message that explains why this is impossible.
pub fn prepared<'s>(model: &Model, system: &'s StateSystem) -> Result<Prepared<'s>, String> {
    let mut diagnostics = Vec::new();
    let arguments = RunOptions::default();
    let length = match arguments.is_endless(&system.experiment) {
        true => length_by_modes(model, system, arguments.start(&system.experiment), &mut diagnostics),
        // Not requested.
        false => Ok(0.0),
    };
    if let Err(reason) = &length {
        return Err(format!(
            "no stop time is given, and none can be chosen automatically: {reason}; write `experiment {{ stop = 10 \
             [s]; }}` in the model"
        ));
    }
    let plan = arguments.plan(&system.experiment, &system.model, &length);
    let plan = plan.map_err(|fault| in_words(&fault))?;
    with_plan(system, plan)
}

/// Prepares a run with a plan.
fn with_plan(system: &StateSystem, plan: Plan) -> Result<Prepared<'_>, String> {
    let mut diagnostics = Vec::new();
    let signals = InputOptions::default().signals(system, &mut SourceMap::default(), &mut diagnostics);
    if let Some(fault) = diagnostics.iter().find(|diagnostic| diagnostic.is_error()) {
        return Err(in_words(fault));
    }
    let (system, kernels, parameters, inputs) = compiled(Cow::Borrowed(system), signals, &plan);
    Ok(Prepared {
        system,
        kernels,
        parameters,
        inputs,
        plan,
    })
}

/// Formats a diagnostic: `LGM0912: the input `u` has no signal: give it one ..`
pub fn in_words(fault: &Diagnostic) -> String {
    match &fault.help {
        Some(help) => format!("{}: {}: {help}", fault.code, fault.message),
        None => format!("{}: {}", fault.code, fault.message),
    }
}

/// The samples of a run.
pub struct Record {
    /// Outputs and then states, by name.
    pub names: Vec<String>,
    /// One sample for each time: outputs, then states.
    pub rows: Vec<Vec<f64>>,
    /// The number of solver steps.
    pub steps: u64,
    /// The duration of the computation.
    pub took: Duration,
}

/// Runs a model over a time span with a relative tolerance, or returns a message that explains why no samples exist. A run that exceeds the
/// patience is ended.
pub fn record(
    system: &StateSystem,
    (start, stop, points): (f64, f64, usize),
    tolerance: f64,
    patience: &Patience<'_>,
) -> Result<Record, String> {
    let plan = Plan {
        start,
        stop,
        points,
        rtol: tolerance,
        ..Plan::default()
    };
    let prepared = with_plan(system, plan)?;
    let mut rows = Vec::with_capacity(points);
    let mut sink = |_: f64, outputs: &[f64], states: &[f64]| rows.push([outputs, states].concat());
    let patience = patience.anew();
    let found = run(&prepared, &mut sink, &patience);
    let took = patience.began.elapsed();
    let summary = found.map_err(|failure| match failure.kind {
        FailureKind::Stopped(_) => format!("the run was ended after {} s", patience.patience.as_secs()),
        _ => in_words(&failures::diagnostic(&failure, &prepared.system, &prepared.inputs)),
    })?;
    let outputs = prepared.system.outputs.iter().map(|output| output.name.to_string());
    let states = prepared.system.states.iter().map(|state| state.name.to_string());
    Ok(Record {
        names: outputs.chain(states).collect(),
        rows,
        steps: summary.steps,
        took,
    })
}

/// Returns the start and stop times of a model's experiment (`stop` overrides the latter), and its number of samples.
pub fn span(model: &Model, system: &StateSystem, stop: Option<f64>) -> Result<(f64, f64, usize), String> {
    if let Some(stop) = stop {
        let start = system.experiment.start.unwrap_or_default();
        let points = Plan::default().points;
        return match stop > start {
            true => Ok((start, stop, points)),
            false => Err(format!("the run would start at {start} s and stop at {stop} s")),
        };
    }
    let plan = prepared(model, system)?.plan;
    Ok((plan.start, plan.stop, plan.points))
}

/// Returns the outputs just after the start; None if the run cannot begin.
pub fn first_outputs(system: &StateSystem, patience: &Patience<'_>) -> Option<Vec<f64>> {
    let start = system.experiment.start.unwrap_or_default();
    let plan = Plan {
        start,
        stop: start + 1.0,
        ..Plan::default()
    };
    let prepared = with_plan(system, plan).ok()?;
    let mut first = First(None);
    let _ = run(&prepared, &mut first, patience);
    first.0
}

/// Returns the states at a time, by name, or a message that explains why the run does not reach that time.
pub fn states_at(system: &StateSystem, time: f64, patience: &Patience<'_>) -> Result<Vec<(String, f64)>, String> {
    let start = system.experiment.start.unwrap_or_default();
    if time <= start {
        return Err(format!(
            "the run starts at {start} s, where `--linearize` linearises the equations"
        ));
    }
    let plan = Plan {
        start,
        stop: time,
        points: 2,
        rtol: system.experiment.rtol.unwrap_or(FOLLOWED).min(FOLLOWED),
        ..Plan::default()
    };
    let prepared = with_plan(system, plan)?;
    let mut reached = Vec::new();
    let mut sink = |_: f64, _: &[f64], states: &[f64]| reached = states.to_vec();
    let found = run(&prepared, &mut sink, patience);
    found.map_err(|failure| in_words(&failures::diagnostic(&failure, &prepared.system, &prepared.inputs)))?;
    let names = prepared.system.states.iter().map(|state| state.name.to_string());
    Ok(names.zip(reached).collect())
}

/// Executes a run.
///
/// # Errors
///
/// The reason if the run ends before its stop time.
pub fn run(prepared: &Prepared<'_>, sink: &mut dyn Sink, watch: &dyn Progress) -> Result<Summary, Failure> {
    let Prepared {
        system,
        kernels,
        parameters,
        inputs,
        plan,
    } = prepared;
    simulate(system, kernels, parameters, inputs, plan, sink, watch)
}

/// Keeps the first sample.
struct First(Option<Vec<f64>>);

impl Sink for First {
    fn row(&mut self, _time: f64, outputs: &[f64], _states: &[f64]) -> Result<(), Stop> {
        self.0 = Some(outputs.to_vec());
        Err(Stop::Interrupted)
    }
}

/// Ends a run that takes too long or is no longer wanted.
pub struct Patience<'w> {
    began: Instant,
    patience: Duration,
    is_wanted: &'w (dyn Fn() -> bool + Sync),
}

impl<'w> Patience<'w> {
    /// Sets the maximum duration of a run that starts now.
    pub fn new(patience: Duration, is_wanted: &'w (dyn Fn() -> bool + Sync)) -> Patience<'w> {
        Patience {
            began: Instant::now(),
            patience,
            is_wanted,
        }
    }

    /// Restarts the limit for a run that begins now.
    fn anew(&self) -> Patience<'w> {
        Patience::new(self.patience, self.is_wanted)
    }
}

impl Progress for Patience<'_> {
    fn reached(&self, _time: f64) -> Result<(), Stop> {
        match (self.is_wanted)() && self.began.elapsed() < self.patience {
            true => Ok(()),
            false => Err(Stop::Interrupted),
        }
    }
}
