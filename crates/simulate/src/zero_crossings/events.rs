//! Conditions on states: their changes are located on the solution between two steps.

use crate::motion::Motion;
use crate::solvers::solver::{Solver, SolverFault};
use lgm_kernels::{Corners, Kernel};

/// The number of events within [`SHORT`] of the run that counts as chatter, and the number of consecutive reversals.
const CHATTER: usize = 100;

/// A fraction of the run within which no physical event repeats a hundred times.
const SHORT: f64 = 1e-9;

/// A condition that only causes a kink is on its boundary if its distance is below this fraction of its largest
/// distance so far: there round-off changes its side, without consequences.
const AT_REST: f64 = 1e-12;

/// It also has no side while its distance to the boundary is below this value.
const LEAST: f64 = 1e-13;

/// An event within this number of steps counts as early. A condition with this number of early kinks is ignored for at
/// most 2 to the power of [`MOST_PATIENCE`] steps.
const SOON: usize = 20;
const MOST_PATIENCE: usize = 10;

/// A watched condition.
#[derive(Clone, Copy, Debug)]
struct Watched {
    /// Its index in the list of crossings.
    at: usize,
    /// True if a value jumps at the condition.
    jumps: bool,
    /// Its sign at the end of the last step; 0 if it has none yet.
    sign: i8,
    /// Its largest value so far.
    size: f64,
    /// The number of steps during which changes of a condition that only causes kinks are left to the error test: none
    /// at first, doubled each time it changes early again.
    left_alone: usize,
    /// The number of consecutive early changes.
    soon: usize,
    /// The number of steps since its last change.
    steps: usize,
}

/// Watches the conditions of a run.
pub(crate) struct Events<'a> {
    crossings: &'a Kernel,
    /// Conditions at which a right side may jump, or have a sharp kink.
    watched: Vec<Watched>,
    values: Vec<f64>,
    unknowns: Vec<f64>,
    states: Vec<f64>,
    recent: Vec<f64>,
    /// The largest number of steps since the last rejection.
    trouble: usize,
    /// The number of consecutive events that reversed the solution.
    turned: usize,
}

impl<'a> Events<'a> {
    /// Returns `None` if no condition on states makes a right side jump.
    pub fn new(corners: &'a Corners, motion: &Motion<'_>) -> Option<Events<'a>> {
        let conditions = corners.conditions().iter().enumerate();
        let sharp = conditions.filter(|entry| entry.1.is_sharp);
        let watched: Vec<Watched> = sharp
            .map(|(at, condition)| Watched {
                at,
                jumps: condition.jumps,
                sign: 0,
                size: 0.0,
                left_alone: 0,
                soon: 0,
                steps: usize::MAX,
            })
            .collect();
        if watched.is_empty() {
            return None;
        }
        Some(Events {
            crossings: corners.crossings(),
            watched,
            values: vec![0.0; corners.crossings().outputs()],
            unknowns: vec![0.0; motion.unknowns],
            states: vec![0.0; motion.states],
            recent: Vec::new(),
            trouble: 0,
            turned: 0,
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

    /// Returns the side of a condition by the last computed values; 0 if it has none.
    fn side(&self, watched: &Watched) -> i8 {
        let value = self.values[watched.at];
        let least = if watched.jumps {
            0.0
        } else {
            LEAST + AT_REST * watched.size
        };
        match value.abs() > least {
            true => sign_of(value),
            false => 0,
        }
    }

    /// Returns true if a condition has changed its side since the end of the last step.
    fn has_changed(&self) -> bool {
        self.watched.iter().any(|watched| self.is_changed(watched))
    }

    fn is_changed(&self, watched: &Watched) -> bool {
        let is_heeded = watched.jumps || self.trouble > 0 && watched.left_alone == 0;
        is_heeded && watched.sign * self.side(watched) < 0
    }

    /// Returns true if a condition with a jump has changed its side.
    pub fn has_jumped(&self) -> bool {
        self.watched
            .iter()
            .any(|watched| watched.jumps && self.is_changed(watched))
    }

    /// Does the same at a point.
    pub fn has_jumped_at(&mut self, motion: &Motion<'_>, time: f64, states: &[f64]) -> bool {
        self.states.copy_from_slice(states);
        self.evaluate(motion, time);
        self.has_jumped()
    }

    /// Considers kinks if steps were rejected recently; other kinks pass the error test anyway.
    pub fn take_trouble(&mut self, is_rejected: bool) {
        self.trouble = if is_rejected {
            SOON
        } else {
            self.trouble.saturating_sub(1)
        };
    }

    /// Records the sides of the last computed values; a zero leaves the side unchanged.
    fn take_over_sides(&mut self) {
        for at in 0..self.watched.len() {
            let now = self.side(&self.watched[at]);
            let watched = &mut self.watched[at];
            watched.size = watched.size.max(self.values[watched.at].abs());
            watched.left_alone = watched.left_alone.saturating_sub(1);
            watched.steps = watched.steps.saturating_add(1);
            if now != 0 {
                watched.sign = now;
            }
        }
    }

    /// Restarts with a solver.
    pub fn restart(&mut self, motion: &Motion<'_>, time: f64, states: &[f64]) {
        self.watched.iter_mut().for_each(|watched| watched.sign = 0);
        self.states.copy_from_slice(states);
        self.evaluate(motion, time);
        self.take_over_sides();
    }

    /// Returns true if a condition has changed within the last step, or has changed and changed back.
    pub fn change_within(&mut self, motion: &Motion<'_>, solver: &mut dyn Solver) -> Result<bool, SolverFault> {
        for time in self.looked_at(solver) {
            solver.interpolate(time, &mut self.states)?;
            self.evaluate(motion, time);
            if self.has_changed() {
                return Ok(true);
            }
        }
        self.take_over_sides();
        Ok(false)
    }

    fn looked_at(&self, solver: &dyn Solver) -> [f64; 2] {
        let (from, to) = (solver.previous(), solver.time());
        [from + 0.5 * (to - from), to]
    }

    /// Returns the first instant within the last step at which a condition has changed, and the states there.
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

    /// Returns true if the right sides after a condition that has just changed lead back over it: the solution then
    /// continues on neither side. Returns `None` if nothing jumps.
    fn turns_back(&mut self, motion: &Motion<'_>, time: f64, states: &[f64], length: f64) -> Option<bool> {
        self.states.copy_from_slice(states);
        self.evaluate(motion, time);
        self.have_patience();
        let changed = |watched: &&Watched| watched.jumps && watched.sign * self.side(watched) < 0;
        let changed: Vec<Watched> = self.watched.iter().filter(changed).copied().collect();
        if changed.is_empty() {
            return None;
        }
        let mut rates = vec![0.0; states.len()];
        if !motion.rates(time, states, &mut rates) {
            return Some(false);
        }
        for (state, rate) in self.states.iter_mut().zip(&rates) {
            *state += length * rate;
        }
        self.evaluate(motion, time + length);
        Some(changed.iter().any(|watched| watched.sign * self.side(watched) > 0))
    }

    /// Ignores kinks for a while that changed again early.
    fn have_patience(&mut self) {
        for at in 0..self.watched.len() {
            if self.is_changed(&self.watched[at]) {
                let watched = &mut self.watched[at];
                watched.soon = if watched.steps < SOON { watched.soon + 1 } else { 0 };
                watched.left_alone = match watched.soon.checked_sub(SOON) {
                    Some(more) => 1 << more.min(MOST_PATIENCE),
                    None => 0,
                };
                watched.steps = 0;
            }
        }
    }

    /// Returns true if this event is one of too many: within no time, or after consecutive immediate reversals of the solution.
    pub fn is_chatter(&mut self, motion: &Motion<'_>, time: f64, states: &[f64], whole: f64) -> bool {
        let Some(turns_back) = self.turns_back(motion, time, states, SHORT * whole) else {
            return false;
        };
        self.turned = if turns_back { self.turned + 1 } else { 0 };
        if self.turned >= CHATTER {
            return true;
        }
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
