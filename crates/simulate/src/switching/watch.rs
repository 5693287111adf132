//! Conditions that end a part of a run: where one of them becomes true is located on the solution between the ends of a step.

use crate::motion::Motion;
use crate::solvers::solver::{Solver, SolverFault};
use lgm_equations::switching::Condition;
use lgm_kernels::Kernel;

/// Between the ends of a step the conditions are looked at this number of times.
const LOOKS: usize = 4;

/// By so many parabolas the turn of a margin is looked for.
const MOST_PARABOLAS: usize = 8;

/// A condition that is watched.
#[derive(Clone, Debug)]
pub(crate) struct WatchedCondition {
    /// The condition over margins, by their places in the kernel of margins.
    pub condition: Condition,
    /// If it must become true; otherwise being true is enough.
    pub is_edge: bool,
    /// If it held when it was looked at last.
    pub held: bool,
}

impl WatchedCondition {
    fn acts(&self, margins: &[f64]) -> bool {
        let holds = self.condition.holds(&|at| margins[at]);
        holds && !(self.is_edge && self.held)
    }
}

/// The conditions that a part of a run watches.
pub(crate) struct EndConditions<'a> {
    /// The margins of the conditions.
    pub margins: &'a Kernel,
    /// A margin that is nearer to 0 than this is 0.
    tolerances: Vec<f64>,
    pub conditions: Vec<WatchedCondition>,
    unknowns: Vec<f64>,
    states: Vec<f64>,
    /// Margins at the start of the last step, and at the instants that were looked at within it.
    seen: Vec<(f64, Vec<f64>)>,
}

/// States at a time, as the solution between the ends of a step has them.
type StatesAt<'s> = dyn FnMut(f64, &mut [f64]) -> Result<(), SolverFault> + 's;

impl<'a> EndConditions<'a> {
    pub fn new(
        (margins, tolerances): (&'a Kernel, Vec<f64>),
        conditions: Vec<WatchedCondition>,
        motion: &Motion<'_>,
    ) -> EndConditions<'a> {
        EndConditions {
            margins,
            tolerances,
            conditions,
            unknowns: vec![0.0; motion.unknowns],
            states: vec![0.0; motion.states],
            seen: Vec::new(),
        }
    }

    fn evaluate(&mut self, motion: &Motion<'_>, time: f64) -> Vec<f64> {
        let mut values = vec![0.0; self.margins.outputs()];
        motion.solve_loops(time, &self.states);
        motion.copy_unknowns(&mut self.unknowns);
        motion.call(self.margins, time, &self.states, &self.unknowns, None, &mut values);
        for (value, least) in values.iter_mut().zip(&self.tolerances) {
            if value.abs() <= *least {
                *value = 0.0;
            }
        }
        values
    }

    fn at(&mut self, motion: &Motion<'_>, time: f64, states: &mut StatesAt<'_>) -> Result<Vec<f64>, SolverFault> {
        let mut own = std::mem::take(&mut self.states);
        let found = states(time, &mut own);
        self.states = own;
        found?;
        Ok(self.evaluate(motion, time))
    }

    fn acts(&self, margins: &[f64]) -> bool {
        self.conditions.iter().any(|condition| condition.acts(margins))
    }

    /// Begins to watch here; whether a condition acts at once. One that has become true here, at a step of an input, was false before.
    pub fn begin(&mut self, motion: &Motion<'_>, time: f64, states: &[f64]) -> bool {
        self.states.copy_from_slice(states);
        let margins = self.evaluate(motion, time);
        let acts = self.acts(&margins);
        if !acts {
            self.take_over(&margins);
        }
        self.seen = vec![(time, margins)];
        acts
    }

    /// Takes over which conditions hold.
    fn take_over(&mut self, margins: &[f64]) {
        for condition in &mut self.conditions {
            condition.held = condition.condition.holds(&|at| margins[at]);
        }
    }

    /// The first instant within the last step, up to `end`, at which a condition acts, and the states there.
    pub fn first_within(
        &mut self,
        motion: &Motion<'_>,
        solver: &mut dyn Solver,
        end: f64,
    ) -> Result<Option<(f64, Vec<f64>)>, SolverFault> {
        // A step that ends at the stop time reaches it but for rounding.
        let (from, to) = (solver.previous(), solver.time());
        self.first(motion, (from, end.min(to)), &mut |time, states: &mut [f64]| {
            solver.interpolate(time.clamp(from, to), states)
        })
    }

    /// The first instant between two times at which a condition acts, and the states there.
    pub fn first(
        &mut self,
        motion: &Motion<'_>,
        (from, to): (f64, f64),
        states: &mut StatesAt<'_>,
    ) -> Result<Option<(f64, Vec<f64>)>, SolverFault> {
        let before = match self.seen.last() {
            Some((time, margins)) if *time == from => margins.clone(),
            _ => self.at(motion, from, states)?,
        };
        self.take_over(&before);
        let mut seen = vec![(from, before)];
        for look in 1..=LOOKS {
            let time = match look {
                LOOKS => to,
                _ => from + (to - from) * look as f64 / LOOKS as f64,
            };
            let margins = self.at(motion, time, states)?;
            let acts = self.acts(&margins);
            seen.push((time, margins));
            if !acts && look > 1 {
                // A margin that turns between three looks may have crossed zero and come back.
                if let Some(turn) = self.turn(motion, &seen[look - 2..], states)? {
                    return self.locate(motion, (seen[look - 2].0, turn), states).map(Some);
                }
            }
            if acts {
                return self.locate(motion, (seen[look - 1].0, time), states).map(Some);
            }
            // A condition that has become false may become true again within the step.
            let margins = seen[look].1.clone();
            self.take_over(&margins);
        }
        self.seen = seen.split_off(LOOKS);
        Ok(None)
    }

    /// An instant at which a condition acts between three looks at which none does: where a margin turns towards zero.
    fn turn(
        &mut self,
        motion: &Motion<'_>,
        looks: &[(f64, Vec<f64>)],
        states: &mut StatesAt<'_>,
    ) -> Result<Option<f64>, SolverFault> {
        let [(t0, first), (t1, middle), (t2, last)] = looks else {
            return Ok(None);
        };
        let mut instants: Vec<f64> = Vec::new();
        for at in 0..first.len() {
            let (a, b, c) = (first[at], middle[at], last[at]);
            let same = a * b > 0.0 && b * c > 0.0;
            if !same {
                continue;
            }
            // The vertex of the parabola through the three.
            let (left, right) = ((b - a) / (t1 - t0), (c - b) / (t2 - t1));
            let curvature = (right - left) / (t2 - t0);
            let vertex = 0.5 * (t0 + t1) - 0.5 * left / curvature;
            let height = b + (vertex - t1) * (left + curvature * (vertex - t0));
            let nearest = a.abs().min(b.abs()).min(c.abs());
            let is_towards = height * b < 0.0 || height.abs() < nearest;
            let is_near = height.abs() < 0.5 * a.abs().max(c.abs());
            if vertex > *t0 && vertex < *t2 && is_towards && is_near {
                let bracket = [(*t0, a), (*t1, b), (*t2, c)];
                instants.extend(self.refined(motion, (at, vertex), bracket, states)?);
            }
        }
        Ok(instants.into_iter().min_by(f64::total_cmp))
    }

    /// An instant at which a condition acts near the turn of a margin, which parabolas come nearer to one after the other.
    fn refined(
        &mut self,
        motion: &Motion<'_>,
        (at, mut vertex): (usize, f64),
        [mut left, mut middle, mut right]: [(f64, f64); 3],
        states: &mut StatesAt<'_>,
    ) -> Result<Option<f64>, SolverFault> {
        for _ in 0..MOST_PARABOLAS {
            let margins = self.at(motion, vertex, states)?;
            if self.acts(&margins) {
                return Ok(Some(vertex));
            }
            let new = (vertex, margins[at]);
            // The point that is nearest to 0 stays in the middle.
            match (new.1.abs() < middle.1.abs(), new.0 < middle.0) {
                (true, true) => (right, middle) = (middle, new),
                (true, false) => (left, middle) = (middle, new),
                (false, true) => left = new,
                (false, false) => right = new,
            }
            let (rising, falling) = (
                (middle.1 - left.1) / (middle.0 - left.0),
                (right.1 - middle.1) / (right.0 - middle.0),
            );
            let curvature = (falling - rising) / (right.0 - left.0);
            vertex = 0.5 * (left.0 + middle.0) - 0.5 * rising / curvature;
            let is_inside = vertex > left.0 && vertex < right.0 && vertex != middle.0;
            if !is_inside {
                return Ok(None);
            }
        }
        Ok(None)
    }

    /// The first instant after `before`, where no condition acts, until `after`, where one does; and the states there.
    fn locate(
        &mut self,
        motion: &Motion<'_>,
        (mut before, mut after): (f64, f64),
        states: &mut StatesAt<'_>,
    ) -> Result<(f64, Vec<f64>), SolverFault> {
        loop {
            let middle = before + 0.5 * (after - before);
            if middle <= before || middle >= after {
                break;
            }
            let margins = self.at(motion, middle, states)?;
            match self.acts(&margins) {
                true => after = middle,
                false => before = middle,
            }
        }
        states(after, &mut self.states)?;
        Ok((after, self.states.clone()))
    }
}
