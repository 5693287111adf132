//! Runs of models with events: the list of the events, and the equations of all combinations of modes that were met.

use super::ready::Ready;
use crate::cli::files::disk::{WriteFault, write_text};
use lgm_equations::bond;
use lgm_simulate::{Event, Failure, Plan, Progress, Sink, Summary, Switched, run_switched};
use lgm_source::diagnostic::{Diagnostic, six_digits};
use lgm_source::{Span, stack};
use std::fmt::Write;
use std::path::Path;

/// The results of a run with events.
#[derive(Debug, Default)]
pub(super) struct Happened {
    pub(super) events: Vec<Event>,
    /// The combinations of modes that were met.
    pub(super) met: Vec<Vec<usize>>,
}

/// One run of a model with events, with these values of all parameters.
pub(super) fn run(
    ready: &Ready,
    (parameters, plan): (&[f64], &Plan),
    sink: &mut dyn Sink,
    progress: &dyn Progress,
    happened: &mut Happened,
) -> Result<Summary, Failure> {
    let switched = ready
        .switched
        .as_ref()
        .expect("invariant: only models with events are run so");
    let line = |span: Span| ready.map.line_column(span.source, span.start).0;
    let setup = Switched {
        events: &switched.events,
        options: &switched.options,
        first: (&ready.system, &ready.kernels),
        parameters: parameters.to_vec(),
        tables: &switched.tables,
        line: &line,
    };
    let events = &mut happened.events;
    let run = || run_switched(&setup, plan, sink, progress, &mut |event| events.push(event));
    let (summary, met) = stack::deep(run)?;
    happened.met = met;
    Ok(summary)
}

/// Writes the list of the events: `time,kind,element,from,to,energy_lost`.
pub(super) fn write_events(path: &Path, happened: &Happened) -> Result<(), WriteFault> {
    let mut text = String::from("time,kind,element,from,to,energy_lost\n");
    for event in &happened.events {
        let lost = event.lost.map_or(String::new(), |lost| format!("{lost:?}"));
        let Event {
            time,
            kind,
            element,
            from,
            to,
            ..
        } = event;
        writeln!(text, "{time:?},{kind},{element},{from},{to},{lost}").expect("invariant: a text takes every line");
    }
    write_text(path, &text)
}

/// The number of events, and the energy that storage has lost in them: `12 events (10 mode, 2 when), 0.5 J lost in them`.
pub(super) fn tally(happened: &Happened) -> String {
    let mut kinds: Vec<(&str, usize)> = Vec::new();
    for event in &happened.events {
        match kinds.iter_mut().find(|known| known.0 == event.kind) {
            Some(known) => known.1 += 1,
            None => kinds.push((event.kind, 1)),
        }
    }
    let each: Vec<String> = kinds.iter().map(|(kind, count)| format!("{count} {kind}")).collect();
    let count = match happened.events.len() {
        0 => return "no events".to_string(),
        1 => "1 event".to_string(),
        count => format!("{count} events"),
    };
    let lost: f64 = happened.events.iter().filter_map(|event| event.lost).sum();
    let lost = format!("{} J lost in them", six_digits(lost));
    let lost = match happened.events.iter().filter(|event| event.lost.is_none()).count() {
        0 => lost,
        unknown => format!("{lost}, not known of {unknown}"),
    };
    format!("{count} ({}), {lost}", each.join(", "))
}

/// Compares the equations of every combination that was met with the laws of its flat graph; what does not hold is reported, and a
/// sentence says what was compared.
pub(super) fn verify(ready: &Ready, happened: &Happened) -> (Vec<Diagnostic>, String) {
    let switched = ready
        .switched
        .as_ref()
        .expect("invariant: only models with events are run so");
    let mut found = Vec::new();
    for modes in &happened.met {
        let model = switched.events.model().in_modes(modes).without_starts();
        let options = &switched.options;
        let verified = stack::deep(|| {
            let graph = bond::lower(&model);
            let (made, diagnostics) = lgm_equations::formulate_with_time(&model, &graph, options);
            let Some((system, own)) = made else { return diagnostics };
            let model = own.as_ref().unwrap_or(&model);
            let retained = lgm_equations::retained(model, options, &mut Vec::new());
            let verification =
                lgm_equations::verify(model, &graph, &system, &retained, options.states, options.symbolic);
            verification.into_diagnostics(model)
        });
        found.extend(verified);
    }
    let count = happened.met.len();
    let words = match count {
        1 => "the equations of 1 combination of modes agree with its laws".to_string(),
        count => format!("the equations of {count} combinations of modes agree with their laws"),
    };
    (found, words)
}
