//! `lgm simulate`

mod arguments;
mod batch;
mod columns;
mod failures;
mod inputs;
mod plan;
mod plots;
mod preview;
mod ready;
pub(in crate::cli) mod record;
mod rows;
mod switched;
mod watch;

pub(super) use arguments::Arguments;
pub(super) use batch::grid;
pub(super) use plan::length_by_modes;

use super::files::disk::{WriteFault, write_result};
use super::request::LinearizeArguments;
use super::{interrupt, report};
use crate::Whole;
use crate::cli::outcome::Outcome;
use crate::cli::report::misuse;
use crate::cli::simulate::ready::{Ready, is_interruption};
use columns::{Curve, Written};
use inputs::InputOptions;
use lgm_equations::bond::BondGraph;
use lgm_equations::{FlatGraph, Options};
use lgm_model::{ElementId, Model};
use lgm_simulate::{Failure, FailureKind, Report, Summary, Verifier, simulate};
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
        // One run has its numbers in the equations; many runs share equations over the parameters.
        symbolic: arguments.batch.is_asked_for(),
        ..Options::default()
    };
    let (mut map, whole, mut diagnostics) = arguments.model.compile_whole(
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
    let tables = options.tables(&system, &mut map, &mut diagnostics);
    diagnostics.extend(arguments.foreign_ending());
    diagnostics.extend(
        switched
            .iter()
            .filter_map(|(events, options)| events.other_states(options)),
    );
    if arguments.verify && arguments.batch.is_asked_for() {
        let help = "leave `--verify` out, or make one of the runs with `--set` and verify that";
        diagnostics.push(misuse(
            Code::LGM0933,
            "`--verify` looks at one run, and many are asked for".into(),
            help,
        ));
    }
    let length = match arguments.plan.is_endless(&system.experiment) {
        true => {
            let start = arguments.plan.start(&system.experiment);
            length_by_modes(&model, &system, start, &mut diagnostics)
        }
        // Not asked for.
        false => Ok(0.0),
    };
    let plan = arguments.plan.plan(&system.experiment, &system.model, &length);
    let plan = plan.map_err(|diagnostic| diagnostics.push(*diagnostic)).ok();
    let shown = plots::shown(arguments, &system, &mut diagnostics);
    let runs = arguments.batch.runs(&system, &mut map, &mut diagnostics);
    let written = Written::new(&arguments.columns, runs.is_none(), &system, &mut diagnostics);
    let (Some(plan), false) = (plan, has_errors(&diagnostics)) else {
        report::print(&map, &diagnostics);
        return report::outcome(&diagnostics);
    };
    inputs::say_where_tables_end(&system, &tables, &plan, &mut diagnostics);
    report::print(&map, &diagnostics);
    let ready = Ready::new(map, system, tables, plan, switched);
    let origin = arguments.verify.then_some(Origin { model, graph, retained });
    interrupt::listen();
    match runs {
        Some(runs) => batch::run(arguments, &ready, &runs, &written, &shown),
        None => single(arguments, &ready, origin.as_ref(), (&written, &shown)),
    }
}

/// One run.
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
    let mut report: Option<Report> = None;
    let mut happened = switched::Happened {
        counts_energy: arguments.plan.events_file().is_some(),
        ..switched::Happened::default()
    };
    let mut run = |stream: Option<&mut dyn io::Write>| -> io::Result<()> {
        let format = arguments.table_format();
        let mut recorder = Recorder::begin(stream, format, &system.model, columns, &mut plotter, &ready.inputs)?;
        let result = match origin {
            _ if ready.switched.is_some() => {
                let with = (&ready.parameters[..], plan);
                switched::run(ready, with, &mut recorder, &watch, &mut happened)
            }
            None => simulate(
                system,
                &ready.kernels,
                &ready.parameters,
                &ready.inputs,
                plan,
                &mut recorder,
                &watch,
            ),
            Some(origin) => verified(arguments, ready, origin, &mut recorder, &watch).map(|(summary, found)| {
                report = found;
                summary
            }),
        };
        watch.clear();
        let keeps = arguments.keep || result.as_ref().map_or_else(is_interruption, |_| true);
        let written = recorder.end(status(&result));
        ended = Some(result);
        written?;
        match keeps {
            true => Ok(()),
            // The file goes away with its rows.
            false => Err(io::Error::other("the run failed")),
        }
    };
    let written = match arguments.writes_rows() {
        true => write_result(arguments.output.as_deref(), &mut |stream| run(Some(stream))),
        // Without a file, there is nothing that could fail to be written.
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
            if origin.is_some() && ready.switched.is_some() {
                outcome = report_switched(ready, &happened);
            }
        }
        Some(Err(failure)) if matches!(failure.kind, FailureKind::Stopped(_)) && !is_interruption(failure) => {
            // A row could not be written; what is wrong with the file is reported below.
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

/// Writes the list of the events, and prints their number and the balance of energy, if they are asked for; what could not be written is
/// returned.
fn report_events(arguments: &Arguments, happened: &switched::Happened, is_finished: bool) -> Option<WriteFault> {
    let fault = switched::write_events(arguments.plan.events_file()?, happened).err();
    if fault.is_none() {
        eprintln!("{}", switched::tally(happened, is_finished));
    }
    fault
}

/// What a run is verified against.
struct Origin {
    model: Model,
    graph: BondGraph,
    retained: Vec<ElementId>,
}

/// One run, verified as it is made.
fn verified(
    arguments: &Arguments,
    ready: &Ready,
    origin: &Origin,
    recorder: &mut Recorder<'_, '_>,
    watch: &Watch,
) -> Result<(Summary, Option<Report>), Failure> {
    let states = arguments.states.request();
    let graph = FlatGraph::new(&origin.model, &origin.graph, &ready.system, &origin.retained, states);
    let graph = graph.map_err(|diagnostic| Failure::new(ready.plan.start, FailureKind::Refused(diagnostic.message)))?;
    let refused = || FailureKind::Refused("the flat graph of the model has no equations to verify the run with".into());
    let graph = graph.ok_or_else(|| Failure::new(ready.plan.start, refused()))?;
    let Ready {
        system,
        kernels,
        parameters,
        inputs,
        plan,
        ..
    } = ready;
    let mut verifier = Verifier::new(graph, system, kernels, parameters, inputs, plan, recorder)?;
    let all = Verifier::plan_of(plan);
    let summary = simulate(system, kernels, parameters, inputs, &all, &mut verifier, watch)?;
    let (report, last) = verifier.finish(summary.steps);
    last.map_err(|stop| Failure::new(plan.stop, FailureKind::Stopped(stop)))?;
    Ok((summary, Some(report)))
}

/// Reports what was verified, and what does not hold.
fn report_verification(map: &SourceMap, found: &Report) -> Outcome {
    let diagnostics = found.diagnostics();
    report::print(map, &diagnostics);
    if diagnostics.is_empty() {
        eprintln!("{}", found.summary());
    }
    if let Some(gaps) = found.gaps() {
        eprintln!("{gaps}");
    }
    report::outcome(&diagnostics)
}

/// Reports why a run has ended before its stop.
fn report_failure(arguments: &Arguments, ready: &Ready, failure: &Failure) -> Outcome {
    if is_interruption(failure) {
        let time = failures::instant(failure.time);
        eprintln!("interrupted at {time} s; the rows so far are kept");
        return Outcome::Interrupted;
    }
    let mut diagnostic = failures::diagnostic(failure, &ready.system, &ready.inputs);
    if arguments.writes_rows() && arguments.output.is_some() && !arguments.keep {
        diagnostic = diagnostic.note("the rows so far were not kept; `--keep` keeps them");
    }
    report::print(&ready.map, &[diagnostic]);
    Outcome::Failure
}

/// Reports how the equations of a run with events agree with the laws.
fn report_switched(ready: &Ready, happened: &switched::Happened) -> Outcome {
    let (diagnostics, words) = switched::verify(ready, happened);
    report::print(&ready.map, &diagnostics);
    let outcome = report::outcome(&diagnostics);
    if outcome == Outcome::Success {
        eprintln!("{words}");
    }
    outcome
}

/// The word for how a run ended.
fn status(result: &Result<Summary, Failure>) -> &'static str {
    match result {
        Ok(_) => "complete",
        Err(failure) if is_interruption(failure) => "interrupted",
        Err(_) => "failed",
    }
}
