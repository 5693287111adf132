//! `lgm trim`

use super::shared::{Format, chosen, write_json};
use crate::cli::files::disk::write_result;
use crate::cli::outcome::Outcome;
use crate::cli::report;
use crate::cli::request::{ModelArguments, StateArguments};
use lgm_analysis::{TrimRequest, trim};
use lgm_elaborate::{Quantity, quantity};
use lgm_emit::significant;
use lgm_equations::{Options, StateSystem};
use lgm_model::Scale;
use lgm_model::system::{OperatingPoint, PointValue};
use lgm_source::codes::Code;
use lgm_source::diagnostic::{Diagnostic, has_errors};
use serde_json::{Value, json};
use std::io::{self, Write};
use std::sync::Arc;

/// Finds inputs that hold the system at rest at given output values.
///
/// The search starts from the initial states and the inputs at time 0, unless `--at` gives other values. Inputs that do
/// not vary keep their values.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  lgm trim examples/oscillator.lgm --require fk=10 --vary F
  lgm trim examples/pendulum.lgm --help")]
pub(in crate::cli) struct Arguments {
    #[command(flatten)]
    model: ModelArguments,
    #[command(flatten)]
    states: StateArguments,
    /// The required value of an output, in the output's unit or another one, such as `x=12 [mm]`; separate several with commas
    #[arg(long, value_name = "OUTPUT=VALUE", value_delimiter = ',', required = true, value_parser = requirement,
          allow_hyphen_values = true)]
    require: Vec<(String, Quantity)>,
    /// The free inputs, one for each required value
    #[arg(long, value_name = "INPUT", value_delimiter = ',', required = true)]
    vary: Vec<String>,
    /// The initial guess, such as `--at "theta=pi/6, u=2 [N]"`
    #[arg(long, value_name = "NAME=VALUE,..", allow_hyphen_values = true)]
    at: Vec<String>,
    /// The output format
    #[arg(long, value_enum, default_value = "text")]
    format: Format,
}

fn requirement(text: &str) -> Result<(String, Quantity), String> {
    let read = |(name, value): (&str, &str)| Some((name.trim().to_string(), quantity(value)?));
    let found = text.split_once('=').and_then(read);
    found.ok_or_else(|| "write an output and a number, such as `y=1.5` or `x=12 [mm]`".to_string())
}

/// Runs the command.
pub(in crate::cli) fn run(arguments: &Arguments) -> Outcome {
    let wanted = Options {
        symbolic: false,
        ..Options::default()
    };
    let (map, whole, mut diagnostics) =
        arguments
            .model
            .refusing_delays()
            .compile_at(&arguments.states, &arguments.at, wanted);
    let systems = whole.iter().map(|whole| &whole.system);
    diagnostics.extend(systems.filter_map(|system| arguments.model.remark_on_events(system)));
    let found = match &whole {
        Some(whole) if !has_errors(&diagnostics) => {
            let request = request(arguments, &whole.system, &mut diagnostics);
            match has_errors(&diagnostics) {
                true => None,
                false => trim(&whole.model, &whole.system, &request)
                    .map_err(|found| diagnostics.extend(found))
                    .ok(),
            }
        }
        _ => None,
    };
    report::print(&map, &diagnostics);
    let (Some(point), Outcome::Success) = (found, report::outcome(&diagnostics)) else {
        return match report::outcome(&diagnostics) {
            Outcome::Success => Outcome::Failure,
            outcome => outcome,
        };
    };
    let written = write_result(None, &mut |out| match arguments.format {
        Format::Json => write_json(&as_json(&point), out),
        Format::Text => write_text(&point, out),
    });
    report::after_writing(&map, written)
}

fn request(arguments: &Arguments, system: &StateSystem, diagnostics: &mut Vec<Diagnostic>) -> TrimRequest {
    let inputs: Vec<Arc<str>> = system.declared_inputs().map(|input| input.name.clone()).collect();
    let outputs: Vec<Arc<str>> = system.outputs.iter().map(|output| output.name.clone()).collect();
    let names: Vec<String> = arguments.require.iter().map(|pair| pair.0.clone()).collect();
    let places = chosen("--require", "output", &names, &outputs, diagnostics);
    let required = places.into_iter().zip(&arguments.require);
    TrimRequest {
        required: required
            .filter_map(|(at, (_, given))| Some((at, in_unit_of(&system.outputs[at], given, diagnostics)?)))
            .collect(),
        varied: chosen("--vary", "input", &arguments.vary, &inputs, diagnostics),
    }
}

/// Returns a required value in the unit in which an output is printed; a unit of another dimension is reported.
fn in_unit_of(
    output: &lgm_model::system::Quantity,
    given: &Quantity,
    diagnostics: &mut Vec<Diagnostic>,
) -> Option<f64> {
    let Some(unit) = &given.unit else {
        return Some(given.number);
    };
    let si = Scale::of(unit).to_si(given.number);
    match &output.unit {
        Some(own) if own.dimension != unit.dimension => {
            let message = format!("`--require {}`: this output is in [{own}]", output.name);
            let help = format!("write `{}=1 [{own}]`", output.name);
            diagnostics.push(Diagnostic::error(Code::LGM0201, message).help(help));
            None
        }
        own => Some(own.as_ref().map_or(si, |own| own.scale.from_si(si))),
    }
}

fn as_json(point: &OperatingPoint) -> Value {
    let list = |values: &[PointValue]| -> Value {
        let each = values.iter();
        each.map(|value| json!({"name": &*value.name, "value": value.value}))
            .collect()
    };
    json!({
        "schema": "lgm-trim/1",
        "states": list(&point.states),
        "inputs": list(&point.inputs),
        "outputs": list(&point.outputs),
    })
}

fn write_text(point: &OperatingPoint, out: &mut dyn Write) -> io::Result<()> {
    for (title, values) in [
        ("inputs", &point.inputs),
        ("states", &point.states),
        ("outputs", &point.outputs),
    ] {
        writeln!(out, "{title}:")?;
        for value in values {
            let unit = value
                .unit
                .as_ref()
                .map_or(String::new(), |unit| format!(" [{}]", &**unit));
            writeln!(out, "  {} = {}{unit}", value.name, significant(value.value, 9))?;
        }
    }
    Ok(())
}
