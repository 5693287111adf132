//! Dynamic augmentation: parasitic elements put into the text, one place after the other, until nothing depends on other storage.

use super::found::{declared, dependents};
use super::starts::{missing_starts, values_at_start};
use crate::Compilation;
use crate::cli::comparison::compiles;
use crate::cli::request::ModelArguments;
use lgm_explain::augment::{Given, Parameters, Place, candidates, end_of_line};
use lgm_model::Measure;
use lgm_source::codes::Code;
use lgm_source::diagnostic::Diagnostic;
use lgm_source::stack;
use lgm_syntax::ast::{self, StatementKind};

/// More dependent elements than this are left to `lgm simulate`, which needs no augmentation.
const LARGEST: usize = 100;

/// A model with parasitic elements, in its text.
pub(super) struct Augmented {
    /// The text of the whole file.
    pub(super) text: String,
    /// The places, in the order in which they were found.
    pub(super) places: Vec<Place>,
    /// Statements that give storage the starts of the exact model.
    pub(super) starts: Vec<String>,
    /// If all storage is known to begin as in the exact model.
    pub(super) is_begun: bool,
    /// The parameters of the parasitic elements.
    pub(super) parameters: Parameters,
}

/// Puts parasitic elements into the text until no storage is dependent.
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
            "{count} elements are dependent, and {LARGEST} are the most"
        )));
    }
    let mut found = with_parameters(&source.text, of_text, (stiffness, damping));
    if count == 0 {
        found.text = source.text.to_string();
        return Ok(found);
    }
    let mut now = model.of_text(source, &found.text);
    loop {
        if let Err(difference) = compiles(&now) {
            return Err(refused(format!("{difference:?}")));
        }
        let left = dependents(&now);
        let Some((element, path)) = left.first() else {
            return Ok(found);
        };
        let Some((text, place, next)) = freed(model, &now, &name, (element, path), (&found.parameters, left.len()))
        else {
            return Err(refused(format!(
                "no place was found at which a parasitic element frees `{element}`"
            )));
        };
        found.text = text;
        found.places.push(place);
        now = begun_as(model, compilation, next, &mut found);
    }
}

/// Writes the starts that the exact model has and the augmented one would not have; the model with them.
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

/// The text of a model with further statements at its end; none if there are none.
pub(super) fn with_statements(compilation: &Compilation, statements: &[String]) -> Option<String> {
    let tree = declared(compilation, &compilation.model()?.heading.name)?;
    if statements.is_empty() {
        return None;
    }
    // Before the brace that closes the model.
    let text = &compilation.map().get(compilation.root()).text;
    let (head, tail) = text.split_at(tree.span.end as usize - 1);
    let text = format!("{head}  {}\n{tail}", statements.join("\n  "));
    // Without faults in it, the text has one layout.
    Some(lgm_syntax::format(compilation.root(), &text).unwrap_or(text))
}

/// The first place that frees an element, with the text and its compilation.
fn freed(
    model: &ModelArguments,
    now: &Compilation,
    name: &str,
    (element, path): (&str, &[String]),
    (parameters, count): (&Parameters, usize),
) -> Option<(String, Place, Compilation)> {
    let source = now.map().get(now.root());
    let starts = |measures: &[Measure]| values_at_start(now, measures);
    let given = Given {
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

/// The text with the parameters of the parasitic elements.
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
        damping: damping.map(|_| unused("damping")),
    };
    let mut lines = format!("\n  param {} = {};", parameters.stiffness, number(stiffness));
    if let (Some(name), Some(value)) = (&parameters.damping, damping) {
        lines.push_str(&format!("\n  param {name} = {};", number(value)));
    }
    let mut declared_last = declared.body.iter().rev();
    let last = declared_last.find(|statement| matches!(statement.kind, StatementKind::Param(_)));
    let at = match last {
        Some(last) => end_of_line(text, last.span.end as usize, declared.span.end as usize),
        // Behind the brace that opens the model.
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

/// A number as the language has it.
fn number(value: f64) -> String {
    format!("{value:?}")
}

fn refused(reason: String) -> Box<Diagnostic> {
    let fault = Diagnostic::error(Code::LGM0942, "the model cannot be augmented").note(reason);
    Box::new(fault.help(
        "`lgm simulate` runs the model as it is; in its text, a spring or a resistor beside the element frees it",
    ))
}
