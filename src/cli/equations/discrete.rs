//! `lgm equations --discretize`

use super::arguments::{Arguments, Format, HoldName};
use crate::cli::analysis::shared::{write_json, write_matrix};
use crate::cli::files::disk::write_result;
use crate::cli::outcome::Outcome;
use crate::cli::report;
use lgm_analysis::{Discrete, Hold, discretize};
use lgm_emit::MatrixOptions;
use lgm_equations::{Options, StateSystem};
use lgm_session::analysis::rows_json;
use lgm_source::codes::Code;
use lgm_source::diagnostic::Diagnostic;
use serde_json::{Value, json};
use std::io::{self, Write};

/// Runs the command.
pub(super) fn run(arguments: &Arguments, period: f64) -> Outcome {
    let wanted = Options {
        symbolic: false,
        linear_outputs: !arguments.linearize.is_asked_for(),
        ..Options::default()
    };
    let (map, system, mut diagnostics) =
        arguments
            .model
            .between_events()
            .compile(&arguments.states, &arguments.linearize, wanted);
    if matches!(arguments.format, Format::Latex | Format::Html) {
        let fault = Diagnostic::error(Code::LGM0717, "discrete equations are available as text or JSON only");
        diagnostics.push(fault.help("use `--format text` or `--format json`"));
    }
    let hold = match arguments.hold {
        HoldName::Zero => Hold::Zero,
        HoldName::First => Hold::First,
        HoldName::Tustin => Hold::Tustin,
    };
    let found = system
        .filter(|_| report::outcome(&diagnostics) == Outcome::Success)
        .and_then(|system| {
            let found = discretize(&system, period, hold);
            let found = found.map_err(|fault| diagnostics.push(*fault)).ok()?;
            Some((system, found))
        });
    report::print(&map, &diagnostics);
    let outcome = report::outcome(&diagnostics);
    let (Some((system, found)), Outcome::Success) = (found, outcome) else {
        return outcome;
    };
    let head = (period, arguments.hold.word());
    let written = write_result(arguments.output.as_deref(), &mut |out| match arguments.format {
        Format::Json => write_json(&as_json(&system, &found, head)?, out),
        _ => write_text(&system, &found, head, out),
    });
    report::after_writing(&map, written)
}

/// Returns the keys of `lgm equations` that also apply to discrete equations.
fn as_json(system: &StateSystem, found: &Discrete, (period, hold): (f64, &str)) -> io::Result<Value> {
    let mut text = Vec::new();
    let options = MatrixOptions {
        numeric: true,
        ..MatrixOptions::default()
    };
    lgm_emit::json(system, options, &mut text)?;
    let mut value: Value = serde_json::from_slice(&text)?;
    if let Some(map) = value.as_object_mut() {
        map.retain(|key, _| {
            matches!(
                key.as_str(),
                "schema" | "model" | "doc" | "parameters" | "states" | "inputs" | "outputs" | "linear"
            )
        });
    }
    for name in &found.added {
        let state = json!({"name": name, "element": name, "variable": "int", "unit": null, "start": 0.0});
        if let Some(states) = value["states"].as_array_mut() {
            states.push(state);
        }
    }
    value["period"] = json!(period);
    value["hold"] = json!(hold);
    let space = &found.space;
    for (name, matrix) in [("A", &space.a), ("B", &space.b), ("C", &space.c), ("D", &space.d)] {
        value[name] = rows_json(matrix);
    }
    value["E"] = Value::Null;
    value["F"] = Value::Null;
    for (name, offset) in [("x_offset", &found.x_offset), ("y_offset", &found.y_offset)] {
        if let Some(values) = offset {
            value[name] = json!(values);
        }
    }
    for (name, matrix) in [
        ("state_factor", &found.states.factor),
        ("state_offset", &found.states.offset),
    ] {
        if let Some(matrix) = matrix {
            value[name] = rows_json(matrix);
        }
    }
    if let Some(values) = &found.states.constant {
        value["state_constant"] = json!(values);
    }
    Ok(value)
}

fn write_text(
    system: &StateSystem,
    found: &Discrete,
    (period, hold): (f64, &str),
    out: &mut dyn Write,
) -> io::Result<()> {
    let states = system
        .states
        .iter()
        .map(|state| state.name.to_string())
        .chain(found.added.clone());
    let inputs = system.declared_inputs().map(|input| input.name.to_string());
    let outputs = system.outputs.iter().map(|output| output.name.to_string());
    let x_offset = if found.x_offset.is_some() { " + x_offset" } else { "" };
    let y_offset = if found.y_offset.is_some() { " + y_offset" } else { "" };
    writeln!(
        out,
        "x[k+1] = A*x[k] + B*u[k]{x_offset}, y[k] = C*x[k] + D*u[k]{y_offset}"
    )?;
    writeln!(out, "period {period} s, hold {hold}")?;
    for (name, list) in [
        ("x", states.collect::<Vec<_>>()),
        ("u", inputs.collect()),
        ("y", outputs.collect()),
    ] {
        writeln!(out, "{name} = {}", list.join(", "))?;
    }
    if let Some(text) = states_text(found) {
        writeln!(out, "{text}")?;
    }
    let space = &found.space;
    for (name, matrix) in [("A", &space.a), ("B", &space.b), ("C", &space.c), ("D", &space.d)] {
        write_matrix(name, matrix, out)?;
    }
    for (name, offset) in [("x_offset", &found.x_offset), ("y_offset", &found.y_offset)] {
        if let Some(values) = offset {
            write_matrix(
                name,
                &lgm_analysis::Matrix::from_column_slice(values.len(), 1, values),
                out,
            )?;
        }
    }
    for (name, matrix) in [
        ("state_factor", &found.states.factor),
        ("state_offset", &found.states.offset),
    ] {
        if let Some(matrix) = matrix {
            write_matrix(name, matrix, out)?;
        }
    }
    if let Some(values) = &found.states.constant {
        let matrix = lgm_analysis::Matrix::from_column_slice(values.len(), 1, values);
        write_matrix("state_constant", &matrix, out)?;
    }
    Ok(())
}

/// Formats the states of the model as functions of x; None if they are equal to x.
fn states_text(found: &Discrete) -> Option<String> {
    let states = &found.states;
    let factor = if states.factor.is_some() {
        "state_factor*x[k]"
    } else {
        "x[k]"
    };
    let offset = states.offset.as_ref().map_or("", |_| " + state_offset*u[k]");
    let constant = states.constant.as_ref().map_or("", |_| " + state_constant");
    let text = format!("{factor}{offset}{constant}");
    (text != "x[k]").then(|| format!("the states of the model: {text}"))
}
