//! `lgm emit`

use super::files::folder::{write_archive, write_folder};
use super::files::library::add_library;
use super::report;
use super::request::{LinearizeArguments, ModelArguments, StateArguments};
use super::simulate::length_by_modes;
use super::times::duration;
use crate::Whole;
use crate::cli::outcome::Outcome;
use crate::trial_runs::Simulated;
use clap::builder::{PossibleValuesParser, TypedValueParser};
use lgm_emit::code::{self, Changes, CodeOptions, Origin, Target};
use lgm_equations::switching::Events;
use lgm_equations::{Options, StateSystem};
use lgm_source::codes::Code;
use lgm_source::diagnostic::Diagnostic;
use lgm_source::{SourceMap, stack};
use sha2::{Digest, Sha256};
use std::path::{Path, PathBuf};

/// Writes simulation code of a model: a folder with a README, or an FMU.
///
/// The code computes what `lgm simulate` does; every `param` can be changed when it runs. The folder or file appears under its
/// name when it is complete; the README in it says how to build and run it.
///
/// `c` needs a C compiler, `rust` cargo, `python` NumPy and SciPy, `matlab` MATLAB or Octave, `julia` OrdinaryDiffEq, `modelica`
/// any tool of that language. `latex` and `json` hold the equations alone, as `lgm equations` prints them.
///
/// `fmu3` and `fmu2` are functional mock-up units of FMI 3.0 and 2.0 for model exchange and co-simulation, with sources and
/// a library for this machine, built by the C compiler that CC names, or else cc, gcc or clang.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Examples:\n  lgm emit examples/oscillator.lgm --target c -o oscillator\n  \
    lgm emit examples/oscillator.lgm --target fmu3 -o oscillator.fmu\n  \
    lgm emit examples/oscillator.lgm --target c --fixed-step 1e-3 -o controller"
)]
pub(super) struct Arguments {
    #[command(flatten)]
    model: ModelArguments,
    #[command(flatten)]
    states: StateArguments,
    /// What to write
    #[arg(long, value_name = "TARGET", value_parser = targets())]
    target: Target,
    /// The folder to make; a name that ends with `.fmu` makes an FMU one file, any other its folder
    #[arg(short, long, value_name = "DIR")]
    output: PathBuf,
    /// Replace a folder or FMU that an earlier `lgm emit` has made
    #[arg(long)]
    force: bool,
    /// Numbers in single precision; for the target `c`
    #[arg(long)]
    float: bool,
    /// Also a run in steps of this length in seconds, with a bound on the operations of a step; for the target `c`
    #[arg(long, value_name = "H", value_parser = duration)]
    fixed_step: Option<f64>,
    /// Newton's iterations on the algebraic loops at most, 50 unless given; where they do not suffice, a call returns a status that
    /// says so. For the target `c`
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..=1_000_000))]
    loop_iterations: Option<u64>,
}

fn targets() -> impl TypedValueParser<Value = Target> {
    PossibleValuesParser::new(Target::ALL.iter().map(|entry| entry.1)).map(|word| {
        let found = Target::ALL.iter().find(|entry| entry.1 == word);
        found.expect("invariant: the word is one of the list").0
    })
}

/// Refuses an option that the target does not know, so that nobody believes it was heeded.
fn foreign_option(arguments: &Arguments) -> Option<Diagnostic> {
    let target = Target::ALL.iter().find(|entry| entry.0 == arguments.target);
    let (target, word) = target.expect("invariant: all targets are in the list");
    let option = match (arguments.float, arguments.fixed_step, arguments.loop_iterations) {
        (true, _, _) => "--float",
        (false, Some(_), _) => "--fixed-step",
        (false, None, Some(_)) => "--loop-iterations",
        (false, None, None) => return None,
    };
    let help = match target {
        Target::C => return None,
        Target::Rust if arguments.float => "leave it out: the crate is generic, in `f32` as well as in `f64`",
        _ => "leave it out, or write `--target c`",
    };
    let message = format!("the target `{word}` has no `{option}`");
    Some(Diagnostic::error(Code::LGM0907, message).help(help))
}

/// Runs the command.
pub(super) fn run(arguments: &Arguments) -> Outcome {
    if let Some(diagnostic) = foreign_option(arguments) {
        let diagnostics = [diagnostic];
        report::print(&SourceMap::default(), &diagnostics);
        return report::outcome(&diagnostics);
    }
    // Parameters stay symbols, so that they can be changed when the code runs.
    let wanted = Options::default();
    let texts = SourceMap::default();
    let (states, linearize) = (&arguments.states, LinearizeArguments::default());
    let (map, whole, mut diagnostics) = (arguments.model).compile_whole(texts, states, &linearize, wanted, Vec::new());
    let switched = whole.iter().filter_map(|whole| whole.switched.as_ref());
    diagnostics.extend(switched.filter_map(|(events, options)| events.other_states(options)));
    let whole = whole.map(|whole| with_length(whole, arguments.target, &mut diagnostics));
    report::print(&map, &diagnostics);
    let (Some((system, switched)), Outcome::Success) = (whole, report::outcome(&diagnostics)) else {
        return report::outcome(&diagnostics);
    };
    let options = CodeOptions {
        float: arguments.float,
        fixed_step: arguments.fixed_step,
        loop_iterations: arguments.loop_iterations,
    };
    let origin = Origin {
        file: file_name(&map),
        version: env!("CARGO_PKG_VERSION"),
        hash: hash(&map),
    };
    let changes = switched.as_ref().map(|(events, options)| Changes {
        events,
        options,
        lines: lines_of_blocks(events, &map),
    });
    let (target, changes) = (arguments.target, changes.as_ref());
    let package = || code::package(&system, &origin, target, &options, changes, &Simulated);
    let written = stack::deep(package).and_then(|mut package| {
        let is_archive = package.library.is_some() && is_fmu(&arguments.output);
        add_library(&mut package);
        let write = if is_archive { write_archive } else { write_folder };
        write(&arguments.output, &package.files, arguments.force).map(|()| (package.remarks, package.warnings))
    });
    // The process ends soon: to give a large system's memory back piece by piece would take long.
    std::mem::forget(system);
    match written {
        Ok((remarks, warnings)) => {
            report::print(&map, &warnings);
            for remark in remarks {
                eprintln!("{remark}");
            }
            Outcome::Success
        }
        Err(diagnostic) => {
            let diagnostics = [diagnostic];
            report::print(&map, &diagnostics);
            report::outcome(&diagnostics)
        }
    }
}

/// The equations with a time to stop at: programs run as long as `lgm simulate` does if nobody says how long.
fn with_length(
    whole: Whole,
    target: Target,
    diagnostics: &mut Vec<Diagnostic>,
) -> (StateSystem, Option<(Events, Options)>) {
    let Whole {
        model,
        mut system,
        switched,
        ..
    } = whole;
    let runs = !matches!(target, Target::Latex | Target::Json);
    if runs && system.experiment.stop.is_none() {
        let start = system.experiment.start.unwrap_or(0.0);
        let length = length_by_modes(&model, &system, start, diagnostics);
        // Without modes to choose a time by, the program asks for one when it is run.
        system.experiment.stop = length.ok().map(|length| start + length);
    }
    system.matrices.numeric = None;
    (system, switched)
}

/// The line of each block in the text.
fn lines_of_blocks(events: &Events, map: &SourceMap) -> Vec<usize> {
    let lines = events.blocks().iter().map(|block| block.span);
    lines.map(|span| map.line_column(span.source, span.start).0).collect()
}

/// Whether a name ends as those of FMUs do.
fn is_fmu(path: &Path) -> bool {
    path.extension()
        .is_some_and(|ending| ending.eq_ignore_ascii_case("fmu"))
}

/// The name of the model's file without its folder, so that the same text gives the same code wherever it lies.
fn file_name(map: &SourceMap) -> String {
    let root = map.iter().find(|(_, source)| source.path.is_some());
    let name = root.and_then(|(_, source)| source.path.as_deref().and_then(Path::file_name));
    name.map_or_else(
        || "standard input".to_string(),
        |name| name.to_string_lossy().into_owned(),
    )
}

/// A hash of all texts that the model was made of: its own, those that it imports, and what options say.
fn hash(map: &SourceMap) -> String {
    let mut hash = Sha256::new();
    for (_, source) in map.iter() {
        hash.update((source.text.len() as u64).to_le_bytes());
        hash.update(source.text.as_bytes());
    }
    hash.finalize().iter().map(|byte| format!("{byte:02x}")).collect()
}
