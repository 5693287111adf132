//! What the command line chooses: the model, and values of parameters.

pub(crate) mod inputs;
pub(crate) mod point;

use crate::program::Program;
use lgm_source::codes::Code;
use lgm_source::diagnostic::Diagnostic;
use lgm_source::nearest::did_you_mean;
use lgm_source::{SourceId, SourceMap, Span};
use lgm_syntax::ast::{self, Expr, ExprKind, StatementKind};
use lgm_syntax::parse_expression;

/// Choices made outside the model's text.
#[derive(Clone, Debug)]
pub struct Settings {
    /// The model to elaborate; by default the only or last one of the root text.
    pub model: Option<String>,
    /// Values of parameters and constants. The text of each source holds the whole option, `name=value`; the
    /// string is the option as the user wrote it.
    pub sets: Vec<(String, SourceId)>,
    /// Signals of inputs, each an expression of time and parameters; as `sets`.
    pub inputs: Vec<(String, SourceId)>,
    /// Values of states, inputs and time at which the equations are looked at; as `sets`.
    pub point: Vec<(String, SourceId)>,
    /// The largest number of nodes and instances; more than [`Settings::LARGEST`] is never allowed. An editor or a
    /// service that must answer at once gives less.
    pub largest: u64,
}

impl Settings {
    /// The language's own limit of nodes and instances.
    pub const LARGEST: u64 = 100_000_000;
}

impl Default for Settings {
    fn default() -> Settings {
        Settings {
            model: None,
            sets: Vec::new(),
            inputs: Vec::new(),
            point: Vec::new(),
            largest: Settings::LARGEST,
        }
    }
}

/// One `--set name=value`, parsed.
#[derive(Debug)]
pub(crate) struct Assignment {
    pub name: String,
    pub value: Expr,
}

/// Finds the model and reads the options; `None` where there is nothing to elaborate.
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
    let mut names = Vec::new();
    settable(&model.body, &mut names);
    for (_, source) in &settings.sets {
        match assignment(map, *source, diagnostics) {
            Some((_, span, name)) if !names.contains(&&*name) => {
                let mut diagnostic = Diagnostic::error(
                    Code::LGM0902,
                    format!("`{}` has no `param` or `const` named `{name}`", model.name.text),
                )
                .label(span, "this option sets nothing");
                diagnostic.help = did_you_mean(&name, names.iter().copied());
                diagnostics.push(diagnostic);
            }
            Some((value, _, name)) => {
                // The last of several options for one name counts, as on every command line.
                assignments.retain(|entry| entry.name != name);
                assignments.push(Assignment { name, value });
            }
            None => {}
        }
    }
    (Some(model), assignments)
}

fn settable<'a>(statements: &'a [ast::Statement], names: &mut Vec<&'a str>) {
    for statement in statements {
        match &statement.kind {
            StatementKind::Param(assigned) | StatementKind::Const(assigned) => names.push(&assigned.name.text),
            StatementKind::For(block) => settable(&block.body, names),
            StatementKind::If(block) => {
                for (_, branch) in &block.branches {
                    settable(branch, names);
                }
                settable(&block.otherwise, names);
            }
            _ => {}
        }
    }
}

fn malformed(span: Span, message: &str) -> Diagnostic {
    Diagnostic::error(Code::LGM0903, "this option is not of the form `name=value`")
        .label(span, message.to_string())
        .help(
            "write a number, a vector or a matrix: `--set m=2`, `--set \"m=2 [kg]\"`, `--set \"K=[[5, -1], [-1, 4]]\"`",
        )
}

fn assignment(map: &SourceMap, source: SourceId, diagnostics: &mut Vec<Diagnostic>) -> Option<(Expr, Span, String)> {
    let text = &map.get(source).text;
    let whole = Span::new(source, 0, text.len());
    let Some(at) = text.find('=') else {
        diagnostics.push(malformed(whole, "there is no `=`"));
        return None;
    };
    let name = text[..at].trim();
    let start = text.find(name).unwrap_or(0);
    let name_span = Span::new(source, start, start + name.len());
    let plain = name
        .chars()
        .all(|letter| letter.is_ascii_alphanumeric() || letter == '_');
    if name.is_empty() || !plain || name.starts_with(|letter: char| letter.is_ascii_digit()) {
        let place = if name.is_empty() { whole } else { name_span };
        diagnostics.push(malformed(place, "a name is needed in front of `=`"));
        return None;
    }
    // The name is blanked out, so that the places in the value are those in the whole option.
    let value_text = format!("{}{}", " ".repeat(at + 1), &text[at + 1..]);
    let (value, faults) = parse_expression(source, &value_text);
    if let Some(fault) = faults.into_iter().find(Diagnostic::is_error) {
        let place = fault.labels.first().map_or(whole, |label| label.span);
        let words = fault.labels.first().map_or(fault.message.clone(), |label| {
            if label.message.is_empty() {
                fault.message.clone()
            } else {
                label.message.clone()
            }
        });
        diagnostics.push(malformed(place, &words));
        return None;
    }
    if let Some(span) = not_literal(&value) {
        diagnostics.push(malformed(span, "only numbers can be written here"));
        return None;
    }
    Some((value, name_span, name.to_string()))
}

/// The first part of an expression that is more than numbers, lists of numbers and arithmetic on them.
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
