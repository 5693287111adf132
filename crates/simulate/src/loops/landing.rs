//! The state of a run after the end of a branch of solutions: as if each unknown had a small inertia that stabilises
//! the branch.

use crate::loops::singular::Position;
use crate::loops::solution_branch::End;
use crate::motion::Motion;
use lgm_runtime::branch::{MOVE, MOVES};
use nalgebra::{DVector, Dyn, LU};

/// The factorised slopes of loops with respect to their unknowns, at a point where the branch was stable.
type Slopes = LU<f64, Dyn, Dyn>;

/// The equations just after the end of a branch.
struct Behind<'b, 'm> {
    motion: &'b Motion<'m>,
    end: &'b End,
    /// The states.
    states: &'b [f64],
    slopes: Slopes,
}

impl Motion<'_> {
    /// Returns the solution to which the unknowns drift from the end of a branch, using slopes at a point on it. If
    /// they do not drift, the nearest solution is found.
    pub(crate) fn land(&self, end: &End, anchor: &Position, after: &[f64]) -> Option<Vec<f64>> {
        let behind = Behind {
            motion: self,
            end,
            states: after,
            slopes: self.loop_matrix(anchor).lu(),
        };
        let found = behind.drifts_to().or_else(|| behind.elsewhere(&end.before.unknowns));
        let other = || self.solution_elsewhere(end.after, after);
        found.or_else(|| other().filter(|found| self.is_elsewhere(found, &end.before.unknowns)))
    }
}

impl Behind<'_, '_> {
    /// Returns the solution near a guess, if it is not the end of the branch itself.
    fn elsewhere(&self, guess: &[f64]) -> Option<Vec<f64>> {
        let found = self.motion.unknowns_near(guess, self.end.after, self.states)?;
        let is_elsewhere = self.motion.is_elsewhere(&found, &self.end.before.unknowns);
        is_elsewhere.then_some(found)
    }

    /// Returns the residuals in the scale of the unknowns, which move against them.
    fn drift(&self, at: &DVector<f64>) -> Option<DVector<f64>> {
        let motion = self.motion;
        let mut residuals = vec![0.0; motion.unknowns];
        let (time, kernel) = (self.end.after, &motion.kernels.residuals);
        motion.call(kernel, time, self.states, at.as_slice(), None, &mut residuals);
        let drift = self.slopes.solve(&DVector::from_vec(residuals))?;
        drift.iter().all(|value| value.is_finite()).then_some(drift)
    }

    /// Returns the limit of the drift of the unknowns.
    fn drifts_to(&self) -> Option<Vec<f64>> {
        let mut at = DVector::from_column_slice(&self.end.before.unknowns);
        let last = at.amax().max(1e-9);
        let mut share = 1.0;
        for _ in 0..MOVES {
            let direction = self.drift(&at).filter(|drift| drift.amax() > 0.0)?;
            // Increasing moves lead away from the end, where the drift is small.
            let most = MOVE * (at.amax() + last) / direction.amax();
            let trial = &at - &direction * (share * most.min(1.0f64.max(share)));
            match self.drift(&trial) {
                Some(next) if next.dot(&direction) > 0.0 => {
                    at = trial;
                    share *= 2.0;
                }
                Some(_) => {
                    // A solution is in between.
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
}
