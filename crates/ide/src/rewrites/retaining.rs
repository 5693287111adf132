//! Dependent storage that keeps its state instead of another: what stands first in the text does.

use super::layout::Layout;
use crate::trial::{changed, is_sound};
use crate::{Action, Snapshot};
use lgm_model::Law;
use lgm_model::system::StateSystem;
use lgm_syntax::ast::{Statement, StatementKind};
use lgm_syntax::visit::statements;
use rustc_hash::FxHashSet;

/// The most elements that a title names on each side.
const NAMED: usize = 3;

/// A statement of the model with dependent storage, in itself or in a component or a loop of it, moved in front of what that follows.
pub(super) fn retained(
    snapshot: &Snapshot,
    layout: &Layout<'_>,
    system: &StateSystem,
    statement: &Statement,
) -> Option<Action> {
    let own = names_in(statement);
    let before = with_states(system);
    let wanted: Vec<String> = stateless(snapshot, &before)
        .into_iter()
        .filter(|element| own.contains(&root_of(element)))
        .collect();
    if wanted.is_empty() {
        return None;
    }
    // What they follow, or where that is not known, as in models that are not linear, whatever has a state.
    let mut followed: FxHashSet<&str> = FxHashSet::default();
    for element in &wanted {
        match system.dependent.iter().find(|storage| *storage.element == **element) {
            Some(storage) => followed.extend(storage.on.iter().map(|other| root_of(other))),
            None => followed.extend(before.iter().map(|other| root_of(other))),
        }
    }
    let is_followed = |other: &&Statement| {
        let names = names_in(other);
        names.iter().any(|name| followed.contains(name)) && !names.iter().any(|name| own.contains(name))
    };
    let first = layout
        .of_model()
        .iter()
        .filter(is_followed)
        .min_by_key(|other| other.span.start)?;
    let edits = layout.moved(statement, first)?.to_vec();
    let trial = changed(snapshot, &edits)?;
    let after = trial.compilation().system()?;
    if !is_sound(&trial) || !keeps_experiment(system, after) {
        return None;
    }
    // What follows now is not always what stood first.
    let now = with_states(after);
    let gained: Vec<&str> = now.difference(&before).copied().collect();
    let lost: Vec<&str> = before.difference(&now).copied().collect();
    let is_wanted = gained.iter().all(|name| wanted.iter().any(|element| element == name));
    (is_wanted && !gained.is_empty() && gained.len() == lost.len()).then(|| Action {
        title: format!("retain {} and not {}: declare it first", listed(gained), listed(lost)),
        code: None,
        edits,
    })
}

/// `` `a`, `b`, .. ``
fn listed(mut names: Vec<&str>) -> String {
    names.sort_unstable();
    let shown: Vec<String> = names.iter().take(NAMED).map(|name| format!("`{name}`")).collect();
    match names.len() > NAMED {
        true => format!("{}, ..", shown.join(", ")),
        false => shown.join(", "),
    }
}

/// `cell` of `cell[2].c`.
fn root_of(element: &str) -> &str {
    element.split(['[', '.']).next().unwrap_or(element)
}

/// The instances that a statement declares, in itself or in its loop.
fn names_in(statement: &Statement) -> Vec<&str> {
    let mut names = Vec::new();
    statements(std::slice::from_ref(statement), &mut |inner| {
        if let StatementKind::Instance(instance) = &inner.kind {
            names.push(&*instance.declared.name.text);
        }
    });
    names
}

/// The elements that carry states.
fn with_states(system: &StateSystem) -> FxHashSet<&str> {
    system.states.iter().map(|state| &*state.element).collect()
}

/// The storage elements that carry none.
fn stateless(snapshot: &Snapshot, with_states: &FxHashSet<&str>) -> Vec<String> {
    let Some(model) = snapshot.compilation().model() else {
        return Vec::new();
    };
    let stores = |law: &Law| match law {
        Law::Storage { .. } => true,
        Law::Nonlinear(law) => law.storage.iter().any(Option::is_some),
        _ => false,
    };
    let storage = model.elements.iter().filter(|element| stores(&element.law));
    let names = storage.map(|element| model.path_name(element.path).to_string());
    names.filter(|name| !with_states.contains(name.as_str())).collect()
}

/// Whether what an experiment plots is there after a change.
fn keeps_experiment(before: &StateSystem, after: &StateSystem) -> bool {
    let plotted = before.experiment.plot.iter().map(|curve| &*curve.0);
    let mut known = plotted.filter(|name| !before.recorded(name).is_empty());
    known.all(|name| !after.recorded(name).is_empty())
}
