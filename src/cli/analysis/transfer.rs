//! `lgm transfer`

use super::polynomials::{ode_side, polynomial};
use super::shared::{Format, LinearModel, Pairs, write_json};
use crate::cli::files::disk::write_result;
use crate::cli::outcome::Outcome;
use crate::cli::report;
use lgm_analysis::{EliminationStep, Factored, Term, TransferFunction, elimination_steps, numeric_form};
use lgm_emit::significant;
use lgm_equations::StateSystem;
use lgm_session::analysis::transfer::{self as session, TransferResults, in_words, transfer, transfer_json};
use lgm_source::codes::Code;
use lgm_source::diagnostic::{Diagnostic, has_errors};
use num_complex::Complex;
use serde_json::{Value, json};
use std::io::{self, Write};

/// Prints transfer functions in lowest terms, symbolic or numeric: as quotients of polynomials, as differential
/// equations, or as zeros, poles and gain.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  lgm transfer examples/oscillator.lgm --from F --to v
  lgm transfer examples/seeds/sound_system.lgm --as ode --derive
  lgm transfer examples/sallen_key.lgm --as zpk --format json
  lgm transfer examples/duffing.lgm --equilibrium --numeric")]
pub(in crate::cli) struct Arguments {
    #[command(flatten)]
    model: LinearModel,
    #[command(flatten)]
    pairs: Pairs,
    /// Quotients of polynomials, differential equations between input and output, or zeros, poles and gain
    #[arg(long = "as", value_enum, default_value = "tf")]
    form: Form,
    /// With `--as ode`: the state equations and the equations that follow by eliminating the states, in numbered steps
    #[arg(long, conflicts_with = "numeric")]
    derive: bool,
    /// Numbers instead of symbols; zeros and poles always are
    #[arg(long)]
    numeric: bool,
    /// The format of the output
    #[arg(long, value_enum, default_value = "text")]
    format: Format,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
enum Form {
    Tf,
    Ode,
    Zpk,
}

impl From<Form> for session::Form {
    fn from(form: Form) -> session::Form {
        match form {
            Form::Tf => session::Form::Tf,
            Form::Ode => session::Form::Ode,
            Form::Zpk => session::Form::Zpk,
        }
    }
}

/// Runs the command.
pub(in crate::cli) fn run(arguments: &Arguments) -> Outcome {
    if arguments.derive {
        return derive(arguments);
    }
    let asked = arguments.model.ask(true, |system, diagnostics| {
        let (inputs, outputs) = arguments.pairs.places_there(system, diagnostics);
        if has_errors(diagnostics) {
            return None;
        }
        let form = (arguments.form.into(), arguments.numeric);
        let found = transfer(system, form, (&inputs, &outputs), diagnostics);
        found.map_err(|fault| diagnostics.push(*fault)).ok()
    });
    let (map, system, found) = value_or_return!(asked);
    let written = write_result(None, &mut |out| match arguments.format {
        Format::Json => {
            let mut list = transfer_json(arguments.form.into(), &system, &found);
            let value = match list.len() == 1 && arguments.pairs.is_one() {
                true => list.swap_remove(0),
                false => Value::Array(list),
            };
            write_json(&value, out)
        }
        Format::Text => write_text(arguments.form, &system, &found, out),
    });
    report::after_writing(&map, written)
}

/// Prints the elimination behind the differential equation of each pair.
fn derive(arguments: &Arguments) -> Outcome {
    let asked = arguments.model.ask(true, |system, diagnostics| {
        if arguments.form != Form::Ode {
            let fault = Diagnostic::error(Code::LGM0907, "`--derive` prints the steps of differential equations");
            diagnostics.push(fault.help("add `--as ode`"));
            return None;
        }
        let (inputs, outputs) = arguments.pairs.places_there(system, diagnostics);
        if let Err(fault) = numeric_form(system, "transfer function") {
            diagnostics.push(*fault);
        }
        if has_errors(diagnostics) {
            return None;
        }
        let mut found = Vec::new();
        for input in &inputs {
            for output in &outputs {
                match elimination_steps(system, *input, *output) {
                    Some(steps) => found.push((*input, *output, steps)),
                    None => diagnostics.push(without_steps(names(system, *input, *output))),
                }
            }
        }
        Some(found)
    });
    let (map, system, found) = value_or_return!(asked);
    let written = write_result(None, &mut |out| {
        if arguments.format == Format::Json {
            let pair = |(input, output, steps): &(usize, usize, Vec<EliminationStep>)| {
                let (from, to) = names(&system, *input, *output);
                let step = |(at, step): (usize, &EliminationStep)| {
                    let because = step.because.as_ref().map(|because| json!([because.into, because.by]));
                    let without = step.because.as_ref().map(|because| &*because.without);
                    json!({"number": at + 1, "equation": sides(step), "because": because, "without": without})
                };
                json!({"from": from, "to": to, "steps": steps.iter().enumerate().map(step).collect::<Vec<_>>()})
            };
            return write_json(&Value::Array(found.iter().map(pair).collect()), out);
        }
        for (at, (input, output, steps)) in found.iter().enumerate() {
            let (from, to) = names(&system, *input, *output);
            writeln!(out, "{}{from} -> {to}", if at > 0 { "\n" } else { "" })?;
            write_steps(steps, out)?;
        }
        Ok(())
    });
    report::after_writing(&map, written)
}

fn without_steps((from, to): (&str, &str)) -> Diagnostic {
    let message = format!("the equation from `{from}` to `{to}` has no step-by-step derivation");
    Diagnostic::error(Code::LGM0941, message)
        .note("its steps are too long, or their coefficients contain roots or trigonometric functions")
        .help("`lgm transfer --as ode` without `--derive` prints the equation")
}

fn write_steps(steps: &[EliminationStep], out: &mut dyn Write) -> io::Result<()> {
    let width = steps.len().to_string().len() + 2;
    writeln!(out, "\nState equations and output")?;
    for (at, step) in steps.iter().enumerate() {
        let number = format!("({})", at + 1);
        let words = step.because.as_ref().map_or(String::new(), |because| {
            format!(
                "into ({}): ({}), without {}: ",
                because.into, because.by, because.without
            )
        });
        if step.because.is_some() && at > 0 && steps[at - 1].because.is_none() {
            writeln!(out, "\nElimination")?;
        }
        writeln!(out, "  {number:>width$}  {words}{}", sides(step))?;
    }
    Ok(())
}

/// Formats an equation between derivatives.
fn sides(step: &EliminationStep) -> String {
    let side = |(name, coefficients): &Term| ode_side(coefficients, name);
    let left: Vec<String> = step.left.iter().map(side).collect();
    format!("{} = {}", left.join(" + ").replace("+ -", "- "), side(&step.right))
}

fn names(system: &StateSystem, input: usize, output: usize) -> (&str, &str) {
    (&system.inputs[input].name, &system.outputs[output].name)
}

fn write_text(form: Form, system: &StateSystem, found: &TransferResults, out: &mut dyn Write) -> io::Result<()> {
    match found {
        TransferResults::Symbols(found) => write_quotients(form, system, &in_words(found), out),
        TransferResults::Numbers(list) => {
            let text = |values: &[f64]| values.iter().map(|value| significant(*value, 9)).collect();
            let list = list.iter().map(|one| TransferFunction {
                input: one.input,
                output: one.output,
                numerator: text(&one.numerator),
                denominator: text(&one.denominator),
            });
            write_quotients(form, system, &list.collect::<Vec<_>>(), out)
        }
        TransferResults::Factors(list) => write_factors(system, list, out),
    }
}

fn write_quotients(
    form: Form,
    system: &StateSystem,
    list: &[TransferFunction<String>],
    out: &mut dyn Write,
) -> io::Result<()> {
    for (at, one) in list.iter().enumerate() {
        let (from, to) = names(system, one.input, one.output);
        if form == Form::Ode {
            writeln!(
                out,
                "{} = {}",
                ode_side(&one.denominator, to),
                ode_side(&one.numerator, from)
            )?;
            continue;
        }
        if at > 0 {
            writeln!(out)?;
        }
        writeln!(out, "{from} -> {to}")?;
        let (above, below) = (polynomial(&one.numerator), polynomial(&one.denominator));
        if below == "1" {
            writeln!(out, "  {above}")?;
            continue;
        }
        let width = above.chars().count().max(below.chars().count());
        let centred = |text: &str| format!("{:1$}{text}", "", 2 + (width - text.chars().count()) / 2);
        writeln!(out, "{}\n  {}\n{}", centred(&above), "-".repeat(width), centred(&below))?;
    }
    Ok(())
}

fn write_factors(system: &StateSystem, list: &[Factored], out: &mut dyn Write) -> io::Result<()> {
    for (at, one) in list.iter().enumerate() {
        if at > 0 {
            writeln!(out)?;
        }
        let (from, to) = names(system, one.input, one.output);
        writeln!(out, "{from} -> {to}")?;
        for (name, roots) in [("zeros", &one.zeros), ("poles", &one.poles)] {
            // The upper pole of a conjugate pair represents both.
            let upper = roots.iter().filter(|root| root.im >= 0.0);
            let texts: Vec<String> = upper.map(|root| root_text(*root)).collect();
            let texts = if texts.is_empty() {
                "none".to_string()
            } else {
                texts.join(", ")
            };
            writeln!(out, "  {name} [1/s]: {texts}")?;
        }
        writeln!(out, "  gain: {}", significant(one.gain, 9))?;
        let static_gain = one
            .static_gain
            .map_or("infinite".to_string(), |gain| significant(gain, 9));
        writeln!(out, "  static gain: {static_gain}")?;
        writeln!(out, "  relative degree: {}", one.relative_degree())?;
    }
    Ok(())
}

fn root_text(root: Complex<f64>) -> String {
    match root.im == 0.0 {
        true => significant(root.re, 9),
        false => format!("{} +- {}j", significant(root.re, 9), significant(root.im, 9)),
    }
}
