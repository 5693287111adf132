//! Code shared by the commands for linear analysis.

use crate::cli::outcome::Outcome;
use crate::cli::report;
use crate::cli::request::{LinearizeArguments, ModelArguments, StateArguments};
use crate::cli::table::Table;
use crate::{Compilation, Request, Whole};
use lgm_analysis::Matrix;
use lgm_elaborate::Settings;
use lgm_emit::significant;
use lgm_equations::{Options, StateSystem};
use lgm_source::codes::Code;
use lgm_source::diagnostic::Diagnostic;
use lgm_source::nearest::did_you_mean;
use lgm_source::{Source, SourceMap};
use serde_json::Value;
use std::io::{self, Write};
use std::sync::Arc;

/// The model, and the point at which it is linearised.
#[derive(Clone, Debug, clap::Args)]
pub(super) struct LinearModel {
    #[command(flatten)]
    pub(super) model: ModelArguments,
    #[command(flatten)]
    pub(super) states: StateArguments,
    #[command(flatten)]
    pub(super) linearize: LinearizeArguments,
}

impl LinearModel {
    /// Compiles the equations with numeric matrices, and with symbolic parameters on request.
    pub(super) fn compile(&self, symbolic: bool) -> (SourceMap, Option<StateSystem>, Vec<Diagnostic>) {
        let wanted = Options {
            symbolic,
            linear_outputs: !self.linearize.is_asked_for(),
            ..Options::default()
        };
        let model = self.model.between_events();
        let (map, system, mut diagnostics) = model.compile(&self.states, &self.linearize, wanted);
        diagnostics.extend(system.iter().filter_map(|system| self.model.remark_on_events(system)));
        diagnostics.extend(
            system
                .iter()
                .filter_map(|system| self.linearize.remark_on_equilibrium(system)),
        );
        (map, system, diagnostics)
    }

    /// Compiles the equations with their model and graph. Diagnostics are printed, and errors become the outcome.
    pub(super) fn whole(&self, symbolic: bool) -> Result<(SourceMap, Whole), Outcome> {
        let wanted = Options {
            symbolic,
            linear_outputs: !self.linearize.is_asked_for(),
            ..Options::default()
        };
        let texts = SourceMap::default();
        let (map, whole, mut diagnostics) =
            self.model
                .between_events()
                .compile_whole(texts, &self.states, &self.linearize, wanted, Vec::new());
        if let Some(Whole { system, .. }) = &whole {
            diagnostics.extend(self.model.remark_on_events(system));
            diagnostics.extend(self.linearize.remark_on_equilibrium(system));
        }
        report::print(&map, &diagnostics);
        match (whole, report::outcome(&diagnostics)) {
            (Some(whole), Outcome::Success) => Ok((map, whole)),
            (_, Outcome::Success) => Err(Outcome::Failure),
            (_, outcome) => Err(outcome),
        }
    }

    /// Compiles the model with the ports of a component left open. Misuse of the options is printed and becomes the outcome.
    pub(super) fn opened(&self, component: &str) -> Result<Compilation, Outcome> {
        let compilation = self.model.compilation(SourceMap::default(), |settings, map| {
            self.request_opened(settings, component, map)
        });
        compilation.map_err(|(map, diagnostics)| {
            report::print(&map, &diagnostics);
            report::outcome(&diagnostics)
        })
    }

    /// Compiles FILE with an additional model, with the ports of an instance in that model left open.
    pub(super) fn opened_text(&self, file: &Source, (model, instance): (&str, &str), text: &str) -> Compilation {
        let text = format!("{}{text}", file.text);
        self.model.of_text_asked(file, &text, |settings, map| {
            let settings = Settings {
                model: Some(model.to_string()),
                ..settings
            };
            self.request_opened(settings, instance, map)
        })
    }

    fn request_opened(&self, settings: Settings, component: &str, map: &mut SourceMap) -> Request {
        Request {
            settings: Settings {
                opened: Some(component.to_string()),
                point: self.linearize.point(map),
                delays: settings.delays.or_refused(),
                ..settings
            },
            ..Request::default()
        }
    }

    /// Compiles, applies a function to the equations, prints errors, and returns the result if no error occurred.
    pub(super) fn ask<T>(
        &self,
        symbolic: bool,
        question: impl FnOnce(&StateSystem, &mut Vec<Diagnostic>) -> Option<T>,
    ) -> Result<(SourceMap, StateSystem, T), Outcome> {
        let (map, system, mut diagnostics) = self.compile(symbolic);
        let found = match &system {
            Some(system) if report::outcome(&diagnostics) == Outcome::Success => question(system, &mut diagnostics),
            _ => None,
        };
        report::print(&map, &diagnostics);
        match (system, found, report::outcome(&diagnostics)) {
            (Some(system), Some(found), Outcome::Success) => Ok((map, system, found)),
            (_, _, Outcome::Success) => Err(Outcome::Failure),
            (_, _, outcome) => Err(outcome),
        }
    }
}

/// From which inputs, and to which outputs.
#[derive(Debug, clap::Args)]
pub(super) struct Pairs {
    /// From this input only; may be given several times
    #[arg(long, value_name = "INPUT")]
    from: Vec<String>,
    /// To this output only; may be given several times
    #[arg(long, value_name = "OUTPUT")]
    to: Vec<String>,
}

impl Pairs {
    /// Selects the first pair, or the pair with the named input and output.
    pub(super) fn of(from: &Option<String>, to: &Option<String>) -> Pairs {
        Pairs {
            from: from.iter().cloned().collect(),
            to: to.iter().cloned().collect(),
        }
    }

    /// Returns the indices of the requested inputs and outputs.
    pub(super) fn places(&self, system: &StateSystem, diagnostics: &mut Vec<Diagnostic>) -> (Vec<usize>, Vec<usize>) {
        let inputs: Vec<Arc<str>> = system.declared_inputs().map(|input| input.name.clone()).collect();
        // Values before delays are the last outputs.
        let is_before_delay = |name: &Arc<str>| {
            system
                .events
                .delays
                .iter()
                .any(|delay| delay.output.as_ref() == Some(name))
        };
        let outputs = system.outputs.iter().map(|output| output.name.clone());
        let outputs: Vec<Arc<str>> = outputs.take_while(|name| !is_before_delay(name)).collect();
        let inputs = chosen("--from", "input", &self.from, &inputs, diagnostics);
        (inputs, chosen("--to", "output", &self.to, &outputs, diagnostics))
    }

    /// Returns the indices for a result that requires inputs or outputs.
    pub(super) fn places_there(
        &self,
        system: &StateSystem,
        diagnostics: &mut Vec<Diagnostic>,
    ) -> (Vec<usize>, Vec<usize>) {
        let is_without_inputs = system.declared_inputs().next().is_none();
        for (what, is_empty, help) in [
            (
                "input",
                is_without_inputs,
                "declare one: `input u = 1;`, and write `u` as the value of a source",
            ),
            (
                "output",
                system.outputs.is_empty(),
                "declare one: `output y = across(NAME);`",
            ),
        ] {
            // Nonlinear equations are the error to fix first.
            if is_empty && system.equations.linear {
                let message = format!("`{}` has no {what} and therefore no transfer function", system.model);
                diagnostics.push(Diagnostic::information(Code::LGM0905, message).help(help));
            }
        }
        self.places(system, diagnostics)
    }

    /// Returns true if a single pair is requested by name.
    pub(super) fn is_one(&self) -> bool {
        self.from.len() == 1 && self.to.len() == 1
    }
}

/// Returns the indices of the given names in a list of known names, or all indices if no name is given.
pub(super) fn chosen(
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
                let message = format!("`{option} {name}`: the model has no {what} `{name}`");
                let fault = Diagnostic::error(Code::LGM0905, message);
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

/// The format of the printed results.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub(super) enum Format {
    Text,
    Json,
}

/// Writes JSON with one line for each part.
pub(in crate::cli) fn write_json(value: &Value, out: &mut dyn Write) -> io::Result<()> {
    serde_json::to_writer_pretty(&mut *out, value)?;
    out.write_all(b"\n")
}

/// Parses a finite frequency in rad/s.
pub(super) fn frequency(text: &str) -> Result<f64, String> {
    match text.trim().parse::<f64>() {
        Ok(value) if value.is_finite() => Ok(value),
        _ => Err("a frequency must be a finite number".to_string()),
    }
}

/// Writes a matrix as text under its name, with dots for zeros.
pub(in crate::cli) fn write_matrix(name: &str, matrix: &Matrix, out: &mut dyn Write) -> io::Result<()> {
    writeln!(out, "{name} =")?;
    let mut table = Table::new(&vec![4; matrix.ncols()]);
    for row in matrix.row_iter() {
        table.row(row.iter().map(|value| match *value == 0.0 {
            true => ".".to_string(),
            false => significant(*value, 6),
        }));
    }
    table.write(out)
}
