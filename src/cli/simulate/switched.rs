//! Runs of models with events: the list of the events, and the equations of all combinations of modes that were met.

use super::ready::Ready;
use crate::cli::files::disk::{WriteFault, write_text};
use lgm_equations::bond;
use lgm_simulate::{Balance, Event, Failure, Plan, Progress, Sink, Summary, Switched, run_switched};
use lgm_source::diagnostic::{Diagnostic, six_digits};
use lgm_source::{Span, stack};
use std::fmt::Write;
use std::path::Path;

/// The results of a run with events.
#[derive(Debug, Default)]
pub(super) struct Happened {
    /// True if the balance of energy is asked for.
    pub(super) counts_energy: bool,
    pub(super) events: Vec<Event>,
    /// The combinations of modes that were met.
    pub(super) met: Vec<Vec<usize>>,
    /// The energies of the run, if they are asked for and known.
    pub(super) balance: Option<Balance>,
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
    let watching = happened
        .counts_energy
        .then(|| switched.events.clone().watching_powers());
    let setup = Switched {
        events: watching.as_ref().unwrap_or(&switched.events),
        options: &switched.options,
        first: (&ready.system, &ready.kernels),
        parameters: parameters.to_vec(),
        tables: &switched.tables,
        line: &line,
    };
    let events = &mut happened.events;
    let run = || run_switched(&setup, plan, sink, progress, &mut |event| events.push(event));
    let finished = stack::deep(run)?;
    (happened.met, happened.balance) = (finished.met, finished.balance);
    Ok(finished.summary)
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

/// The number of events, and the energy that is lost in them: `12 events (10 mode, 2 when), 0.5 J lost in them`; of a finished run
/// also the balance of energy.
pub(super) fn tally(happened: &Happened, is_finished: bool) -> String {
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
    let lost = lost + happened.balance.as_ref().map_or(0.0, |balance| balance.impulses);
    let lost = format!("{} J lost in them", six_digits(lost));
    let lost = match happened.events.iter().filter(|event| event.lost.is_none()).count() {
        0 => lost,
        unknown => format!("{lost}, not known of {unknown}"),
    };
    let counted = format!("{count} ({}), {lost}", each.join(", "));
    match is_finished {
        true => format!("{counted}\n{}", energies(happened)),
        false => counted,
    }
}

/// The balance of energy: `energy: 10 J supplied = 4 J stored + 5.5 J dissipated + 0.5 J lost in events, up to 2e-9 J`.
fn energies(happened: &Happened) -> String {
    let Some(balance) = &happened.balance else {
        return "energy: no balance, because storage has a nonlinear law or a domain's variables give no power"
            .to_string();
    };
    let [supplied, stored, dissipated, lost, rest] = [
        balance.supplied,
        balance.stored,
        balance.dissipated,
        balance.lost,
        balance.rest().abs(),
    ]
    .map(six_digits);
    format!(
        "energy: {supplied} J supplied = {stored} J stored + {dissipated} J dissipated + {lost} J lost in events, up to {rest} J"
    )
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
        1 => "the equations of 1 combination of modes agree with its laws; rows and events were not looked at"
            .to_string(),
        count => {
            format!(
                "the equations of {count} combinations of modes agree with their laws; rows and events were not looked at"
            )
        }
    };
    (found, words)
}
