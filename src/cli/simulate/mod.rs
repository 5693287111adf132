//! `lgm simulate`

mod batch;
mod columns;
mod failures;
mod inputs;
mod plan;
mod plots;
mod preview;
mod rows;
mod vary;
mod watch;

use super::disk::{WriteFault, write_result};
use super::request::{LinearizeArguments, ModelArguments, StateArguments};
use super::{Outcome, interrupt, report};
use crate::Whole;
use clap::ValueEnum;
use columns::{Curve, Written};
use inputs::InputOptions;
use lgm_emit::rows::TableFormat;
use lgm_equations::bond::BondGraph;
use lgm_equations::{FlatGraph, Options, StateSystem};
use lgm_kernels::{KernelOptions, Kernels};
use lgm_model::{ElementId, Model};
use lgm_simulate::{Failure, FailureKind, Inputs, Plan, Report, Stop, Summary, Verifier, simulate};
use lgm_source::SourceMap;
use lgm_source::codes::Code;
use lgm_source::diagnostic::{Diagnostic, has_errors};
use plots::Plotter;
pub(super) use preview::picture;
use rows::Recorder;
use std::io;
use std::path::{Path, PathBuf};
use watch::Watch;

/// Runs a model over time.
///
/// Rows go to standard output as CSV unless --output, --plot or --html says otherwise: `time`, the outputs, the states. A file
/// appears under its name when it is complete. Ctrl-C ends the run with the rows so far in a valid file, and exit code 130.
///
/// What the model's `experiment` says holds unless an option says otherwise.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  lgm simulate examples/oscillator.lgm --stop 5 --points 501 -o run.csv
  lgm simulate examples/oscillator.lgm --input \"F=2*step(0) - 2*step(1)\" --plot run.svg
  lgm simulate examples/oscillator.lgm --input F=measured.csv:force,held --html run.html
  lgm simulate examples/oscillator.lgm --input F=1 --verify -o run.csv
  lgm simulate examples/oscillator.lgm --sweep k=20:200:10 --sweep b=0.1:10:5:log -o runs.csv
  lgm simulate examples/oscillator.lgm --monte-carlo 1000 --seed 7 --vary \"k=normal(50, 2)\" -o runs.csv")]
pub(super) struct Arguments {
    #[command(flatten)]
    model: ModelArguments,
    #[command(flatten)]
    states: StateArguments,
    #[command(flatten)]
    plan: plan::PlanArguments,
    /// The signal of an input: an expression of time and parameters, or a column of a CSV table as FILE.csv:COLUMN (straight
    /// lines between rows) or FILE.csv:COLUMN,held; its times are the column `time`, and its first and last values hold
    /// beyond its ends
    #[arg(long, value_name = "INPUT=SIGNAL", allow_hyphen_values = true)]
    input: Vec<String>,
    /// Write the rows to this file; `-` is standard output
    #[arg(short, long, value_name = "FILE", alias = "out")]
    output: Option<PathBuf>,
    /// How to write the rows; else as the ending of --output says (`.json`, `.parquet` in a build with that feature), else
    /// CSV. Numbers are in SI units and have as many digits, at most 17, as it takes to read the very same double back
    #[arg(long, value_enum)]
    format: Option<Format>,
    /// What to write: outputs, states or inputs, in this order; else all outputs and, of a single run, all states
    #[arg(long, value_name = "NAME,..", value_delimiter = ',')]
    columns: Vec<String>,
    /// Draw the curves to this SVG file
    #[arg(long, value_name = "FILE.svg")]
    plot: Option<PathBuf>,
    /// Draw the curves to this HTML file, which zooms and shows values
    #[arg(long, value_name = "FILE.html")]
    html: Option<PathBuf>,
    /// What to draw: outputs, states or inputs; else what the experiment says, else all outputs
    #[arg(long, value_name = "NAME,..", value_delimiter = ',')]
    show: Vec<String>,
    /// Keep the rows so far of a run that fails
    #[arg(long)]
    keep: bool,
    /// Say on standard error which method made how many steps
    #[arg(long)]
    stats: bool,
    /// Compare the run with the laws of the flat graph: at every row and on both sides of every event; go from row to row with a
    /// second integrator, and add up energy. What was verified is written to standard error; a failure ends in exit code 1
    #[arg(long)]
    verify: bool,
    #[command(flatten)]
    batch: batch::BatchArguments,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Format {
    Csv,
    Json,
    #[cfg(feature = "parquet")]
    Parquet,
}

/// Endings that promise a form which rows cannot be written in: a file of numbers under such a name would be a trap.
const FOREIGN: [&str; 12] = [
    "parquet", "arrow", "feather", "h5", "hdf5", "mat", "nc", "npy", "npz", "ods", "xls", "xlsx",
];

impl Arguments {
    /// The ending of the file of rows, in lower case.
    fn ending(&self) -> Option<String> {
        let ending = self.output.as_deref().and_then(Path::extension)?;
        Some(ending.to_str()?.to_ascii_lowercase())
    }

    /// The form of the rows.
    fn table_format(&self) -> TableFormat {
        match (self.format, self.ending().as_deref()) {
            (Some(Format::Csv), _) => TableFormat::Csv,
            (Some(Format::Json), _) | (None, Some("json")) => TableFormat::Json,
            #[cfg(feature = "parquet")]
            (Some(Format::Parquet), _) | (None, Some("parquet")) => TableFormat::Parquet,
            _ => TableFormat::Csv,
        }
    }

    /// What is wrong with an ending that promises a form which there is not.
    fn foreign_ending(&self) -> Option<Diagnostic> {
        let ending = self.ending()?;
        let is_known = cfg!(feature = "parquet") && ending == "parquet";
        if self.format.is_some() || is_known || !FOREIGN.contains(&&*ending) {
            return None;
        }
        let help = match &*ending {
            "parquet" => "build the program with `--features parquet`, or name a file that ends in `.csv` or `.json`",
            _ => "name a file that ends in `.csv` or `.json`, or say `--format csv`",
        };
        let message = format!("rows cannot be written in the form that the ending `.{ending}` promises");
        Some(misuse(Code::LGM0932, message, help))
    }

    /// Whether a picture is wanted.
    fn draws(&self) -> bool {
        self.plot.is_some() || self.html.is_some()
    }

    /// Whether rows are written at all: a picture alone does not fill a person's terminal with numbers.
    fn writes_rows(&self) -> bool {
        use std::io::IsTerminal;
        self.output.is_some() || self.format.is_some() || !self.draws() || !io::stdout().is_terminal()
    }
}

/// A model that is ready to run.
struct Ready {
    map: SourceMap,
    system: StateSystem,
    kernels: Kernels,
    parameters: Vec<f64>,
    inputs: Inputs,
    plan: Plan,
}

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
    }) = whole
    else {
        report::print(&map, &diagnostics);
        return report::outcome(&diagnostics);
    };
    let tables = options.tables(&system, &mut map, &mut diagnostics);
    diagnostics.extend(arguments.foreign_ending());
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
            plan::length_by_modes(&model, &system, start, &mut diagnostics)
        }
        // Not asked for.
        false => Ok(0.0),
    };
    let plan = arguments.plan.plan(&system.experiment, &system.model, &length);
    let plan = plan.map_err(|diagnostic| diagnostics.push(*diagnostic)).ok();
    let shown = plots::chosen(&arguments.show, &system, &mut diagnostics);
    let runs = arguments.batch.runs(&system, &mut map, &mut diagnostics);
    let written = Written::new(&arguments.columns, runs.is_none(), &system, &mut diagnostics);
    let (Some(plan), false) = (plan, has_errors(&diagnostics)) else {
        report::print(&map, &diagnostics);
        return report::outcome(&diagnostics);
    };
    inputs::say_where_tables_end(&system, &tables, &plan, &mut diagnostics);
    report::print(&map, &diagnostics);
    let kernels = Kernels::new(&system, &KernelOptions::default());
    let parameters = kernels.parameters(&[]);
    let inputs = Inputs::new(&system, &kernels, &parameters, tables, plan.start);
    let ready = Ready {
        map,
        system,
        kernels,
        parameters,
        inputs,
        plan,
    };
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
    let mut plotter = Plotter::new(system, plan, wanted);
    let mut ended: Option<Result<Summary, Failure>> = None;
    let mut report: Option<Report> = None;
    let mut run = |stream: Option<&mut dyn io::Write>| -> io::Result<()> {
        let format = arguments.table_format();
        let mut recorder = Recorder::begin(stream, format, &system.model, columns, &mut plotter, &ready.inputs)?;
        let result = match origin {
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
                outcome = tell(&ready.map, found);
            }
        }
        Some(Err(failure)) if is_interruption(failure) => {
            eprintln!(
                "interrupted at {} s; the rows so far are kept",
                failures::instant(failure.time)
            );
            outcome = Outcome::Interrupted;
        }
        Some(Err(failure)) if matches!(failure.kind, FailureKind::Stopped(_)) => {
            // A row could not be written; what is wrong with the file is reported below.
            return match written {
                Ok(()) => Outcome::Failure,
                fault => report::after_writing(&ready.map, fault),
            };
        }
        Some(Err(failure)) => {
            let mut diagnostic = failures::diagnostic(failure, system, &ready.inputs);
            if arguments.writes_rows() && arguments.output.is_some() && !arguments.keep {
                diagnostic = diagnostic.note("the rows so far were not kept; `--keep` keeps them");
            }
            report::print(&ready.map, &[diagnostic]);
            outcome = Outcome::Failure;
        }
    }
    let failed = ended.as_ref().is_some_and(Result::is_err);
    let discarded = outcome == Outcome::Failure && failed && !arguments.keep;
    if !discarded {
        match report::after_writing(&ready.map, written) {
            Outcome::Success => {}
            fault => return fault,
        }
        for fault in plots::write(arguments, &plotter.figure()) {
            match report::after_writing(&ready.map, Err(fault)) {
                Outcome::Success => {}
                fault => return fault,
            }
        }
    }
    outcome
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

/// Tells what was verified, and what does not hold.
fn tell(map: &SourceMap, found: &Report) -> Outcome {
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

fn is_interruption(failure: &Failure) -> bool {
    failure.kind == FailureKind::Stopped(Stop::Interrupted)
}

/// The word for how a run ended.
fn status(result: &Result<Summary, Failure>) -> &'static str {
    match result {
        Ok(_) => "complete",
        Err(failure) if is_interruption(failure) => "interrupted",
        Err(_) => "failed",
    }
}

/// A diagnostic of the command line as a whole.
fn misuse(code: Code, message: String, help: &str) -> Diagnostic {
    Diagnostic::error(code, message).help(help)
}

/// Writes a text to a file.
fn write_text(path: &Path, text: &str) -> Result<(), WriteFault> {
    write_result(Some(path), &mut |stream| stream.write_all(text.as_bytes()))
}
