//! `lgm modes`

use super::converge::{Comparison, Study, converge, study, wanted};
use super::mode_profile::draw;
use super::pictures::svg_picture;
use super::sampled_modes;
use super::shared::{Format, Pairs, Table, frequency, with_storage, write_json};
use crate::Whole;
use crate::cli::files::disk::{write_result, write_text};
use crate::cli::outcome::Outcome;
use crate::cli::report;
use crate::cli::request::{LinearizeArguments, ModelArguments, StateArguments};
use lgm_algebra::expr::SymbolId;
use lgm_analysis::{Mode, ModeRequest, integrals_of_outputs, modes};
use lgm_emit::significant;
use lgm_equations::{Options, StateSystem};
use lgm_source::SourceMap;
use lgm_source::codes::Code;
use lgm_source::diagnostic::{Diagnostic, has_errors};
use lgm_source::nearest::did_you_mean;
use num_complex::Complex;
use serde_json::{Value, json};
use std::io::{self, Write};
use std::sync::Arc;

/// Names of shapes and energies that are listed of one mode; smaller ones are left out.
const SHOWN: usize = 6;

/// Options beside which those of --converge have no meaning: each of them excludes it, and an option that is excluded is required no more.
const BESIDE: [&str; 4] = ["shapes", "near", "sensitivity", "sampled"];

/// Prints the poles with their natural frequencies and damping ratios, their shapes, energies and sensitivities, or how they depend on
/// the number of modes.
///
/// With `--shapes` each mode has its shape over the states, which are power variables then, and the share of each storage element in its
/// energy. With `--near W --count N` only the N poles are found whose distance from 0 is nearest to W, in models of 100,000 states too.
/// `--sensitivity k,b` gives the derivative of each pole with respect to parameters.
///
/// With `--converge n=1,2,4,8` the model is compiled for each value of its `const` n. Printed are the lowest natural
/// frequencies, and the largest error of the response from the first input to the first output at `--omega`, relative to
/// the largest response with the last value. `--against FILE --cells N` does the same with another model, such as one of
/// micro-elements, at the same values and against the same response.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Examples:\n  lgm modes examples/seeds/beam_cantilever.lgm\n  lgm modes examples/quarter_car.lgm --shapes\n  lgm modes examples/oscillator.lgm --sensitivity k,b\n  lgm modes examples/line.lgm --profile cell.c.v --plot shapes.svg\n  lgm modes examples/line.lgm --set N=2000 --near 1000 --count 4\n  lgm modes examples/switching/digital_speed_loop.lgm --sampled\n  lgm modes examples/seeds/bar_modal.lgm --converge n_modes=1,2,4,8,64 --omega 0.31 \\\n    --against examples/seeds/bar_microelement_chain.lgm --cells N"
)]
pub(in crate::cli) struct Arguments {
    #[command(flatten)]
    model: ModelArguments,
    #[command(flatten)]
    states: StateArguments,
    #[command(flatten)]
    linearize: LinearizeArguments,
    /// Shapes and energies too
    #[arg(long, conflicts_with = "converge")]
    shapes: bool,
    /// Only the poles whose distance from 0 is nearest to W rad/s
    #[arg(long, value_name = "W", value_parser = frequency, requires = "count", conflicts_with = "converge")]
    near: Option<f64>,
    /// How many poles --near gives; both of a conjugate pair are given
    #[arg(long, value_name = "N", requires = "near")]
    count: Option<usize>,
    /// Draw a vector, an output or states, over its entries for each of the first modes
    #[arg(long, value_name = "NAME", requires = "plot", conflicts_with_all = ["converge", "sampled"])]
    profile: Option<String>,
    /// A vector parameter with the positions of the entries of --profile
    #[arg(long, value_name = "PARAM", requires = "profile")]
    over: Option<String>,
    /// The picture of --profile
    #[arg(long, value_name = "FILE.svg", value_parser = svg_picture, requires = "profile")]
    plot: Option<std::path::PathBuf>,
    /// Derivatives of the poles with respect to these parameters
    #[arg(long, value_name = "NAME,NAME..", value_delimiter = ',', conflicts_with = "converge")]
    sensitivity: Vec<String>,
    /// A `const` of the model and the values that it takes, the last one as the measure of the others
    #[arg(long, value_name = "NAME=N,N..", value_parser = study)]
    converge: Option<Study>,
    /// Angular frequencies in rad/s at which responses are compared
    #[arg(long, value_delimiter = ',', requires = "converge", conflicts_with_all = BESIDE, allow_hyphen_values = true)]
    omega: Vec<f64>,
    /// The input of the responses that are compared; the first one unless given
    #[arg(long, value_name = "INPUT", requires = "converge", conflicts_with_all = BESIDE)]
    from: Option<String>,
    /// Their output; the first one unless given
    #[arg(long, value_name = "OUTPUT", requires = "converge", conflicts_with_all = BESIDE)]
    to: Option<String>,
    /// Another model whose first input and output mean the same, such as one of micro-elements
    #[arg(long, value_name = "FILE", requires = "converge", requires = "cells", conflicts_with_all = BESIDE)]
    against: Option<std::path::PathBuf>,
    /// The poles in z of a loop with its controller: of the exact equations from one period of the `every` blocks to the next
    #[arg(long, conflicts_with_all = ["shapes", "near", "sensitivity", "converge", "linearize", "at", "equilibrium", "along"])]
    sampled: bool,
    /// The format of the output
    #[arg(long, value_enum, default_value = "text")]
    format: Format,
    /// The `const` of the other model that takes the same values
    #[arg(long, value_name = "NAME", requires = "against")]
    cells: Option<String>,
}

/// Runs the command.
pub(in crate::cli) fn run(arguments: &Arguments) -> Outcome {
    if arguments.sampled {
        return sampled_modes::run(&arguments.model, &arguments.states, arguments.format);
    }
    let Some(study) = &arguments.converge else {
        return print_modes(arguments);
    };
    let against = arguments.against.clone().map(ModelArguments::of_file);
    let asked = Comparison {
        model: &arguments.model,
        states: &arguments.states,
        linearize: &arguments.linearize,
        omega: &arguments.omega,
        against: against.zip(arguments.cells.clone()),
        format: arguments.format,
        pairs: &Pairs::of(&arguments.from, &arguments.to),
    };
    converge(&asked, study)
}

impl Arguments {
    /// True if the exact values of the matrices are wanted: poles that are 0 or lie several times at one place follow from them.
    fn is_exact(&self) -> bool {
        self.near.is_none() || !self.sensitivity.is_empty()
    }
}

fn print_modes(arguments: &Arguments) -> Outcome {
    let wanted = Options {
        symbolic: arguments.is_exact(),
        // Linearisation takes nonlinear outputs too.
        linear_outputs: !arguments.linearize.is_asked_for(),
        ..wanted()
    };
    let texts = SourceMap::default();
    let (map, whole, mut diagnostics) =
        arguments
            .model
            .compile_whole(texts, &arguments.states, &arguments.linearize, wanted, Vec::new());
    if let Some(Whole { system, .. }) = &whole {
        diagnostics.extend(arguments.model.remark_on_events(system));
        diagnostics.extend(arguments.linearize.remark_on_equilibrium(system));
    }
    let declared = whole.as_ref().map_or(0, |whole| whole.model.outputs.len());
    let found = match whole {
        Some(whole) if !has_errors(&diagnostics) => find(arguments, whole, &mut diagnostics),
        _ => None,
    };
    report::print(&map, &diagnostics);
    let outcome = report::outcome(&diagnostics);
    let (Some((system, found, integrals)), Outcome::Success) = (found, outcome) else {
        return outcome;
    };
    match write_profile(arguments, &map, (&system, declared), &found) {
        Outcome::Success => {}
        fault => return fault,
    }
    let written = write_result(None, &mut |out| match arguments.format {
        Format::Text => {
            write_modes(arguments, &system, &found, out)?;
            integrals
                .iter()
                .try_for_each(|name| writeln!(out, "{name}: integral of an output, with a pole at 0 of its own"))
        }
        Format::Json => {
            let mut value = modes_json(arguments, &system, &found);
            if !integrals.is_empty() {
                value["integrals"] = integrals.iter().map(|name| &**name).collect();
            }
            write_json(&value, out)
        }
    });
    report::after_writing(&map, written)
}

/// Draws the shapes, if that is asked for, of a system with so many declared outputs.
fn write_profile(
    arguments: &Arguments,
    map: &SourceMap,
    (system, declared): (&StateSystem, usize),
    found: &[Mode],
) -> Outcome {
    let (Some(name), Some(file)) = (&arguments.profile, &arguments.plot) else {
        return Outcome::Success;
    };
    match draw(system, found, declared, (name, arguments.over.as_deref())) {
        Ok(text) => report::after_writing(map, write_text(file, &text)),
        Err(fault) => {
            report::print(map, std::slice::from_ref(&*fault));
            report::outcome(&[*fault])
        }
    }
}

/// Equations, their modes, and the integrals of outputs, each with a pole at 0.
type Found = (StateSystem, Vec<Mode>, Vec<Arc<str>>);

fn find(arguments: &Arguments, whole: Whole, diagnostics: &mut Vec<Diagnostic>) -> Option<Found> {
    let (system, storage) = match arguments.shapes || arguments.profile.is_some() {
        true => {
            let symbolic = arguments.is_exact();
            let (_, system, storage) =
                with_storage(&whole, &arguments.states, &arguments.linearize, symbolic, diagnostics)?;
            (system, storage)
        }
        false => (whole.system, Vec::new()),
    };
    let sensitivity = parameters(arguments, &system, whole.model.parameters.len(), diagnostics);
    if has_errors(diagnostics) {
        return None;
    }
    let request = ModeRequest {
        shapes: arguments.shapes || arguments.profile.is_some(),
        near: arguments.near.zip(arguments.count),
        sensitivity,
        storage,
    };
    match modes(&system, &request, diagnostics) {
        Ok(found) => {
            let integrals = integrals_of_outputs(&whole.model, &system);
            Some((system, found, integrals))
        }
        Err(fault) => {
            diagnostics.push(*fault);
            None
        }
    }
}

/// The parameters of `--sensitivity`. Where the equations hold values of an equilibrium that was looked for in numbers, these depend on
/// the parameters in ways that are not known.
fn parameters(
    arguments: &Arguments,
    system: &StateSystem,
    declared: usize,
    diagnostics: &mut Vec<Diagnostic>,
) -> Vec<SymbolId> {
    if !arguments.sensitivity.is_empty() && system.parameters.len() > declared {
        let message =
            "the sensitivities are not known: the equilibrium moves with the parameters, and is known in numbers only";
        let fault = Diagnostic::error(Code::LGM0934, message);
        diagnostics.push(
            fault.help(
                "give the equilibrium over the parameters, `--at \"x=m*g/k\"`, or compare two values with `--set`",
            ),
        );
    }
    let entries: Vec<_> = system
        .parameters
        .iter()
        .flat_map(|parameter| &parameter.entries)
        .collect();
    let named = |symbol: SymbolId| &*system.exprs.symbol_info(symbol).name;
    let mut found = Vec::new();
    for name in &arguments.sensitivity {
        match entries.iter().find(|entry| named(entry.symbol) == name) {
            Some(entry) => found.push(entry.symbol),
            None => {
                let fault = Diagnostic::error(
                    Code::LGM0905,
                    format!("`--sensitivity {name}`: the model has no parameter `{name}`"),
                );
                let help = did_you_mean(name, entries.iter().map(|entry| named(entry.symbol)));
                diagnostics.push(match help {
                    Some(help) => fault.help(help),
                    None => fault,
                });
            }
        }
    }
    found
}

/// All poles in 1/s; natural frequencies in rad/s.
fn modes_json(arguments: &Arguments, system: &StateSystem, modes: &[Mode]) -> Value {
    let list = modes.iter().map(|mode| {
        let pole = mode.pole;
        let omega = pole.norm();
        let damping = (omega > 0.0).then(|| -pole.re / omega);
        let mut value = json!({
            "real": pole.re, "imaginary": pole.im, "omega": omega, "damping": damping, "rigid": omega == 0.0
        });
        if arguments.shapes {
            let entries = system.states.iter().zip(&mode.shape);
            let entries = entries.map(
                |(state, value)| json!({"element": &*state.element, "state": &*state.name, "re": value.re, "im": value.im}),
            );
            value["shape"] = entries.collect();
            let shares = mode.energy.iter();
            value["energy"] = shares
                .map(|(element, share)| json!({"element": &**element, "share": share}))
                .collect();
        }
        if !arguments.sensitivity.is_empty() {
            let entries = arguments.sensitivity.iter().zip(&mode.sensitivity);
            let entries = entries.map(|(name, value)| {
                json!({"parameter": name, "re": value.map(|value| value.re), "im": value.map(|value| value.im)})
            });
            value["sensitivity"] = entries.collect();
        }
        value
    });
    json!({"schema": "lgm-modes/1", "poles": list.collect::<Vec<Value>>()})
}

/// The poles as a table; of a conjugate pair the upper one stands for both.
pub(in crate::cli) fn write_poles(modes: &[Mode], out: &mut dyn Write) -> io::Result<()> {
    let mut table = Table::new(&[16, 16, 16, 16, 10]);
    table.row(["real [1/s]", "imaginary", "omega [rad/s]", "frequency [Hz]", "damping"].map(String::from));
    for mode in upper(modes) {
        let (pole, omega) = (mode.pole, mode.pole.norm());
        let damping = match omega > 0.0 {
            true => significant(-pole.re / omega, 4),
            false => "rigid".to_string(),
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

fn upper(modes: &[Mode]) -> impl Iterator<Item = &Mode> {
    modes.iter().filter(|mode| mode.pole.im >= 0.0)
}

fn write_modes(arguments: &Arguments, system: &StateSystem, modes: &[Mode], out: &mut dyn Write) -> io::Result<()> {
    write_poles(modes, out)?;
    for (at, mode) in upper(modes).enumerate() {
        if arguments.shapes || !arguments.sensitivity.is_empty() {
            writeln!(out, "\nmode {}: {}", at + 1, number(mode.pole))?;
        }
        if arguments.shapes {
            let shares = mode.energy.iter().map(|(element, share)| (element.to_string(), *share));
            let energy = largest(shares.collect(), &|share| *share, &|share| {
                format!("{} %", significant(100.0 * share, 3))
            });
            writeln!(out, "  energy: {energy}")?;
            let states = system.states.iter().map(|state| state.name.to_string());
            let shape = states.zip(mode.shape.iter().copied()).collect();
            writeln!(
                out,
                "  shape: {}",
                largest(shape, &|value| value.norm(), &|value| number(*value))
            )?;
        }
        for (name, value) in arguments.sensitivity.iter().zip(&mode.sensitivity) {
            let shown = value.map_or("none, the pole is multiple".to_string(), number);
            writeln!(out, "  d pole/d {name}: {shown}")?;
        }
    }
    Ok(())
}

/// The entries of most weight, the largest first.
fn largest<T>(mut list: Vec<(String, T)>, weight: &dyn Fn(&T) -> f64, shown: &dyn Fn(&T) -> String) -> String {
    list.sort_by(|a, b| weight(&b.1).total_cmp(&weight(&a.1)));
    let most = list.first().map_or(0.0, |entry| weight(&entry.1));
    list.retain(|entry| weight(&entry.1) > 1e-3 * most);
    let texts: Vec<String> = list
        .iter()
        .take(SHOWN)
        .map(|(name, value)| format!("{} {name}", shown(value)))
        .collect();
    match texts.len() {
        0 => "none".to_string(),
        count if list.len() > count => format!("{}, ..", texts.join(", ")),
        _ => texts.join(", "),
    }
}

fn number(value: Complex<f64>) -> String {
    let (re, im) = (significant(value.re, 6), significant(value.im.abs(), 6));
    match (value.im == 0.0, value.im < 0.0) {
        (true, _) => re,
        (false, true) => format!("{re} - {im}j"),
        (false, false) => format!("{re} + {im}j"),
    }
}
