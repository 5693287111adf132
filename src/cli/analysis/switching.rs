//! `lgm switching`

use super::shared::{Format, write_json};
use crate::cli::files::disk::write_result;
use crate::cli::outcome::Outcome;
use crate::cli::report;
use crate::cli::request::{ModelArguments, StateArguments};
use lgm_equations::Options;
use lgm_equations::switching::{Explored, explore};
use lgm_session::analysis::switching::{MOST_COMBINATIONS, switching_json};
use lgm_source::stack;
use std::io::{self, Write};

/// Prints the reachable combinations of modes, with the order, dependent storage and conflicts of each.
///
/// The search starts from the initial modes and follows every mode change whose condition is not ruled out, one element
/// at a time. Only combinations reached by such changes are listed. The search ignores the values of states, so a run
/// may never reach a listed combination.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  lgm switching examples/switching/buck_converter.lgm
  lgm switching examples/switching/clutch.lgm --format json")]
pub(in crate::cli) struct Arguments {
    #[command(flatten)]
    model: ModelArguments,
    #[command(flatten)]
    states: StateArguments,
    /// Stop after this number of combinations
    #[arg(long, value_name = "N", default_value_t = MOST_COMBINATIONS, value_parser = clap::value_parser!(u64).range(1..=100_000))]
    most: u64,
    /// The format of the output
    #[arg(long, value_enum, default_value = "text")]
    format: Format,
}

/// Runs the command.
pub(in crate::cli) fn run(arguments: &Arguments) -> Outcome {
    let wanted = Options {
        symbolic: false,
        ..Options::default()
    };
    let compilation = value_or_return!(arguments.model.asked(&arguments.states, wanted));
    let diagnostics = compilation.diagnostics_of_model();
    report::print(compilation.map(), &diagnostics);
    let (Some(model), Outcome::Success) = (compilation.model(), report::outcome(&diagnostics)) else {
        return report::outcome(&diagnostics);
    };
    let options = &compilation.request().equations;
    let found = stack::deep(|| explore(model, options, arguments.most as usize));
    let written = write_result(None, &mut |out| match arguments.format {
        Format::Json => write_json(&switching_json(&found), out),
        Format::Text => write_text(&found, out),
    });
    report::after_writing(compilation.map(), written)
}

fn write_text(found: &Explored, out: &mut dyn Write) -> io::Result<()> {
    if found.combinations.iter().all(|each| each.modes.is_empty()) {
        return writeln!(out, "no element of the model has modes");
    }
    let count = found.combinations.len();
    match found.is_complete {
        true => writeln!(out, "{count} of {} combinations of modes are reachable", found.possible)?,
        false => writeln!(
            out,
            "{count} of {} combinations of modes were examined; further ones are reachable (`--most` allows more)",
            found.possible
        )?,
    }
    for each in &found.combinations {
        let modes: Vec<String> = each.modes.iter().map(|mode| format!("{} {}", mode.0, mode.1)).collect();
        writeln!(out, "\n{}", modes.join(", "))?;
        match (&each.conflict, each.order) {
            (Some(conflict), _) => writeln!(out, "  conflict: {conflict}")?,
            (None, order) => writeln!(out, "  order {}", order.unwrap_or(0))?,
        }
        if !each.dependent.is_empty() {
            writeln!(out, "  dependent: {}", each.dependent.join(", "))?;
        }
    }
    Ok(())
}
