//! Conditions on states: where they change is located on the solution between two steps.

use super::motion::Motion;
use super::solver::{Solver, SolverFault};
use crate::kernels::{Corners, Kernel};

/// So many events within [`SHORT`] of the run are chatter.
const CHATTER: usize = 100;

/// A share of the run within which nothing real happens a hundred times.
const SHORT: f64 = 1e-9;

/// Watches the conditions of a run.
pub(super) struct Events<'a> {
    crossings: &'a Kernel,
    /// Conditions at which a right side may jump.
    jumping: Vec<usize>,
    /// The sign of each where the last step ended; 0 where it has none yet.
    signs: Vec<i8>,
    values: Vec<f64>,
    unknowns: Vec<f64>,
    states: Vec<f64>,
    recent: Vec<f64>,
}

impl<'a> Events<'a> {
    /// None where no condition on states makes a right side jump.
    pub fn new(corners: &'a Corners, motion: &Motion<'_>) -> Option<Events<'a>> {
        let conditions = corners.conditions().iter().enumerate();
        let jumping: Vec<usize> = conditions.filter(|entry| entry.1.jumps).map(|entry| entry.0).collect();
        if jumping.is_empty() {
            return None;
        }
        Some(Events {
            crossings: corners.crossings(),
            signs: vec![0; jumping.len()],
            jumping,
            values: vec![0.0; corners.crossings().outputs()],
            unknowns: vec![0.0; motion.unknowns],
            states: vec![0.0; motion.states],
            recent: Vec::new(),
        })
    }

    fn evaluate(&mut self, motion: &Motion<'_>, time: f64) {
        motion.solve_loops(time, &self.states);
        motion.copy_unknowns(&mut self.unknowns);
        motion.call(
            self.crossings,
            time,
            &self.states,
            &self.unknowns,
            None,
            &mut self.values,
        );
    }

    /// Whether a condition is on the other side than where the last step ended.
    fn has_changed(&self) -> bool {
        let pairs = self.jumping.iter().zip(&self.signs);
        pairs.into_iter().any(|(at, sign)| sign * sign_of(self.values[*at]) < 0)
    }

    /// Takes over the sides of the values that were computed last; a zero leaves the side as it was.
    fn settle(&mut self) {
        for (at, sign) in self.jumping.iter().zip(&mut self.signs) {
            let now = sign_of(self.values[*at]);
            if now != 0 {
                *sign = now;
            }
        }
    }

    /// A solver starts here.
    pub fn restart(&mut self, motion: &Motion<'_>, time: f64, states: &[f64]) {
        self.signs.fill(0);
        self.states.copy_from_slice(states);
        self.evaluate(motion, time);
        self.settle();
    }

    /// Whether a condition has changed within the last step, or has changed and changed back.
    pub fn change_within(&mut self, motion: &Motion<'_>, solver: &mut dyn Solver) -> Result<bool, SolverFault> {
        for time in self.looked_at(solver) {
            solver.interpolate(time, &mut self.states)?;
            self.evaluate(motion, time);
            if self.has_changed() {
                return Ok(true);
            }
        }
        self.settle();
        Ok(false)
    }

    fn looked_at(&self, solver: &dyn Solver) -> [f64; 2] {
        let (from, to) = (solver.previous(), solver.time());
        [from + 0.5 * (to - from), to]
    }

    /// The first instant within the last step at which a condition has changed, and the states there.
    pub fn first_change(
        &mut self,
        motion: &Motion<'_>,
        solver: &mut dyn Solver,
    ) -> Result<(f64, Vec<f64>), SolverFault> {
        let (mut before, mut after) = (solver.previous(), solver.time());
        for time in self.looked_at(solver) {
            solver.interpolate(time, &mut self.states)?;
            self.evaluate(motion, time);
            if self.has_changed() {
                after = time;
                break;
            }
            before = time;
        }
        loop {
            let middle = before + 0.5 * (after - before);
            if middle <= before || middle >= after {
                break;
            }
            solver.interpolate(middle, &mut self.states)?;
            self.evaluate(motion, middle);
            match self.has_changed() {
                true => after = middle,
                false => before = middle,
            }
        }
        solver.interpolate(after, &mut self.states)?;
        Ok((after, self.states.clone()))
    }

    /// Whether this event is one of too many in no time.
    pub fn is_chatter(&mut self, time: f64, whole: f64) -> bool {
        self.recent.push(time);
        if self.recent.len() < CHATTER {
            return false;
        }
        time - self.recent.remove(0) < SHORT * whole
    }
}

fn sign_of(value: f64) -> i8 {
    match value {
        value if value > 0.0 => 1,
        value if value < 0.0 => -1,
        _ => 0,
    }
}
