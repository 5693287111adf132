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

/// Says what becomes of storage without a state of its own, and writes the model with one element for each field.
///
/// Each dependent storage element with its causal path, the gains of effort and flow along it, and the equivalent parameter of the
/// element that keeps the state; and combinations of states that never change. `--format lgm` writes the reduced model, in which merged
/// elements are gone, and junctions and couplers with them that have no use any more.
///
/// With `--augment`, dependent storage gets a state instead: a stiff spring with a damper, or in circuits a small resistance, gives way
/// at a connection. The report says which places were chosen, and by which rule; `--format lgm` writes the augmented model.
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
    /// Also merge two elements whose energy variables keep their difference, as two springs side by side do, if they start equal
    #[arg(long)]
    merge_conserved: bool,
    /// Ask for each causal path which of its two elements is to be reduced; answers are lines of standard input
    #[arg(long, conflicts_with = "augment")]
    interactive: bool,
    /// Free dependent storage by connections of this stiffness, and of this conductance in circuits, in SI units
    #[arg(long, value_name = "STIFFNESS", value_parser = positive, conflicts_with = "merge_conserved")]
    augment: Option<f64>,
    /// The damping of these connections; unless given, 2*sqrt(stiffness*m) beside an element of inertia m, so that their motion dies
    #[arg(long, value_name = "DAMPING", value_parser = positive, requires = "augment")]
    damping: Option<f64>,
    /// Also run both models, and compare error, ratio of the largest to the smallest eigenvalue and run time over stiffnesses; five
    /// decades up to that of `--augment` unless given
    #[arg(long, value_name = "STIFFNESS,..", value_delimiter = ',', value_parser = positive, num_args = 0..=1, requires = "augment")]
    compare: Option<Vec<f64>>,
    /// The last time of the compared runs, in seconds; that of the experiment unless given
    #[arg(long, value_name = "T", value_parser = duration, requires = "compare")]
    stop: Option<f64>,
    /// How to print it: the report, or the text of the reduced model
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
        _ => Err("a number above zero is needed".to_string()),
    }
}

/// Runs the command.
pub(super) fn run(arguments: &Arguments) -> Outcome {
    let states = match states(arguments) {
        Ok(states) => states,
        Err(outcome) => return outcome,
    };
    let compilation = match arguments.model.asked(&states, Options::default()) {
        Ok(compilation) => compilation,
        Err(outcome) => return outcome,
    };
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

/// The request for the states, by the options and by the answers of a dialogue.
fn states(arguments: &Arguments) -> Result<StateArguments, Outcome> {
    if !arguments.interactive {
        return Ok(arguments.states.clone());
    }
    if arguments.model.is_standard_input() {
        eprintln!(
            "error: standard input holds the answers of `--interactive`, so that it cannot hold the model: name a file"
        );
        return Err(Outcome::Misuse);
    }
    let dialogue = (&mut io::stdin().lock() as _, &mut io::stderr() as _);
    dialogue::choose(&arguments.model, &arguments.states, dialogue).map_err(|fault| {
        eprintln!("error: the answers cannot be read: {fault}");
        Outcome::Failure
    })
}

/// The augmented model, or the report on it.
fn augment(arguments: &Arguments, compilation: &Compilation, stiffness: f64) -> Outcome {
    let augmented = match augmented(&arguments.model, compilation, (stiffness, arguments.damping)) {
        Ok(augmented) => augmented,
        Err(fault) => {
            report::print(compilation.map(), std::slice::from_ref(&fault));
            return report::outcome(&[*fault]);
        }
    };
    if !augmented.is_begun {
        let message = "storage of the augmented model may begin elsewhere than in the model";
        let warning = Diagnostic::warning(Code::LGM0942, message)
            .note("its values at the start are not known, or cannot be written as starts")
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

/// The text of the reduced model, once it is known to do the same as the whole one.
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
            let message = "the reduced model was not compared with the whole one: they have no responses";
            let warning = Diagnostic::warning(Code::LGM0940, message)
                .help("compare runs of both with `lgm simulate`, or declare an input and an output");
            report::print(compilation.map(), &[warning]);
        }
    }
    let message = match begin_alike(compilation, &other) {
        Some(false) => "outputs of the reduced model begin elsewhere than those of the whole one",
        Some(true) if has_starts => return Ok(text),
        _ => "storage of the reduced model may begin elsewhere than in the whole one",
    };
    let warning = Diagnostic::warning(Code::LGM0940, message)
        .note("starts of storage that was merged are not known, or not in the text of the reduced model")
        .help("compare the first rows of both with `lgm simulate`, and write `start = ..` where they differ");
    report::print(compilation.map(), &[warning]);
    Ok(text)
}

fn refusal(reason: String) -> Diagnostic {
    Diagnostic::error(Code::LGM0940, "the reduced model cannot be written as text")
        .note(reason)
        .help("read the equivalent parameters from `lgm reduce` without `--format lgm`")
}
