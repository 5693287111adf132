//! `lgm reduce`

use super::comparison::{Difference, same_as_text};
use super::disk::write_result;
use super::report;
use super::request::{ModelArguments, StateArguments};
use crate::Compilation;
use crate::cli::outcome::Outcome;
use clap::ValueEnum;
use lgm_emit::write_in_lines;
use lgm_equations::Options;
use lgm_explain::reduce::{Reduction, json, reduced_text, reduction, text};
use lgm_source::codes::Code;
use lgm_source::diagnostic::Diagnostic;
use lgm_source::stack;
use lgm_syntax::ast::{self, Item};
use std::path::PathBuf;

/// Says what becomes of storage without a state of its own, and writes the model with one element for each field.
///
/// Each dependent storage element with its causal path, the gains of effort and flow along it, and the equivalent parameter of the
/// element that keeps the state; and combinations of states that never change. `--format lgm` writes the reduced model, in which merged
/// elements are gone, and junctions and couplers with them that have no use any more.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  lgm reduce examples/lever.lgm
  lgm reduce examples/lever.lgm --retain I2 --format lgm
  lgm reduce examples/seeds/two_springs.lgm --merge-conserved --format lgm")]
pub(super) struct Arguments {
    #[command(flatten)]
    model: ModelArguments,
    #[command(flatten)]
    states: StateArguments,
    /// Also merge two elements whose energy variables keep their difference, as two springs side by side do, if they start equal
    #[arg(long)]
    merge_conserved: bool,
    /// How to print it: the report, or the text of the reduced model
    #[arg(long, value_enum, default_value = "text")]
    format: Format,
    /// Write to this file instead of standard output
    #[arg(short, long, value_name = "OUT")]
    output: Option<PathBuf>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Format {
    Text,
    Json,
    /// The reduced model
    Lgm,
}

/// Runs the command.
pub(super) fn run(arguments: &Arguments) -> Outcome {
    let compilation = match arguments.model.asked(&arguments.states, Options::default()) {
        Ok(compilation) => compilation,
        Err(outcome) => return outcome,
    };
    let diagnostics = compilation.diagnostics_of_model();
    report::print(compilation.map(), &diagnostics);
    let Some(found) = reduced(&compilation, arguments.merge_conserved) else {
        return match report::outcome(&diagnostics) {
            Outcome::Success => Outcome::Failure,
            outcome => outcome,
        };
    };
    let content = match arguments.format {
        Format::Lgm => match model_text(arguments, &compilation, &found) {
            Ok(text) => text,
            Err(diagnostics) => {
                report::print(compilation.map(), &diagnostics);
                return report::outcome(&diagnostics);
            }
        },
        Format::Text => text(&found.report),
        Format::Json => String::new(),
    };
    let written = write_result(arguments.output.as_deref(), &mut |out| match arguments.format {
        Format::Json => write_in_lines(out, &json(&found.report)),
        Format::Text | Format::Lgm => out.write_all(content.as_bytes()),
    });
    report::after_writing(compilation.map(), written)
}

/// The report; none if there are no equations.
fn reduced(compilation: &Compilation, merge_conserved: bool) -> Option<Reduction<'_>> {
    let system = compilation.system()?;
    let model = compilation.formulated_model()?;
    let (graph, causality) = (compilation.bond_graph()?, compilation.causality()?);
    let options = &compilation.request().equations;
    Some(stack::deep(|| {
        reduction(model, graph, options, system, causality, merge_conserved)
    }))
}

/// The text of the reduced model, once it is known to do the same as the whole one.
fn model_text(
    arguments: &Arguments,
    compilation: &Compilation,
    found: &Reduction<'_>,
) -> Result<String, Vec<Diagnostic>> {
    let source = compilation.map().get(compilation.root());
    let Some(declared) = declared(compilation, &found.report.model) else {
        let reason = format!("`{}` is not declared in this file", found.report.model);
        return Err(vec![refusal(reason)]);
    };
    let rewritten = stack::deep(|| reduced_text(found, compilation.root(), &source.text, declared));
    let left = rewritten.left.iter().map(|(element, reason)| {
        Diagnostic::information(
            Code::LGM0940,
            format!("`{element}` stays in the text of the reduced model"),
        )
        .note(reason.clone())
    });
    report::print(compilation.map(), &left.collect::<Vec<_>>());
    if *rewritten.text == *source.text {
        return Ok(rewritten.text);
    }
    let other = arguments.model.of_text(source, &rewritten.text);
    match same_as_text(compilation, &other) {
        Ok(()) => Ok(rewritten.text),
        Err(Difference::Found(reason)) => Err(vec![refusal(reason)]),
        Err(Difference::Unknown) => {
            let message = "the reduced model was not compared with the whole one: they have no responses";
            let warning = Diagnostic::warning(Code::LGM0940, message)
                .help("compare runs of both with `lgm simulate`, or declare an input and an output");
            report::print(compilation.map(), &[warning]);
            Ok(rewritten.text)
        }
    }
}

fn refusal(reason: String) -> Diagnostic {
    Diagnostic::error(Code::LGM0940, "the reduced model cannot be written as text")
        .note(reason)
        .help("read the equivalent parameters from `lgm reduce` without `--format lgm`")
}

/// The model in the tree of the root text.
fn declared<'c>(compilation: &'c Compilation, name: &str) -> Option<&'c ast::Model> {
    let tree = compilation.program().ast(compilation.root())?;
    let mut models = tree.items.iter().filter_map(|item| match item {
        Item::Model(model) => Some(model),
        _ => None,
    });
    models.find(|model| *model.name.text == *name)
}
