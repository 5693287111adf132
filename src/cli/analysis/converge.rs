//! `lgm modes --converge`: the dependence of poles and responses on a constant of the model.

use super::shared::{Format, Pairs, write_json};
use crate::cli::files::disk::write_result;
use crate::cli::outcome::Outcome;
use crate::cli::report;
use crate::cli::request::{LinearizeArguments, ModelArguments, StateArguments};
use crate::cli::table::Table;
use lgm_analysis::{ModeRequest, ResponseRequest, modes, response};
use lgm_emit::significant;
use lgm_equations::Options;
use num_complex::Complex;
use serde_json::{Value, json};
use std::io::{self, Write};

/// Number of frequencies shown, starting with the lowest.
const SHOWN: usize = 4;

/// The argument of `--converge`.
#[derive(Clone, Debug)]
pub(super) struct Study {
    name: String,
    values: Vec<u32>,
}

pub(super) fn study(text: &str) -> Result<Study, String> {
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

/// Returns the options for numeric equations only.
pub(super) fn wanted() -> Options {
    Options {
        symbolic: false,
        linear_outputs: true,
        ..Options::default()
    }
}

/// The models to compile, their arguments, and the format.
pub(super) struct Comparison<'a> {
    pub(super) model: &'a ModelArguments,
    pub(super) states: &'a StateArguments,
    pub(super) linearize: &'a LinearizeArguments,
    /// Angular frequencies in rad/s.
    pub(super) omega: &'a [f64],
    /// Another model, and its constant.
    pub(super) against: Option<(ModelArguments, String)>,
    pub(super) format: Format,
    /// The input and the output whose response is compared.
    pub(super) pairs: &'a Pairs,
}

/// The result of one compilation.
struct CompiledOnce {
    poles: Vec<Complex<f64>>,
    /// The response of the output to the input at each frequency; empty if there is none.
    responses: Vec<Vec<Complex<f64>>>,
}

fn study_json(rows: &[(String, u32, CompiledOnce)], measure: &CompiledOnce) -> Value {
    let list = rows.iter().map(|(name, value, found)| {
        json!({"name": name, "value": value, "omega": frequencies(found), "response_error": error(found, measure)})
    });
    json!({"schema": "lgm-modes/1", "study": list.collect::<Vec<Value>>()})
}

/// Compiles a model with one value of its constant. Diagnostics are printed, and an error ends the study.
fn compile_one(
    model: &ModelArguments,
    asked: &Comparison<'_>,
    name: &str,
    value: u32,
) -> Result<CompiledOnce, Outcome> {
    let model = model.with(name, value).refusing_delays();
    let (map, system, mut diagnostics) = model.compile(asked.states, asked.linearize, wanted());
    let mut found = None;
    if let Some(system) = &system {
        let (inputs, outputs) = asked.pairs.places(system, &mut diagnostics);
        let request = ResponseRequest {
            omega: asked.omega.to_vec(),
            inputs: inputs.into_iter().take(1).collect(),
            outputs: outputs.into_iter().take(1).collect(),
        };
        let (curves, more) = response(system, &request);
        diagnostics.extend(more);
        let poles = modes(system, &ModeRequest::default(), &mut diagnostics).map_err(|fault| diagnostics.push(*fault));
        if let (Some(curves), Ok(modes)) = (curves, poles) {
            let poles = modes.into_iter().map(|mode| mode.pole).collect();
            let responses = curves.curves.into_iter().map(|curve| curve.values).collect();
            found = Some(CompiledOnce { poles, responses });
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

/// Runs the study.
pub(super) fn converge(asked: &Comparison<'_>, study: &Study) -> Outcome {
    let mut rows = Vec::new();
    let (Some(&last), name) = (study.values.last(), &study.name) else {
        return Outcome::Misuse;
    };
    let measure = value_or_return!(compile_one(asked.model, asked, name, last));
    let mut tables = vec![(asked.model.clone(), name.clone())];
    tables.extend(asked.against.clone());
    for (model, name) in &tables {
        for value in &study.values {
            match compile_one(model, asked, name, *value) {
                Ok(found) => rows.push((name.clone(), *value, found)),
                Err(outcome) => return outcome,
            }
        }
    }
    let written = write_result(None, &mut |out| match asked.format {
        Format::Text => write_study(&rows, &measure, out),
        Format::Json => write_json(&study_json(&rows, &measure), out),
    });
    report::after_writing(&lgm_source::SourceMap::default(), written)
}

fn write_study(rows: &[(String, u32, CompiledOnce)], measure: &CompiledOnce, out: &mut dyn Write) -> io::Result<()> {
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

/// Returns the natural frequencies of the oscillating poles in rad/s, in ascending order.
fn frequencies(found: &CompiledOnce) -> Vec<f64> {
    let oscillating = found.poles.iter().filter(|pole| pole.im > 0.0);
    let mut list: Vec<f64> = oscillating.map(|pole| pole.norm()).collect();
    list.sort_by(f64::total_cmp);
    list
}

/// Returns the largest difference of responses relative to the largest response, over all frequencies; None if no responses can be
/// compared.
fn error(found: &CompiledOnce, measure: &CompiledOnce) -> Option<f64> {
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
