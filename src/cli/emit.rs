//! `lgm emit`

use super::files::folder::{write_archive, write_folder};
use super::files::library::add_library;
use super::report;
use super::request::{LinearizeArguments, ModelArguments, StateArguments};
use super::times::duration;
use crate::cli::outcome::Outcome;
use clap::builder::{PossibleValuesParser, TypedValueParser};
use lgm_emit::code::{CodeOptions, Target};
use lgm_equations::Options;
use lgm_session::code::{package, with_length};
use lgm_source::SourceMap;
use lgm_source::codes::Code;
use lgm_source::diagnostic::Diagnostic;
use std::path::{Path, PathBuf};

/// Writes simulation code of a model: a folder with a README, or an FMU.
///
/// The code computes the same results as `lgm simulate`; every `param` can be changed at run time. The folder or file
/// appears under its name when it is complete; its README explains how to build and run it.
///
/// `c` needs a C compiler, `rust` cargo, `python` NumPy and SciPy, `matlab` MATLAB or Octave, `julia` OrdinaryDiffEq,
/// `casadi` CasADi, `modelica` any tool of that language. `latex` and `json` contain only the equations, as printed by `lgm equations`.
///
/// `fmu3` and `fmu2` are functional mock-up units of FMI 3.0 and 2.0 for model exchange and co-simulation, with sources
/// and a library for this machine. The library is built with the C compiler in CC, else cc, gcc or clang.
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
    /// The target language or format
    #[arg(long, value_name = "TARGET", value_parser = targets())]
    target: Target,
    /// The folder to create; for an FMU, a name with the extension `.fmu` creates a single file, any other a folder
    #[arg(short, long, value_name = "DIR")]
    output: PathBuf,
    /// Replace a folder or FMU created by an earlier `lgm emit`
    #[arg(long)]
    force: bool,
    /// Only the functions of the model, without a program that runs it; for the target `c`
    #[arg(long)]
    functions: bool,
    /// Numbers in single precision; for the target `c`
    #[arg(long)]
    float: bool,
    /// Also emit steps of this length in seconds and a run that makes them, with a bound on the operations of a step; for
    /// the target `c`
    #[arg(long, value_name = "H", value_parser = duration)]
    fixed_step: Option<f64>,
    /// The maximum number of Newton iterations for the algebraic loops, 50 by default; a call that needs more
    /// returns an error status. For the target `c`
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..=1_000_000))]
    loop_iterations: Option<u64>,
}

fn targets() -> impl TypedValueParser<Value = Target> {
    PossibleValuesParser::new(Target::ALL.iter().map(|entry| entry.1)).map(|word| {
        let found = Target::ALL.iter().find(|entry| entry.1 == word);
        found.expect("invariant: the word is one of the list").0
    })
}

/// Rejects an option that the target does not support, instead of ignoring it.
fn foreign_option(arguments: &Arguments) -> Option<Diagnostic> {
    let target = Target::ALL.iter().find(|entry| entry.0 == arguments.target);
    let (target, word) = target.expect("invariant: all targets are in the list");
    let options = [
        (arguments.functions, "--functions"),
        (arguments.float, "--float"),
        (arguments.fixed_step.is_some(), "--fixed-step"),
        (arguments.loop_iterations.is_some(), "--loop-iterations"),
    ];
    let option = options.iter().find(|option| option.0)?.1;
    let help = match target {
        Target::C => return None,
        Target::Rust if option == "--float" => "remove it: the crate is generic over `f32` and `f64`",
        _ => "remove it, or write `--target c`",
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
    // Parameters stay symbolic, so that they can be changed at run time.
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
        functions: arguments.functions,
        float: arguments.float,
        fixed_step: arguments.fixed_step,
        loop_iterations: arguments.loop_iterations,
    };
    let package = package(&map, (&system, switched.as_ref()), arguments.target, &options);
    let written = package.and_then(|mut package| {
        let is_archive = package.library.is_some() && is_fmu(&arguments.output);
        add_library(&mut package);
        let write = if is_archive { write_archive } else { write_folder };
        write(&arguments.output, &package.files, arguments.force).map(|()| (package.remarks, package.warnings))
    });
    // The process ends soon. Freeing the memory of a large system piece by piece would take long.
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

/// Returns true if a file name has the extension of FMUs.
fn is_fmu(path: &Path) -> bool {
    path.extension()
        .is_some_and(|ending| ending.eq_ignore_ascii_case("fmu"))
}
