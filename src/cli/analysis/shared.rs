//! Common parts of the commands of linear analysis.

use crate::cli::outcome::Outcome;
use crate::cli::report;
use crate::cli::request::{LinearizeArguments, ModelArguments, StateArguments};
use crate::{Compilation, Request, Whole};
use lgm_analysis::{Matrix, StorageOutputs, linearize, with_storage_outputs};
use lgm_elaborate::Settings;
use lgm_emit::significant;
use lgm_equations::bond::BondGraph;
use lgm_equations::{Options, StateRequest, StateSystem, formulate_with_time};
use lgm_model::Model;
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
    /// The equations with their matrices in numbers, and over the parameters if these are wanted.
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

    /// The same with the model and the graph that the equations were made from; what is wrong is printed, and errors are the outcome.
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

    /// The compilation in which the ports of a component are open; misuse of the options is printed, and is the outcome.
    pub(super) fn opened(&self, component: &str) -> Result<Compilation, Outcome> {
        let compilation = self.model.compilation(SourceMap::default(), |settings, map| {
            self.request_opened(settings, component, map)
        });
        compilation.map_err(|(map, diagnostics)| {
            report::print(&map, &diagnostics);
            report::outcome(&diagnostics)
        })
    }

    /// The same of FILE with one more model, and of that model.
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
                ..settings
            },
            ..Request::default()
        }
    }

    /// Compiles, asks for something of the equations, prints what is wrong, and returns what there is if all is well.
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

/// The equations once more, in power variables and with outputs that measure all storage behind those of the model. Outputs that were
/// left out as not linear stay out.
pub(super) fn with_storage(
    whole: &Whole,
    states: &StateArguments,
    linearized: &LinearizeArguments,
    symbolic: bool,
    diagnostics: &mut Vec<Diagnostic>,
) -> Option<(Model, StateSystem, Vec<StorageOutputs>)> {
    let mut model = whole.model.clone();
    let kept = &whole.system.outputs;
    model
        .outputs
        .retain(|output| kept.iter().any(|kept| kept.name == output.name));
    let (model, storage) = with_storage_outputs(&model);
    let options = Options {
        states: StateRequest::Power,
        retain: states.retained(),
        symbolic,
        ..Options::default()
    };
    let (model, system) = formulated(model, &whole.graph, &options, linearized, diagnostics)?;
    Some((model, system, storage))
}

/// The equations of a changed model; errors are added to the diagnostics.
pub(super) fn formulated(
    model: Model,
    graph: &BondGraph,
    options: &Options,
    linearized: &LinearizeArguments,
    diagnostics: &mut Vec<Diagnostic>,
) -> Option<(Model, StateSystem)> {
    let (made, found) = formulate_with_time(&model, graph, options);
    diagnostics.extend(found.into_iter().filter(Diagnostic::is_error));
    let (system, own) = made?;
    let model = own.unwrap_or(model);
    if !linearized.is_asked_for() {
        return Some((model, system));
    }
    let (system, found) = linearize(&model, &system, &linearized.request(options.symbolic));
    diagnostics.extend(found.into_iter().filter(Diagnostic::is_error));
    Some((model, system?))
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
    /// The first pair; or the one from an input and to an output that are named.
    pub(super) fn of(from: &Option<String>, to: &Option<String>) -> Pairs {
        Pairs {
            from: from.iter().cloned().collect(),
            to: to.iter().cloned().collect(),
        }
    }

    /// Places of the inputs and outputs that are asked for.
    pub(super) fn places(&self, system: &StateSystem, diagnostics: &mut Vec<Diagnostic>) -> (Vec<usize>, Vec<usize>) {
        let inputs: Vec<Arc<str>> = system.declared_inputs().map(|input| input.name.clone()).collect();
        let outputs: Vec<Arc<str>> = system.outputs.iter().map(|output| output.name.clone()).collect();
        let inputs = chosen("--from", "input", &self.from, &inputs, diagnostics);
        (inputs, chosen("--to", "output", &self.to, &outputs, diagnostics))
    }

    /// The same for an answer of which nothing is left without inputs or outputs.
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
            // Equations that are not linear are the fault to mend first.
            if is_empty && system.equations.linear {
                let message = format!("`{}` has no {what}, so that it has no transfer function", system.model);
                diagnostics.push(Diagnostic::information(Code::LGM0905, message).help(help));
            }
        }
        self.places(system, diagnostics)
    }

    /// Returns true if one pair alone is asked for by name.
    pub(super) fn is_one(&self) -> bool {
        self.from.len() == 1 && self.to.len() == 1
    }
}

/// Places of the names given among those there are; all places if none is given.
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

/// Writes JSON for tools, with a line for each of its parts.
pub(in crate::cli) fn write_json(value: &Value, out: &mut dyn Write) -> io::Result<()> {
    serde_json::to_writer_pretty(&mut *out, value)?;
    out.write_all(b"\n")
}

/// Columns that are aligned at their right: as wide as given, and wider where a word would touch the one before it.
pub(in crate::cli) struct Table {
    widths: Vec<usize>,
    rows: Vec<Vec<String>>,
}

impl Table {
    pub(in crate::cli) fn new(widths: &[usize]) -> Table {
        Table {
            widths: widths.to_vec(),
            rows: Vec::new(),
        }
    }

    pub(in crate::cli) fn row(&mut self, words: impl IntoIterator<Item = String>) {
        let words: Vec<String> = words.into_iter().collect();
        for (width, word) in self.widths.iter_mut().zip(&words) {
            *width = (*width).max(word.chars().count() + 2);
        }
        self.rows.push(words);
    }

    pub(in crate::cli) fn write(&self, out: &mut dyn Write) -> io::Result<()> {
        for row in &self.rows {
            for (word, width) in row.iter().zip(&self.widths) {
                write!(out, "{word:>width$}")?;
            }
            writeln!(out)?;
        }
        Ok(())
    }
}

/// A finite number of rad/s.
pub(super) fn frequency(text: &str) -> Result<f64, String> {
    match text.trim().parse::<f64>() {
        Ok(value) if value.is_finite() => Ok(value),
        _ => Err("a frequency is a finite number".to_string()),
    }
}

/// A matrix as rows of numbers.
pub(in crate::cli) fn rows_json(matrix: &Matrix) -> Value {
    let row = |row: usize| matrix.row(row).iter().copied().collect::<Vec<f64>>();
    (0..matrix.nrows()).map(row).map(Value::from).collect()
}

/// A matrix as text under its name; zeros are dots.
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
