//! `lgm causality`

use super::draw::{Notation, drawing};
use super::files::disk::write_result;
use super::report;
use super::request::{ModelArguments, StateArguments};
use crate::cli::outcome::Outcome;
use clap::ValueEnum;
use lgm_draw::{Manner, play};
use lgm_emit::write_in_lines;
use lgm_equations::Options;
use lgm_explain::causality::{TextOptions, json, text};
use std::path::PathBuf;

/// Says which variable each element gives to the rest of a model, and why.
///
/// Bonds with their causal strokes in the order in which they got them, the normal tree of a linear graph with the rule behind each branch
/// and link, storage in integral and derivative causality with causal paths, and algebraic loops. Where sources contradict each other,
/// the report goes as far as it can.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  lgm causality examples/lever.lgm
  lgm causality examples/rigid_gears.lgm --retain load
  lgm causality examples/wheatstone_bridge.lgm --bonds
  lgm causality examples/lever.lgm --play")]
pub(super) struct Arguments {
    #[command(flatten)]
    model: ModelArguments,
    #[command(flatten)]
    states: StateArguments,
    /// Also list the bonds that nodes and branches of a linear graph stand for
    #[arg(long)]
    bonds: bool,
    /// Write a page that plays the assignment on the bond graph, stroke after stroke with its cause
    #[arg(long, conflicts_with_all = ["format", "bonds"])]
    play: bool,
    /// How to print it
    #[arg(long, value_enum, default_value = "text")]
    format: Format,
    /// Write to this file instead of standard output
    #[arg(short, long, value_name = "OUT")]
    output: Option<PathBuf>,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum Format {
    Text,
    Json,
}

/// Runs the command.
pub(super) fn run(arguments: &Arguments) -> Outcome {
    // The same decisions with less work: nobody reads the equations here.
    let wanted = Options {
        symbolic: false,
        readable: false,
        ..Options::default()
    };
    let compilation = match arguments.model.asked(&arguments.states, wanted) {
        Ok(compilation) => compilation,
        Err(outcome) => return outcome,
    };
    let diagnostics = compilation.diagnostics_of_model();
    report::print(compilation.map(), &diagnostics);
    let outcome = report::outcome(&diagnostics);
    // What is misused is no fault of the model: there is nothing to explain.
    let Some(found) = compilation.causality().filter(|_| outcome != Outcome::Misuse) else {
        return outcome;
    };
    let page = match arguments.play {
        true => match drawing(&compilation, Some(Notation::BondGraph), Manner::default()) {
            Ok(drawing) => drawing.map(|drawing| play(&drawing, found)),
            Err(refused) => {
                report::print(compilation.map(), std::slice::from_ref(&refused));
                return report::outcome(&[refused]);
            }
        },
        false => None,
    };
    let written = write_result(arguments.output.as_deref(), &mut |out| match arguments.format {
        _ if page.is_some() => out.write_all(page.as_deref().unwrap_or_default().as_bytes()),
        Format::Json => write_in_lines(out, &json(found)),
        Format::Text => {
            let options = TextOptions { bonds: arguments.bonds };
            out.write_all(text(found, options).as_bytes())
        }
    });
    match report::after_writing(compilation.map(), written) {
        Outcome::Success => outcome,
        failed => failed,
    }
}
