//! Where a run comes to from the end of a branch of solutions: as if each unknown had a little inertia with which the branch was stable.

use crate::loops::singular::Position;
use crate::loops::solution_branch::End;
use crate::motion::Motion;
use nalgebra::{DVector, Dyn, LU};

/// The slopes of loops by their unknowns where the branch was stable, solved for.
type Slopes = LU<f64, Dyn, Dyn>;

/// Unknowns, and how they drift there.
type Drifting<'d> = (&'d DVector<f64>, &'d DVector<f64>);

/// The equations just behind the end of a branch.
struct Behind<'b, 'm> {
    motion: &'b Motion<'m>,
    end: &'b End,
    /// The states.
    states: &'b [f64],
    slopes: Slopes,
}

impl Motion<'_> {
    /// The solution that the unknowns drift to from the end of a branch, from slopes at a point on it. Where they drift nowhere, it is
    /// the nearest one that is found; but what is stored may have many of one total, and none is better than a wrong one.
    pub(crate) fn land(&self, end: &End, anchor: &Position, after: &[f64]) -> Option<Vec<f64>> {
        let behind = Behind {
            motion: self,
            end,
            states: after,
            slopes: self.loop_matrix(anchor).lu(),
        };
        if self.has_totals() {
            return behind.leaps_to(&anchor.unknowns);
        }
        let found = behind.drifts_to().or_else(|| behind.elsewhere(&end.before.unknowns));
        let other = || self.solution_elsewhere(end.after, after);
        found.or_else(|| other().filter(|found| self.is_elsewhere(found, &end.before.unknowns)))
    }
}

impl Behind<'_, '_> {
    /// The solution near a guess, if it is not the end of the branch itself.
    fn elsewhere(&self, guess: &[f64]) -> Option<Vec<f64>> {
        let found = self.motion.unknowns_near(guess, self.end.after, self.states)?;
        let is_elsewhere = self.motion.is_elsewhere(&found, &self.end.before.unknowns);
        is_elsewhere.then_some(found)
    }

    /// The residuals in the scale of the unknowns, against which these move.
    fn drift(&self, at: &DVector<f64>) -> Option<DVector<f64>> {
        let motion = self.motion;
        let mut residuals = vec![0.0; motion.unknowns];
        let (time, kernel) = (self.end.after, &motion.kernels.residuals);
        motion.call(kernel, time, self.states, at.as_slice(), None, &mut residuals);
        let drift = self.slopes.solve(&DVector::from_vec(residuals))?;
        drift.iter().all(|value| value.is_finite()).then_some(drift)
    }

    /// Where the unknowns drift to.
    fn drifts_to(&self) -> Option<Vec<f64>> {
        let mut at = DVector::from_column_slice(&self.end.before.unknowns);
        let last = at.amax().max(1e-9);
        let mut share = 1.0;
        for _ in 0..MOVES {
            let direction = self.drift(&at).filter(|drift| drift.amax() > 0.0)?;
            // Longer and longer moves lead away from the end, where drift is little.
            let most = MOVE * (at.amax() + last) / direction.amax();
            let trial = &at - &direction * (share * most.min(1.0f64.max(share)));
            match self.drift(&trial) {
                Some(next) if next.dot(&direction) > 0.0 => {
                    at = trial;
                    share *= 2.0;
                }
                Some(_) => {
                    // A solution lies between.
                    let mut guesses = [&trial, &at].into_iter();
                    let found = guesses.find_map(|guess| self.elsewhere(guess.as_slice()));
                    if found.is_some() {
                        return found;
                    }
                    share *= 0.25;
                }
                None => share *= 0.25,
            }
            if at.amax() > 1e100 || share < 1e-30 {
                return None;
            }
        }
        None
    }

    /// Where the unknowns drift to if they may have many solutions: the first stable one.
    fn leaps_to(&self, anchor: &[f64]) -> Option<Vec<f64>> {
        let last = DVector::from_column_slice(&self.end.before.unknowns);
        let size = last.amax().max(DVector::from_column_slice(anchor).amax()).max(1e-9);
        let ahead = &last - DVector::from_column_slice(anchor);
        let came = ahead.amax();
        let mut push = 0.0;
        // Rounding, and what the states are off, makes the end a solution for a little longer, and may hold the unknowns there: then they
        // are pushed over it, on in the direction in which they came, to where they drift on by themselves.
        while push <= PUSH {
            let share = if came > 0.0 { push * size / came } else { 0.0 };
            let from = &last + &ahead * share;
            let drift = self.drift(&from);
            if push == 0.0 || drift.is_some_and(|drift| drift.dot(&ahead) < 0.0) {
                let found = self.drifts_evenly_to(from, size);
                if found.is_some() {
                    return found;
                }
            }
            push = (4.0 * push).max(LEAST);
        }
        None
    }

    /// The same from other unknowns.
    fn drifts_evenly_to(&self, from: DVector<f64>, size: f64) -> Option<Vec<f64>> {
        let last = DVector::from_column_slice(&self.end.before.unknowns);
        let (mut at, mut length) = (from, LEAST * size);
        for _ in 0..MOVES {
            let drift = self.drift(&at).filter(|drift| drift.amax() > 0.0)?;
            let trial = &at - &drift * (length / drift.amax());
            let next = self.drift(&trial);
            let next = next.filter(|next| self.is_even((&at, &drift), (&trial, next)));
            if next.as_ref().is_some_and(|next| next.dot(&drift) > 0.0) {
                at = trial;
                length = (2.0 * length).min((&at - &last).amax());
                continue;
            }
            if next.is_some() {
                // A solution lies between, and Newton's iteration may find another one from there.
                let guesses = [&trial, &at].into_iter();
                let mut found = guesses.filter_map(|guess| self.elsewhere(guess.as_slice()));
                if let Some(found) = found.find(|found| self.is_met((&at, &drift), found)) {
                    return Some(found);
                }
            }
            length *= 0.25;
            if at.amax() > 1e100 || length < LEAST * LEAST * size {
                return None;
            }
        }
        None
    }

    /// Whether a solution is the one that the unknowns drift to: the drift falls evenly all the way to there, and the solution is stable,
    /// so that the determinant of the loops has the sign that it had on the branch.
    fn is_met(&self, (at, drift): Drifting<'_>, found: &[f64]) -> bool {
        let matrix = self.motion.loop_matrix(&Position {
            time: self.end.after,
            states: self.states.to_vec(),
            unknowns: found.to_vec(),
        });
        let is_stable = self.slopes.determinant().signum() == matrix.determinant().signum();
        let found = DVector::from_column_slice(found);
        is_stable && self.is_even((at, drift), (&found, &(0.0 * drift)))
    }

    /// Whether the drift changes evenly on a way, as its middle and those of its halves show: else it may pass solutions.
    fn is_even(&self, from: Drifting<'_>, to: Drifting<'_>) -> bool {
        let middle = (from.0 + to.0) * 0.5;
        self.drift(&middle).is_some_and(|drift| {
            let middle = (&middle, &drift);
            is_between(from, &drift, to)
                && [(from, middle), (middle, to)].into_iter().all(|(from, to)| {
                    let drift = self.drift(&((from.0 + to.0) * 0.5));
                    drift.is_some_and(|drift| is_between(from, &drift, to))
                })
        })
    }
}

/// Whether the drift in the middle of a way is nearly in the middle of those at its ends.
fn is_between(from: Drifting<'_>, middle: &DVector<f64>, to: Drifting<'_>) -> bool {
    let off = (middle - (from.1 + to.1) * 0.5).amax();
    off <= EVEN * from.1.amax().max(to.1.amax())
}

/// The most moves from the end of a branch to another solution, and the longest one as a share of the unknowns.
const MOVES: usize = 2000;

const MOVE: f64 = 0.05;

/// The shortest way over the end of a branch, and the longest push, as shares of the unknowns.
const LEAST: f64 = 1e-8;

const PUSH: f64 = 0.1;

/// How far the drift in the middle of a way may be from the middle of those at its ends, as a share of the larger one.
const EVEN: f64 = 0.25;
