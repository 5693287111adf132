//! What is known of the place under the pointer.

use crate::facts::{dependent, equations_of, is_of_model, parameter, states, symbolic, value_of};
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
    if let Some(value) = parameter(snapshot, definition).and_then(value_of) {
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
            "Derivative causality: no state of its own; it follows from {on}. Equivalent: `{}`.",
            storage.equivalent
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

/// What a function of the language is, with an example.
pub(crate) fn function(name: &str) -> Option<&'static str> {
    const WORDS: &[(&str, &str)] = &[
        (
            "across",
            "`across(e)`: the across variable of an element, from its first node to its second, or of a node against `gnd`",
        ),
        (
            "through",
            "`through(e)`: the through variable of an element, positive from its first node through it to its second",
        ),
        (
            "effort",
            "`effort(e)`: the effort at a port or on a bond, `effort(J -> R1)`",
        ),
        ("flow", "`flow(e)`: the flow at a port or on a bond, `flow(J -> R1)`"),
        ("power", "`power(e)`: the power that an element absorbs"),
        ("energy", "`energy(e)`: the energy that a storage element holds"),
        (
            "int",
            "`int(x)`: the integral over time; of what a storage element holds, from its start, of anything else from 0",
        ),
        ("der", "`der(x)`: the derivative with respect to time"),
        ("step", "`step(t0)`: 0 before `t0`, 1 from then on"),
        (
            "pulse",
            "`pulse(t0, width)`: 1 from `t0` for `width` seconds, otherwise 0",
        ),
        ("ramp", "`ramp(t0)`: 0 before `t0`, then `time - t0`"),
        ("sin", "`sin(x)`: the sine of an angle in radians"),
        ("cos", "`cos(x)`: the cosine of an angle in radians"),
        ("tan", "`tan(x)`: the tangent of an angle in radians"),
        ("atan2", "`atan2(y, x)`: the angle of the point (x, y), from -pi to pi"),
        ("exp", "`exp(x)`: e to a power"),
        ("log", "`log(x)`: the natural logarithm"),
        ("sqrt", "`sqrt(x)`: the square root"),
        ("abs", "`abs(x)`: the size of a number, without its sign"),
        ("sign", "`sign(x)`: -1, 0 or 1"),
        ("floor", "`floor(x)`: the largest whole number that is not above x"),
        ("sum", "`sum(i in 1:n, x[i])`: the sum over an index"),
        ("root", "`root(z in a:b, f)`: the zero of `f` between `a` and `b`"),
        ("min", "`min(a, b)`: the smaller of two"),
        ("max", "`max(a, b)`: the larger of two"),
    ];
    WORDS.iter().find(|entry| entry.0 == name).map(|entry| entry.1)
}
