//! The choices of the command line: the model, and values of parameters.

pub(crate) mod inputs;
pub(crate) mod modes;
pub(crate) mod point;
mod written;

use crate::program::Program;
use lgm_source::cancellation::Cancellation;
use lgm_source::codes::Code;
use lgm_source::diagnostic::Diagnostic;
use lgm_source::nearest::did_you_mean;
use lgm_source::{SourceId, SourceMap, Span};
use lgm_syntax::ast::{self, Expr, ExprKind, StatementKind};
use lgm_syntax::visit::statements;
use written::{Written, is_name};

/// Choices made outside the model's text.
#[derive(Clone, Debug)]
pub struct Settings {
    /// The model to elaborate; by default the only or last one of the root text.
    pub model: Option<String>,
    /// Values of parameters and constants. The text of each source contains the whole option, `name=value`; the string is the option as
    /// written.
    pub sets: Vec<(String, SourceId)>,
    /// Signals of inputs, each an expression of time and parameters; in the form of `sets`.
    pub inputs: Vec<(String, SourceId)>,
    /// Values of states, inputs and time at which the equations are evaluated; in the form of `sets`.
    pub point: Vec<(String, SourceId)>,
    /// Modes of elements, `d1=conducting`, instead of those in which the search at the start begins.
    pub modes: Vec<String>,
    /// The component whose ports are left open, by the name of its instance: these ports get separate nodes, which are the model's
    /// `open_ports`.
    pub opened: Option<String>,
    /// True for an analysis of the equations between events, in which discrete variables are inputs.
    pub open_discretes: bool,
    /// The largest number of nodes and instances; more than [`Settings::LARGEST`] is never allowed. An interactive
    /// editor or service uses less.
    pub largest: u64,
    /// Ends the elaboration early; then there is no model, and the diagnostics are incomplete.
    pub cancellation: Cancellation,
}

impl Settings {
    /// The maximum number of nodes and instances in the language.
    pub const LARGEST: u64 = 100_000_000;
}

impl Default for Settings {
    fn default() -> Settings {
        Settings {
            model: None,
            sets: Vec::new(),
            inputs: Vec::new(),
            point: Vec::new(),
            modes: Vec::new(),
            opened: None,
            open_discretes: false,
            largest: Settings::LARGEST,
            cancellation: Cancellation::default(),
        }
    }
}

/// One `--set name=value`, parsed.
#[derive(Debug)]
pub(crate) struct Assignment {
    pub name: String,
    pub value: Expr,
}

/// Finds the model and reads the options; `None` if there is nothing to elaborate.
pub(crate) fn read<'a>(
    program: &'a Program,
    map: &SourceMap,
    settings: &Settings,
    diagnostics: &mut Vec<Diagnostic>,
) -> (Option<&'a ast::Model>, Vec<Assignment>) {
    let chosen = match &settings.model {
        None => program.models().next_back(),
        Some(name) => {
            let found = program.models().find(|model| *model.name.text == **name);
            if found.is_none() {
                let names: Vec<&str> = program.models().map(|model| &*model.name.text).collect();
                let mut diagnostic =
                    Diagnostic::error(Code::LGM0901, format!("there is no model `{name}` in this file"));
                diagnostic.help = did_you_mean(name, names.iter().copied());
                if names.is_empty() {
                    diagnostic = diagnostic.help("the file declares no model");
                }
                diagnostics.push(diagnostic);
            }
            found
        }
    };
    let mut assignments: Vec<Assignment> = Vec::new();
    let Some(model) = chosen else {
        return (None, assignments);
    };
    let mut names: Vec<&str> = Vec::new();
    statements(&model.body, &mut |statement| {
        if let StatementKind::Param(assigned) | StatementKind::Const(assigned) = &statement.kind {
            names.push(&assigned.name.text);
        }
    });
    for (_, source) in &settings.sets {
        match assignment(map, *source) {
            Ok((span, assignment)) if !names.contains(&&*assignment.name) => {
                let name = &assignment.name;
                let mut diagnostic = Diagnostic::error(
                    Code::LGM0902,
                    format!("`{}` has no `param` or `const` named `{name}`", model.name.text),
                )
                .label(span, "this option has no effect");
                diagnostic.help = did_you_mean(name, names.iter().copied());
                diagnostics.push(diagnostic);
            }
            Ok((_, assignment)) => {
                // The last of several options for one name has priority.
                assignments.retain(|entry| entry.name != assignment.name);
                assignments.push(assignment);
            }
            Err(diagnostic) => diagnostics.push(diagnostic),
        }
    }
    (Some(model), assignments)
}

fn malformed(span: Span, message: &str) -> Diagnostic {
    Diagnostic::error(Code::LGM0903, "this option is not of the form `name=value`")
        .label(span, message.to_string())
        .help(
            "write a number, a vector or a matrix: `--set m=2`, `--set \"m=2 [kg]\"`, `--set \"K=[[5, -1], [-1, 4]]\"`",
        )
}

/// Reads an option, with the location of its name.
fn assignment(map: &SourceMap, source: SourceId) -> Result<(Span, Assignment), Diagnostic> {
    let written = Written::read(map, source, malformed)?;
    let name = written.target;
    if !is_name(name) {
        let place = if name.is_empty() {
            written.whole()
        } else {
            written.target_span
        };
        return Err(malformed(place, "expected a name before `=`"));
    }
    let value = written.value(malformed)?;
    if let Some(span) = not_literal(&value) {
        return Err(malformed(span, "only numbers can be written here"));
    }
    let name = name.to_string();
    Ok((written.target_span, Assignment { name, value }))
}

/// Returns the first part of an expression other than numbers, lists of numbers and arithmetic on them.
fn not_literal(expr: &Expr) -> Option<Span> {
    match &expr.kind {
        ExprKind::Number(..) => None,
        ExprKind::Name(name) if &*name.text == "pi" => None,
        ExprKind::List(items, _) => items.iter().find_map(not_literal),
        ExprKind::Sum(items) | ExprKind::Product(items) => items.iter().find_map(|item| not_literal(&item.1)),
        ExprKind::Power(items) => items.iter().find_map(not_literal),
        ExprKind::Negate(inner) => not_literal(inner),
        _ => Some(expr.span),
    }
}
