//! `lgm response`

use super::disk::write_result;
use super::report;
use super::request::{LinearizeArguments, ModelArguments, StateArguments};
use crate::cli::outcome::Outcome;
use clap::ValueEnum;
use lgm_emit::{significant, write_in_lines};
use lgm_equations::analysis::{Response, ResponseRequest, response};
use lgm_equations::{Options, StateSystem};
use lgm_source::codes::Code;
use lgm_source::diagnostic::Diagnostic;
use lgm_source::nearest::did_you_mean;
use serde_json::{Value, json};
use std::io::{self, Write};
use std::sync::Arc;

/// Prints the frequency response H(jw).
///
/// Infinite values, at a pole on the imaginary axis, are `null` in JSON.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  lgm response examples/oscillator.lgm --omega 0.1,1,10 --from F --to v
  lgm response examples/duffing.lgm --omega 0.1,1,10 --equilibrium")]
pub(super) struct Arguments {
    #[command(flatten)]
    model: ModelArguments,
    #[command(flatten)]
    states: StateArguments,
    #[command(flatten)]
    linearize: LinearizeArguments,
    /// Angular frequencies in rad/s
    #[arg(long, required = true, value_delimiter = ',', value_parser = frequency, allow_hyphen_values = true)]
    omega: Vec<f64>,
    /// From this input only; may be given several times
    #[arg(long, value_name = "INPUT")]
    from: Vec<String>,
    /// To this output only; may be given several times
    #[arg(long, value_name = "OUTPUT")]
    to: Vec<String>,
    /// How to print it
    #[arg(long, value_enum, default_value = "text")]
    format: Format,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum Format {
    Text,
    Json,
}

fn frequency(text: &str) -> Result<f64, String> {
    match text.trim().parse::<f64>() {
        Ok(value) if value.is_finite() => Ok(value),
        _ => Err("a frequency is a finite number".to_string()),
    }
}

/// Runs the command.
pub(super) fn run(arguments: &Arguments) -> Outcome {
    let wanted = Options {
        symbolic: false,
        linear_outputs: !arguments.linearize.is_asked_for(),
        ..Options::default()
    };
    let (map, system, mut diagnostics) = arguments.model.compile(&arguments.states, &arguments.linearize, wanted);
    let mut found = None;
    if let Some(system) = &system {
        let request = ResponseRequest {
            omega: arguments.omega.clone(),
            inputs: chosen("--from", "input", &arguments.from, &names(system).0, &mut diagnostics),
            outputs: chosen("--to", "output", &arguments.to, &names(system).1, &mut diagnostics),
        };
        if report::outcome(&diagnostics) == Outcome::Success {
            let (response, more) = response(system, &request);
            diagnostics.extend(more);
            found = response;
        }
    }
    report::print(&map, &diagnostics);
    let outcome = report::outcome(&diagnostics);
    let (Some(system), Some(found), Outcome::Success) = (system, found, outcome) else {
        return outcome;
    };
    let written = write_result(None, &mut |out| match arguments.format {
        Format::Json => write_in_lines(out, &response_json(&system, &found)),
        Format::Text => write_text(&system, &found, out),
    });
    report::after_writing(&map, written)
}

/// Names of the inputs and of the outputs.
fn names(system: &StateSystem) -> (Vec<Arc<str>>, Vec<Arc<str>>) {
    (
        system.declared_inputs().map(|input| input.name.clone()).collect(),
        system.outputs.iter().map(|output| output.name.clone()).collect(),
    )
}

/// Places of the names given among those there are; all places where none is given.
fn chosen(
    option: &str,
    what: &str,
    given: &[String],
    there: &[Arc<str>],
    diagnostics: &mut Vec<Diagnostic>,
) -> Vec<usize> {
    if given.is_empty() {
        return (0..there.len()).collect();
    }
    let mut places = Vec::new();
    for name in given {
        match there.iter().position(|entry| **entry == **name) {
            Some(place) => places.push(place),
            None => {
                let fault = Diagnostic::error(
                    Code::LGM0905,
                    format!("`{option} {name}`: the model has no {what} `{name}`"),
                );
                let help = did_you_mean(name, there.iter().map(|entry| &**entry));
                diagnostics.push(match help {
                    Some(help) => fault.help(help),
                    None => fault,
                });
            }
        }
    }
    places
}

fn response_json(system: &StateSystem, response: &Response) -> Value {
    let mut curves = serde_json::Map::new();
    for curve in &response.curves {
        let (input, output) = (&system.inputs[curve.input].name, &system.outputs[curve.output].name);
        let values: Vec<[f64; 2]> = curve.values.iter().map(|value| [value.re, value.im]).collect();
        curves.insert(format!("{input}->{output}"), json!(values));
    }
    json!({"omega": response.omega, "H": curves})
}

fn write_text(system: &StateSystem, response: &Response, out: &mut dyn Write) -> io::Result<()> {
    for (at, curve) in response.curves.iter().enumerate() {
        if at > 0 {
            writeln!(out)?;
        }
        let (input, output) = (&system.inputs[curve.input].name, &system.outputs[curve.output].name);
        writeln!(out, "{input} -> {output}")?;
        writeln!(
            out,
            "{:>14}{:>16}{:>12}{:>12}",
            "omega [rad/s]", "magnitude", "dB", "phase [deg]"
        )?;
        for (omega, value) in response.omega.iter().zip(&curve.values) {
            let magnitude = value.norm();
            // Neither nothing nor infinity points anywhere.
            let phase = if magnitude.is_finite() && magnitude > 0.0 {
                format!("{:.3}", value.arg().to_degrees())
            } else {
                "-".to_string()
            };
            writeln!(
                out,
                "{:>14}{:>16}{:>12}{:>12}",
                significant(*omega, 6),
                significant(magnitude, 6),
                format!("{:.3}", 20.0 * magnitude.log10()),
                phase
            )?;
        }
    }
    Ok(())
}
