//! Results of runs with events: the list of events, and the equations of all mode combinations that occurred.

use lgm_equations::switching::Events;
use lgm_equations::{Options, bond};
use lgm_simulate::{Balance, Event};
use lgm_source::codes::Code;
use lgm_source::diagnostic::{Diagnostic, six_digits};
use lgm_source::stack;
use std::fmt::Write;
use std::sync::Arc;

/// The results of a run with events.
#[derive(Debug, Default)]
pub struct Happened {
    /// True if the energy balance is requested.
    pub counts_energy: bool,
    /// The events in chronological order.
    pub events: Vec<Event>,
    /// The mode combinations that occurred.
    pub met: Vec<Vec<usize>>,
    /// The energies of the run, if they are requested and known.
    pub balance: Option<Balance>,
}

/// Returns the list of events as CSV: `time,kind,element,from,to,energy_lost`.
pub fn events_table(happened: &Happened) -> String {
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
    text
}

/// Returns the number of events and the energy lost in them: `12 events (10 mode, 2 when), 0.5 J lost in them`. For a finished run, the
/// energy balance follows.
pub fn tally(happened: &Happened, is_finished: bool) -> String {
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
        unknown => format!("{lost}, unknown for {unknown}"),
    };
    let counted = format!("{count} ({}), {lost}", each.join(", "));
    match is_finished {
        true => format!("{counted}\n{}", energies(happened)),
        false => counted,
    }
}

/// Formats the energy balance: `energy: 10 J supplied = 4 J stored + 5.5 J dissipated + 0.5 J lost in events, up to 2e-9 J`.
fn energies(happened: &Happened) -> String {
    let Some(balance) = &happened.balance else {
        return "energy: no balance, because storage has a nonlinear law or a domain's variables do not multiply to \
            power"
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
        "energy: {supplied} J supplied = {stored} J stored + {dissipated} J dissipated + {lost} J lost in events, \
         within {rest} J"
    )
}

/// Verifies the equations of every mode combination that occurred against the laws of its flat graph. Returns a diagnostic for each
/// violation, and a sentence that describes the comparison and counts the verified combinations.
pub fn verify(events: &Events, options: &Options, happened: &Happened) -> (Vec<Diagnostic>, String) {
    let mut found = Vec::new();
    for modes in &happened.met {
        let verified = stack::deep(|| {
            let made = events.formulate(modes, options)?;
            let mut model = made.own.as_ref().unwrap_or(&made.combination.model).clone();
            model.outputs.truncate(made.combination.shown);
            let retained = lgm_equations::retained(&model, options, &mut Vec::new());
            let graph = bond::lower(&model);
            let verification = lgm_equations::verify(
                &model,
                &graph,
                &made.system,
                &retained,
                options.states,
                options.symbolic,
            );
            Ok(verification.into_diagnostics(&model))
        });
        found.extend(verified.unwrap_or_else(Arc::unwrap_or_clone));
    }
    let all = found.len();
    found.retain(|diagnostic| diagnostic.code != Code::LGM0712);
    let words = format!(
        "the equations of {} of {} combinations of modes agree with their laws; samples and events were not checked",
        all - found.len(),
        happened.met.len()
    );
    (found, words)
}
