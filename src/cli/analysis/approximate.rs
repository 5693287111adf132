//! `lgm approximate`

use super::realisation::model_text;
use super::shared::{LinearModel, rows_json, write_json, write_matrix};
use crate::cli::disk::write_result;
use crate::cli::outcome::Outcome;
use crate::cli::report;
use lgm_analysis::{Reduced, ReductionMethod, reduce_order};
use lgm_emit::significant;
use lgm_equations::StateSystem;
use serde_json::{Value, json};
use std::io::{self, Write};
use std::path::PathBuf;

/// Prints a model of lower order with a bound of its error.
///
/// `--method balanced` leaves out what is hardest to reach and shows least; the error at any frequency is at most twice the sum of
/// the Hankel singular values that are left out. `--method modal` keeps the slowest poles. `--format lgm` writes a model with the same
/// inputs and outputs, which compiles and runs as any other.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  lgm approximate examples/quarter_car.lgm --order 2
  lgm approximate examples/line.lgm --set N=40 --order 6 --match-dc --format lgm -o short_line.lgm")]
pub(in crate::cli) struct Arguments {
    #[command(flatten)]
    model: LinearModel,
    /// How many states are kept; both poles of a pair are
    #[arg(long, value_name = "N")]
    order: usize,
    /// Which states are left out
    #[arg(long, value_enum, default_value = "balanced")]
    method: Method,
    /// Keep the static gain: what is left out follows at once
    #[arg(long)]
    match_dc: bool,
    /// How to print it
    #[arg(long, value_enum, default_value = "text")]
    format: Format,
    /// Write to this file instead of standard output
    #[arg(short, long, value_name = "OUT")]
    output: Option<PathBuf>,
}

#[derive(Clone, Copy, Debug, clap::ValueEnum)]
enum Method {
    /// Balanced truncation
    Balanced,
    /// The slowest poles
    Modal,
}

#[derive(Clone, Copy, Debug, clap::ValueEnum)]
enum Format {
    Text,
    Json,
    /// A model
    Lgm,
}

/// Runs the command.
pub(in crate::cli) fn run(arguments: &Arguments) -> Outcome {
    let method = match arguments.method {
        Method::Balanced => ReductionMethod::Balanced,
        Method::Modal => ReductionMethod::Modal,
    };
    let asked = arguments.model.ask(false, |system, diagnostics| {
        let found = reduce_order(system, arguments.order, method, arguments.match_dc);
        found.map_err(|fault| diagnostics.push(*fault)).ok()
    });
    let (map, system, found) = match asked {
        Ok(asked) => asked,
        Err(outcome) => return outcome,
    };
    let written = write_result(arguments.output.as_deref(), &mut |out| match arguments.format {
        Format::Json => write_json(&as_json(&system, &found, arguments.method), out),
        Format::Text => write_text(&system, &found, out),
        Format::Lgm => out.write_all(model_text(&system, &found.space, "Reduced").as_bytes()),
    });
    report::after_writing(&map, written)
}

fn as_json(system: &StateSystem, found: &Reduced, method: Method) -> Value {
    let inputs: Vec<&str> = system.declared_inputs().map(|input| &*input.name).collect();
    let outputs: Vec<&str> = system.outputs.iter().map(|output| &*output.name).collect();
    let order = found.space.a.nrows();
    let states: Vec<String> = (1..=order).map(|at| format!("x{at}")).collect();
    json!({
        "schema": "lgm-approximate/1",
        "order": order,
        "method": match method { Method::Balanced => "balanced", Method::Modal => "modal" },
        "hankel": found.hankel,
        "bound": found.bound,
        "states": states,
        "inputs": inputs,
        "outputs": outputs,
        "A": rows_json(&found.space.a),
        "B": rows_json(&found.space.b),
        "C": rows_json(&found.space.c),
        "D": rows_json(&found.space.d),
    })
}

fn write_text(system: &StateSystem, found: &Reduced, out: &mut dyn Write) -> io::Result<()> {
    let (order, whole) = (found.space.a.nrows(), system.states.len());
    writeln!(
        out,
        "{order} of {whole} states; the error is at most {} at any frequency",
        significant(found.bound, 6)
    )?;
    if !found.hankel.is_empty() {
        let shown: Vec<String> = found
            .hankel
            .iter()
            .take(20)
            .map(|value| significant(*value, 6))
            .collect();
        let more = if found.hankel.len() > 20 { ", .." } else { "" };
        writeln!(out, "Hankel singular values: {}{more}", shown.join(", "))?;
    }
    let space = &found.space;
    for (name, matrix) in [("A", &space.a), ("B", &space.b), ("C", &space.c), ("D", &space.d)] {
        write_matrix(name, matrix, out)?;
    }
    Ok(())
}
