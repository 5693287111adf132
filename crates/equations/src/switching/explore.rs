//! The combinations of modes that changes lead to.

use super::conditions::Condition;
use super::events::Events;
use crate::options::Options;
use lgm_model::Model;
use rustc_hash::FxHashSet;
use std::collections::VecDeque;
use std::sync::Arc;

/// The combinations of a model that were found.
#[derive(Clone, Debug)]
pub struct Explored {
    /// The number of combinations that the modes make, reached or not; the largest number that is counted where there are more.
    pub possible: u64,
    /// Returns true if all that can be reached was looked at.
    pub is_complete: bool,
    /// The combinations, nearest to the start first.
    pub combinations: Vec<ExploredModes>,
}

/// One combination of modes.
#[derive(Clone, Debug)]
pub struct ExploredModes {
    /// Elements with their modes.
    pub modes: Vec<(Arc<str>, Arc<str>)>,
    /// The number of states; none where there are no equations.
    pub order: Option<usize>,
    /// Storage without a state of its own.
    pub dependent: Vec<String>,
    /// The reason without equations.
    pub conflict: Option<String>,
}

/// Looks through the combinations that a model can come to from the modes that it is in, breadth first, at most so many. Changes whose
/// condition never holds are not followed, nor are those of a combination without equations.
pub fn explore(model: &Model, options: &Options, most: usize) -> Explored {
    let events = Events::new(model);
    let elements = &model.switching.elements;
    let mut waiting = VecDeque::from([model.switching.first_modes()]);
    let mut known: FxHashSet<Vec<usize>> = waiting.iter().cloned().collect();
    let mut combinations = Vec::new();
    while let Some(modes) = waiting.pop_front().filter(|_| combinations.len() < most) {
        let (made, diagnostics) = events.formulate(&modes, options);
        let named = elements.iter().zip(&modes).map(|(element, mode)| {
            let name: Arc<str> = model.element_name(element.element).into();
            (name, element.modes[*mode].name.clone())
        });
        let dependent = made.iter().flat_map(|made| &made.system.dependent);
        combinations.push(ExploredModes {
            modes: named.collect(),
            order: made.as_ref().map(|made| made.system.states.len()),
            dependent: dependent.map(|dependent| dependent.element.to_string()).collect(),
            conflict: made.is_none().then(|| {
                let first = diagnostics.first();
                first.map_or("it has no equations".to_string(), |first| first.message.clone())
            }),
        });
        let changes = made.into_iter().flat_map(|made| made.combination.changes).enumerate();
        for (at, changes) in changes {
            for change in changes
                .iter()
                .filter(|change| change.condition != Condition::Decided(false))
            {
                let mut next = modes.clone();
                next[at] = change.to;
                if known.insert(next.clone()) {
                    waiting.push_back(next);
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
