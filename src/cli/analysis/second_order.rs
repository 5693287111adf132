//! `lgm second-order`

use super::shared::{Format, LinearModel, with_storage, write_json};
use crate::cli::disk::write_result;
use crate::cli::outcome::Outcome;
use crate::cli::report;
use lgm_algebra::expr::{ExprId, SymbolId, text, to_f64};
use lgm_analysis::{Eliminated, SecondOrder, second_order};
use lgm_emit::significant;
use lgm_equations::StateSystem;
use serde_json::{Value, json};
use std::io::{self, Write};

/// Prints equations of second order: M*X'' + B*X' + K*X = input*U + input_integral*int(U) + input_derivative*U'.
///
/// X are displacements of inertias or of compliances, whichever are fewer, unless `--eliminate` says which are left out: displacements are
/// integrals of velocities in mechanics, of currents and volume flows elsewhere. The skew part of B is gyroscopic, that of K circulatory.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  lgm second-order examples/seeds/five_mass_seven_spring.lgm
  lgm second-order examples/oscillator.lgm --eliminate q --numeric --format json")]
pub(in crate::cli) struct Arguments {
    #[command(flatten)]
    model: LinearModel,
    /// Leaves out the displacements of compliances (q), or the momenta of inertias (p)
    #[arg(long, value_enum)]
    eliminate: Option<Left>,
    /// Numbers instead of symbols
    #[arg(long)]
    numeric: bool,
    /// How to print them
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
    let (map, whole) = match arguments.model.whole(true) {
        Ok(whole) => whole,
        Err(outcome) => return outcome,
    };
    let LinearModel { states, linearize, .. } = &arguments.model;
    let mut diagnostics = Vec::new();
    let eliminated = arguments.eliminate.map(|left| match left {
        Left::P => Eliminated::Inertias,
        Left::Q => Eliminated::Compliances,
    });
    let first = whole.model.outputs.len();
    let found = with_storage(&whole, states, linearize, true, &mut diagnostics).and_then(|(model, system, _)| {
        let found = second_order(&model, &system, first, eliminated);
        let found = found.map_err(|fault| diagnostics.push(*fault)).ok()?;
        Some((system, found))
    });
    report::print(&map, &diagnostics);
    let Some((system, found)) = found else {
        return match report::outcome(&diagnostics) {
            Outcome::Success => Outcome::Failure,
            outcome => outcome,
        };
    };
    let written = write_result(None, &mut |out| match arguments.format {
        Format::Json => write_json(&as_json(arguments, &system, &found), out),
        Format::Text => write_text(arguments, &system, &found, out),
    });
    report::after_writing(&map, written)
}

/// The entries of a matrix as values of JSON.
fn entries(arguments: &Arguments, system: &StateSystem, found: &SecondOrder, rows: &[Vec<ExprId>]) -> Vec<Vec<Value>> {
    let list = system.parameters.iter().flat_map(|parameter| &parameter.entries);
    let list: Vec<_> = list.collect();
    let value = |symbol: SymbolId| {
        let entry = list.iter().find(|entry| entry.symbol == symbol);
        entry.map(|entry| to_f64(&entry.value))
    };
    let entry = |id: &ExprId| match arguments.numeric {
        true => json!(found.exprs.evaluate_unchecked(&[*id], &value)[0]),
        false => json!(text(&found.exprs, *id)),
    };
    rows.iter().map(|row| row.iter().map(entry).collect()).collect()
}

fn parts(found: &SecondOrder) -> [(&'static str, &[Vec<ExprId>]); 6] {
    [
        ("M", &found.mass),
        ("B", &found.damping),
        ("K", &found.stiffness),
        ("input", &found.input),
        ("input_integral", &found.input_integral),
        ("input_derivative", &found.input_derivative),
    ]
}

fn as_json(arguments: &Arguments, system: &StateSystem, found: &SecondOrder) -> Value {
    let inputs: Vec<&str> = system.declared_inputs().map(|input| &*input.name).collect();
    let coordinates: Vec<&str> = found.coordinates.iter().map(|name| &**name).collect();
    let mut value = json!({"schema": "lgm-second-order/1", "coordinates": coordinates});
    for (name, rows) in parts(found) {
        if name == "input" {
            value["inputs"] = json!(inputs);
        }
        value[name] = json!(entries(arguments, system, found, rows));
    }
    value
}

fn write_text(arguments: &Arguments, system: &StateSystem, found: &SecondOrder, out: &mut dyn Write) -> io::Result<()> {
    let inputs: Vec<&str> = system.declared_inputs().map(|input| &*input.name).collect();
    writeln!(
        out,
        "M*X'' + B*X' + K*X = input*U + input_integral*int(U) + input_derivative*U'"
    )?;
    writeln!(out, "X: displacements of {}", found.coordinates.join(", "))?;
    writeln!(out, "U: {}", inputs.join(", "))?;
    for (name, rows) in parts(found) {
        let rows = entries(arguments, system, found, rows);
        let shown = |value: &Value| match value {
            Value::Number(number) => significant(number.as_f64().unwrap_or(f64::NAN), 6),
            Value::String(text) => text.clone(),
            _ => "?".to_string(),
        };
        let rows: Vec<Vec<String>> = rows.iter().map(|row| row.iter().map(shown).collect()).collect();
        if name.starts_with("input_") && rows.iter().flatten().all(|entry| entry == "0") {
            continue;
        }
        writeln!(out, "{name} =")?;
        let mut table = super::shared::Table::new(&vec![4; rows.first().map_or(0, Vec::len)]);
        rows.into_iter().for_each(|row| table.row(row));
        table.write(out)?;
    }
    Ok(())
}
