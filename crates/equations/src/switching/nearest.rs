//! Modes with equations that are near modes without.

use super::redundant;
use crate::bond;
use crate::options::Options;
use crate::pipeline::time_inputs::formulate_with_time;
use lgm_model::Model;
use lgm_source::diagnostic::has_errors;

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

/// Returns the model in the nearest modes that have equations; `None` if the current modes have equations, or if no
/// such modes are found. Initial values that contradict each other in these modes are omitted: a run then shares the
/// stored quantities.
pub fn first_modes(model: &Model, options: &Options) -> Option<Model> {
    let has_equations = |model: &Model| {
        let (made, diagnostics) = formulate_with_time(model, &bond::lower(model), options);
        made.is_some() && !has_errors(&diagnostics)
    };
    if has_equations(model) {
        return None;
    }
    let counts: Vec<usize> = model
        .switching
        .elements
        .iter()
        .map(|element| element.modes.len())
        .collect();
    near(&model.switching.first_modes(), &counts)
        .into_iter()
        .find_map(|modes| {
            let model = shared(model.in_modes(&modes));
            if has_equations(&model) {
                return Some(model);
            }
            let without = model.without_starts();
            has_equations(&without).then_some(without)
        })
}
