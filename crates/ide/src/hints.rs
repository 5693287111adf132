//! Inlay hints: states and causality of storage, values of derived parameters.

use crate::equations::facts::{is_of_model, parameter, stored, value_of};
use crate::hover::causality;
use crate::snapshot::storage::{groups, listed};
use crate::{Hint, HintKind, Snapshot};
use lgm_elaborate::analysis::{Definition, DefinitionKind};
use lgm_model::Node;

/// Returns the hints of the root text, in text order.
pub(crate) fn hints(snapshot: &Snapshot) -> Vec<Hint> {
    let definitions = snapshot.analysis().definitions.iter();
    let here = definitions.filter(|definition| definition.name_span.source == snapshot.root());
    let mut found: Vec<Hint> = here
        .filter_map(|definition| match definition.kind {
            // Also in a component: the hint covers all of its instances.
            DefinitionKind::Instance | DefinitionKind::State | DefinitionKind::Output => {
                of_storage(snapshot, definition)
            }
            _ if !is_of_model(snapshot, definition) => None,
            DefinitionKind::Parameter => of_parameter(snapshot, definition),
            DefinitionKind::Node | DefinitionKind::Junction => of_node(snapshot, definition),
            _ => None,
        })
        .collect();
    found.extend(of_loops(snapshot));
    found.sort_by_key(|hint| hint.at);
    let text = &snapshot.map().get(snapshot.root()).text;
    for hint in &mut found {
        hint.at = end_of_line(text, hint.at as usize) as u32;
    }
    found
}

/// The maximum number of names of one kind in a hint.
const SHOWN: usize = 3;

/// Returns the hint for the storage of a declaration, its states and dependences: `states m[1].v; m[2], m[3] follow m[1]`.
fn of_storage(snapshot: &Snapshot, definition: &Definition) -> Option<Hint> {
    let stored = stored(snapshot, definition)?;
    let mut parts = Vec::new();
    let states: Vec<&str> = stored.states.iter().map(|entry| &*entry.1.name).collect();
    match &states[..] {
        [] => {}
        [one] => parts.push(format!("state {one}")),
        list => parts.push(format!("states {}", listed(list, SHOWN))),
    }
    let groups = groups(&stored.dependent);
    parts.extend(
        groups
            .iter()
            .take(SHOWN)
            .map(|(names, on)| follow(definition, names, on)),
    );
    if groups.len() > SHOWN {
        let more: usize = groups.iter().skip(SHOWN).map(|group| group.0.len()).sum();
        parts.push(format!("{more} more follow others"));
    }
    match stored.others {
        [] => {}
        [one] if **one == *definition.name => parts.push("no state".to_string()),
        list => {
            parts.push(format!("no state of {}", listed(list, SHOWN)));
        }
    }
    Some(Hint {
        at: behind_name(snapshot, definition),
        kind: HintKind::Causality,
        text: parts.join("; "),
        tooltip: causality(snapshot, definition, SHOWN)?,
    })
}

/// Returns the end of a line, so that a hint does not shift columns, or the location itself if another statement follows on the line.
fn end_of_line(text: &str, at: usize) -> usize {
    let line = text[at..].lines().next().unwrap_or_default();
    let behind = line.split_once(';').map_or("", |entry| entry.1.trim());
    match behind.is_empty() || behind.starts_with("//") {
        true => at + line.trim_end().len(),
        false => at,
    }
}

/// Returns a hint at each instance in an algebraic loop: `linear loop with r2`.
fn of_loops(snapshot: &Snapshot) -> Vec<Hint> {
    if snapshot.loops().is_empty() {
        return Vec::new();
    }
    let definitions = snapshot.analysis().definitions.iter();
    let here = definitions.filter(|definition| {
        definition.kind == DefinitionKind::Instance && definition.name_span.source == snapshot.root()
    });
    let hint = |definition: &Definition| {
        let (name, own) = snapshot.loop_of(definition)?;
        Some(Hint {
            at: behind_name(snapshot, definition),
            kind: HintKind::Causality,
            text: own.words(&name, SHOWN),
            tooltip: own.paragraph(),
        })
    };
    here.filter_map(hint).collect()
}

/// Returns `follows m`, or `c[2], c[3] follow c[1]` for several instances.
fn follow(definition: &Definition, names: &[&str], on: &[&str]) -> String {
    let on = match on.is_empty() {
        true => "the sources".to_string(),
        false => listed(on, SHOWN),
    };
    match names {
        [one] if **one == *definition.name => format!("follows {on}"),
        [one] => format!("{one} follows {on}"),
        list => format!("{} follow {on}", listed(list, SHOWN)),
    }
}

/// Returns the end of the name of a declaration with its indices.
fn behind_name(snapshot: &Snapshot, definition: &Definition) -> u32 {
    let source = definition.name_span.source;
    let text = &snapshot.map().get(source).text;
    let from = definition.name_span.end as usize;
    let (mut depth, mut end) = (0, from);
    for (at, letter) in text[from..].char_indices() {
        match letter {
            '[' => depth += 1,
            ']' => {
                depth -= 1;
                end = from + at + 1;
            }
            _ if depth > 0 || letter.is_whitespace() => {}
            _ => break,
        }
        if depth < 0 {
            break;
        }
    }
    end as u32
}

fn of_parameter(snapshot: &Snapshot, definition: &Definition) -> Option<Hint> {
    let found = parameter(snapshot, definition)?;
    let [entry] = &found.entries[..] else { return None };
    entry.derived?;
    let value = value_of(found)?;
    Some(Hint {
        at: found.value_span.end,
        kind: HintKind::Value,
        text: format!("= {value}"),
        tooltip: format!("`{}` = {value}", definition.name),
    })
}

/// Returns a hint for a node without a declared domain: its domain, and its width if it is a vector.
fn of_node(snapshot: &Snapshot, definition: &Definition) -> Option<Hint> {
    if definition.of.is_some() {
        return None;
    }
    let model = snapshot.compilation().known_model()?;
    let is_it = |node: &&Node| model.paths[node.path.0 as usize].span == definition.name_span;
    let entries: Vec<&Node> = model.graph.nodes.iter().filter(is_it).collect();
    let domain = entries.first()?.domain?;
    let name = &model.graph.domains[domain.0 as usize].name;
    let width = entries.iter().filter_map(|node| node.entry).max().unwrap_or(1);
    let wide = match width {
        1 => String::new(),
        width => format!(", {width} wide"),
    };
    Some(Hint {
        at: behind_name(snapshot, definition),
        kind: HintKind::Domain,
        text: format!(": {name}{wide}"),
        tooltip: format!(
            "`{}` has the domain of what is connected to it: `{name}`{wide}.",
            definition.name
        ),
    })
}
