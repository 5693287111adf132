//! The combinations of modes that a program contains.

use super::{Changes, refused};
use lgm_equations::Options;
use lgm_equations::switching::{Condition, InModes, near};
use lgm_source::diagnostic::Diagnostic;
use rustc_hash::FxHashMap;
use std::collections::VecDeque;
use std::sync::Arc;

/// The maximum number of combinations of modes in a program.
const MOST_COMBINATIONS: usize = 256;

/// Equations of more combinations are not shortened, which takes longer than forming them: nobody reads them all.
const MOST_READ: usize = 16;

/// A combination with its equations, or the reason why it has no equations.
pub(super) type Made = (Vec<usize>, Result<InModes, String>);

/// The combinations formulated so far, in order of discovery.
struct Table<'c, 'a> {
    changes: &'c Changes<'a>,
    options: Options,
    made: Vec<Made>,
    places: FxHashMap<Vec<usize>, usize>,
}

impl Table<'_, '_> {
    /// Returns the index of a combination, which is formulated on first request.
    fn place(&mut self, modes: &[usize]) -> usize {
        if let Some(place) = self.places.get(modes) {
            return *place;
        }
        let found = self
            .changes
            .events
            .formulate(modes, &self.options)
            .map_err(|diagnostics| {
                let first = diagnostics.first();
                first.map_or("they have no equations".to_string(), |first| first.message.clone())
            });
        self.made.push((modes.to_vec(), found.map(Arc::unwrap_or_clone)));
        self.places.insert(modes.to_vec(), self.made.len() - 1);
        self.made.len() - 1
    }

    /// Returns the combinations reachable from this one: by a change or, if it has no equations, the nearest alternatives.
    fn next(&mut self, place: usize, counts: &[usize]) -> Vec<Vec<usize>> {
        let modes = self.made[place].0.clone();
        if let Ok(made) = &self.made[place].1 {
            let changes = made.combination.changes.iter().enumerate();
            let followed = changes.flat_map(|(at, changes)| {
                let real = changes
                    .iter()
                    .filter(|change| change.condition != Condition::Decided(false));
                real.map(move |change| (at, change.to))
            });
            return followed
                .map(|(at, to)| {
                    let mut next = modes.clone();
                    next[at] = to;
                    next
                })
                .collect();
        }
        let mut tried = Vec::new();
        for candidate in near(&modes, counts) {
            let place = self.place(&candidate);
            tried.push(candidate);
            if self.made[place].1.is_ok() || self.made.len() > MOST_COMBINATIONS {
                break;
            }
        }
        tried
    }
}

/// Returns all combinations of a model's modes or, if there are too many, the reachable ones; an error if these exceed the limit.
pub(super) fn combinations(changes: &Changes<'_>) -> Result<Vec<Made>, Diagnostic> {
    let model = changes.events.model();
    let elements = &model.switching.elements;
    let counts: Vec<usize> = elements.iter().map(|element| element.modes.len()).collect();
    let possible = counts
        .iter()
        .fold(1, |all: usize, count| all.saturating_mul((*count).max(1)));
    let mut table = Table {
        changes,
        options: Options {
            readable: changes.options.readable && possible <= MOST_READ,
            ..changes.options.clone()
        },
        made: Vec::new(),
        places: FxHashMap::default(),
    };
    let first = model.switching.first_modes();
    if possible <= MOST_COMBINATIONS {
        table.place(&first);
        for index in 0..possible {
            let mut rest = index;
            let digit = |count: &usize| {
                let digit = rest % count;
                rest /= count;
                digit
            };
            let modes: Vec<usize> = counts.iter().map(digit).collect();
            table.place(&modes);
        }
        return Ok(table.made);
    }
    let mut waiting = VecDeque::from([table.place(&first)]);
    let mut followed = rustc_hash::FxHashSet::default();
    while let Some(place) = waiting.pop_front() {
        if followed.insert(place) {
            for next in table.next(place, &counts) {
                waiting.push_back(table.place(&next));
            }
        }
        if table.made.len() > MOST_COMBINATIONS {
            return Err(too_many(changes));
        }
    }
    Ok(table.made)
}

fn too_many(changes: &Changes<'_>) -> Diagnostic {
    let model = changes.events.model();
    let names = model.switching.elements.iter().take(4);
    let names: Vec<String> = names
        .map(|element| format!("`{}`", model.element_name(element.element)))
        .collect();
    let reason = format!(
        "the modes of {}, .. can be combined in more than {MOST_COMBINATIONS} ways",
        names.join(", ")
    );
    let help = "run it with `lgm simulate`, which derives the equations of a combination on demand; or emit a part \
        of the model with fewer elements with modes";
    refused(&model.heading.name, &reason, help)
}
