//! Positions at which the equations are singular: a straight arm, a gimbal lock, a dead centre of a chain.
//!
//! If a run fails, the matrices for the rates and for the loops are compared with those at the start. A matrix that is
//! singular at only one of the two points is the cause. A matrix that was never regular is reported if it is singular
//! to round-off.

use crate::failure::{Blame, FailureKind};
use crate::motion::Motion;
use lgm_algebra::expr::SymbolId;
use lgm_kernels::Arguments;
use lgm_model::system::RateBlock;
use nalgebra::DMatrix;
use rustc_hash::FxHashMap;

/// A singular value below this fraction of its initial value counts as zero.
const LOST: f64 = 1e-3;

/// A singular value below this fraction of the largest one is zero.
const RANK: f64 = 1e-12;

/// A pivot of a chain below this fraction of its smallest initial pivot indicates a dead centre.
const DEAD: f64 = 1e-5;

/// Chains with more unknowns than this are examined only if a run fails.
const WATCHED: usize = 40;

/// The matrix of the chains at the start of the run: its determinant reveals a passed dead centre.
#[derive(Clone, Debug)]
pub(crate) struct ChainWatch {
    is_positive: bool,
    least: f64,
    /// The unknowns after the last step.
    pub(crate) last: Vec<f64>,
    /// The position after the last step.
    pub(crate) behind: Option<Position>,
    /// Before this time no path over a singular position is searched for, because none was found.
    pub(crate) not_over_until: f64,
}

impl ChainWatch {
    /// Continues with the data beyond a singular position, where the determinant may have another sign.
    pub(crate) fn go_on(&mut self, beyond: ChainWatch) {
        self.is_positive = beyond.is_positive;
        self.last = beyond.last;
        self.behind = None;
    }
}

/// A point of a run.
#[derive(Clone, Debug, Default)]
pub(crate) struct Position {
    pub time: f64,
    pub states: Vec<f64>,
    pub unknowns: Vec<f64>,
}

impl Motion<'_> {
    /// Returns the position of the last solution of the loops, with these states.
    pub fn position(&self, time: f64, states: &[f64]) -> Position {
        let mut unknowns = vec![0.0; self.unknowns];
        self.copy_unknowns(&mut unknowns);
        Position {
            time,
            states: states.to_vec(),
            unknowns,
        }
    }

    /// Returns the reason why a run between two points failed: the matrix that became singular, and the variable that
    /// is no longer determined.
    pub fn singular_position(&self, start: &Position, end: &Position) -> Option<(FailureKind, Blame)> {
        let chain = || {
            let unknown = self.lost_unknown(start, end)?;
            Some((FailureKind::DeadCentre, self.unknown(unknown)?))
        };
        let mass = || {
            let state = self.lost_rate(start, end)?;
            Some((FailureKind::SingularPosition, self.state(state)?))
        };
        chain().or_else(mass)
    }

    /// Returns the quantities compared after each step; `None` if there are no chains, or too many.
    pub fn watch_chains(&self, start: &Position) -> Option<ChainWatch> {
        let has_chain = self.system.equations.loops.iter().any(|each| !each.guesses.is_empty());
        if !has_chain || self.unknowns > WATCHED {
            return None;
        }
        let (is_positive, least) = pivots(self.loop_matrix(start))?;
        (least > 0.0).then(|| ChainWatch {
            is_positive,
            least,
            last: start.unknowns.clone(),
            behind: None,
            not_over_until: f64::NEG_INFINITY,
        })
    }

    /// Returns true if a chain is at a dead centre after a step, or is on the other side of one: the equations have no
    /// solution in between, but a step may pass over. The loops are left solved at the point.
    pub fn has_left_chain(&self, watch: &mut Option<ChainWatch>, time: f64, states: &[f64]) -> bool {
        let Some(watch) = watch else { return false };
        // Newton's iteration may have reached another branch from the last trial of a step: it is then repeated from
        // the last step itself.
        for again in [false, true] {
            if again {
                self.guess_unknowns(&watch.last);
            }
            self.solve_loops(time, states);
            let end = self.position(time, states);
            let is_on = match pivots(self.loop_matrix(&end)) {
                Some((is_positive, least)) => is_positive == watch.is_positive && least >= DEAD * watch.least,
                None => true,
            };
            if is_on {
                watch.last = end.unknowns;
                return false;
            }
        }
        true
    }

    /// Returns the state whose rate is no longer determined.
    fn lost_rate(&self, start: &Position, end: &Position) -> Option<usize> {
        let (before, after) = (self.values_at(start), self.values_at(end));
        self.system.equations.rate_blocks.iter().find_map(|block| {
            let (before, after) = (self.matrix(block, &before), self.matrix(block, &after));
            let direction = lost_direction(&before, &after, false)?;
            let rates = block.states.iter().zip(&direction);
            let rates = rates.filter_map(|(state, part)| Some(((*state)? as usize, part.abs())));
            rates.max_by(|a, b| a.1.total_cmp(&b.1)).map(|found| found.0)
        })
    }

    /// Returns the unknown of a loop with initial values, such as a closed chain, that is no longer determined.
    fn lost_unknown(&self, start: &Position, end: &Position) -> Option<usize> {
        let is_chain: Vec<bool> = self
            .system
            .equations
            .loops
            .iter()
            .flat_map(|each| each.unknowns.iter().map(|_| !each.guesses.is_empty()))
            .collect();
        if !is_chain.contains(&true) {
            return None;
        }
        let (before, after) = (self.loop_matrix(start), self.loop_matrix(end));
        let turned = match (pivots(before.clone()), pivots(after.clone())) {
            (Some(before), Some(after)) => before.0 != after.0,
            _ => false,
        };
        let direction = lost_direction(&before, &after, turned)?;
        let largest = (0..direction.len()).max_by(|a, b| direction[*a].abs().total_cmp(&direction[*b].abs()))?;
        is_chain[largest].then_some(largest)
    }

    /// Returns the values of all symbols except assignments at a point.
    pub fn values_at(&self, at: &Position) -> FxHashMap<SymbolId, f64> {
        let system = self.system;
        let (inputs, rates) = self.inputs(at.time);
        let mut values: FxHashMap<SymbolId, f64> = FxHashMap::default();
        values.insert(system.time, at.time);
        let entries = system.parameters.iter().flat_map(|parameter| &parameter.entries);
        values.extend(entries.map(|entry| entry.symbol).zip(self.parameters.iter().copied()));
        let states = system.states.iter().map(|state| state.symbol);
        values.extend(states.zip(at.states.iter().copied()));
        values.extend(system.inputs.iter().map(|input| input.symbol).zip(inputs));
        values.extend(system.input_rates.iter().copied().zip(rates));
        let unknowns = system.equations.loops.iter().flat_map(|entry| &entry.unknowns);
        values.extend(unknowns.copied().zip(at.unknowns.iter().copied()));
        values
    }

    fn matrix(&self, block: &RateBlock, values: &FxHashMap<SymbolId, f64>) -> DMatrix<f64> {
        let mut matrix = DMatrix::zeros(block.rows.len(), block.states.len());
        for (row, entries) in block.rows.iter().enumerate() {
            let ids: Vec<_> = entries.iter().map(|entry| entry.1).collect();
            let found = self
                .system
                .exprs
                .evaluate_unchecked(&ids, &|symbol| values.get(&symbol).copied());
            for (entry, value) in entries.iter().zip(found) {
                matrix[(row, entry.0 as usize)] = value;
            }
        }
        matrix
    }

    /// Returns the partial derivatives of the residuals of all loops with respect to their unknowns.
    pub fn loop_matrix(&self, at: &Position) -> DMatrix<f64> {
        let kernel = &self.kernels.jacobians(self.system).residuals_by_unknowns;
        let (inputs, rates) = self.inputs(at.time);
        let values = kernel.values.values(&Arguments {
            time: at.time,
            parameters: self.parameters,
            states: &at.states,
            inputs: &inputs,
            rates: &rates,
            unknowns: &at.unknowns,
        });
        let mut matrix = DMatrix::zeros(kernel.rows, self.unknowns);
        for row in 0..kernel.rows {
            for entry in kernel.row_starts[row]..kernel.row_starts[row + 1] {
                matrix[(row, kernel.columns_of[entry])] = values[entry];
            }
        }
        matrix
    }
}

/// Returns true if the determinant is positive, and the smallest pivot; `None` if an entry is not finite.
fn pivots(matrix: DMatrix<f64>) -> Option<(bool, f64)> {
    if !matrix.iter().all(|value| value.is_finite()) {
        return None;
    }
    let factors = matrix.full_piv_lu();
    let least = factors
        .u()
        .diagonal()
        .iter()
        .map(|value| value.abs())
        .fold(f64::INFINITY, f64::min);
    Some((factors.determinant() > 0.0, least))
}

/// Returns the direction in which a matrix has become singular, or nearly so if it was singular on the way.
fn lost_direction(before: &DMatrix<f64>, after: &DMatrix<f64>, was_on_the_way: bool) -> Option<Vec<f64>> {
    if before.is_empty() || !before.iter().chain(after.iter()).all(|value| value.is_finite()) {
        return None;
    }
    // Rows and columns of both matrices are scaled to one magnitude, so that units do not matter.
    let (mut before, mut after) = (before.clone(), after.clone());
    for row in 0..before.nrows() {
        scale(
            before
                .row_mut(row)
                .iter_mut()
                .chain(after.row_mut(row).iter_mut())
                .collect(),
        );
    }
    let mut sizes = vec![1.0; before.ncols()];
    for (column, size) in sizes.iter_mut().enumerate() {
        *size = scale(
            before
                .column_mut(column)
                .iter_mut()
                .chain(after.column_mut(column).iter_mut())
                .collect(),
        );
    }
    let values_before = before.singular_values();
    let decomposition = after.svd(false, true);
    let values = &decomposition.singular_values;
    let place = values.imin();
    let is_lost = was_on_the_way || values[place] < LOST * values_before.min() || values[place] < RANK * values.max();
    let direction = decomposition.v_t?.row(place).transpose();
    is_lost.then(|| direction.iter().zip(sizes).map(|(part, size)| part * size).collect())
}

/// Divides numbers by the largest; returns the factor.
fn scale(numbers: Vec<&mut f64>) -> f64 {
    let most = numbers.iter().map(|value| value.abs()).fold(0.0, f64::max);
    let factor = if most > 0.0 { 1.0 / most } else { 1.0 };
    numbers.into_iter().for_each(|value| *value *= factor);
    factor
}
