//! `lgm fit`

use super::shared::{Format, write_json};
use crate::cli::files::disk::write_result;
use crate::cli::outcome::Outcome;
use crate::cli::report;
use crate::cli::request::{LinearizeArguments, ModelArguments, StateArguments};
use crate::cli::table::Table;
use lgm_analysis::Estimate;
use lgm_emit::significant;
use lgm_equations::Options;
use lgm_session::analysis::fit::{Measured, fit, fit_json, interval};
use std::io::{self, Write};
use std::path::PathBuf;

/// Estimates parameters from measured data by least squares.
///
/// The table has a column `time`, columns of inputs as in `simulate --input`, and columns of outputs, each under its
/// name. Runs use the initial values of the model, and the search starts from its parameter values. All samples have
/// equal weights.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Example:
  lgm fit examples/oscillator.lgm --data measured.csv --vary k,b")]
pub(in crate::cli) struct Arguments {
    #[command(flatten)]
    model: ModelArguments,
    #[command(flatten)]
    states: StateArguments,
    /// The table of measured values
    #[arg(long, value_name = "FILE.csv")]
    data: PathBuf,
    /// The parameters to estimate
    #[arg(long, value_name = "NAME,NAME..", value_delimiter = ',', required = true)]
    vary: Vec<String>,
    /// The output format
    #[arg(long, value_enum, default_value = "text")]
    format: Format,
}

/// Runs the command.
pub(in crate::cli) fn run(arguments: &Arguments) -> Outcome {
    // The equations keep the parameters symbolic, so that runs can give them other values.
    let wanted = Options {
        readable: false,
        ..Options::default()
    };
    let (mut map, system, mut diagnostics) =
        arguments
            .model
            .varying(&arguments.vary)
            .compile(&arguments.states, &LinearizeArguments::default(), wanted);
    let found = match &system {
        Some(system) if report::outcome(&diagnostics) == Outcome::Success => {
            let data = Measured::read(&arguments.data, &mut map);
            let found = data.and_then(|data| fit(system, &data, &arguments.vary));
            found.map_err(|fault| diagnostics.push(*fault)).ok()
        }
        _ => None,
    };
    report::print(&map, &diagnostics);
    let (Some(found), Outcome::Success) = (found, report::outcome(&diagnostics)) else {
        return match report::outcome(&diagnostics) {
            Outcome::Success => Outcome::Failure,
            outcome => outcome,
        };
    };
    let written = write_result(None, &mut |out| match arguments.format {
        Format::Json => write_json(&fit_json(&arguments.vary, &found), out),
        Format::Text => write_text(arguments, &found, out),
    });
    report::after_writing(&map, written)
}

fn write_text(arguments: &Arguments, found: &Estimate, out: &mut dyn Write) -> io::Result<()> {
    let mut table = Table::new(&[12, 16, 16, 16, 16]);
    table.row(["parameter", "value", "standard error", "95 % from", "to"].map(String::from));
    for (at, name) in arguments.vary.iter().enumerate() {
        let (low, high) = interval(found, at);
        table.row([
            name.clone(),
            significant(found.values[at], 9),
            significant(found.standard_errors[at], 4),
            significant(low, 6),
            significant(high, 6),
        ]);
    }
    table.write(out)?;
    writeln!(out, "sum of squares: {}", significant(found.squares, 6))
}
