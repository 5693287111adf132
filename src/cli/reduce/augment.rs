//! Dynamic augmentation: parasitic elements are inserted one by one, until no storage depends on other storage.

use super::found::{declared, dependents};
use super::starts::{missing_starts, values_at_start};
use crate::Compilation;
use crate::cli::comparison::compiles;
use crate::cli::request::ModelArguments;
use lgm_explain::augment::{ModelText, Parameters, Place, candidates, end_of_line};
use lgm_model::Measure;
use lgm_source::codes::Code;
use lgm_source::diagnostic::Diagnostic;
use lgm_source::stack;
use lgm_syntax::ast::{self, StatementKind};

/// Maximum number of dependent elements. Larger models are left to `lgm simulate`, which needs no augmentation.
const LARGEST: usize = 100;

/// The text of a model with parasitic elements.
pub(super) struct Augmented {
    /// The text of the whole file.
    pub(super) text: String,
    /// The locations, in the order in which they were found.
    pub(super) places: Vec<Place>,
    /// Statements that set the initial values of storage to those of the exact model.
    pub(super) starts: Vec<String>,
    /// True if all storage is known to have the initial values of the exact model.
    pub(super) is_begun: bool,
    /// The parameters of the parasitic elements.
    pub(super) parameters: Parameters,
}

/// Inserts parasitic elements into the text until no storage is dependent.
pub(super) fn augmented(
    model: &ModelArguments,
    compilation: &Compilation,
    (stiffness, damping): (f64, Option<f64>),
) -> Result<Augmented, Box<Diagnostic>> {
    let source = compilation.map().get(compilation.root());
    let name = compilation
        .model()
        .map_or(String::new(), |model| model.heading.name.to_string());
    let Some(of_text) = declared(compilation, &name) else {
        return Err(refused(format!("`{name}` is not declared in this file")));
    };
    let count = dependents(compilation).len();
    if count > LARGEST {
        return Err(refused(format!(
            "{count} elements are dependent; at most {LARGEST} are supported"
        )));
    }
    let mut found = with_parameters(&source.text, of_text, (stiffness, damping));
    if count == 0 {
        found.text = source.text.to_string();
        return Ok(found);
    }
    let mut now = model.of_text(source, &found.text);
    loop {
        compiles(&now).map_err(refused)?;
        let left = dependents(&now);
        let Some((element, path)) = left.first() else {
            return Ok(found);
        };
        let Some((text, place, next)) = freed(model, &now, &name, (element, path), (&found.parameters, left.len()))
        else {
            return Err(refused(format!(
                "no position was found where a parasitic element frees `{element}`"
            )));
        };
        found.text = text;
        found.places.push(place);
        now = begun_as(model, compilation, next, &mut found);
    }
}

/// Adds statements for initial values of the exact model that the augmented model would lack, and returns the resulting model.
fn begun_as(model: &ModelArguments, exact: &Compilation, augmented: Compilation, found: &mut Augmented) -> Compilation {
    let missing = stack::deep(|| missing_starts(exact, &augmented));
    let Some(statements) = missing else {
        found.is_begun = false;
        return augmented;
    };
    let Some(text) = with_statements(&augmented, &statements) else {
        return augmented;
    };
    let source = augmented.map().get(augmented.root());
    let next = model.of_text(source, &text);
    if compiles(&next).is_err() {
        found.is_begun = false;
        return augmented;
    }
    found.starts.extend(statements);
    found.text = text;
    next
}

/// Returns the text of a model with further statements at its end; None if the list of statements is empty.
pub(super) fn with_statements(compilation: &Compilation, statements: &[String]) -> Option<String> {
    let tree = declared(compilation, &compilation.model()?.heading.name)?;
    if statements.is_empty() {
        return None;
    }
    // Insert before the brace that closes the model.
    let text = &compilation.map().get(compilation.root()).text;
    let (head, tail) = text.split_at(tree.span.end as usize - 1);
    let text = format!("{head}  {}\n{tail}", statements.join("\n  "));
    // A text without syntax errors has a unique layout.
    Some(lgm_syntax::format(compilation.root(), &text).unwrap_or(text))
}

/// Finds the first location that frees an element, and returns it with the text and its compilation.
fn freed(
    model: &ModelArguments,
    now: &Compilation,
    name: &str,
    (element, path): (&str, &[String]),
    (parameters, count): (&Parameters, usize),
) -> Option<(String, Place, Compilation)> {
    let source = now.map().get(now.root());
    let starts = |measures: &[Measure]| values_at_start(now, measures);
    let given = ModelText {
        model: now.formulated_model()?,
        text: &source.text,
        source: now.root(),
        declared: declared(now, name)?,
        starts: &starts,
    };
    for candidate in stack::deep(|| candidates(&given, element, path, parameters)) {
        let next = model.of_text(source, &candidate.text);
        if compiles(&next).is_err() || next.system().is_none() {
            continue;
        }
        let left = dependents(&next);
        let is_free = !left.iter().any(|other| other.0 == element);
        if is_free && left.len() < count {
            return Some((candidate.text, candidate.place, next));
        }
    }
    None
}

/// Adds the parameters of the parasitic elements to the text.
fn with_parameters(text: &str, declared: &ast::Model, (stiffness, damping): (f64, Option<f64>)) -> Augmented {
    let unused = |name: &str| {
        let mut name = name.to_string();
        while text.contains(name.as_str()) {
            name.push('_');
        }
        name
    };
    let parameters = Parameters {
        stiffness: unused("stiffness"),
        damping: damping.filter(|damping| *damping > 0.0).map(|_| unused("damping")),
        is_undamped: damping == Some(0.0),
    };
    let mut lines = format!("\n  param {} = {};", parameters.stiffness, number(stiffness));
    if let (Some(name), Some(value)) = (&parameters.damping, damping) {
        lines.push_str(&format!("\n  param {name} = {};", number(value)));
    }
    let mut declared_last = declared.body.iter().rev();
    let last = declared_last.find(|statement| matches!(statement.kind, StatementKind::Param(_)));
    let at = match last {
        Some(last) => end_of_line(text, last.span.end as usize, declared.span.end as usize),
        // Insert after the brace that opens the model.
        None => {
            let name = declared.name.span.end as usize;
            text[name..].find('{').map_or(name, |brace| name + brace + 1)
        }
    };
    if !text[at..].starts_with('\n') {
        lines.push('\n');
    }
    Augmented {
        text: format!("{}{lines}{}", &text[..at], &text[at..]),
        places: Vec::new(),
        starts: Vec::new(),
        is_begun: true,
        parameters,
    }
}

/// Formats a number in the syntax of the language.
fn number(value: f64) -> String {
    format!("{value:?}")
}

fn refused(reason: String) -> Box<Diagnostic> {
    let fault = Diagnostic::error(Code::LGM0942, "the model cannot be augmented").note(reason);
    Box::new(
        fault.help(
            "`lgm simulate` runs the model unchanged; to free the element, add a spring or a resistor next to it",
        ),
    )
}
