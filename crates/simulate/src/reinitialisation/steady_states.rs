//! Steady states of large systems, with sparse matrices: conserved quantities are found without dense ones.

use crate::finite::all_finite;
use crate::linear_factors::Balanced;
use crate::linear_factors::pattern;
use crate::motion::{Mass, Motion};
use lgm_kernels::SparseKernel;
use lgm_numerics::settle::{self, Place, settle};

/// The largest residual of an equation, relative to its terms.
const LEFT: f64 = 1e-9;

/// A steady state.
pub(crate) struct Rest {
    /// States, then loop unknowns.
    pub at: Vec<f64>,
    /// States that nothing changes: they keep their initial values.
    pub free: Vec<usize>,
}

/// Row, column and value of each partial derivative of the rates and residuals.
type Entries = Vec<(usize, usize, f64)>;

/// A motion with the inputs held.
struct Held<'a, 'm> {
    motion: &'a Motion<'m>,
    time: f64,
}

/// Searches for a steady state from given states and loop unknowns; the error is the equation that is farthest from rest.
pub(crate) fn find(motion: &Motion<'_>, time: f64, at: Vec<f64>) -> Result<Rest, Option<usize>> {
    match settle(&mut Held { motion, time }, at) {
        Ok(place) => Ok(Rest {
            free: unchanged(&place.slopes, motion.states),
            at: place.at,
        }),
        Err(Some(Place { at, values, slopes })) => Err(left_over(&values, &slopes, &at)),
        Err(None) => Err(None),
    }
}

impl settle::Motion for Held<'_, '_> {
    type Slopes = Entries;

    fn linearised(&mut self, at: &[f64]) -> Option<(Vec<f64>, Entries)> {
        linearised(self.motion, self.time, at)
    }

    fn solve(&self, slopes: &Entries, length: f64, right: &mut [f64]) -> bool {
        let motion = self.motion;
        let mut entries: Entries = slopes.iter().map(|(r, c, v)| (*r, *c, -length * v)).collect();
        match (&motion.mass, &motion.kernels.mass) {
            (Mass::Constant { values, .. }, Some(mass)) => {
                let places = pattern(mass);
                let of_mass = places.entries();
                entries.extend(of_mass.map(|(row, column, at)| (row, column, values[at])));
            }
            _ => entries.extend((0..motion.states).map(|state| (state, state, 1.0))),
        }
        let factor = Balanced::new(right.len(), entries);
        factor.is_ok_and(|factor| {
            factor.solve(right);
            true
        })
    }

    fn along(&self, slopes: &Entries, step: &[f64]) -> Vec<f64> {
        let mut product = vec![0.0; step.len()];
        for (row, column, value) in slopes {
            product[*row] += value * step[*column];
        }
        product
    }

    fn rates(&self, slopes: &Entries) -> Vec<f64> {
        let mut diagonal = vec![0.0; self.motion.states];
        for (row, _, value) in slopes.iter().filter(|entry| entry.0 == entry.1) {
            if let Some(rate) = diagonal.get_mut(*row) {
                *rate += value;
            }
        }
        diagonal
    }

    fn is_at_rest(&self, at: &[f64], values: &[f64], slopes: &Entries) -> bool {
        left_over(values, slopes, at).is_none()
    }
}

/// Returns the equation that is farthest from rest, if an equation has a residual beyond round-off.
fn left_over(values: &[f64], slopes: &Entries, at: &[f64]) -> Option<usize> {
    let mut terms = vec![0.0; values.len()];
    for (row, column, value) in slopes {
        terms[*row] += (value * at[*column]).abs();
    }
    let left = |row: usize| values[row].abs() / (terms[row] + f64::MIN_POSITIVE);
    let worst = (0..terms.len()).max_by(|a, b| left(*a).total_cmp(&left(*b)))?;
    (values[worst] != 0.0 && left(worst) > LEFT).then_some(worst)
}

/// Returns states at rest whose rates depend on no state and no unknown.
fn unchanged(slopes: &Entries, states: usize) -> Vec<usize> {
    let mut is_unchanged = vec![true; states];
    for (row, _, value) in slopes {
        if *row < states && *value != 0.0 {
            is_unchanged[*row] = false;
        }
    }
    (0..states).filter(|state| is_unchanged[*state]).collect()
}

/// Returns the rates and residuals at a point with the inputs held, and their partial derivatives.
fn linearised(motion: &Motion<'_>, time: f64, at: &[f64]) -> Option<(Vec<f64>, Entries)> {
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
    is_finite.then_some((values, entries))
}
