//! The plot of a run for the preview in an editor, as drawn by `lgm simulate FILE --plot`.

use super::plots::{self, Plotter};
use lgm_emit::plot::svg;
use lgm_equations::switching::Events;
use lgm_equations::{Options, StateSystem};
use lgm_model::Model;
use lgm_session::run::failures;
use lgm_session::run::record::{Patience, Prepared, in_words, prepared, run};
use lgm_simulate::{Failure, FailureKind, Inputs, Progress, Sink, Stop, Summary, Switched, run_switched};
use lgm_source::diagnostic::six_digits;
use std::time::Duration;

/// Maximum duration of a run for an editor. Replies to other requests are delayed by the same time.
const PATIENCE: Duration = Duration::from_secs(3);

/// Runs the experiment of a model and plots it as SVG, or returns a message that explains why no plot exists.
pub(in crate::cli) fn picture(
    model: &Model,
    system: &StateSystem,
    is_wanted: &(dyn Fn() -> bool + Sync),
) -> Result<String, String> {
    let prepared = prepared(model, system)?;
    let mut diagnostics = Vec::new();
    let curves = plots::chosen(&[], system, &mut diagnostics);
    if let Some(fault) = diagnostics.iter().find(|diagnostic| diagnostic.is_error()) {
        return Err(in_words(fault));
    }
    let (system, inputs) = (&*prepared.system, &prepared.inputs);
    let mut plotter = Plotter::new(system, &prepared.plan, &curves);
    let mut sink = Drawn {
        plotter: &mut plotter,
        inputs,
    };
    let patience = Patience::new(PATIENCE, is_wanted);
    let run = match model.switching.is_empty() {
        true => run(&prepared, &mut sink, &patience),
        false => with_events(model, &prepared, &mut sink, &patience),
    };
    match run {
        Ok(_) => Ok(svg(&plotter.figure())),
        Err(failure) => Err(reason(&failure, system, inputs)),
    }
}

/// Runs a model with events.
fn with_events(
    model: &Model,
    prepared: &Prepared<'_>,
    sink: &mut dyn Sink,
    patience: &dyn Progress,
) -> Result<Summary, Failure> {
    let events = Events::new(model);
    let options = Options {
        symbolic: false,
        readable: false,
        ..Options::default()
    };
    let setup = Switched {
        events: &events,
        options: &options,
        first: (&prepared.system, &prepared.kernels),
        parameters: prepared.parameters.clone(),
        tables: &[],
        line: &|_| 0,
    };
    run_switched(&setup, &prepared.plan, sink, patience, &mut |_| {}).map(|finished| finished.summary)
}

/// Returns the reason why the run has no plot.
fn reason(failure: &Failure, system: &StateSystem, inputs: &Inputs) -> String {
    match &failure.kind {
        FailureKind::Stopped(Stop::Refused(words)) => words.clone(),
        FailureKind::Stopped(Stop::Interrupted) => format!(
            "the run is at {} s after {} s of computation: `lgm simulate` completes it",
            six_digits(failure.time),
            PATIENCE.as_secs()
        ),
        _ => in_words(&failures::diagnostic(failure, system, inputs)),
    }
}

/// Adds samples to the plot.
struct Drawn<'a> {
    plotter: &'a mut Plotter,
    inputs: &'a Inputs,
}

impl Sink for Drawn<'_> {
    fn row(&mut self, time: f64, outputs: &[f64], states: &[f64]) -> Result<(), Stop> {
        self.plotter.row(time, outputs, states, self.inputs);
        Ok(())
    }
}
