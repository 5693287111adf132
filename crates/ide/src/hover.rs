//! What is known of the place under the pointer.

use crate::facts::{declared_value, dependent, equations_of, equivalent, is_of_model, states, symbolic};
use crate::functions::function;
use crate::navigation::name_at;
use crate::{Hover, Snapshot};
use lgm_algebra::units::{self, UnitPower};
use lgm_elaborate::analysis::{Definition, DefinitionId, DefinitionKind};
use lgm_source::{SourceId, Span};
use lgm_syntax::token::{self, Token};

/// Longer declarations are shown up to here.
const SHOWN: usize = 400;

/// What is known of the place.
pub(crate) fn hover(snapshot: &Snapshot, at: (SourceId, u32)) -> Option<Hover> {
    if let Some(found) = name_at(snapshot, at) {
        let markdown = of_definition(snapshot, found.definition);
        return Some(Hover {
            span: found.span,
            markdown,
        });
    }
    of_word(snapshot, at)
}

/// The declaration, its documentation, its value, and the equations that it ended in.
pub(crate) fn of_definition(snapshot: &Snapshot, id: DefinitionId) -> String {
    let definition = snapshot.analysis().get(id);
    let mut parts = vec![format!("```lgm\n{}\n```", declaration(snapshot, definition))];
    parts.extend(definition.doc.as_ref().map(|doc| doc.trim().to_string()));
    if let Some(value) = declared_value(snapshot, definition) {
        parts.push(format!("Value: {value}"));
    }
    if definition.kind == DefinitionKind::Instance {
        if let Some(of) = definition.of {
            let kind = snapshot.analysis().get(of);
            parts.push(format!("```lgm\n{}\n```", declaration(snapshot, kind)));
            parts.extend(kind.doc.as_ref().map(|doc| doc.trim().to_string()));
        }
        if is_of_model(snapshot, definition) {
            parts.extend(causality(snapshot, definition));
        }
    }
    parts.join("\n\n")
}

/// The text of a declaration; of an item with a body its head alone.
fn declaration(snapshot: &Snapshot, definition: &Definition) -> String {
    let text = snapshot.map().slice(definition.span).trim();
    let has_body = matches!(
        definition.kind,
        DefinitionKind::Model | DefinitionKind::Component | DefinitionKind::Modal
    );
    let text = match (has_body, text.find('{')) {
        (true, Some(brace)) => text[..brace].trim_end(),
        _ => text,
    };
    let words = match definition.kind {
        DefinitionKind::Formal => format!("param {text}"),
        DefinitionKind::StructuralFormal => format!("const {text}"),
        DefinitionKind::Port => format!("port {text}"),
        DefinitionKind::Index => format!("index {text}"),
        _ => text.to_string(),
    };
    match words.char_indices().nth(SHOWN) {
        None => words,
        Some((end, _)) => format!("{} ..", &words[..end]),
    }
}

/// The causality of a storage element, with its states and their equations.
fn causality(snapshot: &Snapshot, definition: &Definition) -> Option<String> {
    let system = snapshot.compilation().system()?;
    let carried = states(system, &definition.name);
    if carried.is_empty() {
        let storage = dependent(system, &definition.name)?;
        let on = match storage.on.is_empty() {
            true => "the sources".to_string(),
            false => format!("`{}`", storage.on.join("`, `")),
        };
        return Some(format!(
            "Derivative causality: no state of its own; it follows from {on}.{}",
            equivalent(storage)
        ));
    }
    let names: Vec<String> = carried
        .iter()
        .take(8)
        .map(|entry| format!("`{}`", entry.1.name))
        .collect();
    let word = if carried.len() == 1 { "state" } else { "states" };
    let mut words = format!("Integral causality, {word} {}.", names.join(", "));
    let places: Vec<usize> = carried.iter().take(8).map(|entry| entry.0).collect();
    if let Some(equations) = symbolic(snapshot).and_then(|system| equations_of(system, &places)) {
        words.push_str(&format!("\n\n```lgm\n{equations}\n```"));
    }
    Some(words)
}

/// A unit or a function of the language.
fn of_word(snapshot: &Snapshot, (source, at): (SourceId, u32)) -> Option<Hover> {
    let text = &snapshot.map().get(source).text;
    let tokens = token::lex(source, text).tokens;
    let place = tokens
        .iter()
        .position(|(start, _, end)| *start <= at as usize && at as usize <= *end)?;
    // Of two that touch, the name counts.
    let place = match (tokens[place].1, tokens.get(place + 1)) {
        (Token::Name(_), _) => place,
        (_, Some((start, Token::Name(_), _))) if *start == at as usize => place + 1,
        _ => place,
    };
    let (start, Token::Name(name), end) = tokens[place] else {
        return None;
    };
    let span = Span::new(source, start, end);
    let is_called = matches!(tokens.get(place + 1), Some((_, Token::ParenOpen, _)));
    let markdown = match (is_called, name) {
        (true, _) => function(name)?.to_string(),
        (_, "gnd") => "`gnd`: the reference node of every domain, of any width".to_string(),
        (_, "time") => "`time`: the time of the run, in seconds".to_string(),
        (_, "pi") => "`pi` = 3.14159..".to_string(),
        _ => unit(name, span)?,
    };
    Some(Hover { span, markdown })
}

fn unit(name: &str, span: Span) -> Option<String> {
    let power = UnitPower {
        name,
        exponent: (1, 1),
        span,
    };
    let found = units::unit_of([power]).ok()?;
    let one = lgm_algebra::expr::to_f64(&found.to_si(&num_rational::BigRational::from_integer(1.into())));
    let si = found.dimension.text();
    let value = lgm_source::diagnostic::six_digits(one);
    Some(match one == 1.0 && si == name {
        true => format!("`{name}`: an SI unit"),
        // Of a pure number nothing is left to be named.
        false if found.dimension.is_none() => format!("1 {name} = {value}"),
        false => format!("1 {name} = {value} {si}"),
    })
}
