//! Steady states of large systems.
//!
//! Steps of Euler's implicit method, each over a longer time than the one before: `(M - h J) step = h f` with the inputs held. They
//! damp what oscillates, and what is left after the longest ones is at rest. Every step keeps what the equations keep, as the whole
//! volume of tanks that are joined, so that nothing dense is needed to find these combinations; and where J is singular for them,
//! `M - h J` is not.

use crate::motion::{Mass, Motion};
use crate::solvers::finite::all_finite;
use crate::solvers::linear_factors::Balanced;
use crate::solvers::linear_factors::pattern;
use lgm_kernels::SparseKernel;

/// How much longer each step is than the one before. Longer ones are rounded more: what the equations keep would drift.
const LONGER: f64 = 30.0;

/// So many steps are made at most.
const STEPS: usize = 120;

/// What may be left over of the terms of an equation.
const LEFT: f64 = 1e-9;

/// A step this small beside what was seen of the unknowns is the last one.
const SETTLED: f64 = 1e-11;

/// A state of rest.
pub(crate) struct Rest {
    /// States, then loop unknowns.
    pub at: Vec<f64>,
    /// States that nothing changes: they are where they start.
    pub free: Vec<usize>,
}

/// The equations at a point with the inputs held: rates and residuals, and their Jacobian.
struct Linearised {
    values: Vec<f64>,
    entries: Vec<(usize, usize, f64)>,
}

/// Looks for a steady state from states and loop unknowns on; without one, the equation that is farthest from rest.
pub(crate) fn find(motion: &Motion<'_>, time: f64, mut at: Vec<f64>) -> Result<Rest, Option<usize>> {
    let mut here = linearised(motion, time, &at).ok_or(None)?;
    let mut seen: Vec<f64> = at.iter().map(|value| value.abs()).collect();
    let (mut length, mut last) = (first_length(&here, motion.states), f64::INFINITY);
    for _ in 0..STEPS {
        let Some((next, there, moved)) = step(motion, time, (&at, &here), length, &mut seen) else {
            // The equations have no values there.
            length /= LONGER * LONGER;
            last = f64::INFINITY;
            continue;
        };
        (at, here) = (next, there);
        let is_settled = moved <= SETTLED || moved <= 1e-6 && moved >= 0.5 * last;
        if is_settled && left_over(&here, &at).is_none() {
            let free = unchanged(&here, motion.states);
            return Ok(Rest { at, free });
        }
        last = moved;
        length *= LONGER;
        if !length.is_finite() {
            break;
        }
    }
    Err(left_over(&here, &at))
}

/// One step over a time; the point, the equations there, and how far it went for what was seen of each unknown.
fn step(
    motion: &Motion<'_>,
    time: f64,
    (at, here): (&[f64], &Linearised),
    length: f64,
    seen: &mut [f64],
) -> Option<(Vec<f64>, Linearised, f64)> {
    let n = motion.states;
    let mut entries: Vec<(usize, usize, f64)> = here.entries.iter().map(|(r, c, v)| (*r, *c, -length * v)).collect();
    match (&motion.mass, &motion.kernels.mass) {
        (Mass::Constant { values, .. }, Some(mass)) => {
            entries.extend(
                pattern(mass)
                    .entries()
                    .map(|(row, column, at)| (row, column, values[at])),
            );
        }
        _ => entries.extend((0..n).map(|state| (state, state, 1.0))),
    }
    let factor = Balanced::new(at.len(), entries).ok()?;
    let mut step: Vec<f64> = here.values.iter().map(|value| length * value).collect();
    factor.solve(&mut step);
    if !all_finite(&step) {
        return None;
    }
    let next: Vec<f64> = at.iter().zip(&step).map(|(at, step)| at + step).collect();
    let there = linearised(motion, time, &next)?;
    let mut moved: f64 = 0.0;
    for ((seen, next), step) in seen.iter_mut().zip(&next).zip(&step) {
        *seen = seen.max(next.abs());
        if *step != 0.0 {
            moved = moved.max(step.abs() / *seen);
        }
    }
    Some((next, there, moved))
}

/// A time in which little happens: the inverse of the fastest rate on the diagonal, or of the largest there is.
fn first_length(here: &Linearised, states: usize) -> f64 {
    let of_states = here.entries.iter().filter(|entry| entry.0 < states && entry.1 < states);
    let diagonal = of_states
        .clone()
        .filter(|entry| entry.0 == entry.1)
        .map(|entry| entry.2.abs());
    let fastest = diagonal.fold(0.0, f64::max);
    match fastest > 0.0 {
        true => 1.0 / fastest,
        false => 1e-6,
    }
}

/// The equation that is farthest from rest, where one is not as near as rounding allows.
fn left_over(here: &Linearised, at: &[f64]) -> Option<usize> {
    let mut terms = vec![0.0; here.values.len()];
    for (row, column, value) in &here.entries {
        terms[*row] += (value * at[*column]).abs();
    }
    let left = |row: usize| here.values[row].abs() / (terms[row] + f64::MIN_POSITIVE);
    let worst = (0..terms.len()).max_by(|a, b| left(*a).total_cmp(&left(*b)))?;
    (here.values[worst] != 0.0 && left(worst) > LEFT).then_some(worst)
}

/// States on whose rates nothing has an influence, and which are at rest.
fn unchanged(here: &Linearised, states: usize) -> Vec<usize> {
    let mut is_unchanged = vec![true; states];
    for (row, _, value) in &here.entries {
        if *row < states && *value != 0.0 {
            is_unchanged[*row] = false;
        }
    }
    (0..states).filter(|state| is_unchanged[*state]).collect()
}

fn linearised(motion: &Motion<'_>, time: f64, at: &[f64]) -> Option<Linearised> {
    let (n, kernels) = (motion.states, motion.kernels);
    let jacobians = kernels.jacobians(motion.system);
    let still = vec![0.0; motion.system.inputs.len()];
    let (states, unknowns) = at.split_at(n);
    let mut values = vec![0.0; at.len()];
    let (rates, residuals) = values.split_at_mut(n);
    motion.call(&kernels.derivatives, time, states, unknowns, Some(&still), rates);
    motion.call(&kernels.residuals, time, states, unknowns, Some(&still), residuals);
    let mut entries = Vec::new();
    let mut fill = |kernel: &SparseKernel, row: usize, column: usize| {
        let mut stored = vec![0.0; kernel.stored()];
        motion.call(&kernel.values, time, states, unknowns, Some(&still), &mut stored);
        for inner in 0..kernel.rows {
            let own = kernel.row_starts[inner]..kernel.row_starts[inner + 1];
            for (of, value) in kernel.columns_of[own.clone()].iter().zip(&stored[own]) {
                entries.push((row + inner, column + of, *value));
            }
        }
    };
    fill(&jacobians.rates_by_states, 0, 0);
    fill(&jacobians.rates_by_unknowns, 0, n);
    fill(&jacobians.residuals_by_states, n, 0);
    fill(&jacobians.residuals_by_unknowns, n, n);
    let is_finite = all_finite(&values) && entries.iter().all(|entry| entry.2.is_finite());
    is_finite.then_some(Linearised { values, entries })
}
