//! Words between the text's own: states and causality of storage, values of derived parameters.

use crate::facts::{dependent, equations_of, equivalent, is_of_model, parameter, states, symbolic, value_of};
use crate::{Hint, HintKind, Snapshot};
use lgm_elaborate::analysis::{Definition, DefinitionKind};
use lgm_model::Node;

/// The hints of the root text, in its order.
pub(crate) fn hints(snapshot: &Snapshot) -> Vec<Hint> {
    let definitions = snapshot.analysis().definitions.iter();
    let here = definitions.filter(|definition| definition.name_span.source == snapshot.root());
    let mut found: Vec<Hint> = here
        .filter(|definition| is_of_model(snapshot, definition))
        .filter_map(|definition| match definition.kind {
            DefinitionKind::Instance => of_instance(snapshot, definition),
            DefinitionKind::Parameter => of_parameter(snapshot, definition),
            DefinitionKind::Node | DefinitionKind::Junction => of_node(snapshot, definition),
            _ => None,
        })
        .collect();
    found.sort_by_key(|hint| hint.at);
    found
}

/// The most states that a hint lists.
const SHOWN: usize = 3;

fn of_instance(snapshot: &Snapshot, definition: &Definition) -> Option<Hint> {
    let system = snapshot.compilation().system()?;
    let carried = states(system, &definition.name);
    let (text, tooltip) = match (&carried[..], dependent(system, &definition.name)) {
        ([], None) => return None,
        ([], Some(storage)) => {
            let on = match storage.on.is_empty() {
                true => "the sources".to_string(),
                false => storage.on.join(", "),
            };
            let tooltip = format!(
                "Derivative causality: `{}` has no state of its own and follows from {on}.{}",
                definition.name,
                equivalent(storage)
            );
            (format!("follows {on}"), tooltip)
        }
        (list, _) => {
            let names: Vec<&str> = list.iter().take(SHOWN).map(|entry| &*entry.1.name).collect();
            let more = match list.len() > SHOWN {
                true => format!(", .. ({} states)", list.len()),
                false => String::new(),
            };
            let places: Vec<usize> = list.iter().take(SHOWN).map(|entry| entry.0).collect();
            let equations = symbolic(snapshot).and_then(|system| equations_of(system, &places));
            let tooltip = match equations {
                Some(equations) => format!("Integral causality.\n\n```lgm\n{equations}\n```"),
                None => "Integral causality.".to_string(),
            };
            (format!("state {}{more}", names.join(", ")), tooltip)
        }
    };
    Some(Hint {
        at: definition.name_span.end,
        kind: HintKind::Causality,
        text,
        tooltip,
    })
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

/// The domain of a node that declares none, and its width if it is a vector.
fn of_node(snapshot: &Snapshot, definition: &Definition) -> Option<Hint> {
    if definition.of.is_some() {
        return None;
    }
    let model = snapshot.compilation().model()?;
    let is_it = |node: &&Node| model.paths[node.path.0 as usize].span == definition.name_span;
    let entries: Vec<&Node> = model.nodes.iter().filter(is_it).collect();
    let domain = entries.first()?.domain?;
    let name = &model.domains[domain.0 as usize].name;
    let width = entries.iter().filter_map(|node| node.entry).max().unwrap_or(1);
    let wide = match width {
        1 => String::new(),
        width => format!(", {width} wide"),
    };
    Some(Hint {
        at: definition.name_span.end,
        kind: HintKind::Domain,
        text: format!(": {name}{wide}"),
        tooltip: format!(
            "`{}` has the domain of what is connected to it: `{name}`{wide}.",
            definition.name
        ),
    })
}
