//! Modes with equations that are near modes without.

use super::redundant;
use crate::bond;
use crate::options::Options;
use crate::pipeline::time_inputs::formulate_with_time;
use lgm_model::Model;
use lgm_model::system::StateSystem;
use lgm_source::diagnostic::{Diagnostic, has_errors};

/// The maximum number of elements whose modes are changed in pairs during the search.
const MOST_PAIRED: usize = 24;

/// Returns combinations of modes in order of their distance from a given one: itself, then others with one and with two
/// elements in other modes.
pub fn near(modes: &[usize], counts: &[usize]) -> Vec<Vec<usize>> {
    let with = |from: &[usize], at: usize, mode: usize| {
        let mut other = from.to_vec();
        other[at] = mode;
        other
    };
    let others = |at: usize| (0..counts[at]).filter(move |mode| *mode != modes[at]);
    let mut all = vec![modes.to_vec()];
    for at in 0..modes.len() {
        all.extend(others(at).map(|mode| with(modes, at, mode)));
    }
    for first in 0..modes.len().min(MOST_PAIRED) {
        for second in first + 1..modes.len().min(MOST_PAIRED) {
            for mode in others(first) {
                let one = with(modes, first, mode);
                all.extend(others(second).map(|mode| with(&one, second, mode)));
            }
        }
    }
    all
}

/// Returns the model in which redundant laws of modes share a load; unchanged if it has none.
pub fn shared(mut model: Model) -> Model {
    let mut measures = model.measures.iter().map(|entry| (entry.1, entry.0)).collect();
    redundant::share(&mut model, &mut measures);
    model
}

/// The equations of a model, or the diagnostics that explain why there are none.
pub type Made = (Option<(StateSystem, Option<Model>)>, Vec<Diagnostic>);

/// Returns the model in the nearest modes that have equations, with these equations; the same model if the current modes
/// have equations, or if no such modes are found. Initial values that contradict each other in the new modes are
/// omitted: a run then shares the stored quantities.
pub fn first_modes(model: Model, options: &Options) -> (Model, Made) {
    let made = |model: Model| {
        let made = formulate_with_time(&model, &bond::lower(&model), options);
        (model, made)
    };
    let has_equations = |found: &(Model, Made)| found.1.0.is_some() && !has_errors(&found.1.1);
    let written = made(model);
    if has_equations(&written) {
        return written;
    }
    let model = &written.0;
    let counts: Vec<usize> = model
        .switching
        .elements
        .iter()
        .map(|element| element.modes.len())
        .collect();
    near(&model.switching.first_modes(), &counts)
        .into_iter()
        .find_map(|modes| {
            let found = made(shared(model.in_modes(&modes)));
            match has_equations(&found) {
                true => Some(found),
                false => Some(made(found.0.without_starts())).filter(has_equations),
            }
        })
        .unwrap_or(written)
}
