//! `lgm modes`

use super::disk::write_result;
use super::report;
use super::request::{LinearizeArguments, ModelArguments, StateArguments};
use crate::cli::outcome::Outcome;
use lgm_emit::significant;
use lgm_equations::analysis::{ResponseRequest, poles, response};
use lgm_equations::{Options, StateSystem};
use lgm_source::codes::Code;
use lgm_source::diagnostic::Diagnostic;
use num_complex::Complex;
use serde_json::{Value, json};
use std::io::{self, Write};

/// How many of the lowest frequencies a study of convergence shows.
const SHOWN: usize = 4;

/// Prints the poles with their natural frequencies and damping ratios, or how these depend on the number of modes.
///
/// With `--converge n=1,2,4,8` the model is compiled for each value of its `const` n. Printed are the lowest natural
/// frequencies, and the largest error of the response from the first input to the first output at `--omega`, relative to
/// the largest response with the last value. `--against FILE --cells N` does the same with another model, such as one of
/// micro-elements, at the same values and against the same response.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Examples:\n  lgm modes examples/seeds/beam_cantilever.lgm\n  lgm modes examples/seeds/bar_modal.lgm --converge n_modes=1,2,4,8,64 --omega 0.31 \\\n    --against examples/seeds/bar_microelement_chain.lgm --cells N"
)]
pub(super) struct Arguments {
    #[command(flatten)]
    model: ModelArguments,
    #[command(flatten)]
    states: StateArguments,
    #[command(flatten)]
    linearize: LinearizeArguments,
    /// A `const` of the model and the values that it takes, the last one as the measure of the others
    #[arg(long, value_name = "NAME=N,N..", value_parser = study)]
    converge: Option<Study>,
    /// Angular frequencies in rad/s at which responses are compared
    #[arg(long, value_delimiter = ',', requires = "converge", allow_hyphen_values = true)]
    omega: Vec<f64>,
    /// Another model whose first input and output mean the same, such as one of micro-elements
    #[arg(long, value_name = "FILE", requires = "converge", requires = "cells")]
    against: Option<std::path::PathBuf>,
    /// How to print them
    #[arg(long, value_enum, default_value = "text")]
    format: Format,
    /// The `const` of the other model that takes the same values
    #[arg(long, value_name = "NAME", requires = "against")]
    cells: Option<String>,
}

#[derive(Clone, Copy, Debug, clap::ValueEnum)]
enum Format {
    Text,
    Json,
}

/// What `--converge` says.
#[derive(Clone, Debug)]
struct Study {
    name: String,
    values: Vec<u32>,
}

fn study(text: &str) -> Result<Study, String> {
    let wrong = || "write a name and whole numbers, such as `n=1,2,4,8`".to_string();
    let (name, list) = text.split_once('=').ok_or_else(wrong)?;
    let values: Result<Vec<u32>, _> = list.split(',').map(|value| value.trim().parse()).collect();
    let values = values.map_err(|_| wrong())?;
    if name.trim().is_empty() || values.len() < 2 {
        return Err(wrong());
    }
    Ok(Study {
        name: name.trim().to_string(),
        values,
    })
}

/// What one compilation gives.
struct Found {
    poles: Vec<Complex<f64>>,
    /// The response of the first output to the first input at each frequency; empty where there is none.
    responses: Vec<Vec<Complex<f64>>>,
}

/// Runs the command.
pub(super) fn run(arguments: &Arguments) -> Outcome {
    match &arguments.converge {
        None => print_poles(arguments),
        Some(study) => converge(arguments, study),
    }
}

fn wanted() -> Options {
    Options {
        symbolic: false,
        linear_outputs: true,
        ..Options::default()
    }
}

fn poles_of(system: &StateSystem, diagnostics: &mut Vec<Diagnostic>) -> Option<Vec<Complex<f64>>> {
    let found = system.numeric.as_ref().and_then(|numeric| poles(&numeric.a));
    if found.is_none() {
        diagnostics.push(
            Diagnostic::error(Code::LGM0930, "the model has no poles")
                .note("poles belong to a linear model with constant coefficients whose values are finite")
                .help("`--linearize` takes the small motions about a state; look at `lgm equations` for a value out of range"),
        );
    }
    found
}

fn print_poles(arguments: &Arguments) -> Outcome {
    let (map, system, mut diagnostics) = arguments
        .model
        .compile(&arguments.states, &arguments.linearize, wanted());
    let found = system.and_then(|system| poles_of(&system, &mut diagnostics));
    report::print(&map, &diagnostics);
    let outcome = report::outcome(&diagnostics);
    let (Some(mut found), Outcome::Success) = (found, outcome) else {
        return outcome;
    };
    found.sort_by(|a, b| a.norm().total_cmp(&b.norm()).then(b.im.total_cmp(&a.im)));
    let written = write_result(None, &mut |out| match arguments.format {
        Format::Text => write_poles(&found, out),
        Format::Json => write_json(&poles_json(&found), out),
    });
    report::after_writing(&map, written)
}

fn write_json(value: &Value, out: &mut dyn Write) -> io::Result<()> {
    serde_json::to_writer_pretty(&mut *out, value)?;
    out.write_all(b"\n")
}

/// All poles in 1/s; natural frequencies in rad/s.
fn poles_json(poles: &[Complex<f64>]) -> Value {
    let list = poles.iter().map(|pole| {
        let omega = pole.norm();
        let damping = (omega > 0.0).then(|| -pole.re / omega);
        json!({"real": pole.re, "imaginary": pole.im, "omega": omega, "damping": damping})
    });
    json!({"schema": "lgm-modes/1", "poles": list.collect::<Vec<Value>>()})
}

fn study_json(rows: &[(String, u32, Found)], measure: &Found) -> Value {
    let list = rows.iter().map(|(name, value, found)| {
        json!({"name": name, "value": value, "omega": frequencies(found), "response_error": error(found, measure)})
    });
    json!({"schema": "lgm-modes/1", "study": list.collect::<Vec<Value>>()})
}

fn write_poles(poles: &[Complex<f64>], out: &mut dyn Write) -> io::Result<()> {
    let mut table = Table::new(&[16, 16, 16, 16, 10]);
    table.row(["real [1/s]", "imaginary", "omega [rad/s]", "frequency [Hz]", "damping"].map(String::from));
    // Of a conjugate pair the upper one stands for both.
    for pole in poles.iter().filter(|pole| pole.im >= 0.0) {
        let omega = pole.norm();
        let damping = if omega > 0.0 {
            significant(-pole.re / omega, 4)
        } else {
            "-".to_string()
        };
        table.row([
            significant(pole.re, 9),
            significant(pole.im, 9),
            significant(omega, 9),
            significant(omega / std::f64::consts::TAU, 9),
            damping,
        ]);
    }
    table.write(out)
}

/// Columns that are aligned at their right: as wide as given, and wider where a word would touch the one before it.
struct Table {
    widths: Vec<usize>,
    rows: Vec<Vec<String>>,
}

impl Table {
    fn new(widths: &[usize]) -> Table {
        Table {
            widths: widths.to_vec(),
            rows: Vec::new(),
        }
    }

    fn row(&mut self, words: impl IntoIterator<Item = String>) {
        let words: Vec<String> = words.into_iter().collect();
        for (width, word) in self.widths.iter_mut().zip(&words) {
            *width = (*width).max(word.chars().count() + 2);
        }
        self.rows.push(words);
    }

    fn write(&self, out: &mut dyn Write) -> io::Result<()> {
        for row in &self.rows {
            for (word, width) in row.iter().zip(&self.widths) {
                write!(out, "{word:>width$}")?;
            }
            writeln!(out)?;
        }
        Ok(())
    }
}

/// Compiles a model with one value of its constant; diagnostics are printed, and end the study where one is an error.
fn compile_one(model: &ModelArguments, arguments: &Arguments, name: &str, value: u32) -> Result<Found, Outcome> {
    let model = model.with(name, value);
    let (map, system, mut diagnostics) = model.compile(&arguments.states, &arguments.linearize, wanted());
    let mut found = None;
    if let Some(system) = &system {
        let request = ResponseRequest {
            omega: arguments.omega.clone(),
            inputs: (0..system.declared_inputs().count().min(1)).collect(),
            outputs: (0..system.outputs.len().min(1)).collect(),
        };
        let (curves, more) = response(system, &request);
        diagnostics.extend(more);
        if let (Some(curves), Some(poles)) = (curves, poles_of(system, &mut diagnostics)) {
            let responses = curves.curves.into_iter().map(|curve| curve.values).collect();
            found = Some(Found { poles, responses });
        }
    }
    let outcome = report::outcome(&diagnostics);
    match found {
        Some(found) if outcome == Outcome::Success => Ok(found),
        _ => {
            report::print(&map, &diagnostics);
            Err(outcome)
        }
    }
}

fn converge(arguments: &Arguments, study: &Study) -> Outcome {
    let mut rows = Vec::new();
    let (Some(&last), name) = (study.values.last(), &study.name) else {
        return Outcome::Misuse;
    };
    let measure = match compile_one(&arguments.model, arguments, name, last) {
        Ok(found) => found,
        Err(outcome) => return outcome,
    };
    let mut tables = vec![(arguments.model.clone(), name.clone())];
    if let (Some(file), Some(cells)) = (&arguments.against, &arguments.cells) {
        tables.push((ModelArguments::of_file(file.clone()), cells.clone()));
    }
    for (model, name) in &tables {
        for value in &study.values {
            match compile_one(model, arguments, name, *value) {
                Ok(found) => rows.push((name.clone(), *value, found)),
                Err(outcome) => return outcome,
            }
        }
    }
    let written = write_result(None, &mut |out| match arguments.format {
        Format::Text => write_study(&rows, &measure, out),
        Format::Json => write_json(&study_json(&rows, &measure), out),
    });
    report::after_writing(&lgm_source::SourceMap::default(), written)
}

fn write_study(rows: &[(String, u32, Found)], measure: &Found, out: &mut dyn Write) -> io::Result<()> {
    for (at, same) in rows.chunk_by(|a, b| a.0 == b.0).enumerate() {
        if at > 0 {
            writeln!(out)?;
        }
        let mut table = Table::new(&[10, 16, 16, 16, 16, 16]);
        let titles = (1..=SHOWN).map(|k| format!("omega {k} [rad/s]"));
        let name = std::iter::once(same[0].0.clone());
        table.row(name.chain(titles).chain(["response error".to_string()]));
        for (_, value, found) in same {
            let frequencies = frequencies(found);
            let shown = (0..SHOWN).map(|k| {
                let omega = frequencies.get(k);
                omega.map_or("-".to_string(), |omega| significant(*omega, 8))
            });
            let error = error(found, measure).map_or("-".to_string(), |error| significant(error, 4));
            table.row(std::iter::once(value.to_string()).chain(shown).chain([error]));
        }
        table.write(out)?;
    }
    Ok(())
}

/// Natural frequencies of the oscillating poles in rad/s, from the lowest.
fn frequencies(found: &Found) -> Vec<f64> {
    let oscillating = found.poles.iter().filter(|pole| pole.im > 0.0);
    let mut list: Vec<f64> = oscillating.map(|pole| pole.norm()).collect();
    list.sort_by(f64::total_cmp);
    list
}

/// The largest difference of responses over the largest response, at all frequencies; none where there is nothing to compare.
fn error(found: &Found, measure: &Found) -> Option<f64> {
    let largest = measure
        .responses
        .iter()
        .flatten()
        .map(|value| value.norm())
        .fold(0.0, f64::max);
    let alike = found.responses.len() == measure.responses.len();
    if !alike || largest == 0.0 || !largest.is_finite() {
        return None;
    }
    let pairs = found.responses.iter().flatten().zip(measure.responses.iter().flatten());
    let worst = pairs.map(|(a, b)| (a - b).norm()).fold(0.0, f64::max);
    Some(worst / largest)
}
