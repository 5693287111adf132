//! `lgm transfer`

use super::polynomials::{ode_side, polynomial};
use super::shared::{Format, LinearModel, Pairs, write_json};
use crate::cli::files::disk::write_result;
use crate::cli::outcome::Outcome;
use crate::cli::report;
use lgm_analysis::{Factored, TransferFunction, factored, numeric_form, numeric_transfer, symbolic_transfer};
use lgm_emit::significant;
use lgm_equations::StateSystem;
use lgm_source::codes::Code;
use lgm_source::diagnostic::{Diagnostic, has_errors};
use num_complex::Complex;
use serde_json::{Value, json};
use std::io::{self, Write};

/// Prints transfer functions in lowest terms: over the parameters, or in numbers; as quotients of polynomials, as differential
/// equations, or as zeros, poles and gain.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  lgm transfer examples/oscillator.lgm --from F --to v
  lgm transfer examples/seeds/sound_system.lgm --as ode
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

/// The printed result.
enum Found {
    Symbols(Vec<TransferFunction<String>>),
    Numbers(Vec<TransferFunction<f64>>),
    Factors(Vec<Factored>),
}

/// Runs the command.
pub(in crate::cli) fn run(arguments: &Arguments) -> Outcome {
    let asked = arguments.model.ask(true, |system, diagnostics| {
        let (inputs, outputs) = arguments.pairs.places_there(system, diagnostics);
        if has_errors(diagnostics) {
            return None;
        }
        let found = find(arguments, system, &inputs, &outputs, diagnostics);
        found.map_err(|fault| diagnostics.push(*fault)).ok()
    });
    let (map, system, found) = match asked {
        Ok(asked) => asked,
        Err(outcome) => return outcome,
    };
    let written = write_result(None, &mut |out| match arguments.format {
        Format::Json => {
            let mut list = as_json(arguments.form, &system, &found);
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

fn find(
    arguments: &Arguments,
    system: &StateSystem,
    inputs: &[usize],
    outputs: &[usize],
    diagnostics: &mut Vec<Diagnostic>,
) -> Result<Found, Box<Diagnostic>> {
    numeric_form(system, "transfer function")?;
    if arguments.form == Form::Zpk {
        return factored(system, inputs, outputs)
            .map(Found::Factors)
            .ok_or_else(without_numbers);
    }
    if !arguments.numeric {
        if let Some(found) = symbolic_transfer(system, inputs, outputs) {
            let text = |id: &_| lgm_algebra::expr::text(&found.exprs, *id);
            let functions = found.functions.iter().map(|function| TransferFunction {
                input: function.input,
                output: function.output,
                numerator: function.numerator.iter().map(text).collect(),
                denominator: function.denominator.iter().map(text).collect(),
            });
            return Ok(Found::Symbols(functions.collect()));
        }
        let message = "the transfer functions are too long in symbols: they are given in numbers";
        let remark = Diagnostic::information(Code::LGM0708, message);
        diagnostics
            .push(remark.help("declare some of the parameters as `const`, or choose a pair with `--from` and `--to`"));
    }
    numeric_transfer(system, inputs, outputs)
        .map(Found::Numbers)
        .ok_or_else(without_numbers)
}

fn without_numbers() -> Box<Diagnostic> {
    let fault = Diagnostic::error(
        Code::LGM0709,
        "the zeros and poles of this system could not be computed",
    );
    Box::new(
        fault
            .note(format!(
                "between an input and an output there may be {} states, with coefficients inside the range of doubles; and zeros that \
                 lie many times at one place have too few digits",
                lgm_analysis::MOST_STATES_OF_ZEROS
            ))
            .help("ask for `lgm response` at some frequencies, or for the poles near one of them: `lgm modes --near W --count N`"),
    )
}

/// A number of zeros or poles as `[re, im]`.
fn pairs(list: &[Complex<f64>]) -> Value {
    json!(list.iter().map(|value| [value.re, value.im]).collect::<Vec<_>>())
}

fn as_json(form: Form, system: &StateSystem, found: &Found) -> Vec<Value> {
    let quotient = |input: usize, output: usize, above: Value, below: Value| {
        let (from, to) = names(system, input, output);
        match form {
            Form::Ode => json!({"from": from, "to": to, "left": below, "right": above}),
            _ => json!({"from": from, "to": to, "num": above, "den": below}),
        }
    };
    match found {
        Found::Symbols(list) => {
            let each = list.iter();
            each.map(|one| quotient(one.input, one.output, json!(one.numerator), json!(one.denominator)))
                .collect()
        }
        Found::Numbers(list) => {
            let each = list.iter();
            each.map(|one| quotient(one.input, one.output, json!(one.numerator), json!(one.denominator)))
                .collect()
        }
        Found::Factors(list) => list.iter().map(|one| factors_json(system, one)).collect(),
    }
}

fn factors_json(system: &StateSystem, one: &Factored) -> Value {
    let (from, to) = names(system, one.input, one.output);
    json!({
        "from": from,
        "to": to,
        "zeros": pairs(&one.zeros),
        "poles": pairs(&one.poles),
        "gain": one.gain,
        "static_gain": one.static_gain,
        "relative_degree": one.relative_degree(),
    })
}

fn names(system: &StateSystem, input: usize, output: usize) -> (&str, &str) {
    (&system.inputs[input].name, &system.outputs[output].name)
}

fn write_text(form: Form, system: &StateSystem, found: &Found, out: &mut dyn Write) -> io::Result<()> {
    match found {
        Found::Symbols(list) => write_quotients(form, system, list, out),
        Found::Numbers(list) => {
            let text = |values: &[f64]| values.iter().map(|value| significant(*value, 9)).collect();
            let list = list.iter().map(|one| TransferFunction {
                input: one.input,
                output: one.output,
                numerator: text(&one.numerator),
                denominator: text(&one.denominator),
            });
            write_quotients(form, system, &list.collect::<Vec<_>>(), out)
        }
        Found::Factors(list) => write_factors(system, list, out),
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
            // Of a conjugate pair the upper one stands for both.
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
