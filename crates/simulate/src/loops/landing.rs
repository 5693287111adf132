//! Where a run comes to from the end of a branch of solutions: as if each unknown had a little inertia with which the branch was stable.

use crate::loops::singular::Position;
use crate::loops::solution_branch::End;
use crate::motion::Motion;
use lgm_runtime::branch::{MOVE, MOVES};
use nalgebra::{DVector, Dyn, LU};

/// The slopes of loops by their unknowns where the branch was stable, solved for.
type Slopes = LU<f64, Dyn, Dyn>;

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
    /// the nearest one that is found.
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
}
