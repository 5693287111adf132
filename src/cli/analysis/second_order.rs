//! `lgm second-order`

use super::shared::{Format, LinearModel, write_json};
use crate::cli::files::disk::write_result;
use crate::cli::outcome::Outcome;
use crate::cli::report;
use lgm_analysis::Eliminated;
use lgm_emit::significant;
use lgm_equations::StateSystem;
use lgm_session::analysis::second_order::{SecondOrderEquations, second_order_equations};
use serde_json::{Value, json};
use std::io::{self, Write};

/// Prints second-order equations: M*X'' + B*X' + K*X = input*U + input_integral*int(U) + input_derivative*U'.
///
/// X are the displacements of inertias or of compliances, whichever are fewer; if these have no such equations, the
/// others. `--eliminate` overrides this choice. Displacements are integrals of velocities in mechanics, and of currents
/// and volume flows elsewhere. The skew part of B is gyroscopic, that of K circulatory.
///
/// For a mechanism without linearisation, Lagrange's equations are printed: M(q)*v' + C(q, v)*v + D*v + g(q) = Q, with
/// q' = v.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  lgm second-order examples/seeds/five_mass_seven_spring.lgm
  lgm second-order examples/oscillator.lgm --eliminate q --numeric --format json
  lgm second-order examples/two_link_arm.lgm")]
pub(in crate::cli) struct Arguments {
    #[command(flatten)]
    model: LinearModel,
    /// Eliminate the displacements of compliances (q), or the momenta of inertias (p)
    #[arg(long, value_enum)]
    eliminate: Option<Left>,
    /// Numbers instead of symbols
    #[arg(long)]
    numeric: bool,
    /// The output format
    #[arg(long, value_enum, default_value = "text")]
    format: Format,
}

#[derive(Clone, Copy, Debug, clap::ValueEnum)]
enum Left {
    P,
    Q,
}

/// Runs the command.
pub(in crate::cli) fn run(arguments: &Arguments) -> Outcome {
    let (map, whole) = value_or_return!(arguments.model.whole(true));
    let LinearModel { states, linearize, .. } = &arguments.model;
    let mut diagnostics = Vec::new();
    let eliminated = arguments.eliminate.map(|left| match left {
        Left::P => Eliminated::Inertias,
        Left::Q => Eliminated::Compliances,
    });
    let form = (eliminated, arguments.numeric);
    let found = second_order_equations(&whole, states.retained(), linearize.asked(true), form, &mut diagnostics);
    report::print(&map, &diagnostics);
    let Some((system, found)) = found else {
        return match report::outcome(&diagnostics) {
            Outcome::Success => Outcome::Failure,
            outcome => outcome,
        };
    };
    let written = write_result(None, &mut |out| match arguments.format {
        Format::Json => write_json(&found.json(&system, arguments.numeric), out),
        Format::Text => write_text(&found, &system, arguments.numeric, out),
    });
    report::after_writing(&map, written)
}

fn write_text(
    found: &SecondOrderEquations,
    system: &StateSystem,
    numeric: bool,
    out: &mut dyn Write,
) -> io::Result<()> {
    match found {
        SecondOrderEquations::Linear(found) => {
            let inputs: Vec<&str> = system.declared_inputs().map(|input| &*input.name).collect();
            writeln!(
                out,
                "M*X'' + B*X' + K*X = input*U + input_integral*int(U) + input_derivative*U'"
            )?;
            writeln!(out, "X: displacements of {}", found.coordinates.join(", "))?;
            writeln!(out, "U: {}", inputs.join(", "))?;
        }
        SecondOrderEquations::Mechanism(found) => {
            writeln!(out, "M(q)*v' + C(q, v)*v + D*v + g(q) = Q, q' = v")?;
            // Nothing depends on a displacement without a state.
            let pairs = found.displacements.iter().zip(&found.velocities);
            let shown = pairs.map(|(name, velocity)| match name {
                Some(name) => name.to_string(),
                None => format!("int({velocity})"),
            });
            let displacements: Vec<String> = shown.collect();
            writeln!(out, "v: {}", found.velocities.join(", "))?;
            writeln!(out, "q: {}", displacements.join(", "))?;
        }
    }
    for (name, rows) in found.matrices(system, numeric) {
        let is_extra = matches!(
            name,
            "gyroscopic" | "circulatory" | "input_integral" | "input_derivative"
        );
        let is_zero = |entry: &Value| *entry == json!("0") || entry.as_f64() == Some(0.0);
        if is_extra && rows.iter().flatten().all(is_zero) {
            continue;
        }
        let name = match name {
            "gyroscopic" => "gyroscopic part of B",
            "circulatory" => "circulatory part of K",
            other => other,
        };
        write_rows(name, &rows, out)?;
    }
    match numeric {
        true => Ok(()),
        false => out.write_all(lgm_emit::definitions(system, &found.symbols()).as_bytes()),
    }
}

/// Prints a matrix under its name.
fn write_rows(name: &str, rows: &[Vec<Value>], out: &mut dyn Write) -> io::Result<()> {
    let shown = |value: &Value| match value {
        Value::Number(number) => significant(number.as_f64().unwrap_or(f64::NAN), 6),
        Value::String(text) => text.clone(),
        _ => "?".to_string(),
    };
    writeln!(out, "{name} =")?;
    let mut table = crate::cli::table::Table::new(&vec![4; rows.first().map_or(0, Vec::len)]);
    rows.iter().for_each(|row| table.row(row.iter().map(shown)));
    table.write(out)
}
