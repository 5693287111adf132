//! `lgm modes`

use super::converge::{Comparison, Study, converge, study, wanted};
use super::mode_profile::draw;
use super::pictures::svg_picture;
use super::sampled_modes;
use super::shared::{Format, LinearModel, Pairs, frequency, write_json};
use super::sweep::{Case, cases};
use crate::Whole;
use crate::cli::files::disk::{write_result, write_text};
use crate::cli::outcome::Outcome;
use crate::cli::report;
use crate::cli::request::{LinearizeArguments, ModelArguments, StateArguments};
use crate::cli::table::Table;
use lgm_analysis::{Mode, ModeRequest, integrals_of_outputs, modes};
use lgm_emit::plot::{ProfileFigure, Series, profile_svg};
use lgm_emit::significant;
use lgm_equations::{Options, StateSystem};
use lgm_session::analysis::modes::{modes_json, varied_parameters, with_storage};
use lgm_source::SourceMap;
use lgm_source::codes::Code;
use lgm_source::diagnostic::{Diagnostic, has_errors};
use num_complex::Complex;
use serde_json::{Value, json};
use std::io::{self, Write};
use std::sync::Arc;

/// Maximum number of names of shapes and energies listed per mode. Smaller entries are omitted.
const SHOWN: usize = 6;

/// Maximum number of modes in a plot over a parameter, from the slowest: the plot has this number of colours and line styles.
const MOST_DRAWN: usize = 12;

/// Options that have no effect with --converge. Each option excludes --converge, and excluded options are no longer required.
const BESIDE: [&str; 4] = ["shapes", "near", "sensitivity", "sampled"];

/// Prints the poles with their natural frequencies and damping ratios, their shapes, energies and sensitivities, or how they depend on
/// the number of modes.
///
/// `--shapes` adds the shape of each mode over the states, which are then power variables, and the share of each
/// storage element in its energy. `--near W --count N` computes only the N poles whose distance from 0 is closest to W,
/// also in models with 100,000 states. `--sensitivity k,b` prints the derivative of each pole with respect to
/// parameters.
///
/// `--sweep k=20:200:10` prints the modes for each value of a parameter. `--plot` draws the natural frequencies over the parameter, such as
/// a Campbell diagram over a speed.
///
/// `--converge n=1,2,4,8` compiles the model for each value of its `const` n. It prints the lowest natural frequencies
/// and the largest error of the response from the first input to the first output at `--omega`, relative to the largest
/// response with the last value. `--against FILE --cells N` does the same for another model, such as one of
/// micro-elements, against the same response.
#[derive(Clone, Debug, clap::Args)]
#[command(
    after_help = "Examples:\n  lgm modes examples/seeds/beam_cantilever.lgm\n  lgm modes examples/quarter_car.lgm --shapes\n  lgm modes examples/oscillator.lgm --sensitivity k,b\n  lgm modes examples/oscillator.lgm --sweep k=20:200:10 --plot campbell.svg\n  lgm modes examples/line.lgm --profile cell.c.v --plot shapes.svg\n  lgm modes examples/line.lgm --set N=2000 --near 1000 --count 4\n  lgm modes examples/switching/digital_speed_loop.lgm --sampled\n  lgm modes examples/seeds/bar_modal.lgm --converge n_modes=1,2,4,8,64 --omega 0.31 \\\n    --against examples/seeds/bar_microelement_chain.lgm --cells N"
)]
#[command(group = clap::ArgGroup::new("plotted").args(["profile", "sweep"]).multiple(true))]
pub(in crate::cli) struct Arguments {
    #[command(flatten)]
    model: ModelArguments,
    #[command(flatten)]
    states: StateArguments,
    #[command(flatten)]
    linearize: LinearizeArguments,
    /// Also print shapes and energies
    #[arg(long, conflicts_with = "converge")]
    shapes: bool,
    /// Only the poles whose distance from 0 is closest to W rad/s
    #[arg(long, value_name = "W", value_parser = frequency, requires = "count", conflicts_with = "converge")]
    near: Option<f64>,
    /// The number of poles of --near; conjugate pairs are always complete
    #[arg(long, value_name = "N", requires = "near")]
    count: Option<usize>,
    /// Plot a vector (an output or states) over its entries for each of the first modes
    #[arg(long, value_name = "NAME", requires = "plot", conflicts_with_all = ["converge", "sampled"])]
    profile: Option<String>,
    /// A vector parameter with the positions of the entries of --profile
    #[arg(long, value_name = "PARAM", requires = "profile")]
    over: Option<String>,
    /// The file for the plot of --profile or --sweep
    #[arg(long, value_name = "FILE.svg", value_parser = svg_picture, requires = "plotted", conflicts_with_all = ["converge", "sampled"])]
    plot: Option<std::path::PathBuf>,
    /// Derivatives of the poles with respect to these parameters
    #[arg(long, value_name = "NAME,NAME..", value_delimiter = ',', conflicts_with = "converge")]
    sensitivity: Vec<String>,
    /// Repeat for n values of a parameter from A to B, evenly spaced or, with `:log`, by equal ratios; repeatable
    #[arg(long, value_name = "NAME=A:B:N[:log]", conflicts_with_all = ["shapes", "sensitivity", "profile", "sampled", "converge"])]
    sweep: Vec<String>,
    /// A `const` of the model and its values; the last one is the reference for the others
    #[arg(long, value_name = "NAME=N,N..", value_parser = study)]
    converge: Option<Study>,
    /// Angular frequencies in rad/s for comparing responses
    #[arg(long, value_delimiter = ',', requires = "converge", conflicts_with_all = BESIDE, allow_hyphen_values = true)]
    omega: Vec<f64>,
    /// The input of the compared responses; by default the first one
    #[arg(long, value_name = "INPUT", requires = "converge", conflicts_with_all = BESIDE)]
    from: Option<String>,
    /// Their output; by default the first one
    #[arg(long, value_name = "OUTPUT", requires = "converge", conflicts_with_all = BESIDE)]
    to: Option<String>,
    /// Another model whose first input and output mean the same, such as one of micro-elements
    #[arg(long, value_name = "FILE", requires = "converge", requires = "cells", conflicts_with_all = BESIDE)]
    against: Option<std::path::PathBuf>,
    /// The poles in z of a loop with a sampled controller, from the exact equations over one period of the `every`
    /// blocks
    #[arg(long, conflicts_with_all = ["shapes", "near", "sensitivity", "converge", "linearize", "at", "equilibrium", "along"])]
    sampled: bool,
    /// The format of the output
    #[arg(long, value_enum, default_value = "text")]
    format: Format,
    /// The `const` of the other model that gets the same values
    #[arg(long, value_name = "NAME", requires = "against")]
    cells: Option<String>,
}

/// Runs the command.
pub(in crate::cli) fn run(arguments: &Arguments) -> Outcome {
    if arguments.sampled {
        return sampled_modes::run(&arguments.model, &arguments.states, arguments.format);
    }
    let Some(study) = &arguments.converge else {
        return match arguments.sweep.is_empty() {
            true => print_modes(arguments),
            false => print_sweep(arguments),
        };
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
    /// Returns true if exact matrices are required, to find poles at zero and multiple poles.
    fn is_exact(&self) -> bool {
        self.near.is_none() || !self.sensitivity.is_empty()
    }
}

/// Finds the modes. Diagnostics are printed, and errors become the outcome. The last value is the number of declared outputs.
fn found(arguments: &Arguments) -> Result<(SourceMap, ModesResults, usize), Outcome> {
    let wanted = Options {
        symbolic: arguments.is_exact(),
        // Linearisation also covers nonlinear outputs.
        linear_outputs: !arguments.linearize.is_asked_for(),
        ..wanted()
    };
    let texts = SourceMap::default();
    let (map, whole, mut diagnostics) = arguments
        .model
        .refusing_delays()
        .varying(&arguments.sensitivity)
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
    match (found, report::outcome(&diagnostics)) {
        (Some(found), Outcome::Success) => Ok((map, found, declared)),
        (_, outcome) => Err(outcome),
    }
}

/// Prints the modes for each value of the varied parameters.
fn print_sweep(arguments: &Arguments) -> Outcome {
    let asked = LinearModel {
        model: arguments.model.clone(),
        states: arguments.states.clone(),
        linearize: arguments.linearize.clone(),
    };
    let cases = value_or_return!(cases(&asked, &arguments.sweep));
    let mut all = Vec::with_capacity(cases.len());
    for case in &cases {
        let of_case = Arguments {
            model: case.model.model.clone(),
            ..arguments.clone()
        };
        match found(&of_case) {
            Ok(found) => all.push(found),
            Err(outcome) => return outcome,
        }
    }
    let Some((map, ..)) = all.first() else {
        return Outcome::Success;
    };
    if let Some(file) = &arguments.plot {
        let drawn = match draw_sweep(&cases, &all) {
            Ok(text) => report::after_writing(map, write_text(file, &text)),
            Err(fault) => {
                report::print(map, std::slice::from_ref(&*fault));
                report::outcome(&[*fault])
            }
        };
        if drawn != Outcome::Success {
            return drawn;
        }
    }
    let written = write_result(None, &mut |out| match arguments.format {
        Format::Text => write_sweep(&cases, &all, out),
        Format::Json => {
            let of_case = |(case, (_, (system, modes, _), _)): (&Case, &(SourceMap, ModesResults, usize))| {
                let mut value = modes_json(system, modes, false, &[]);
                let values = case.values.iter().map(|(name, value)| (name.clone(), json!(value)));
                value["parameters"] = Value::Object(values.collect());
                value
            };
            write_json(&Value::Array(cases.iter().zip(&all).map(of_case).collect()), out)
        }
    });
    report::after_writing(map, written)
}

/// Draws the natural frequencies over the varied parameter: a Campbell diagram. Poles at zero and real poles are omitted.
fn draw_sweep(cases: &[Case], all: &[(SourceMap, ModesResults, usize)]) -> Result<String, Box<Diagnostic>> {
    let varied = cases.first().map_or(&[][..], |case| &case.values);
    let [(name, _)] = varied else {
        let fault = Diagnostic::error(
            Code::LGM0924,
            format!(
                "a plot of modes has one horizontal axis, but {} parameters vary",
                varied.len()
            ),
        );
        return Err(Box::new(
            fault.help("give one `--sweep`, and fix the others with `--set`"),
        ));
    };
    let mut series: Vec<Series> = Vec::new();
    for (case, (_, (_, modes, _), _)) in cases.iter().zip(all) {
        let at = case.values.first().map_or(0.0, |value| value.1);
        let oscillating = modes.iter().filter(|mode| mode.pole.im > 0.0);
        let mut frequencies: Vec<f64> = oscillating
            .map(|mode| mode.pole.norm() / std::f64::consts::TAU)
            .collect();
        frequencies.sort_by(f64::total_cmp);
        for (number, frequency) in frequencies.into_iter().take(MOST_DRAWN).enumerate() {
            if series.len() <= number {
                series.push(Series {
                    name: format!("mode {}", number + 1),
                    unit: Some("Hz".to_string()),
                    points: Vec::new(),
                });
            }
            series[number].points.push((at, frequency));
        }
    }
    let Some((_, (system, ..), _)) = all.first().filter(|_| !series.is_empty()) else {
        let fault = Diagnostic::error(Code::LGM0930, "no mode oscillates, so a plot of frequencies is empty");
        return Err(Box::new(fault.help("print the poles without `--plot`")));
    };
    Ok(profile_svg(&ProfileFigure {
        title: format!("{}: natural frequencies over {name}", system.model),
        x: (name.clone(), None),
        series,
    }))
}

/// Prints a table with a line for each mode of each case.
fn write_sweep(cases: &[Case], all: &[(SourceMap, ModesResults, usize)], out: &mut dyn Write) -> io::Result<()> {
    let varied = cases.first().map_or(&[][..], |case| &case.values);
    let mut widths = vec![8; varied.len()];
    widths.extend([6, 16, 16, 16, 16, 10]);
    let mut table = Table::new(&widths);
    let names = varied.iter().map(|(name, _)| name.clone());
    table.row(names.chain(["mode".to_string()]).chain(HEADINGS.map(String::from)));
    for (case, (_, (_, modes, _), _)) in cases.iter().zip(all) {
        for (number, mode) in (1..).zip(upper(modes)) {
            let values = case.values.iter().map(|(_, value)| significant(*value, 6));
            table.row(values.chain([number.to_string()]).chain(cells(mode)));
        }
    }
    table.write(out)
}

fn print_modes(arguments: &Arguments) -> Outcome {
    let (map, (system, found, integrals), declared) = value_or_return!(found(arguments));
    match write_profile(arguments, &map, (&system, declared), &found) {
        Outcome::Success => {}
        fault => return fault,
    }
    let written = write_result(None, &mut |out| match arguments.format {
        Format::Text => {
            write_modes(arguments, &system, &found, out)?;
            integrals
                .iter()
                .try_for_each(|name| writeln!(out, "{name}: integral of an output, which adds a pole at 0"))
        }
        Format::Json => {
            let mut value = modes_json(&system, &found, arguments.shapes, &arguments.sensitivity);
            if !integrals.is_empty() {
                value["integrals"] = integrals.iter().map(|name| &**name).collect();
            }
            write_json(&value, out)
        }
    });
    report::after_writing(&map, written)
}

/// Draws the shapes on request, for a system with this number of declared outputs.
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
type ModesResults = (StateSystem, Vec<Mode>, Vec<Arc<str>>);

fn find(arguments: &Arguments, whole: Whole, diagnostics: &mut Vec<Diagnostic>) -> Option<ModesResults> {
    let (system, storage) = match arguments.shapes || arguments.profile.is_some() {
        true => {
            let symbolic = arguments.is_exact();
            let (_, system, storage) = with_storage(
                &whole,
                arguments.states.retained(),
                arguments.linearize.asked(symbolic),
                symbolic,
                diagnostics,
            )?;
            (system, storage)
        }
        false => (whole.system, Vec::new()),
    };
    let declared = whole.model.parameters.len();
    let sensitivity = varied_parameters(&arguments.sensitivity, &system, declared, diagnostics);
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

/// Prints the poles as a table. The upper pole of a conjugate pair represents both.
pub(in crate::cli) fn write_poles(modes: &[Mode], out: &mut dyn Write) -> io::Result<()> {
    let mut table = Table::new(&[16, 16, 16, 16, 10]);
    table.row(HEADINGS.map(String::from));
    upper(modes).for_each(|mode| table.row(cells(mode)));
    table.write(out)
}

const HEADINGS: [&str; 5] = ["real [1/s]", "imaginary", "omega [rad/s]", "frequency [Hz]", "damping"];

/// Returns a pole with its natural frequency and its damping ratio, under the headings.
fn cells(mode: &Mode) -> [String; 5] {
    let (pole, omega) = (mode.pole, mode.pole.norm());
    let damping = match omega > 0.0 {
        true => significant(-pole.re / omega, 4),
        false => "rigid".to_string(),
    };
    [
        significant(pole.re, 9),
        significant(pole.im, 9),
        significant(omega, 9),
        significant(omega / std::f64::consts::TAU, 9),
        damping,
    ]
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

/// Lists the entries with the largest weights, in descending order.
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
