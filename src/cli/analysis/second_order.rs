//! `lgm second-order`

use super::shared::{Format, LinearModel, write_json};
use crate::cli::files::disk::write_result;
use crate::cli::outcome::Outcome;
use crate::cli::report;
use lgm_algebra::expr::{ExprId, Exprs, SymbolId, text, to_f64};
use lgm_analysis::{Eliminated, Mechanism, SecondOrder, mechanism, second_order};
use lgm_emit::significant;
use lgm_equations::StateSystem;
use lgm_session::analysis::modes::with_storage;
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
    let is_mechanism = !whole.system.equations.linear && !linearize.is_asked_for();
    let found = with_storage(&whole, states.retained(), linearize.asked(true), true, &mut diagnostics).and_then(
        |(model, system, storage)| {
            let found = match is_mechanism {
                true => mechanism(&model, &system, &storage).map(SecondOrderEquations::Mechanism),
                false => second_order(&model, &system, &storage, (eliminated, arguments.numeric))
                    .map(SecondOrderEquations::Linear),
            };
            let found = found.map_err(|fault| diagnostics.push(*fault)).ok()?;
            Some((system, found))
        },
    );
    report::print(&map, &diagnostics);
    let Some((system, found)) = found else {
        return match report::outcome(&diagnostics) {
            Outcome::Success => Outcome::Failure,
            outcome => outcome,
        };
    };
    let written = write_result(None, &mut |out| match (&found, arguments.format) {
        (SecondOrderEquations::Linear(found), Format::Json) => write_json(&as_json(arguments, &system, found), out),
        (SecondOrderEquations::Linear(found), Format::Text) => write_text(arguments, &system, found, out),
        (SecondOrderEquations::Mechanism(found), _) => write_mechanism(arguments, &system, found, out),
    });
    report::after_writing(&map, written)
}

/// The equations of either kind of model.
enum SecondOrderEquations {
    Linear(SecondOrder),
    Mechanism(Mechanism),
}

/// Prints Lagrange's equations.
fn write_mechanism(
    arguments: &Arguments,
    system: &StateSystem,
    found: &Mechanism,
    out: &mut dyn Write,
) -> io::Result<()> {
    let column = |list: &[ExprId]| list.iter().map(|id| vec![*id]).collect::<Vec<_>>();
    let (potential, forces) = (column(&found.potential), column(&found.forces));
    let parts: [(&str, &[Vec<ExprId>]); 5] = [
        ("M", &found.mass),
        ("C", &found.coriolis),
        ("D", &found.damping),
        ("g", &potential),
        ("Q", &forces),
    ];
    let parts = parts.map(|(name, rows)| (name, entries(arguments, system, &found.exprs, rows)));
    match arguments.format {
        Format::Json => {
            let mut value = mechanism_json(found);
            for (name, rows) in &parts {
                value[name] = match *name {
                    "g" | "Q" => rows.iter().flatten().cloned().collect(),
                    _ => json!(rows),
                };
            }
            write_json(&value, out)
        }
        Format::Text => {
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
            parts.iter().try_for_each(|(name, rows)| write_rows(name, rows, out))
        }
    }
}

fn mechanism_json(found: &Mechanism) -> Value {
    let velocities: Vec<&str> = found.velocities.iter().map(|name| &**name).collect();
    let displacements: Vec<Option<&str>> = found.displacements.iter().map(Option::as_deref).collect();
    json!({"schema": "lgm-mechanism/1", "velocities": velocities, "displacements": displacements})
}

/// Returns the entries of a matrix as JSON values. Expressions that depend on states stay symbolic.
fn entries(arguments: &Arguments, system: &StateSystem, exprs: &Exprs, rows: &[Vec<ExprId>]) -> Vec<Vec<Value>> {
    let list = system.parameters.iter().flat_map(|parameter| &parameter.entries);
    let list: Vec<_> = list.collect();
    let value = |symbol: SymbolId| {
        let entry = list.iter().find(|entry| entry.symbol == symbol);
        entry.map(|entry| to_f64(&entry.value))
    };
    let number = |id: ExprId| exprs.evaluate_unchecked(&[id], &value)[0];
    let entry = |id: &ExprId| match arguments.numeric {
        true if number(*id).is_finite() => json!(number(*id)),
        _ => json!(text(exprs, *id)),
    };
    rows.iter().map(|row| row.iter().map(entry).collect()).collect()
}

fn parts(found: &SecondOrder) -> [(&'static str, &[Vec<ExprId>]); 8] {
    [
        ("M", &found.mass),
        ("B", &found.damping),
        ("K", &found.stiffness),
        ("gyroscopic", &found.gyroscopic),
        ("circulatory", &found.circulatory),
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
        value[name] = json!(entries(arguments, system, &found.exprs, rows));
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
        let rows = entries(arguments, system, &found.exprs, rows);
        if !matches!(name, "M" | "B" | "K" | "input")
            && rows
                .iter()
                .flatten()
                .all(|entry| *entry == json!("0") || entry.as_f64() == Some(0.0))
        {
            continue;
        }
        let name = match name {
            "gyroscopic" => "gyroscopic part of B",
            "circulatory" => "circulatory part of K",
            other => other,
        };
        write_rows(name, &rows, out)?;
    }
    Ok(())
}

/// Prints a matrix under its name.
fn write_rows(name: &str, rows: &[Vec<Value>], out: &mut dyn Write) -> io::Result<()> {
    let shown = |value: &Value| match value {
        Value::Number(number) => significant(number.as_f64().unwrap_or(f64::NAN), 6),
        Value::String(text) => text.clone(),
        _ => "?".to_string(),
    };
    writeln!(out, "{name} =")?;
    let mut table = super::shared::Table::new(&vec![4; rows.first().map_or(0, Vec::len)]);
    rows.iter().for_each(|row| table.row(row.iter().map(shown)));
    table.write(out)
}
