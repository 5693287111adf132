//! Dependent storage that gets a state instead of other storage: the storage declared first keeps its state.

use super::layout::Layout;
use crate::snapshot::storage::{declared_at, stores};
use crate::trial::{changed, is_sound};
use crate::{Action, Snapshot};
use lgm_model::system::StateSystem;
use lgm_source::Span;
use lgm_syntax::ast::{Statement, StatementKind};
use lgm_syntax::visit::statements;
use rustc_hash::{FxHashMap, FxHashSet};

/// The maximum number of elements on each side of a title.
const NAMED: usize = 3;

/// Moves a statement with dependent storage, in itself or in its component or loop, before the storage that determines it. In a component
/// or a loop, the change applies to all instances.
pub(super) fn retained(
    snapshot: &Snapshot,
    layout: &Layout<'_>,
    system: &StateSystem,
    (body, statement): (&[Statement], &Statement),
) -> Option<Action> {
    let model = snapshot.compilation().model()?;
    let own = declared_in(statement);
    let before = with_states(system);
    let mut names: FxHashMap<String, Vec<Span>> = FxHashMap::default();
    for element in model.graph.elements.iter().filter(|element| stores(element)) {
        names.insert(model.path_name(element.path), declared_at(model, element));
    }
    let is_wanted = |entry: &(&String, &Vec<Span>)| {
        !before.contains(entry.0.as_str()) && entry.1.iter().any(|place| own.contains(place))
    };
    let wanted: Vec<&String> = names.iter().filter(is_wanted).map(|entry| entry.0).collect();
    if wanted.is_empty() {
        return None;
    }
    // The determining storage or, if it is unknown, as in nonlinear models, all storage with a state.
    let mut followed: FxHashSet<Span> = FxHashSet::default();
    for element in &wanted {
        let known = system.dependent.iter().find(|storage| *storage.element == ***element);
        let on: Vec<&str> = match known {
            Some(storage) => storage.on.iter().map(|other| &**other).collect(),
            None => before.iter().copied().collect(),
        };
        followed.extend(on.iter().filter_map(|other| names.get(*other)).flatten());
    }
    let is_followed = |other: &&Statement| {
        let declared = declared_in(other);
        declared.iter().any(|place| followed.contains(place)) && !declared.iter().any(|place| own.contains(place))
    };
    let first = body.iter().filter(is_followed).min_by_key(|other| other.span.start)?;
    let edits = layout.moved(statement, first)?.to_vec();
    let trial = changed(snapshot, &edits)?;
    let after = trial.compilation().system()?;
    if !is_sound(&trial) || !keeps_experiment(system, after) {
        return None;
    }
    // The dependent element is not always the first one.
    let now = with_states(after);
    let gained: Vec<&str> = now.difference(&before).copied().collect();
    let lost: Vec<&str> = before.difference(&now).copied().collect();
    let is_wanted = gained.iter().all(|name| wanted.iter().any(|element| *element == *name));
    (is_wanted && !gained.is_empty() && gained.len() == lost.len()).then(|| Action {
        title: format!("retain {} and not {}: declare it first", listed(gained), listed(lost)),
        code: None,
        is_fix: false,
        edits,
    })
}

/// Returns a list of quoted names: `` `a`, `b`, .. ``.
fn listed(mut names: Vec<&str>) -> String {
    names.sort_unstable();
    let shown: Vec<String> = names.iter().take(NAMED).map(|name| format!("`{name}`")).collect();
    match names.len() > NAMED {
        true => format!("{}, ..", shown.join(", ")),
        false => shown.join(", "),
    }
}

/// Returns the locations of the names of the instances that a statement declares, in itself or in its loop.
fn declared_in(statement: &Statement) -> Vec<Span> {
    let mut places = Vec::new();
    statements(std::slice::from_ref(statement), &mut |inner| {
        if let StatementKind::Instance(instance) = &inner.kind {
            places.push(instance.declared.name.span);
        }
    });
    places
}

/// Returns the elements with states.
fn with_states(system: &StateSystem) -> FxHashSet<&str> {
    system.states.iter().map(|state| &*state.element).collect()
}

/// Returns true if all curves that an experiment plots exist after a change.
fn keeps_experiment(before: &StateSystem, after: &StateSystem) -> bool {
    let plotted = before.experiment.plot.iter().map(|curve| &*curve.0);
    let mut known = plotted.filter(|name| !before.recorded(name).is_empty());
    known.all(|name| !after.recorded(name).is_empty())
}
