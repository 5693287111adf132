//! Modes that have equations, beside others that have none.

use crate::bond;
use crate::index_reduction::time_inputs::formulate_with_time;
use crate::options::Options;
use lgm_model::Model;
use lgm_source::diagnostic::has_errors;

/// Of the elements, so many have their modes changed two by two in the search.
const MOST_PAIRED: usize = 24;

/// Combinations of modes in order of their distance from one: itself, then others with one and with two elements in other modes.
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

/// The model in the nearest modes that have equations; none where those that it is in have some, and where none are found. Starts that
/// contradict each other in these modes are left out: there a run shares what storage holds.
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
            let model = model.in_modes(&modes);
            if has_equations(&model) {
                return Some(model);
            }
            let without = model.without_starts();
            has_equations(&without).then_some(without)
        })
}
