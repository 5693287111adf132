//! `lgm convert`

use super::{ratio_text, write_steps};
use crate::Whole;
use crate::cli::analysis::polynomials::{polynomial, quotient};
use crate::cli::analysis::shared::{LinearModel, write_json};
use crate::cli::comparison::{Difference, compiles, same};
use crate::cli::files::disk::write_result;
use crate::cli::outcome::Outcome;
use crate::cli::report;
use lgm_algebra::expr::{ExprId, text, to_f64};
use lgm_analysis::{Behind, Branch, Conversion, Equivalent, conversion, one_port_each, single_domain, stepwise};
use lgm_session::analysis::one_port::{
    Seen, coefficients, find, kind_word, probed, ratio_json, sources_json, steps_json,
};
use lgm_source::codes::Code;
use lgm_source::diagnostic::Diagnostic;
use serde_json::{Value, json};
use std::io::{self, Write};
use std::path::PathBuf;

/// Converts a model to one domain: networks behind couplers become impedances and sources of that domain.
///
/// Impedances are across over through in every domain, so they are mobilities in mechanics. A coupler becomes a branch
/// and a source with its name, the equivalent of the network behind it. Several domains are converted one after the
/// other, the farthest first.
///
/// `--format lgm` writes a model in this domain only, with the same inputs, outputs and transfer functions. Impedances
/// that are realisable with springs, masses and similar elements become such elements; others become states of a
/// controlled source.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  lgm convert examples/dc_motor.lgm --to rotational
  lgm convert examples/dc_motor.lgm --to electrical --format json
  lgm convert examples/seeds/hydraulic_actuator.lgm --to translational --steps
  lgm convert examples/dc_motor.lgm --to rotational --format lgm -o motor.lgm
  lgm convert examples/seeds/hydraulic_actuator.lgm --to fluid --format lgm")]
pub(in crate::cli) struct Arguments {
    #[command(flatten)]
    model: LinearModel,
    /// The target domain
    #[arg(long, value_name = "DOMAIN")]
    to: String,
    /// The equations of each conversion: impedance, coupler, loop, node, substitution and result
    #[arg(long)]
    steps: bool,
    /// Numbers instead of symbols
    #[arg(long)]
    numeric: bool,
    /// The output format
    #[arg(long, value_enum, default_value = "text")]
    format: Format,
    /// Write to this file instead of standard output
    #[arg(short, long, value_name = "OUT")]
    output: Option<PathBuf>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
enum Format {
    Text,
    Json,
    /// A model
    Lgm,
}

/// Runs the command.
pub(in crate::cli) fn run(arguments: &Arguments) -> Outcome {
    let (map, whole) = value_or_return!(arguments.model.whole(!arguments.numeric));
    let mut diagnostics = Vec::new();
    let found = match arguments.format {
        Format::Lgm => model_text(arguments, &whole, &mut diagnostics).map(PrintedConversion::Text),
        _ => convert(arguments, &whole, &mut diagnostics)
            .map(|(one, seen)| PrintedConversion::Parts(Box::new(one), seen)),
    };
    report::print(&map, &diagnostics);
    let Some(found) = found else {
        return match report::outcome(&diagnostics) {
            Outcome::Success => Outcome::Failure,
            outcome => outcome,
        };
    };
    let written = write_result(arguments.output.as_deref(), &mut |out| match &found {
        PrintedConversion::Text(text) => out.write_all(text.as_bytes()),
        PrintedConversion::Parts(conversion, seen) => match arguments.format {
            Format::Json => write_json(&as_json(arguments, conversion, seen), out),
            _ => write_text(arguments, conversion, seen, out),
        },
    });
    report::after_writing(&map, written)
}

/// The printed result: a text, or the conversion with the equivalent connected to each coupler.
enum PrintedConversion {
    Text(String),
    Parts(Box<Conversion>, Vec<Equivalent>),
}

/// Returns the model in one domain, after verification that it behaves like the original model.
fn model_text(arguments: &Arguments, whole: &Whole, diagnostics: &mut Vec<Diagnostic>) -> Option<String> {
    let found = conversion(&whole.model, &arguments.to);
    let found = found.map_err(|fault| diagnostics.push(*fault)).ok()?;
    let mut reasons = Vec::new();
    let mut system = |at: usize, test, measures: &[_]| {
        let behind = &found.behind[at];
        probed(
            arguments.model.port_request(),
            of(behind),
            (test, measures, !arguments.numeric),
            &mut reasons,
        )
    };
    let text = single_domain(&whole.model, &found, &mut system, arguments.numeric);
    let text = text.map_err(|fault| diagnostics.push(*fault)).ok()?;
    let written = arguments.model.model.of_new_text("converted.lgm", &text);
    let compared = compiles(&written)
        .map_err(Difference::Found)
        .and_then(|()| match written.system() {
            Some(system) => same(&whole.system, system),
            None => Err(Difference::Unknown),
        });
    if let Err(difference) = compared {
        let reason = match difference {
            Difference::Found(reason) => reason,
            Difference::Unknown => "its responses could not be compared with those of the model".to_string(),
        };
        let fault = Diagnostic::error(Code::LGM0718, "the converted model cannot be written as text");
        let fault = fault.note(reason);
        let notes = reasons.into_iter().map(|reason: Diagnostic| reason.message);
        let fault = notes.fold(fault, Diagnostic::note);
        diagnostics.push(fault.help("read the impedances and sources from `lgm convert` without `--format lgm`"));
        return None;
    }
    if whole.system.states.iter().any(|state| state.start_value != 0.0) {
        let message = "the converted model starts at rest: its text does not contain the initial values of the model";
        let remark = Diagnostic::information(Code::LGM0718, message);
        diagnostics.push(remark.help("it has the same transfer functions; give it initial values if runs need them"));
    }
    Some(text)
}

/// Returns the network that is connected to a coupler.
fn of(behind: &Behind) -> Seen<'_> {
    Seen {
        network: &behind.model,
        place: &behind.place,
        is_whole: false,
    }
}

fn convert(
    arguments: &Arguments,
    whole: &Whole,
    diagnostics: &mut Vec<Diagnostic>,
) -> Option<(Conversion, Vec<Equivalent>)> {
    let found = conversion(&whole.model, &arguments.to);
    let found = found.map_err(|fault| diagnostics.push(*fault)).ok()?;
    if let Err(fault) = one_port_each(&whole.model, &found) {
        diagnostics.push(*fault);
        return None;
    }
    let mut seen = Vec::new();
    for behind in &found.behind {
        seen.push(find(
            arguments.model.port_request(),
            of(behind),
            arguments.numeric,
            diagnostics,
        )?);
    }
    Some((found, seen))
}

/// Formats the coefficients of branches in the converted domain.
fn written(arguments: &Arguments, conversion: &Conversion, list: &[ExprId]) -> Vec<String> {
    let entries: Vec<_> = conversion
        .model
        .parameters
        .iter()
        .flat_map(|parameter| &parameter.entries)
        .collect();
    let exprs = &conversion.model.exprs;
    let value = |symbol: lgm_algebra::expr::SymbolId| {
        let entry = entries.iter().find(|entry| entry.symbol == symbol);
        entry.map(|entry| to_f64(&entry.value))
    };
    let one = |id: &ExprId| match arguments.numeric {
        true => format!("{:?}", exprs.evaluate_unchecked(&[*id], &value)[0]),
        false => text(exprs, *id),
    };
    list.iter().map(one).collect()
}

fn end(name: &Option<String>) -> &str {
    name.as_deref().unwrap_or("gnd")
}

fn own_source(arguments: &Arguments, conversion: &Conversion, branch: &Branch) -> Option<Value> {
    let (is_across, value) = branch.source?;
    let value = written(arguments, conversion, &[value]);
    Some(json!({
        "name": branch.name,
        "kind": if is_across { "across" } else { "through" },
        "value": coefficients(&value, arguments.numeric)[0],
        "from": end(&branch.ends.0),
        "to": end(&branch.ends.1),
    }))
}

fn as_json(arguments: &Arguments, conversion: &Conversion, seen: &[Equivalent]) -> Value {
    let numeric = arguments.numeric;
    let steps = conversion
        .steps
        .iter()
        .map(|step| json!({"coupler": step.coupler, "rule": step.rule, "lines": step.lines}));
    let mut branches: Vec<Value> = Vec::new();
    for branch in &conversion.branches {
        if let Some((above, below)) = &branch.impedance {
            let above = coefficients(&written(arguments, conversion, above), numeric);
            let below = coefficients(&written(arguments, conversion, below), numeric);
            branches.push(json!({
                "name": branch.name,
                "mobility": {"num": above, "den": below},
                "from": end(&branch.ends.0),
                "to": end(&branch.ends.1),
            }));
        }
    }
    let mut sources: Vec<Value> = Vec::new();
    for (behind, seen) in conversion.behind.iter().zip(seen) {
        branches.push(json!({
            "name": behind.name,
            "mobility": ratio_json(&seen.impedance, numeric),
            "from": end(&behind.ends.0),
            "to": end(&behind.ends.1),
        }));
        match sources_json(seen, numeric) {
            Value::Null => {}
            Value::Array(list) => sources.extend(list),
            one => sources.push(one),
        }
    }
    let own = conversion
        .branches
        .iter()
        .filter_map(|branch| own_source(arguments, conversion, branch));
    let own: Vec<Value> = own.collect();
    let source = match sources.len() {
        0 => Value::Null,
        1 => sources.swap_remove(0),
        _ => Value::Array(sources),
    };
    let reductions = conversion.behind.iter().filter_map(|behind| {
        let steps = stepwise(&behind.model, &behind.place)?;
        Some(json!({"coupler": behind.name, "steps": steps_json(&steps)}))
    });
    json!({
        "domain": conversion.domain,
        "steps": steps.collect::<Vec<Value>>(),
        "reductions": reductions.collect::<Vec<Value>>(),
        "source": source,
        "own_sources": own,
        "branches": branches,
    })
}

fn write_text(
    arguments: &Arguments,
    conversion: &Conversion,
    seen: &[Equivalent],
    out: &mut dyn Write,
) -> io::Result<()> {
    writeln!(out, "in the domain {}", conversion.domain)?;
    for step in &conversion.steps {
        writeln!(out, "through {}: {}", step.coupler, step.rule)?;
        for (kind, line) in step.lines.iter().filter(|_| arguments.steps) {
            writeln!(out, "  {kind:<12}{line}")?;
        }
    }
    for branch in &conversion.branches {
        let ends = format!("{} -> {}", end(&branch.ends.0), end(&branch.ends.1));
        if let Some((above, below)) = &branch.impedance {
            let above = polynomial(&written(arguments, conversion, above));
            let below = polynomial(&written(arguments, conversion, below));
            writeln!(
                out,
                "{} {ends}: across/through = {}",
                branch.name,
                quotient(&above, &below)
            )?;
        } else if let Some((is_across, value)) = branch.source {
            let kind = if is_across { "across" } else { "through" };
            let value = written(arguments, conversion, &[value]).join("");
            writeln!(out, "{} {ends}: {kind} source {value}", branch.name)?;
        }
    }
    for (behind, seen) in conversion.behind.iter().zip(seen) {
        let ends = format!("{} -> {}", end(&behind.ends.0), end(&behind.ends.1));
        writeln!(
            out,
            "{} {ends}: across/through = {}",
            behind.name,
            ratio_text(&seen.impedance)
        )?;
        for (input, ratio) in &seen.sources {
            writeln!(
                out,
                "{} {ends}: {} source {} from {input}",
                behind.name,
                kind_word(seen.kind),
                ratio_text(ratio)
            )?;
        }
        if let Some(steps) = stepwise(&behind.model, &behind.place) {
            write_steps(&steps, out)?;
        }
    }
    Ok(())
}
