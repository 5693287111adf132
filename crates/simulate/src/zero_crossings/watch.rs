//! Conditions that end a part of a run. The instant at which one of them becomes true is located on the solution
//! between the ends of a step.

use crate::motion::Motion;
use crate::motion::scales::Scales;
use crate::solvers::solver::{Solver, SolverFault};
use crate::zero_crossings::instants::{Instants, Piece};
use lgm_equations::switching::Condition;
use lgm_kernels::Kernel;
use lgm_runtime::events::looks::{LOOKS, Look, Watched, about_zero, first_within, is_at_rest};

/// A watched condition.
#[derive(Clone, Debug)]
pub(crate) struct WatchedCondition {
    /// The condition over margins, by index in the kernel of margins.
    pub condition: Condition,
    /// True if the condition must change from false to true; otherwise it is sufficient that it is true.
    pub is_edge: bool,
    /// True if it held at its last evaluation.
    pub held: bool,
}

impl WatchedCondition {
    fn acts(&self, margins: &[f64], going: &[f64]) -> bool {
        let side = |at: usize| if margins[at] == 0.0 { going[at] } else { margins[at] };
        match self.is_edge {
            true => !self.held && self.condition.holds(&|at| margins[at]),
            false => self.condition.holds(&side),
        }
    }
}

/// The conditions that a part of a run watches.
pub(crate) struct EndConditions<'a> {
    /// The margins of the conditions, then turns, then phases.
    pub margins: &'a Kernel,
    phases: usize,
    /// The magnitude below which each margin is 0.
    tolerances: Vec<f64>,
    /// The directions of margins that are 0 after the event at which the part begins. For modes, these directions count as
    /// signs until the margins are nonzero.
    going: Vec<f64>,
    pub conditions: Vec<WatchedCondition>,
    /// The margins that depend only on time, with the held values, and their last evaluated signs.
    instants: (&'a Instants, &'a [f64]),
    piece: Piece,
    unknowns: Vec<f64>,
    states: Vec<f64>,
    /// Margins at the start of the last step, and at the instants examined within it.
    looks: Looks,
}

/// Margins at several times.
type Looks = [Look<f64, Vec<f64>>; LOOKS + 1];

/// States at a time, on the solution between the ends of a step.
type StatesAt<'s> = dyn FnMut(f64, &mut [f64]) -> Result<(), SolverFault> + 's;

impl<'a> EndConditions<'a> {
    pub fn new(
        (margins, phases): (&'a Kernel, usize),
        (tolerances, going): (Vec<f64>, Vec<f64>),
        conditions: Vec<WatchedCondition>,
        instants: (&'a Instants, &'a [f64]),
        motion: &Motion<'_>,
    ) -> EndConditions<'a> {
        EndConditions {
            instants,
            piece: Piece {
                from: f64::NAN,
                to: f64::NAN,
                signs: Vec::new(),
            },
            margins,
            phases,
            tolerances,
            going,
            conditions,
            unknowns: vec![0.0; motion.unknowns],
            states: vec![0.0; motion.states],
            looks: never(margins.outputs()),
        }
    }

    fn evaluate(&mut self, motion: &Motion<'_>, time: f64) -> Vec<f64> {
        let mut values = vec![0.0; self.margins.outputs()];
        motion.solve_loops(time, &self.states);
        motion.copy_unknowns(&mut self.unknowns);
        motion.call(self.margins, time, &self.states, &self.unknowns, None, &mut values);
        for (value, least) in values.iter_mut().zip(&self.tolerances) {
            if value.abs() <= *least {
                *value = about_zero(*value);
            }
        }
        let (instants, held) = self.instants;
        if !instants.places().is_empty() {
            if !(self.piece.from..self.piece.to).contains(&time) {
                self.piece = instants.piece(time, held);
            }
            for (at, sign) in instants.places().iter().zip(&self.piece.signs) {
                values[*at] = *sign;
            }
        }
        values
    }

    /// Gives margins that have always been 0 the tolerance that the errors of the states allow them: between the ends of its first
    /// step, the solution of a system at rest has signs of its own.
    pub fn tolerate(&mut self, motion: &Motion<'_>, (time, states): (f64, &[f64]), scales: &Scales) {
        let timed = self.instants.0.places();
        let open: Vec<usize> = (0..self.tolerances.len())
            .filter(|at| self.tolerances[*at] == 0.0 && !timed.contains(at))
            .collect();
        if open.is_empty() {
            return;
        }
        self.states.copy_from_slice(states);
        let here = self.evaluate(motion, time);
        let mut errors = vec![0.0; here.len()];
        for (at, state) in states.iter().enumerate() {
            self.states[at] = state + scales.allowed(at, *state);
            let there = self.evaluate(motion, time);
            open.iter()
                .for_each(|open| errors[*open] += (there[*open] - here[*open]).abs());
            self.states[at] = *state;
        }
        for at in open {
            self.tolerances[at] = if errors[at].is_finite() { errors[at] } else { 0.0 };
        }
    }

    fn acts(&self, margins: &[f64]) -> bool {
        self.conditions
            .iter()
            .any(|condition| condition.acts(margins, &self.going))
    }

    /// Begins to watch at this point; returns true if a condition acts immediately. A condition that has become true here, at a
    /// step of an input, was false before.
    pub fn begin(&mut self, motion: &Motion<'_>, time: f64, states: &[f64]) -> bool {
        self.states.copy_from_slice(states);
        let margins = self.evaluate(motion, time);
        let acts = self.acts(&margins);
        if !acts {
            self.take_over(&margins, None);
        }
        self.looks[0] = Look { t: time, margins };
        acts
    }

    /// Records which conditions hold.
    fn take_over(&mut self, margins: &[f64], before: Option<&[f64]>) {
        let rests = |at: usize| before.is_some_and(|before| is_at_rest(before[at], margins[at]));
        for condition in &mut self.conditions {
            condition.held = (condition.condition).is_kept(condition.held, &|at| margins[at], &rests);
        }
        for (going, margin) in self.going.iter_mut().zip(margins) {
            *going = if *margin == 0.0 { *going } else { 0.0 };
        }
    }

    /// Returns the first instant within the last step, up to `end`, at which a condition acts, and the states there.
    pub fn first_within(
        &mut self,
        motion: &Motion<'_>,
        solver: &mut dyn Solver,
        end: f64,
    ) -> Result<Option<(f64, Vec<f64>)>, SolverFault> {
        // A step that ends at the stop time reaches it except for round-off.
        let (from, to) = (solver.previous(), solver.time());
        self.first(motion, (from, end.min(to)), &mut |time, states: &mut [f64]| {
            solver.interpolate(time.clamp(from, to), states)
        })
    }

    /// Returns the first instant between two times at which a condition acts, and the states there.
    pub fn first(
        &mut self,
        motion: &Motion<'_>,
        (from, to): (f64, f64),
        states: &mut StatesAt<'_>,
    ) -> Result<Option<(f64, Vec<f64>)>, SolverFault> {
        let mut looks = std::mem::replace(&mut self.looks, never(0));
        let mut with = looks[0].margins.clone();
        let mut watched = Within {
            conditions: self,
            motion,
            states,
        };
        let found = first_within(&mut watched, &mut looks, (from, to), &mut with);
        self.looks = looks;
        let Some(found) = found? else { return Ok(None) };
        states(found, &mut self.states)?;
        Ok(Some((found, self.states.clone())))
    }
}

/// Conditions on the solution between the ends of a step.
struct Within<'w, 'a, 'm, 's> {
    conditions: &'w mut EndConditions<'a>,
    motion: &'w Motion<'m>,
    states: &'w mut StatesAt<'s>,
}

impl Watched for Within<'_, '_, '_, '_> {
    type Real = f64;
    type Margins = Vec<f64>;
    type Fault = SolverFault;

    fn look(&mut self, time: f64, margins: &mut Vec<f64>) -> Result<(), SolverFault> {
        (self.states)(time, &mut self.conditions.states)?;
        *margins = self.conditions.evaluate(self.motion, time);
        Ok(())
    }

    fn conditions(&self) -> usize {
        self.conditions.tolerances.len()
    }

    fn phases(&self) -> usize {
        self.conditions.phases
    }

    fn acts(&self, margins: &Vec<f64>) -> bool {
        self.conditions.acts(margins)
    }

    fn take_over(&mut self, margins: &Vec<f64>, before: Option<&Vec<f64>>) {
        self.conditions.take_over(margins, before.map(Vec::as_slice));
    }
}

/// Returns the memory for samples before any evaluation.
fn never(margins: usize) -> Looks {
    let look = || Look {
        t: f64::NAN,
        margins: vec![0.0; margins],
    };
    std::array::from_fn(|_| look())
}
