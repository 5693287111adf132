//! `lgm reduce`

mod augment;
mod compare;
mod dialogue;
mod found;
mod print;
mod starts;

use super::analysis::shared::write_json;
use super::comparison::{Difference, compiles, same_as_text};
use super::files::disk::write_result;
use super::report;
use super::request::{ModelArguments, StateArguments};
use super::times::duration;
use crate::Compilation;
use crate::cli::outcome::Outcome;
use augment::{augmented, with_statements};
use clap::ValueEnum;
use compare::comparison;
use found::{declared, reduced};
use lgm_emit::write_in_lines;
use lgm_equations::Options;
use lgm_explain::reduce::{Reduction, json, reduced_text, report_what_stays, text};
use lgm_source::codes::Code;
use lgm_source::diagnostic::Diagnostic;
use lgm_source::stack;
use print::{augmented_json, write_augmented};
use starts::{begin_alike, merged_starts};
use std::io;
use std::path::PathBuf;

/// Reports dependent storage and its equivalent parameters, and writes the reduced model.
///
/// The report contains each dependent storage element with its causal path, the gains of effort and flow along it, and
/// the equivalent parameter of the element that keeps the state; and conserved combinations of states. `--format lgm`
/// writes the reduced model without merged elements and without the junctions and couplers that become superfluous.
///
/// With `--augment`, dependent storage gets a state instead: a connection becomes a stiff spring with a damper, or in
/// circuits a small resistance. The report lists the chosen connections and the rule for each; `--format lgm` writes
/// the augmented model.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  lgm reduce examples/lever.lgm
  lgm reduce examples/lever.lgm --retain I2 --format lgm
  lgm reduce examples/lever.lgm --interactive --format lgm
  lgm reduce examples/seeds/two_springs.lgm --merge-conserved --format lgm
  lgm reduce examples/seeds/roller_coaster.lgm --augment 1e6 --compare
  lgm reduce examples/rigid_gears.lgm --augment 1e7 --format lgm")]
pub(super) struct Arguments {
    #[command(flatten)]
    model: ModelArguments,
    #[command(flatten)]
    states: StateArguments,
    /// Also merge elements whose energy variables differ by a constant, such as parallel springs, if their initial
    /// values agree
    #[arg(long)]
    merge_conserved: bool,
    /// Prompt for each causal path which of its two elements to reduce; answers are lines of standard input
    #[arg(long, conflicts_with = "augment")]
    interactive: bool,
    /// Free dependent storage with connections of this stiffness (in circuits, conductance), in SI units
    #[arg(long, value_name = "STIFFNESS", value_parser = positive, conflicts_with = "merge_conserved")]
    augment: Option<f64>,
    /// The damping of these connections, 0 for none; by default 2*sqrt(stiffness*m) next to an element of inertia m, so
    /// that their motion decays
    #[arg(long, value_name = "DAMPING", value_parser = not_negative, requires = "augment")]
    damping: Option<f64>,
    /// Also run both models, and compare error, ratio of the largest to the smallest eigenvalue and run time over these
    /// stiffnesses; by default five decades up to that of `--augment`
    #[arg(long, value_name = "STIFFNESS,..", value_delimiter = ',', value_parser = positive, num_args = 0..=1, requires = "augment")]
    compare: Option<Vec<f64>>,
    /// The stop time of the compared runs, in seconds; by default that of the experiment
    #[arg(long, value_name = "T", value_parser = duration, requires = "compare")]
    stop: Option<f64>,
    /// The output: the report, or the text of the reduced model
    #[arg(long, value_enum, default_value = "text")]
    format: Format,
    /// Write to this file instead of standard output
    #[arg(short, long, value_name = "OUT")]
    output: Option<PathBuf>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Format {
    Text,
    Json,
    /// The reduced model
    Lgm,
}

fn positive(text: &str) -> Result<f64, String> {
    match text.trim().parse::<f64>() {
        Ok(value) if value.is_finite() && value > 0.0 => Ok(value),
        _ => Err("a number above zero is required".to_string()),
    }
}

fn not_negative(text: &str) -> Result<f64, String> {
    match text.trim() {
        "0" => Ok(0.0),
        other => positive(other),
    }
}

/// Runs the command.
pub(super) fn run(arguments: &Arguments) -> Outcome {
    let states = value_or_return!(states(arguments));
    let compilation = value_or_return!(arguments.model.asked(&states, Options::default()));
    let diagnostics = compilation.diagnostics_of_model();
    report::print(compilation.map(), &diagnostics);
    if let (Some(stiffness), Some(_)) = (arguments.augment, compilation.system()) {
        return augment(arguments, &compilation, stiffness);
    }
    let Some(mut found) = reduced(&compilation, arguments.merge_conserved) else {
        return match report::outcome(&diagnostics) {
            Outcome::Success => Outcome::Failure,
            outcome => outcome,
        };
    };
    if let Some(declared) = declared(&compilation, &found.report.model) {
        stack::deep(|| report_what_stays(&mut found, declared));
    }
    let content = match arguments.format {
        Format::Lgm => match model_text(arguments, &compilation, &found) {
            Ok(text) => text,
            Err(diagnostics) => {
                report::print(compilation.map(), &diagnostics);
                return report::outcome(&diagnostics);
            }
        },
        Format::Text => text(&found.report),
        Format::Json => String::new(),
    };
    let written = write_result(arguments.output.as_deref(), &mut |out| match arguments.format {
        Format::Json => write_in_lines(out, &json(&found.report)),
        Format::Text | Format::Lgm => out.write_all(content.as_bytes()),
    });
    report::after_writing(compilation.map(), written)
}

/// Returns the request for states, from the options and the answers of a dialogue.
fn states(arguments: &Arguments) -> Result<StateArguments, Outcome> {
    if !arguments.interactive {
        return Ok(arguments.states.clone());
    }
    if arguments.model.is_standard_input() {
        eprintln!("error: `--interactive` reads answers from standard input, so the model must be a file");
        return Err(Outcome::Misuse);
    }
    let dialogue = (&mut io::stdin().lock() as _, &mut io::stderr() as _);
    dialogue::choose(&arguments.model, &arguments.states, dialogue).map_err(|fault| {
        eprintln!("error: the answers cannot be read: {fault}");
        Outcome::Failure
    })
}

/// Prints the augmented model, or the report on it.
fn augment(arguments: &Arguments, compilation: &Compilation, stiffness: f64) -> Outcome {
    let augmented = match augmented(&arguments.model, compilation, (stiffness, arguments.damping)) {
        Ok(augmented) => augmented,
        Err(fault) => {
            report::print(compilation.map(), std::slice::from_ref(&fault));
            return report::outcome(&[*fault]);
        }
    };
    if !augmented.is_begun {
        let message = "storage of the augmented model may have other initial values than in the model";
        let warning = Diagnostic::warning(Code::LGM0942, message)
            .note("its initial values are unknown or cannot be written as `start`")
            .help("compare the first rows of both with `lgm simulate`, and write `start = ..` where they differ");
        report::print(compilation.map(), &[warning]);
    }
    let compared = match &arguments.compare {
        Some(_) if augmented.places.is_empty() => None,
        Some(given) => {
            let decades = [1e-4, 1e-3, 1e-2, 0.1, 1.0].map(|share| share * stiffness);
            let list = if given.is_empty() { &decades[..] } else { &given[..] };
            match comparison(&arguments.model, compilation, &augmented, (list, arguments.stop)) {
                Ok(found) => Some(found),
                Err(reason) => {
                    let fault = Diagnostic::error(Code::LGM0942, "the augmented model was not compared").note(reason);
                    let fault = fault.help("run both models with `lgm simulate`");
                    report::print(compilation.map(), std::slice::from_ref(&fault));
                    return report::outcome(&[fault]);
                }
            }
        }
        None => None,
    };
    if let (Format::Lgm, Some(remark)) = (arguments.format, arguments.model.unwritten_values()) {
        report::print(compilation.map(), &[remark]);
    }
    let written = write_result(arguments.output.as_deref(), &mut |out| match arguments.format {
        Format::Lgm => out.write_all(augmented.text.as_bytes()),
        Format::Json => write_json(&augmented_json(&augmented, compared.as_ref()), out),
        Format::Text => write_augmented(&augmented, compared.as_ref(), out),
    });
    report::after_writing(compilation.map(), written)
}

/// Returns the text of the reduced model, after verification that it behaves like the original model.
fn model_text(
    arguments: &Arguments,
    compilation: &Compilation,
    found: &Reduction<'_>,
) -> Result<String, Vec<Diagnostic>> {
    let source = compilation.map().get(compilation.root());
    let Some(declared) = declared(compilation, &found.report.model) else {
        let reason = format!("`{}` is not declared in this file", found.report.model);
        return Err(vec![refusal(reason)]);
    };
    let rewritten = stack::deep(|| reduced_text(found, compilation.root(), &source.text, declared));
    let left = rewritten.left.iter().map(|(element, reason)| {
        Diagnostic::information(
            Code::LGM0940,
            format!("`{element}` stays in the text of the reduced model"),
        )
        .note(reason.clone())
    });
    report::print(compilation.map(), &left.collect::<Vec<_>>());
    report::print(compilation.map(), arguments.model.unwritten_values().as_slice());
    if *rewritten.text == *source.text {
        return Ok(rewritten.text);
    }
    let mut text = rewritten.text;
    let mut other = arguments.model.of_text(source, &text);
    let starts = stack::deep(|| merged_starts(compilation, &other, &rewritten.without_start));
    let mut has_starts = starts.is_some();
    if let Some(begun) = starts.and_then(|statements| with_statements(&other, &statements)) {
        let next = arguments.model.of_text(source, &begun);
        has_starts = compiles(&next).is_ok();
        if has_starts {
            (text, other) = (begun, next);
        }
    }
    match same_as_text(compilation, &other) {
        Ok(()) => {}
        Err(Difference::Found(reason)) => return Err(vec![refusal(reason)]),
        Err(Difference::Unknown) => {
            let message = "the reduced model was not compared with the full one: they have no responses";
            let warning = Diagnostic::warning(Code::LGM0940, message)
                .help("compare runs of both with `lgm simulate`, or declare an input and an output");
            report::print(compilation.map(), &[warning]);
        }
    }
    let message = match begin_alike(compilation, &other) {
        Some(false) => "outputs of the reduced model have other initial values than those of the full model",
        Some(true) if has_starts => return Ok(text),
        _ => "storage of the reduced model may have other initial values than in the full model",
    };
    let warning = Diagnostic::warning(Code::LGM0940, message)
        .note("initial values of merged storage are unknown or not in the text of the reduced model")
        .help("compare the first rows of both with `lgm simulate`, and write `start = ..` where they differ");
    report::print(compilation.map(), &[warning]);
    Ok(text)
}

fn refusal(reason: String) -> Diagnostic {
    Diagnostic::error(Code::LGM0940, "the reduced model cannot be written as text")
        .note(reason)
        .help("read the equivalent parameters from `lgm reduce` without `--format lgm`")
}
