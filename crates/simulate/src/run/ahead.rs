//! A jump of the right sides just ahead of a point where a solver finds no sufficiently small step.
//!
//! A state that has always been zero, such as an integral that waits for a condition, has no scale yet, and its
//! tolerance is almost zero: a step across the jump at which it begins to move fails for any length. Steps up to the
//! jump never end beyond it by themselves, so the run is continued across it along the slope.

use crate::failure::Failure;
use crate::run::course::Run;
use crate::run::piece::Piece;
use crate::solvers::solver::Solver;

/// The look-ahead distances, as fractions of the run.
pub(crate) const AHEAD: [f64; 4] = [1e-12, 1e-10, 1e-8, 1e-6];

/// The states ahead of a point, along the slope there.
pub(crate) struct Slope {
    time: f64,
    states: Vec<f64>,
    rates: Vec<f64>,
}

impl Slope {
    /// Creates the slope at a point; returns `None` if it has no value.
    pub fn new(run: &Run<'_>, time: f64, states: &[f64]) -> Option<Slope> {
        let mut rates = vec![0.0; states.len()];
        run.motion.rates(time, states, &mut rates).then(|| Slope {
            time,
            states: states.to_vec(),
            rates,
        })
    }

    /// Computes the states at a time.
    pub fn at(&self, time: f64, to: &mut [f64]) {
        for ((to, state), rate) in to.iter_mut().zip(&self.states).zip(&self.rates) {
            *to = state + (time - self.time) * rate;
        }
    }
}

impl Run<'_> {
    /// Checks if a jump just ahead is the cause of a solver's failure; if so, moves the run to its other side.
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

    /// Returns the first instant after a jump along a slope, if one exists up to a time.
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
