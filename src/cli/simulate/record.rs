//! A run of a model as other commands need it: its rows in memory.

use super::inputs::InputOptions;
use super::plan::{PlanArguments, length_by_modes};
use super::ready::compiled;
use crate::cli::interrupt;
use lgm_equations::StateSystem;
use lgm_kernels::Kernels;
use lgm_model::Model;
use lgm_simulate::{Failure, FailureKind, Inputs, Plan, Progress, Sink, Stop, Summary, simulate};
use lgm_source::SourceMap;
use lgm_source::diagnostic::Diagnostic;
use std::borrow::Cow;
use std::time::{Duration, Instant};

/// The relative tolerance of a run whose end is a point of linearisation, if the experiment says no smaller one.
const FOLLOWED: f64 = 1e-9;

/// The experiment of a model, ready to run.
pub(super) struct Prepared<'s> {
    pub(super) system: Cow<'s, StateSystem>,
    pub(super) kernels: Kernels,
    pub(super) parameters: Vec<f64>,
    pub(super) inputs: Inputs,
    pub(super) plan: Plan,
}

/// Prepares the experiment of a model; in words, why there is none.
pub(super) fn prepared<'s>(model: &Model, system: &'s StateSystem) -> Result<Prepared<'s>, String> {
    let mut diagnostics = Vec::new();
    let arguments = PlanArguments::default();
    let length = match arguments.is_endless(&system.experiment) {
        true => length_by_modes(model, system, arguments.start(&system.experiment), &mut diagnostics),
        // Not asked for.
        false => Ok(0.0),
    };
    if let Err(reason) = &length {
        return Err(format!(
            "no stop time is given, and none can be chosen: {reason}; write `experiment {{ stop = 10 [s]; }}` in the model"
        ));
    }
    let plan = arguments.plan(&system.experiment, &system.model, &length);
    let plan = plan.map_err(|fault| in_words(&fault))?;
    with_plan(system, plan)
}

/// The same with a plan.
fn with_plan(system: &StateSystem, plan: Plan) -> Result<Prepared<'_>, String> {
    let mut diagnostics = Vec::new();
    let tables = InputOptions::default().tables(system, &mut SourceMap::default(), &mut diagnostics);
    if let Some(fault) = diagnostics.iter().find(|diagnostic| diagnostic.is_error()) {
        return Err(in_words(fault));
    }
    let (system, kernels, parameters, inputs) = compiled(Cow::Borrowed(system), tables, &plan);
    Ok(Prepared {
        system,
        kernels,
        parameters,
        inputs,
        plan,
    })
}

/// `LGM0912: the input `u` has no signal: give it one ..`
pub(super) fn in_words(fault: &Diagnostic) -> String {
    match &fault.help {
        Some(help) => format!("{}: {}: {help}", fault.code, fault.message),
        None => format!("{}: {}", fault.code, fault.message),
    }
}

/// The rows of a run.
pub(in crate::cli) struct Record {
    /// Outputs and then states, by name.
    pub(in crate::cli) names: Vec<String>,
    /// A row for each time: outputs and then states.
    pub(in crate::cli) rows: Vec<Vec<f64>>,
    /// Steps of the solver.
    pub(in crate::cli) steps: u64,
    /// The time that the run took.
    pub(in crate::cli) took: Duration,
}

/// Runs a model from one time to another with a relative tolerance; in words, why it has no rows. A run that lasts longer than the patience
/// allows is ended.
pub(in crate::cli) fn record(
    system: &StateSystem,
    (start, stop, points): (f64, f64, usize),
    tolerance: f64,
    patience: Duration,
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
    let watch = Patience {
        began: Instant::now(),
        patience,
    };
    let found = run(&prepared, &mut sink, &watch);
    let took = watch.began.elapsed();
    let summary = found.map_err(|failure| match failure.kind {
        FailureKind::Stopped(_) => format!("the run was ended after {} s", patience.as_secs()),
        _ => in_words(&super::failures::diagnostic(
            &failure,
            &prepared.system,
            &prepared.inputs,
        )),
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

/// When the experiment of a model begins and ends, or ends if nobody says when, and its number of rows.
pub(in crate::cli) fn span(
    model: &Model,
    system: &StateSystem,
    stop: Option<f64>,
) -> Result<(f64, f64, usize), String> {
    if let Some(stop) = stop {
        let start = system.experiment.start.unwrap_or_default();
        let points = Plan::default().points;
        return match stop > start {
            true => Ok((start, stop, points)),
            false => Err(format!("the run would begin at {start} s and end at {stop} s")),
        };
    }
    let plan = prepared(model, system)?.plan;
    Ok((plan.start, plan.stop, plan.points))
}

/// The outputs just after the start; none if the run cannot begin.
pub(in crate::cli) fn first_outputs(system: &StateSystem) -> Option<Vec<f64>> {
    let start = system.experiment.start.unwrap_or_default();
    let plan = Plan {
        start,
        stop: start + 1.0,
        ..Plan::default()
    };
    let prepared = with_plan(system, plan).ok()?;
    let mut first = First(None);
    let watch = Patience {
        began: Instant::now(),
        patience: Duration::from_secs(10),
    };
    let _ = run(&prepared, &mut first, &watch);
    first.0
}

/// The states that a run has reached at a time, by name; in words, why it does not get there.
pub(in crate::cli) fn states_at(system: &StateSystem, time: f64) -> Result<Vec<(String, f64)>, String> {
    let start = system.experiment.start.unwrap_or_default();
    if time <= start {
        return Err(format!(
            "the run begins at {start} s, where `--linearize` takes the equations"
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
    let watch = Patience {
        began: Instant::now(),
        patience: Duration::from_secs(3600),
    };
    let found = run(&prepared, &mut sink, &watch);
    found.map_err(|failure| {
        in_words(&super::failures::diagnostic(
            &failure,
            &prepared.system,
            &prepared.inputs,
        ))
    })?;
    let names = prepared.system.states.iter().map(|state| state.name.to_string());
    Ok(names.zip(reached).collect())
}

pub(super) fn run(prepared: &Prepared<'_>, sink: &mut dyn Sink, watch: &dyn Progress) -> Result<Summary, Failure> {
    let Prepared {
        system,
        kernels,
        parameters,
        inputs,
        plan,
    } = prepared;
    simulate(system, kernels, parameters, inputs, plan, sink, watch)
}

/// Takes one row.
struct First(Option<Vec<f64>>);

impl Sink for First {
    fn row(&mut self, _time: f64, outputs: &[f64], _states: &[f64]) -> Result<(), Stop> {
        self.0 = Some(outputs.to_vec());
        Err(Stop::Interrupted)
    }
}

/// Ends a run that lasts too long, or that is interrupted.
struct Patience {
    began: Instant,
    patience: Duration,
}

impl Progress for Patience {
    fn reached(&self, _time: f64) -> Result<(), Stop> {
        match self.began.elapsed() < self.patience && !interrupt::is_asked_for() {
            true => Ok(()),
            false => Err(Stop::Interrupted),
        }
    }
}
