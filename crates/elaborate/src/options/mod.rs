//! The choices of the command line: the model, and values of parameters.

pub(crate) mod inputs;
pub(crate) mod modes;
pub(crate) mod point;
mod written;

use crate::program::Program;
use crate::units::unit_meaning;
use lgm_algebra::units::Unit;
use lgm_model::Scale;
use lgm_source::cancellation::Cancellation;
use lgm_source::codes::Code;
use lgm_source::diagnostic::{Diagnostic, six_digits};
use lgm_source::nearest::did_you_mean;
use lgm_source::{SourceId, SourceMap, Span};
use lgm_syntax::ast::{self, Expr, ExprKind, StatementKind};
use lgm_syntax::visit::statements;
use written::{Written, is_name};

/// The form of delayed signals, `delay(x, T)`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Delays {
    /// Inputs whose values a run reads from its history.
    #[default]
    Kept,
    /// Inputs, and outputs with the values before the delays, for a frequency response.
    Open,
    /// Errors, for an analysis that requires a finite number of states.
    Refused,
    /// Pade approximations of this order.
    Pade(u32),
}

impl Delays {
    /// Returns errors instead of inputs.
    pub fn or_refused(self) -> Delays {
        match self {
            Delays::Kept => Delays::Refused,
            other => other,
        }
    }
}

/// Choices made outside the model's text.
#[derive(Clone, Debug)]
pub struct Settings {
    /// The model to elaborate; by default the only or last one of the root text.
    pub model: Option<String>,
    /// Values of parameters and constants. The text of each source contains the whole option, `name=value`; the string is the option as
    /// written.
    pub sets: Vec<(String, SourceId)>,
    /// Parameters of instances that vary over the runs of a command, by their names (`motor.R_a`): they stay symbols in the equations.
    /// Other names are ignored.
    pub varied: Vec<String>,
    /// True if a person wrote the values: a number without a unit is warned of if the text gives the parameter in `uH`.
    pub are_written: bool,
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
    /// The form of delayed signals.
    pub delays: Delays,
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
            varied: Vec::new(),
            are_written: false,
            inputs: Vec::new(),
            point: Vec::new(),
            modes: Vec::new(),
            opened: None,
            open_discretes: false,
            delays: Delays::Kept,
            largest: Settings::LARGEST,
            cancellation: Cancellation::default(),
        }
    }
}

/// One `--set name=value`, parsed.
#[derive(Debug)]
pub(crate) struct Assignment {
    /// `m`, or `motor.R_a` for a parameter of an instance.
    pub name: String,
    /// The location of the name.
    pub name_span: Span,
    pub value: Expr,
}

/// The options for parameters.
#[derive(Debug, Default)]
pub(crate) struct ParameterOptions {
    /// Values from `--set`.
    pub values: Vec<Assignment>,
    /// Parameters of instances that vary.
    pub varied: Vec<String>,
    /// True if numbers without a unit are warned of.
    pub are_written: bool,
    /// Names in `--set` that the model does not declare, with their locations.
    pub unknown: Vec<(String, Span)>,
}

impl ParameterOptions {
    /// Returns true if an option names something other than a parameter or a constant of the model.
    pub fn names_instances(&self) -> bool {
        let is_within = |entry: &Assignment| entry.name.contains('.');
        !self.varied.is_empty() || !self.unknown.is_empty() || self.values.iter().any(is_within)
    }
}

/// Finds the model and reads the options; `None` if there is nothing to elaborate.
pub(crate) fn read<'a>(
    program: &'a Program,
    map: &SourceMap,
    settings: &Settings,
    diagnostics: &mut Vec<Diagnostic>,
) -> (Option<&'a ast::Model>, ParameterOptions) {
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
    let mut options = ParameterOptions {
        varied: settings.varied.iter().filter_map(|name| path(name)).collect(),
        are_written: settings.are_written,
        ..ParameterOptions::default()
    };
    options.varied.retain(|name| name.contains('.'));
    let Some(model) = chosen else {
        return (None, options);
    };
    let names = declared(model);
    for (_, source) in &settings.sets {
        match assignment(map, *source) {
            // The names of instances are known after the expansion.
            Ok(assignment) if !assignment.name.contains('.') && !names.contains(&&*assignment.name) => {
                options.unknown.push((assignment.name, assignment.name_span));
            }
            Ok(assignment) => {
                // The last of several options for one name has priority.
                options.values.retain(|entry| entry.name != assignment.name);
                options.values.push(assignment);
            }
            Err(diagnostic) => diagnostics.push(diagnostic),
        }
    }
    (Some(model), options)
}

/// Returns the names of the parameters and constants of a model.
pub(crate) fn declared(model: &ast::Model) -> Vec<&str> {
    let mut names: Vec<&str> = Vec::new();
    statements(&model.body, &mut |statement| {
        if let StatementKind::Param(assigned) | StatementKind::Const(assigned) = &statement.kind {
            names.push(&assigned.name.text);
        }
    });
    names
}

fn malformed(span: Span, message: &str) -> Diagnostic {
    Diagnostic::error(Code::LGM0903, "this option is not of the form `name=value`")
        .label(span, message.to_string())
        .help(
            "write a number, a vector or a matrix: `--set m=2`, `--set \"m=2 [kg]\"`, `--set \"K=[[5, -1], [-1, 4]]\"`",
        )
}

/// Reads an option.
fn assignment(map: &SourceMap, source: SourceId) -> Result<Assignment, Diagnostic> {
    let written = Written::read(map, source, malformed)?;
    let Some(name) = path(written.target) else {
        let place = if written.target.is_empty() {
            written.whole()
        } else {
            written.target_span
        };
        return Err(malformed(place, "expected a name before `=`"));
    };
    let value = written.value(malformed)?;
    if let Some(span) = not_literal(&value) {
        return Err(malformed(span, "only numbers can be written here"));
    }
    Ok(Assignment {
        name,
        name_span: written.target_span,
        value,
    })
}

/// Returns the name of a parameter, `m` or `cell[1, 2].r.R`, in the form in which [`lgm_model::Model::path_name`] writes it.
fn path(text: &str) -> Option<String> {
    let parts = text.split('.').map(|part| {
        let (name, indices) = match part.trim().split_once('[') {
            Some((name, rest)) => (name.trim_end(), Some(rest.strip_suffix(']')?)),
            None => (part.trim(), None),
        };
        let written = match indices {
            None => name.to_string(),
            Some(indices) => {
                let numbers = indices.split(',').map(|index| index.trim().parse::<i64>());
                let numbers: Vec<i64> = numbers.collect::<Result<_, _>>().ok()?;
                let numbers: Vec<String> = numbers.iter().map(i64::to_string).collect();
                format!("{name}[{}]", numbers.join(", "))
            }
        };
        is_name(name).then_some(written)
    });
    let parts: Vec<String> = parts.collect::<Option<_>>()?;
    // The last part is a parameter, which is set as a whole.
    (!parts.last()?.ends_with(']')).then(|| parts.join("."))
}

/// Returns the warning that a number without a unit is in SI units, while the text gives the parameter in another unit.
pub fn bare_number((name, value): (&str, &str), unit: &str, span: Span) -> Diagnostic {
    let message = format!("`{name}` is set to {value} in SI units, but the model gives it in [{unit}]");
    let diagnostic = Diagnostic::warning(Code::LGM0210, message).label(span, "a number without a unit is in SI units");
    let known = quantity(&format!("1 [{unit}]")).and_then(|quantity| quantity.unit);
    diagnostic.help(match (value.trim().parse::<f64>(), known) {
        (Ok(number), Some(known)) if known.is_multiple() => {
            let equal = six_digits(Scale::of(&known).from_si(number));
            let si = known.dimension.text();
            // A number with more digits than a person would write is given in SI units only.
            let equal = match equal.len() <= 6 {
                true => format!("`{equal} [{unit}]` or "),
                false => String::new(),
            };
            format!("write {equal}`{value} [{si}]` for this value, and `{value} [{unit}]` for {value} {unit}")
        }
        _ => format!("write the unit: `{name}={value} [{unit}]`"),
    })
}

/// A number in an option, with the unit after it.
#[derive(Clone, Debug)]
pub struct Quantity {
    /// The number as written.
    pub number: f64,
    /// The unit; none for a bare number.
    pub unit: Option<Unit>,
}

/// Reads a number with a unit from a part of an option, `220 [uF]`; none if it is something else.
pub fn quantity(text: &str) -> Option<Quantity> {
    let (number, unit) = match text.split_once('[') {
        None => (text, None),
        Some((number, _)) => {
            let (literal, faults) = lgm_syntax::parse_expression(SourceId(0), &format!("1 {}", &text[number.len()..]));
            match literal.kind {
                ExprKind::Number(_, Some(unit)) if faults.is_empty() => (number, Some(unit_meaning(&unit).ok()?)),
                _ => return None,
            }
        }
    };
    let number = number.trim().parse::<f64>().ok().filter(|number| number.is_finite())?;
    Some(Quantity { number, unit })
}

/// Returns the first part of an expression other than numbers, lists of numbers and arithmetic on them.
fn not_literal(expr: &Expr) -> Option<Span> {
    match &expr.kind {
        ExprKind::Number(..) => None,
        ExprKind::Name(name) if &*name.text == "pi" => None,
        ExprKind::List(items, _) => items.iter().find_map(not_literal),
        ExprKind::Sum(items) | ExprKind::Product(items) => items.iter().find_map(|item| not_literal(&item.1)),
        ExprKind::Power(items) => items.iter().find_map(not_literal),
        ExprKind::Negate(inner) | ExprKind::InUnit(inner, _) => not_literal(inner),
        _ => Some(expr.span),
    }
}
