//! `lgm causality`

use super::files::disk::write_result;
use super::report;
use super::request::{ModelArguments, StateArguments};
use crate::cli::outcome::Outcome;
use clap::ValueEnum;
use lgm_draw::{Kind, Manner, play};
use lgm_emit::write_in_lines;
use lgm_equations::Options;
use lgm_explain::causality::{TextOptions, json, text};
use lgm_session::drawing::drawing;
use std::path::PathBuf;

/// Prints the causality of a model: which variable each element sets, and why.
///
/// The report contains the bonds with their causal strokes in order of assignment; the normal tree of a linear graph
/// with the rule for each branch and link; storage in integral and derivative causality with causal paths; and
/// algebraic loops. If sources contradict each other, the report is partial.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  lgm causality examples/lever.lgm
  lgm causality examples/rigid_gears.lgm --retain load
  lgm causality examples/lever.lgm --stroke I2=flow
  lgm causality examples/wheatstone_bridge.lgm --bonds
  lgm causality examples/lever.lgm --play")]
pub(super) struct Arguments {
    #[command(flatten)]
    model: ModelArguments,
    #[command(flatten)]
    states: StateArguments,
    /// Set a variable by hand, before all others except those of sources: this storage element or resistor sets its
    /// `effort` or its `flow`, or `across` or `through`. Reports what follows, and what contradicts it. Repeatable, in
    /// order of priority
    #[arg(long, value_name = "ELEM=VARIABLE", conflicts_with = "play")]
    stroke: Vec<String>,
    /// Also list the bonds that correspond to the nodes and branches of a linear graph
    #[arg(long)]
    bonds: bool,
    /// Write a page that animates the assignment on the bond graph, stroke by stroke with its reason
    #[arg(long, conflicts_with_all = ["format", "bonds"])]
    play: bool,
    /// The output format
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
    // The decisions are the same with less work, because the equations are not needed.
    let wanted = Options {
        symbolic: false,
        readable: false,
        ..Options::default()
    };
    let compilation = value_or_return!(arguments.model.asked(&arguments.states, wanted));
    let mut diagnostics = compilation.diagnostics_of_model();
    let by_hand = match arguments.stroke.is_empty() {
        true => None,
        false => compilation.causality_by_hand(&arguments.stroke),
    };
    let by_hand = by_hand.map(|found| match found {
        Ok((report, refused)) => {
            diagnostics.extend(refused);
            Some(report)
        }
        Err(fault) => {
            diagnostics.push(*fault);
            None
        }
    });
    report::print(compilation.map(), &diagnostics);
    let outcome = report::outcome(&diagnostics);
    // Misuse of an option is not an error in the model, so no explanation is printed.
    let found = match &by_hand {
        Some(found) => found.as_ref(),
        None => compilation.causality().filter(|_| outcome != Outcome::Misuse),
    };
    let Some(found) = found else {
        return outcome;
    };
    let every_junction = Manner {
        all_junctions: true,
        ..Manner::default()
    };
    let page = match arguments.play {
        // Each step corresponds to a bond of the whole graph.
        true => match drawing(&compilation, Some(Kind::BondGraph), every_junction) {
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
