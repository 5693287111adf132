//! `lgm transfer`

use super::polynomials::{ode_side, polynomial};
use super::shared::{Format, LinearModel, Pairs, write_json};
use crate::cli::files::disk::write_result;
use crate::cli::outcome::Outcome;
use crate::cli::report;
use lgm_analysis::{Factored, TransferFunction};
use lgm_emit::significant;
use lgm_equations::StateSystem;
use lgm_session::analysis::transfer::{self as session, TransferResults, in_words, transfer, transfer_json};
use lgm_source::diagnostic::has_errors;
use num_complex::Complex;
use serde_json::Value;
use std::io::{self, Write};

/// Prints transfer functions in lowest terms, symbolic or numeric: as quotients of polynomials, as differential
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
