//! The description of the item at the cursor.

use crate::equations::facts::{declared_value, definitions, equations_of, equivalent, signal_unit, stored, symbolic};
use crate::equations::ports::port_causality;
use crate::equations::relation::relation;
use crate::functions::function;
use crate::keywords::keyword;
use crate::modes::mode_at;
use crate::navigation::name_at;
use crate::snapshot::storage::{groups, listed};
use crate::{Hover, Snapshot};
use lgm_algebra::expr::print;
use lgm_algebra::units::{self, UnitPower};
use lgm_elaborate::analysis::{Definition, DefinitionId, DefinitionKind};
use lgm_source::{SourceId, Span};
use lgm_syntax::token::{self, Token};

/// Longer declarations are truncated to this length.
const SHOWN: usize = 400;

/// Returns the description of the item.
pub(crate) fn hover(snapshot: &Snapshot, at: (SourceId, u32)) -> Option<Hover> {
    if let Some(found) = name_at(snapshot, at) {
        let markdown = of_definition(snapshot, found.definition);
        return Some(Hover {
            span: found.span,
            markdown,
        });
    }
    if let Some(found) = mode_at(snapshot, at) {
        let text = snapshot.map().slice(found.mode.span).trim();
        let words = format!(
            "```lgm\n{}\n```\n\nA mode of `{}`.",
            shown(text),
            found.element.name.text
        );
        return Some(Hover {
            span: found.span,
            markdown: words,
        });
    }
    of_word(snapshot, at)
}

/// Returns the declaration, its documentation, its value, and the resulting equations.
pub(crate) fn of_definition(snapshot: &Snapshot, id: DefinitionId) -> String {
    let definition = snapshot.analysis().get(id);
    let mut parts = vec![format!("```lgm\n{}\n```", declaration(snapshot, definition))];
    parts.extend(definition.doc.as_ref().map(|doc| doc.trim().to_string()));
    parts.extend(described_by_item(snapshot, definition));
    if let Some(value) = declared_value(snapshot, definition) {
        parts.push(format!("Value: {value}"));
    } else if let (DefinitionKind::Signal, Some(unit)) = (definition.kind, signal_unit(snapshot, definition)) {
        parts.push(format!("In {unit}."));
    }
    if let (DefinitionKind::Instance, Some(of)) = (definition.kind, definition.of) {
        let kind = snapshot.analysis().get(of);
        parts.push(format!("```lgm\n{}\n```", declaration(snapshot, kind)));
        parts.extend(kind.doc.as_ref().map(|doc| doc.trim().to_string()));
    }
    match definition.kind {
        DefinitionKind::Output => parts.extend(output_equation(snapshot, definition)),
        DefinitionKind::Node => parts.extend(node_variables(snapshot, definition)),
        _ => {}
    }
    if matches!(
        definition.kind,
        DefinitionKind::Instance | DefinitionKind::State | DefinitionKind::Output
    ) {
        parts.extend(causality(snapshot, definition, LISTED));
    }
    if definition.kind == DefinitionKind::Instance {
        parts.extend(relation(snapshot, definition));
        parts.extend(port_causality(snapshot, definition));
        parts.extend(snapshot.loop_of(definition).map(|(_, own)| own.paragraph()));
    }
    parts.join("\n\n")
}

/// Returns the description of a formal parameter in the `///` lines of its item: "- `R`: resistance of the winding".
fn described_by_item(snapshot: &Snapshot, definition: &Definition) -> Option<String> {
    let item = snapshot.analysis().get(definition.within?);
    let start = format!("- `{}`:", definition.name);
    let mut lines = item
        .doc
        .as_ref()?
        .lines()
        .filter_map(|line| line.trim().strip_prefix(&start));
    lines.next().map(|words| words.trim().to_string())
}

/// Returns the text of a declaration; for an item with a body, only its head.
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
        // A table of an element is known by its name only.
        DefinitionKind::Table if text == &*definition.name => format!("table {text}"),
        _ => text.to_string(),
    };
    shown(&words)
}

/// Returns a text, truncated if it is long.
fn shown(words: &str) -> String {
    match words.char_indices().nth(SHOWN) {
        None => words.to_string(),
        Some((end, _)) => format!("{} ..", &words[..end]),
    }
}

/// Returns the equation of an output with its unit, one line per entry.
fn output_equation(snapshot: &Snapshot, definition: &Definition) -> Option<String> {
    let system = symbolic(snapshot)?;
    let holds = |span: Span| {
        span.source == definition.span.source && definition.span.start <= span.start && span.end <= definition.span.end
    };
    let own = system.outputs.iter().enumerate().filter(|entry| holds(entry.1.span));
    let own: Vec<_> = own.take(LISTED).collect();
    let unit = own.first()?.1.unit.as_ref().filter(|unit| ***unit != *"1");
    let mut lines: Vec<String> = own
        .iter()
        .map(|(at, output)| {
            format!(
                "{} = {}",
                output.name,
                print::text(&system.exprs, system.read_output(*at))
            )
        })
        .collect();
    lines.extend(definitions(
        system,
        own.iter().map(|(at, _)| system.read_output(*at)).collect(),
    ));
    let unit = unit.map_or(String::new(), |unit| format!("In {unit}:\n\n"));
    Some(format!("{unit}```lgm\n{}\n```", lines.join("\n")))
}

/// Returns the variables of a node: `v` in m/s, `F` in N.
fn node_variables(snapshot: &Snapshot, definition: &Definition) -> Option<String> {
    let model = snapshot.compilation().known_model()?;
    let mut nodes = model.graph.nodes.iter();
    let node = nodes.find(|node| model.paths[node.path.index()].span == definition.name_span)?;
    let domain = &model.graph.domains[node.domain?.index()];
    let variable = |name: &str, across: bool| match domain.unit(across) {
        Some(unit) => format!("`{name}` in {unit}"),
        None => format!("`{name}`"),
    };
    Some(format!(
        "A node of `{}`: across {}, through {}.",
        domain.name,
        variable(&domain.across, true),
        variable(&domain.through, false)
    ))
}

/// The maximum number of states, and of storage without states, in a hover.
const LISTED: usize = 8;

/// Returns the causality of the storage of a declaration: states with their equations, and dependent storage with the storage that
/// determines it.
pub(crate) fn causality(snapshot: &Snapshot, definition: &Definition, most: usize) -> Option<String> {
    let stored = stored(snapshot, definition)?;
    let mut parts = Vec::new();
    if !stored.states.is_empty() {
        let names: Vec<&str> = stored.states.iter().map(|entry| &*entry.1.name).collect();
        let word = if names.len() == 1 { "state" } else { "states" };
        parts.push(format!("Integral causality, {word} {}.", quoted(&names, most)));
        let places: Vec<usize> = stored.states.iter().take(most).map(|entry| entry.0).collect();
        if let Some(system) = symbolic(snapshot) {
            parts.push(format!("```lgm\n{}\n```", equations_of(system, &places)));
        }
    }
    let own = &*definition.name;
    let followers = groups(&stored.dependent);
    for (names, on) in followers.iter().take(most) {
        let on = match on.is_empty() {
            true => "the sources".to_string(),
            false => quoted(on, most),
        };
        let first = stored.dependent.iter().find(|storage| *storage.element == *names[0])?;
        let equivalent = equivalent(snapshot, first);
        parts.push(match &names[..] {
            [one] if *one == own => {
                format!("Derivative causality: no state of its own; it follows from {on}.{equivalent}")
            }
            [one] => {
                format!("Derivative causality: `{one}` has no state of its own and follows from {on}.{equivalent}")
            }
            list => {
                let members = stored
                    .dependent
                    .iter()
                    .filter(|storage| names.contains(&&*storage.element));
                let is_same = members.clone().all(|storage| storage.equivalent == first.equivalent);
                let equivalent = if is_same { equivalent } else { String::new() };
                let names = quoted(list, most);
                format!("Derivative causality: {names} have no states of their own and follow from {on}.{equivalent}")
            }
        });
    }
    if followers.len() > most {
        let more: usize = followers.iter().skip(most).map(|group| group.0.len()).sum();
        parts.push(format!("{more} more follow from others."));
    }
    let others: Vec<&str> = stored.others.iter().map(String::as_str).collect();
    match &others[..] {
        [] => {}
        [one] if *one == own => parts.push("No state of its own: other storage or sources determine it.".to_string()),
        list => parts.push(format!(
            "No states of their own: {}. Other storage or sources determine them.",
            quoted(list, most)
        )),
    }
    Some(parts.join("\n\n"))
}

/// Returns a list of quoted names: `` `a`, `b`, .. (7) ``.
fn quoted(names: &[&str], most: usize) -> String {
    listed(&names.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>(), most)
}

/// Returns the description of a keyword, a unit or a function of the language.
fn of_word(snapshot: &Snapshot, (source, at): (SourceId, u32)) -> Option<Hover> {
    let text = &snapshot.map().get(source).text;
    let tokens = token::lex(source, text).tokens;
    let place = tokens
        .iter()
        .position(|(start, _, end)| *start <= at as usize && at as usize <= *end)?;
    // Between two adjacent tokens, the name has priority.
    let place = match (tokens[place].1, tokens.get(place + 1)) {
        (Token::Name(_), _) => place,
        (_, Some((start, Token::Name(_), _))) if *start == at as usize => place + 1,
        _ => place,
    };
    let (start, token, end) = tokens[place];
    let span = Span::new(source, start, end);
    if let Some(markdown) = keyword(&tokens, place, &text[start..end]) {
        return Some(Hover { span, markdown });
    }
    let Token::Name(name) = token else {
        return None;
    };
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
        // A dimensionless number has no unit to name.
        false if found.dimension.is_none() => format!("1 {name} = {value}"),
        false => format!("1 {name} = {value} {si}"),
    })
}
