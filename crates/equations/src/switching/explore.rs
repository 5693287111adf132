//! The combinations of modes that are reachable by changes.

use super::combination::WatchedChange;
use super::conditions::Condition;
use super::events::Events;
use crate::options::Options;
use lgm_model::Model;
use rustc_hash::FxHashSet;
use std::collections::VecDeque;
use std::rc::Rc;
use std::sync::Arc;

/// The combinations found for a model.
#[derive(Clone, Debug)]
pub struct Explored {
    /// The number of combinations of modes, reachable or not; saturates at the largest representable number.
    pub possible: u64,
    /// True if all reachable combinations were examined.
    pub is_complete: bool,
    /// The combinations, nearest to the start first.
    pub combinations: Vec<ExploredModes>,
}

/// One combination of modes.
#[derive(Clone, Debug)]
pub struct ExploredModes {
    /// Elements with their modes.
    pub modes: Vec<(Arc<str>, Arc<str>)>,
    /// The number of states; none if there are no equations.
    pub order: Option<usize>,
    /// Storage without a state of its own.
    pub dependent: Vec<String>,
    /// The reason why it has no equations.
    pub conflict: Option<String>,
}

/// A combination, and the modes to which each of its elements may change.
struct Ways {
    modes: Vec<usize>,
    ways: Vec<Vec<usize>>,
}

/// Explores the combinations reachable from the current modes of a model, breadth first, up to a maximum number.
/// Changes whose condition never holds are not followed. Elements may change together: from a combination without
/// equations, the search continues with the changes of the combination before it.
pub fn explore(model: &Model, options: &Options, most: usize) -> Explored {
    let events = Events::new(model);
    let elements = &model.switching.elements;
    let first = model.switching.first_modes();
    let mut known: FxHashSet<Vec<usize>> = std::iter::once(first.clone()).collect();
    // Each entry has the changes of the combination that leads there.
    let mut waiting: VecDeque<(Vec<usize>, Option<Rc<Ways>>)> = VecDeque::from([(first, None)]);
    let mut combinations = Vec::new();
    while let Some((modes, before)) = waiting.pop_front().filter(|_| combinations.len() < most) {
        let found = events.formulate(&modes, options);
        let made = found.as_ref().ok();
        let named = elements.iter().zip(&modes).map(|(element, mode)| {
            let name: Arc<str> = model.element_name(element.element).into();
            (name, element.modes[*mode].name.clone())
        });
        let dependent = made.iter().flat_map(|made| &made.system.dependent);
        combinations.push(ExploredModes {
            modes: named.collect(),
            order: made.map(|made| made.system.states.len()),
            dependent: dependent.map(|dependent| dependent.element.to_string()).collect(),
            conflict: found.as_ref().err().map(|diagnostics| {
                let first = diagnostics.first();
                first.map_or("it has no equations".to_string(), |first| first.message.clone())
            }),
        });
        let own = made.map(|made| {
            let is_possible = |change: &&WatchedChange| change.condition != Condition::Decided(false);
            let changes = made.combination.changes.iter();
            changes
                .map(|changes| changes.iter().filter(is_possible).map(|change| change.to).collect())
                .collect()
        });
        let own = own.map(|ways| {
            Rc::new(Ways {
                modes: modes.clone(),
                ways,
            })
        });
        // The start has no predecessor, so each change is possible there.
        let all = || {
            let changes = elements
                .iter()
                .zip(&modes)
                .map(|(element, mode)| &element.modes[*mode].changes);
            let ways = changes.map(|changes| changes.iter().map(|change| change.to).collect());
            Rc::new(Ways {
                modes: modes.clone(),
                ways: ways.collect(),
            })
        };
        let own = own.or(before).unwrap_or_else(all);
        for (at, ways) in own
            .ways
            .iter()
            .enumerate()
            .filter(|(at, _)| modes[*at] == own.modes[*at])
        {
            for to in ways {
                let mut next = modes.clone();
                next[at] = *to;
                if known.insert(next.clone()) {
                    waiting.push_back((next, Some(own.clone())));
                }
            }
        }
    }
    let possible = elements.iter().map(|element| element.modes.len() as u64);
    Explored {
        possible: possible.fold(1, u64::saturating_mul),
        is_complete: waiting.is_empty(),
        combinations,
    }
}
