//! `lgm response`

mod arguments;
mod frequencies;
mod tables;

pub(in crate::cli) use arguments::Arguments;
pub(super) use frequencies::frequencies;

use super::pictures::{drawn, pair};
use super::shared::Format;
use super::sweep::{Case, cases};
use crate::cli::files::disk::{write_result, write_text as write_file};
use crate::cli::outcome::Outcome;
use crate::cli::report;
use frequencies::spaced;
use lgm_emit::plot::{FrequencyCurve, FrequencyFigure};
use lgm_emit::write_in_lines;
use lgm_equations::StateSystem;
use lgm_session::analysis::response::{ResponseResults, find, response_json, shown};
use lgm_source::SourceMap;
use lgm_source::diagnostic::has_errors;
use serde_json::{Value, json};
use std::io::{self, Write};
use tables::write_text;

/// Number of points of a plot without `--omega`.
const PLOTTED: usize = 600;

/// Maximum number of additional points drawn across narrow peaks.
const MOST_MORE: usize = 20_000;

/// A compiled model, and the indices of the requested inputs and outputs.
struct Compiled {
    map: SourceMap,
    system: StateSystem,
    pairs: (Vec<usize>, Vec<usize>),
}

/// Runs the command.
pub(in crate::cli) fn run(arguments: &Arguments) -> Outcome {
    let (cases, compiled) = value_or_return!(compiled(arguments));
    let omega = omega(arguments, &compiled);
    let mut all: Vec<ResponseResults> = Vec::with_capacity(cases.len());
    for one in &compiled {
        let mut diagnostics = Vec::new();
        let found = find(
            arguments.extras(),
            &one.system,
            one.pairs.clone(),
            omega.clone(),
            &mut diagnostics,
        );
        let found = found.map_err(|fault| diagnostics.push(*fault)).ok().flatten();
        report::print(&one.map, &diagnostics);
        match (found, report::outcome(&diagnostics)) {
            (Some(found), Outcome::Success) => all.push(found),
            (_, Outcome::Success) => return Outcome::Failure,
            (_, outcome) => return outcome,
        }
    }
    let Some(first) = compiled.first() else {
        return Outcome::Success;
    };
    if let Some(file) = &arguments.plot {
        let text = drawn(&figure(&cases, &compiled, &all), file);
        let outcome = report::after_writing(&first.map, write_file(file, &text));
        if outcome != Outcome::Success {
            return outcome;
        }
    }
    if !arguments.margins {
        // The plot marks them. They are printed only on request.
        let each = all.iter_mut().flat_map(|found| &mut found.further);
        for each in each {
            (each.margins, each.has_no_margins) = (None, false);
        }
    }
    let written = write_result(None, &mut |out| match arguments.format {
        Format::Json if arguments.plot.is_some() && arguments.omega.is_empty() => Ok(()),
        Format::Json => write_in_lines(out, &as_json(arguments, &cases, &compiled, &all)),
        Format::Text => write_all(arguments, &cases, &compiled, &all, out),
    });
    report::after_writing(&first.map, written)
}

/// Compiles the requested models.
fn compiled(arguments: &Arguments) -> Result<(Vec<Case>, Vec<Compiled>), Outcome> {
    let mut model = arguments.model.clone();
    model.model = model.model.with_open_delays();
    let cases = cases(&model, &arguments.sweep)?;
    let mut compiled = Vec::with_capacity(cases.len());
    for case in &cases {
        let asked = case.model.ask(arguments.is_factored(), |system, diagnostics| {
            let pairs = arguments.pairs.places_there(system, diagnostics);
            (!has_errors(diagnostics)).then_some(pairs)
        });
        let (map, system, pairs) = asked?;
        compiled.push(Compiled { map, system, pairs });
    }
    Ok((cases, compiled))
}

/// Returns the requested frequencies. A plot without `--omega` covers all zeros and poles of all models.
fn omega(arguments: &Arguments, compiled: &[Compiled]) -> Vec<f64> {
    if !arguments.omega.is_empty() || arguments.plot.is_none() {
        return arguments.omega.iter().flat_map(|list| list.values()).collect();
    }
    let found = compiled
        .iter()
        .filter_map(|one| shown(&one.system, &one.pairs.0, &one.pairs.1));
    let (ranges, more): (Vec<(f64, f64)>, Vec<Vec<f64>>) = found.unzip();
    let range = ranges.into_iter().reduce(|a, b| (a.0.min(b.0), a.1.max(b.1)));
    let (from, to) = range.unwrap_or((0.01, 100.0));
    let mut omega = spaced(from, to, PLOTTED, false);
    let inside = more.into_iter().flatten().filter(|value| *value > from && *value < to);
    omega.extend(inside.take(MOST_MORE));
    omega.sort_by(f64::total_cmp);
    omega.dedup();
    omega
}

/// Returns the object of one model, or a list with an object for each combination of the varied parameters.
fn as_json(arguments: &Arguments, cases: &[Case], compiled: &[Compiled], all: &[ResponseResults]) -> Value {
    let pairs = cases.iter().zip(compiled).zip(all);
    let mut list: Vec<Value> = pairs
        .map(|((case, one), found)| {
            let mut value = response_json(&one.system, found);
            if !case.values.is_empty() {
                let values = case.values.iter().map(|(name, value)| (name.clone(), json!(value)));
                value["parameters"] = Value::Object(values.collect());
            }
            value
        })
        .collect();
    match arguments.sweep.is_empty() && list.len() == 1 {
        true => list.swap_remove(0),
        false => Value::Array(list),
    }
}

fn write_all(
    arguments: &Arguments,
    cases: &[Case],
    compiled: &[Compiled],
    all: &[ResponseResults],
    out: &mut dyn Write,
) -> io::Result<()> {
    for (at, ((case, one), found)) in cases.iter().zip(compiled).zip(all).enumerate() {
        let has_text = arguments.plot.is_none() || arguments.margins || arguments.peaks;
        if !case.values.is_empty() && has_text {
            writeln!(out, "{}{}:", if at > 0 { "\n" } else { "" }, case.label())?;
        }
        write_text(&one.system, found, arguments.plot.is_none(), out)?;
    }
    Ok(())
}

fn figure(cases: &[Case], compiled: &[Compiled], all: &[ResponseResults]) -> FrequencyFigure {
    let mut curves = Vec::new();
    for ((case, one), found) in cases.iter().zip(compiled).zip(all) {
        let is_one_pair = found.response.curves.len() == 1 && cases.len() > 1;
        for (curve, further) in found.response.curves.iter().zip(&found.further) {
            let margins = further.margins.unwrap_or_default();
            let (name, label) = (pair(&one.system, curve.input, curve.output), case.label());
            curves.push(FrequencyCurve {
                name: match (label.is_empty(), is_one_pair) {
                    (true, _) => name,
                    (false, true) => label,
                    (false, false) => format!("{name}, {label}"),
                },
                values: curve.values.clone(),
                phase_crossover: margins.phase_crossover,
                gain_crossover: margins.gain_crossover,
                static_gain: further.factored.as_ref().and_then(|factors| factors.static_gain),
            });
        }
    }
    FrequencyFigure {
        title: compiled
            .first()
            .map_or(String::new(), |one| one.system.model.to_string()),
        omega: all.first().map_or(Vec::new(), |found| found.response.omega.clone()),
        curves,
    }
}
