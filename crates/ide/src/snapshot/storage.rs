//! The storage of a declaration in the equations: an instance in a loop, or in a component that is used more than once, stands for several
//! elements, with or without states.

use lgm_model::system::{DependentStorage, State, StateSystem};
use lgm_model::{Element, Law, Model, PathId};
use lgm_source::Span;
use rustc_hash::{FxHashMap, FxHashSet};

/// The states and the dependent storage of each declaration, by the location of its name.
#[derive(Debug, Default)]
pub(crate) struct Storages(FxHashMap<Span, Entries>);

/// Indices into the lists of the equations.
#[derive(Debug, Default)]
struct Entries {
    states: Vec<usize>,
    dependent: Vec<usize>,
    /// Storage without a state whose determining storage is unknown: in nonlinear models.
    others: Vec<String>,
}

/// The meaning of one declaration.
#[derive(Debug, Default)]
pub(crate) struct Stored<'s> {
    /// Its states, each with its index in the states of the system.
    pub states: Vec<(usize, &'s State)>,
    /// Storage determined by other storage or by sources.
    pub dependent: Vec<&'s DependentStorage>,
    /// Storage without a state whose determining elements are unknown.
    pub others: &'s [String],
}

/// Returns true if an element stores energy.
pub(crate) fn stores(element: &Element) -> bool {
    match &element.law {
        Law::Storage { .. } => true,
        Law::Nonlinear(law) => law.storage.iter().any(Option::is_some),
        _ => false,
    }
}

/// Returns the locations of the names in the declaration of an element: its own name, and those of the instances that contain it.
pub(crate) fn declared_at(model: &Model, element: &Element) -> Vec<Span> {
    spans_of(model, element.path)
}

/// Returns the locations of the names of a path.
fn spans_of(model: &Model, path: PathId) -> Vec<Span> {
    let parent = |path: &PathId| model.paths[path.index()].parent;
    let chain = std::iter::successors(Some(path), parent);
    chain.map(|path| model.paths[path.index()].span).collect()
}

impl Storages {
    /// Collects the storage in one pass over the elements of a model.
    pub(crate) fn of(model: &Model, system: &StateSystem) -> Storages {
        let mut states: FxHashMap<&str, Vec<usize>> = FxHashMap::default();
        for (at, state) in system.states.iter().enumerate() {
            states.entry(&state.element).or_default().push(at);
        }
        let dependent: FxHashMap<&str, usize> = system
            .dependent
            .iter()
            .enumerate()
            .map(|(at, storage)| (&*storage.element, at))
            .collect();
        let (mut found, mut seen) = (Storages::default(), FxHashSet::default());
        for element in &model.graph.elements {
            let name = model.path_name(element.path);
            let (carried, follows) = (states.get(&*name), dependent.get(&*name));
            let is_other = carried.is_none() && follows.is_none() && stores(element);
            if carried.is_none() && follows.is_none() && !is_other {
                continue;
            }
            for span in declared_at(model, element) {
                let entries = found.0.entry(span).or_default();
                entries.states.extend(carried.into_iter().flatten());
                entries.dependent.extend(follows);
                entries.others.extend(is_other.then(|| name.clone()));
            }
            seen.extend(carried.into_iter().flatten().copied());
        }
        // Declared states belong to no element, and may also be in components; states added for outputs are not part of the model.
        let integrals = model.integrals.iter().map(|integral| integral.path);
        let integrals: FxHashMap<String, PathId> = integrals.map(|path| (model.path_name(path), path)).collect();
        let states = system.states.iter().enumerate();
        for (at, state) in states.filter(|entry| !seen.contains(&entry.0)) {
            let spans = match integrals.get(&*state.name) {
                Some(path) => spans_of(model, *path),
                None => vec![state.span],
            };
            for span in spans {
                found.0.entry(span).or_default().states.push(at);
            }
        }
        found
    }
}

impl Storages {
    /// Returns the elements of the declaration whose name is at a location; none if it stores nothing.
    pub(crate) fn at<'s>(&'s self, system: &'s StateSystem, name: Span) -> Option<Stored<'s>> {
        let entries = self.0.get(&name)?;
        Some(Stored {
            states: entries.states.iter().map(|at| (*at, &system.states[*at])).collect(),
            dependent: entries.dependent.iter().map(|at| &system.dependent[*at]).collect(),
            others: &entries.others,
        })
    }
}

/// Returns the names as `a, b, c`, or `a, b, .. (7)` for a longer list.
pub(crate) fn listed<N: AsRef<str>>(names: &[N], most: usize) -> String {
    let shown: Vec<&str> = names.iter().take(most).map(AsRef::as_ref).collect();
    match names.len() > most {
        true => format!("{}, .. ({})", shown.join(", "), names.len()),
        false => shown.join(", "),
    }
}

/// Groups dependent storage by its determining elements, in the order of the equations.
pub(crate) fn groups<'s>(dependent: &[&'s DependentStorage]) -> Vec<(Vec<&'s str>, Vec<&'s str>)> {
    let mut found: Vec<(Vec<&str>, Vec<&str>)> = Vec::new();
    for storage in dependent {
        let on: Vec<&str> = storage.on.iter().map(|name| &**name).collect();
        match found.iter_mut().find(|group| group.1 == on) {
            Some(group) => group.0.push(&storage.element),
            None => found.push((vec![&storage.element], on)),
        }
    }
    found
}
