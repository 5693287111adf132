//! `lgm simulate`

mod arguments;
mod batch;
mod batch_run;
mod plan;
mod plots;
mod preview;
mod rows;
mod watch;

pub(super) use arguments::Arguments;
pub(super) use batch::grid;

use super::files::disk::{WriteFault, write_result, write_text};
use super::request::LinearizeArguments;
use super::{interrupt, report};
use crate::Whole;
use crate::cli::outcome::Outcome;
use crate::cli::report::misuse;
use lgm_equations::Options;
use lgm_session::run::columns::{Curve, Written};
use lgm_session::run::failures;
use lgm_session::run::happened::{Happened, events_table, tally};
use lgm_session::run::inputs::{InputOptions, say_where_tables_end};
use lgm_session::run::plan::length_by_modes;
use lgm_session::run::ready::{Ready, is_interruption};
use lgm_session::run::verified::{Origin, Verification, run_verified};
use lgm_simulate::{Failure, FailureKind, Summary};
use lgm_source::SourceMap;
use lgm_source::codes::Code;
use lgm_source::diagnostic::has_errors;
use plots::Plotter;
pub(super) use preview::picture;
use rows::Recorder;
use std::io;
use watch::Watch;

/// Runs the command.
pub(super) fn run(arguments: &Arguments) -> Outcome {
    let mut map = SourceMap::default();
    let options = InputOptions::read(&arguments.input, &mut map);
    let wanted = Options {
        // A single run uses numeric equations. A batch shares equations with symbolic parameters.
        symbolic: arguments.batch.is_asked_for(),
        // Nobody reads the equations of a run.
        readable: false,
        ..Options::default()
    };
    let model = arguments.model.varying(&arguments.batch.varied());
    let (mut map, whole, mut diagnostics) = model.compile_whole(
        map,
        &arguments.states,
        &LinearizeArguments::default(),
        wanted,
        options.expressions(),
    );
    let Some(Whole {
        model,
        graph,
        system,
        retained,
        switched,
    }) = whole
    else {
        report::print(&map, &diagnostics);
        return report::outcome(&diagnostics);
    };
    let signals = options.signals(&system, &mut map, &mut diagnostics);
    diagnostics.extend(arguments.foreign_ending());
    diagnostics.extend(
        switched
            .iter()
            .filter_map(|(events, options)| events.other_states(options)),
    );
    if arguments.verify && arguments.batch.is_asked_for() {
        let help = "remove `--verify`, or verify one of the runs with `--set`";
        diagnostics.push(misuse(
            Code::LGM0933,
            "`--verify` checks a single run, but several are requested".into(),
            help,
        ));
    }
    let asked = arguments.plan.options();
    let length = match asked.is_endless(&system.experiment) {
        true => {
            let start = asked.start(&system.experiment);
            length_by_modes(&model, &system, start, &mut diagnostics)
        }
        // Not requested.
        false => Ok(0.0),
    };
    let plan = asked.plan(&system.experiment, &system.model, &length);
    let plan = plan.map_err(|diagnostic| diagnostics.push(*diagnostic)).ok();
    let shown = plots::shown(arguments, &system, &mut diagnostics);
    let runs = arguments.batch.runs(&system, &mut map, &mut diagnostics);
    let written = Written::new(&arguments.columns, runs.is_none(), &system, &mut diagnostics);
    let (Some(plan), false) = (plan, has_errors(&diagnostics)) else {
        report::print(&map, &diagnostics);
        return report::outcome(&diagnostics);
    };
    say_where_tables_end(&system, &signals, &plan, &mut diagnostics);
    report::print(&map, &diagnostics);
    let ready = Ready::new(map, system, signals, plan, switched);
    let states = arguments.states.request();
    let origin = arguments.verify.then_some(Origin {
        model,
        graph,
        retained,
        states,
    });
    interrupt::listen();
    match runs {
        Some(runs) => batch_run::run(arguments, &ready, &runs, &written, &shown),
        None => single(arguments, &ready, origin.as_ref(), (&written, &shown)),
    }
}

/// Executes a single run.
fn single(
    arguments: &Arguments,
    ready: &Ready,
    origin: Option<&Origin>,
    (columns, shown): (&Written, &[Curve]),
) -> Outcome {
    let (system, plan) = (&ready.system, &ready.plan);
    let watch = Watch::new(plan.start, plan.stop, 1);
    let wanted = if arguments.draws() { shown } else { &[] };
    let mut plotter = Plotter::asked_for(arguments, system, plan, wanted);
    let mut ended: Option<Result<Summary, Failure>> = None;
    let mut report: Option<Verification> = None;
    let mut happened = Happened {
        counts_energy: arguments.plan.events_file().is_some(),
        ..Happened::default()
    };
    let mut run = |stream: Option<&mut dyn io::Write>| -> io::Result<()> {
        let format = arguments.table_format();
        let mut recorder = Recorder::begin(stream, format, &system.model, columns, &mut plotter, &ready.inputs)?;
        let result = match origin {
            None => ready.run(&mut recorder, &watch, &mut happened),
            Some(origin) => {
                let run = run_verified(ready, origin, &mut recorder, &watch, &mut happened);
                run.map(|(summary, found)| {
                    report = Some(found);
                    summary
                })
            }
        };
        watch.clear();
        let keeps = arguments.keep || result.as_ref().map_or_else(is_interruption, |_| true);
        let written = recorder.end(status(&result));
        ended = Some(result);
        written?;
        match keeps {
            true => Ok(()),
            // Returning an error discards the incomplete file.
            false => Err(io::Error::other("the run failed")),
        }
    };
    let written = match arguments.writes_rows() {
        true => write_result(arguments.output.as_deref(), &mut |stream| run(Some(stream))),
        // Without a file, no write can fail.
        false => {
            let _ = run(None);
            Ok(())
        }
    };
    let mut outcome = Outcome::Success;
    match &ended {
        None => return report::after_writing(&ready.map, written),
        Some(Ok(summary)) => {
            report::print(&ready.map, &summary.notes);
            if arguments.stats {
                eprintln!("{}", watch::statistics(summary));
            }
            if let Some(found) = &report {
                outcome = report_verification(&ready.map, found);
            }
        }
        Some(Err(failure)) if matches!(failure.kind, FailureKind::Stopped(_)) && !is_interruption(failure) => {
            // A sample could not be written. The problem with the file is reported below.
            return match written {
                Ok(()) => Outcome::Failure,
                fault => report::after_writing(&ready.map, fault),
            };
        }
        Some(Err(failure)) => outcome = report_failure(arguments, ready, failure),
    }
    let failed = ended.as_ref().is_some_and(Result::is_err);
    let discarded = outcome == Outcome::Failure && failed && !arguments.keep;
    if !discarded {
        match report::after_writing(&ready.map, written) {
            Outcome::Success => {}
            fault => return fault,
        }
        let list = report_events(arguments, &happened, !failed);
        plotter.mark(&happened.events);
        for fault in list.into_iter().chain(plots::write_pictures(arguments, &plotter)) {
            match report::after_writing(&ready.map, Err(fault)) {
                Outcome::Success => {}
                fault => return fault,
            }
        }
    }
    outcome
}

/// Writes the list of events, and prints their number and the energy balance, if requested. Returns the error if writing fails.
fn report_events(arguments: &Arguments, happened: &Happened, is_finished: bool) -> Option<WriteFault> {
    let fault = write_text(arguments.plan.events_file()?, &events_table(happened)).err();
    if fault.is_none() {
        eprintln!("{}", tally(happened, is_finished));
    }
    fault
}

/// Reports the verified properties and any violations.
fn report_verification(map: &SourceMap, found: &Verification) -> Outcome {
    report::print(map, &found.diagnostics);
    let outcome = report::outcome(&found.diagnostics);
    if outcome == Outcome::Success {
        eprintln!("{}", found.summary);
    }
    if let Some(gaps) = &found.gaps {
        eprintln!("{gaps}");
    }
    outcome
}

/// Reports why a run ended before its stop time.
fn report_failure(arguments: &Arguments, ready: &Ready, failure: &Failure) -> Outcome {
    if is_interruption(failure) {
        let time = failures::instant(failure.time);
        eprintln!("interrupted at {time} s; the samples so far are kept");
        return Outcome::Interrupted;
    }
    let mut diagnostic = failures::diagnostic(failure, &ready.system, &ready.inputs);
    if arguments.writes_rows() && arguments.output.is_some() && !arguments.keep {
        diagnostic = diagnostic.note("the samples so far were discarded; keep them with `--keep`");
    }
    report::print(&ready.map, &[diagnostic]);
    Outcome::Failure
}

/// Returns the status keyword for the result of a run.
fn status(result: &Result<Summary, Failure>) -> &'static str {
    match result {
        Ok(_) => "complete",
        Err(failure) if is_interruption(failure) => "interrupted",
        Err(_) => "failed",
    }
}
