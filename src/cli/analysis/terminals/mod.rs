//! `lgm terminals`

mod definition;
mod print;

use super::shared::{Format, LinearModel, write_json};
use crate::Compilation;
use crate::cli::files::disk::write_result;
use crate::cli::outcome::Outcome;
use crate::cli::report;
use crate::cli::request::split_at_commas;
use definition::{Written, written};
use lgm_analysis::{Isolated, ModalMatrices, Terminals, isolate, modal_matrices, terminals};
use lgm_equations::Options;
use lgm_equations::bond::lower;
use lgm_session::analysis::modes::formulated;
use lgm_source::codes::Code;
use lgm_source::diagnostic::{Diagnostic, Label, has_errors};
use lgm_source::stack;
use std::path::PathBuf;

/// Prints the terminal equations of a component: how the across and through variables at its open ports depend on each other.
///
/// NAME is an instance of the model (`cell[2]`, `motor`, a modal block, a coupler), or a component or element defined
/// in the file. Ports bound to `gnd` stay bound; the others are open, and everything outside the component is removed.
/// Several instances, `arm,bob`, are one component: its ports are the nodes that it shares with the rest of the model.
///
/// The given variables are independent across variables, in the order of port declarations, and through variables at
/// the other ports. The equations express the other variable of each port, in the Laplace variable s. Through variables
/// are positive into the component.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  lgm terminals examples/line.lgm --component Section
  lgm terminals examples/hydraulic_lift.lgm --component piston
  lgm terminals examples/seeds/euler_gyrator_ring.lgm --component ring
  lgm terminals examples/rigid_gears.lgm --component first_stage,wheels,second_stage
  lgm terminals examples/seeds/rocking_pendulum.lgm --component ideal --given turn=across,centre=through
  lgm terminals examples/seeds/lamina.lgm --component ideal --given through --format json")]
pub(in crate::cli) struct Arguments {
    #[command(flatten)]
    model: LinearModel,
    /// The component: an instance, several instances with commas between them, or a definition in the file
    #[arg(long, value_name = "NAME")]
    component: String,
    /// The preferred given variables, `across` or `through`, or those of single ports: `--given a=across,b=through`
    #[arg(long, value_name = "WHICH", default_value = "across", value_parser = given)]
    given: GivenVariables,
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

/// The given variables.
#[derive(Clone, Debug, Default)]
struct GivenVariables {
    /// True if through variables are preferred.
    through_first: bool,
    /// Ports, each with true if its across variable is given.
    ports: Vec<(String, bool)>,
}

/// Parses the given variables.
fn given(text: &str) -> Result<GivenVariables, String> {
    let is_across = |word: &str| match word.trim() {
        "across" => Ok(true),
        "through" => Ok(false),
        other => Err(format!("`{other}` is neither `across` nor `through`")),
    };
    let mut found = GivenVariables::default();
    if !text.contains('=') {
        found.through_first = !is_across(text)?;
        return Ok(found);
    }
    for part in split_at_commas(text) {
        let (port, word) = part.split_once('=').ok_or(format!("`{part}` has no `=`"))?;
        found.ports.push((port.trim().to_string(), is_across(word)?));
    }
    Ok(found)
}

/// The equations and the matrices of a modal block. At least one of the two is present.
type TerminalResults = (Option<Terminals>, Option<ModalMatrices>);

/// Runs the command.
pub(in crate::cli) fn run(arguments: &Arguments) -> Outcome {
    let compilation = value_or_return!(arguments.model.opened(&arguments.component));
    let (compilation, found, diagnostics) = stack::deep(|| ask(arguments, compilation));
    report::print(compilation.map(), &diagnostics);
    let Some(found) = found else {
        return match report::outcome(&diagnostics) {
            Outcome::Success => Outcome::Failure,
            outcome => outcome,
        };
    };
    let written = write_result(arguments.output.as_deref(), &mut |out| match arguments.format {
        Format::Json => write_json(
            &print::as_json(&arguments.component, found.0.as_ref(), found.1.as_ref()),
            out,
        ),
        Format::Text => print::write_text(&arguments.component, found.0.as_ref(), found.1.as_ref(), out),
    });
    report::after_writing(compilation.map(), written)
}

/// Finds the terminal equations of the instance or definition with this name.
fn ask(arguments: &Arguments, compilation: Compilation) -> (Compilation, Option<TerminalResults>, Vec<Diagnostic>) {
    let name = arguments.component.as_str();
    let mut diagnostics = compilation.diagnostics_of_elaboration();
    let alone = match compilation.model() {
        Some(model) if !has_errors(&diagnostics) => isolate(model, name, name),
        _ => Err(Box::new(Diagnostic::error(Code::LGM0719, "there is no model"))),
    };
    let fault = match alone {
        Ok(alone) => {
            let found = equations(arguments, &compilation, name, alone, &mut diagnostics);
            return (compilation, found, diagnostics);
        }
        Err(fault) => fault,
    };
    let is_set = |parameter: &str| arguments.model.model.sets(parameter);
    let own = match written(&compilation, name, arguments.numeric, &is_set) {
        Written::Text(own) => own,
        Written::Refused(fault) => return (compilation, None, vec![*fault]),
        Written::NoDefinition => {
            if !has_errors(&diagnostics) {
                diagnostics.push(*fault);
            }
            return (compilation, None, diagnostics);
        }
    };
    let source = compilation.map().get(compilation.root());
    let whole = arguments
        .model
        .opened_text(source, (&own.model, &own.instance), &own.text);
    let mut diagnostics = whole.diagnostics_of_elaboration();
    if let Some(first) = diagnostics.iter().find(|each| each.is_error()) {
        // Errors in the file itself are shown in that file.
        let length = source.text.len();
        let is_in_file = |label: &Label| label.span.source == whole.root() && (label.span.start as usize) < length;
        if first.code.is_of_command_line() || first.labels.first().is_some_and(is_in_file) {
            return (whole, None, diagnostics);
        }
        let fault = Diagnostic::error(Code::LGM0719, format!("`{name}` cannot be analysed separately"))
            .note(first.message.clone())
            .help("give its parameters with `--set`, or name an instance of it in a model");
        return (whole, None, vec![fault]);
    }
    let alone = whole.model().map(|model| isolate(model, &own.instance, name));
    let found = match alone {
        Some(Ok(alone)) => equations(arguments, &whole, &own.instance, alone, &mut diagnostics),
        Some(Err(fault)) => {
            diagnostics.push(*fault);
            None
        }
        None => None,
    };
    (whole, found, diagnostics)
}

fn equations(
    arguments: &Arguments,
    compilation: &Compilation,
    instance: &str,
    mut alone: Isolated,
    diagnostics: &mut Vec<Diagnostic>,
) -> Option<TerminalResults> {
    let given = &arguments.given;
    let chosen = alone.choose(given.through_first, &given.ports);
    chosen.map_err(|fault| diagnostics.push(*fault)).ok()?;
    let options = Options {
        states: arguments.model.states.request(),
        symbolic: true,
        ..Options::default()
    };
    let (graph, linearize) = (lower(&alone.model), &arguments.model.linearize);
    let is_of_whole = linearize.is_of_whole_model();
    let asked = if is_of_whole { None } else { linearize.asked(true) };
    let (_, system) = formulated(alone.model.clone(), &graph, &options, asked, diagnostics)?;
    if is_of_whole && !system.equations.linear {
        // A separate network has another operating point.
        let message = format!("`{instance}` is analysed separately, without the operating point of the model");
        let help = "give the values there, from `lgm equations FILE --equilibrium` or `lgm simulate`: `--at \
            NAME=VALUE`";
        diagnostics.push(Diagnostic::error(Code::LGM0719, message).help(help));
        return None;
    }
    diagnostics.extend(arguments.model.model.remark_on_events(&system));
    let numeric = arguments.numeric;
    let modes = (compilation.model()).and_then(|model| modal_matrices(model, instance, numeric));
    let found = terminals(&alone, &system, arguments.numeric);
    let equations = found.map_err(|fault| diagnostics.push(*fault)).ok()?;
    // The modal equations are equivalent.
    if equations.is_none() && modes.as_ref().and_then(ModalMatrices::equations).is_none() {
        let fault = Diagnostic::error(
            Code::LGM0719,
            "the terminal equations are too long in terms of the parameters",
        );
        diagnostics.push(fault.help("use `--numeric` for numbers, or declare some of the parameters as `const`"));
        return None;
    }
    let remark = |message: String| Diagnostic::information(Code::LGM0719, message);
    for (fixed, is_valued) in &alone.fixed {
        if *is_valued {
            let message = format!("`{fixed}` modulates the component and is constant here");
            diagnostics.push(remark(message).help("give it another value with `--at NAME=VALUE`"));
        } else if arguments.numeric {
            let message = format!("the component is modulated by `{fixed}`, which has no value here");
            let fault = Diagnostic::error(Code::LGM0719, message);
            diagnostics.push(fault.help("omit `--numeric`: the equations contain it as a symbol"));
            return None;
        }
    }
    if equations.as_ref().is_some_and(|equations| equations.has_constants) && !linearize.is_asked_for() {
        let message = "sources inside the component that are not inputs are omitted";
        diagnostics.push(remark(message.to_string()).help("declare their values as an `input` of the model"));
    }
    Some((equations, modes))
}
