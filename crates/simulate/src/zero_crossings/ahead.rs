//! A jump of the right sides just ahead of where a solver finds no step that is small enough.
//!
//! A state that has been at zero all along, as an integral that waits for a condition, has no size yet, and its tolerance is next to
//! nothing: a step across the jump at which it begins to move fails however short it is. Steps up to the jump do not come to lie
//! behind it by themselves, so the run is carried over it along the slope.

use crate::failure::Failure;
use crate::run::course::Run;
use crate::run::piece::Piece;
use crate::solvers::solver::Solver;

/// How far ahead it is looked, as shares of the run.
pub(crate) const AHEAD: [f64; 4] = [1e-12, 1e-10, 1e-8, 1e-6];

/// The states ahead of a point, along the slope there.
pub(crate) struct Slope {
    time: f64,
    states: Vec<f64>,
    rates: Vec<f64>,
}

impl Slope {
    /// None where there is no slope.
    pub fn new(run: &Run<'_>, time: f64, states: &[f64]) -> Option<Slope> {
        let mut rates = vec![0.0; states.len()];
        run.motion.rates(time, states, &mut rates).then(|| Slope {
            time,
            states: states.to_vec(),
            rates,
        })
    }

    /// The states at a time.
    pub fn at(&self, time: f64, to: &mut [f64]) {
        for ((to, state), rate) in to.iter_mut().zip(&self.states).zip(&self.rates) {
            *to = state + (time - self.time) * rate;
        }
    }
}

impl Run<'_> {
    /// Where a solver gives up: whether that is because of a jump just ahead. Then the run is on its other side.
    pub(crate) fn pass_jump_ahead(&mut self, solver: &dyn Solver) -> Result<Option<Piece>, Failure> {
        let time = solver.time();
        self.guess_branch();
        let slope = self.events.is_some().then(|| Slope::new(self, time, solver.states()));
        let Some(slope) = slope.flatten() else {
            return Ok(None);
        };
        let mut states = solver.states().to_vec();
        for share in AHEAD {
            let to = (time + share * (self.plan.stop - self.plan.start)).min(self.end_of_piece());
            let Some(after) = self.jump_until(&slope, (time, to), &mut states) else {
                continue;
            };
            while self.row < self.plan.points && self.plan.time(self.row) < after {
                let row = self.plan.time(self.row);
                slope.at(row, &mut states);
                self.guess_branch();
                self.write_row(row, &states)?;
                self.row += 1;
            }
            slope.at(after, &mut states);
            self.guess_branch();
            let steps = self.done.steps + solver.counts().steps;
            return self.event(after, states, steps).map(Some);
        }
        Ok(None)
    }

    /// The first instant behind a jump along a slope, if there is one up to a time.
    fn jump_until(&mut self, slope: &Slope, (mut before, mut after): (f64, f64), states: &mut [f64]) -> Option<f64> {
        let mut has_jumped = |run: &mut Self, time: f64| {
            slope.at(time, states);
            run.guess_branch();
            let events = run.events.as_mut();
            events.is_some_and(|events| events.has_jumped_at(run.motion, time, states))
        };
        if after <= before || !has_jumped(self, after) {
            return None;
        }
        loop {
            let middle = before + 0.5 * (after - before);
            if middle <= before || middle >= after {
                return Some(after);
            }
            match has_jumped(self, middle) {
                true => after = middle,
                false => before = middle,
            }
        }
    }
}
