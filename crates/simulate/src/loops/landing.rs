//! The state of a run after the end of a branch of solutions: as if each unknown had a small inertia that stabilises
//! the branch.

use crate::loops::singular::Position;
use crate::loops::solution_branch::End;
use crate::motion::Motion;
use lgm_runtime::branch::drift_from;

impl Motion<'_> {
    /// Returns the solution to which the unknowns drift from the end of a branch, using slopes at a point on it. If
    /// they do not drift, the nearest solution is found.
    pub(crate) fn land(&self, end: &End, anchor: &Position, after: &[f64]) -> Option<Vec<f64>> {
        let slopes = self.loop_matrix(anchor).lu();
        let drift = |here: &mut Position, at: &Vec<f64>| {
            here.unknowns.clone_from(at);
            let drift = slopes.solve(&self.residuals_at(here))?;
            let is_finite = drift.iter().all(|value| value.is_finite());
            is_finite.then(|| drift.as_slice().to_vec())
        };
        let last = &end.before.unknowns;
        let elsewhere = |guess: &Vec<f64>| {
            let found = self.unknowns_near(guess, end.after, after);
            found.filter(|found| self.is_elsewhere(found, last))
        };
        let mut here = Position {
            time: end.after,
            states: after.to_vec(),
            unknowns: Vec::new(),
        };
        let found = drift_from(&mut here, last, drift, |_, guess| elsewhere(guess));
        let found = found.or_else(|| elsewhere(last));
        let other = || self.solution_elsewhere(end.after, after);
        found.or_else(|| other().filter(|found| self.is_elsewhere(found, last)))
    }
}
