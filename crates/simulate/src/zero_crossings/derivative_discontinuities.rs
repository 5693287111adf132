//! Bends of laws that an explicit step crosses: the step is made again so that it ends there.
//!
//! The error estimate of a Runge-Kutta method compares two sums of slopes, and holds where the right sides are smooth. Across a bend,
//! as of `abs`, `min`, `max`, or of an `if` whose sides meet, the two sums may happen to agree while both are wrong; and where they
//! do not, the step is made shorter and shorter until they do. So a step within which a condition changes that bends the right
//! sides is looked at: how much the bend adds to the states follows from the change of slope of the right sides there. Where
//! that matters, the step is made again up to the bend, and the next one begins behind it with the length of before.

use crate::motion::Motion;
use crate::run::scales::Scales;
use crate::solvers::solver::{Solver, SolverFault};
use lgm_kernels::{Corners, Kernel};
use lgm_runtime::bends::{AT_ONCE, BESIDE, LOCATED, MOST_AGAIN};

/// What a bend may add to a state, as a share of what is allowed.
const ALLOWED: f64 = 0.25;

/// Of the change of slope at a bend, times the step squared, Tsitouras's method makes this share an error at most; and this one
/// for each share of the step that lies before the bend, or behind it. These are the bounds of its Peano kernel of degree 1.
const KERNEL: f64 = 0.047;
const KERNEL_AT_BEGINNING: f64 = 0.1;
const KERNEL_AT_END: f64 = 2.33;

/// Looks for bends within steps.
pub(crate) struct Bends<'a> {
    crossings: &'a Kernel,
    /// Which crossings jump.
    jumps: Vec<bool>,
    values: Vec<f64>,
    unknowns: Vec<f64>,
    /// The unknowns of before the step was looked at.
    last: Vec<f64>,
    states: Vec<f64>,
    /// On which side each condition is as far as the last step was looked at; 0 where it has none yet.
    before: Vec<f64>,
    /// Where the last step ended that stands.
    end: Option<f64>,
    /// How often in a row the last step was made again.
    again: u32,
    /// The bend up to which the next step is made, and how long it was before.
    target: Option<(f64, f64)>,
}

impl<'a> Bends<'a> {
    /// None where nothing bends.
    pub fn new(corners: &'a Corners, motion: &Motion<'_>) -> Option<Bends<'a>> {
        let jumps: Vec<bool> = corners.conditions().iter().map(|condition| condition.jumps).collect();
        let count = corners.crossings().outputs();
        jumps.contains(&false).then(|| Bends {
            crossings: corners.crossings(),
            jumps,
            values: vec![0.0; count],
            unknowns: vec![0.0; motion.unknowns],
            last: vec![0.0; motion.unknowns],
            states: vec![0.0; motion.states],
            before: vec![0.0; count],
            end: None,
            again: 0,
            target: None,
        })
    }

    /// The solver begins anew somewhere.
    pub fn restart(&mut self) {
        (self.end, self.again, self.target) = (None, 0, None);
    }

    /// Evaluates all conditions at a time within the last step.
    fn look(&mut self, motion: &Motion<'_>, solver: &mut dyn Solver, time: f64) -> Result<(), SolverFault> {
        match time == solver.time() {
            true => self.states.copy_from_slice(solver.states()),
            false => solver.interpolate(time, &mut self.states)?,
        }
        if motion.unknowns > 0 {
            if let Some(kept) = motion.kept_unknowns() {
                motion.guess_unknowns(&kept);
            }
            motion.solve_loops(time, &self.states);
            motion.copy_unknowns(&mut self.unknowns);
        }
        let (states, unknowns) = (&self.states, &self.unknowns);
        motion.call(self.crossings, time, states, unknowns, None, &mut self.values);
        Ok(())
    }

    /// Whether a condition, or one at which something jumps, was on another side where the conditions were evaluated last.
    fn has_changed(&self, only_jumps: bool) -> bool {
        let pairs = self.before.iter().zip(&self.values).zip(&self.jumps);
        pairs
            .filter(|(_, jumps)| **jumps || !only_jumps)
            .any(|((before, value), _)| before * value < 0.0)
    }

    /// Takes over the sides of the values that were computed last; a zero leaves a side as it was.
    fn take_over(&mut self) {
        let pairs = self.before.iter_mut().zip(&self.values).filter(|pair| *pair.1 != 0.0);
        pairs.for_each(|(before, value)| *before = value.signum());
    }

    /// The bend that matters and that the last step leads across, up to which it is to be made again; none where the step stands.
    pub fn cut(
        &mut self,
        motion: &Motion<'_>,
        solver: &mut dyn Solver,
        scales: &Scales,
    ) -> Result<Option<f64>, SolverFault> {
        if self.again >= MOST_AGAIN {
            (self.again, self.end) = (0, None);
            return Ok(None);
        }
        let length = solver.time() - solver.previous();
        motion.copy_unknowns(&mut self.last);
        let found = self.first_within(motion, solver, scales);
        motion.guess_unknowns(&self.last);
        let found = found?;
        match found {
            Some(bend) => {
                self.again += 1;
                self.target = Some((bend, self.target.map_or(length, |(_, length)| length)));
            }
            None => self.again = 0,
        }
        Ok(found)
    }

    /// The length of the step behind the bend that was reached at a time: that of the one that led across it.
    pub fn length_behind(&mut self, time: f64) -> Option<f64> {
        let (bend, length) = self.target?;
        let is_reached = time >= bend - 4.0 * f64::EPSILON * bend.abs();
        is_reached.then(|| {
            self.target = None;
            length
        })
    }

    /// The first bend within the last step that matters, where it is no jump that comes first.
    fn first_within(
        &mut self,
        motion: &Motion<'_>,
        solver: &mut dyn Solver,
        scales: &Scales,
    ) -> Result<Option<f64>, SolverFault> {
        let (from, to) = (solver.previous(), solver.time());
        if self.end.take() != Some(from) {
            self.look(motion, solver, from)?;
            self.before.fill(0.0);
            self.take_over();
        }
        let mut low = from;
        for high in [from + 0.5 * (to - from), to] {
            self.look(motion, solver, high)?;
            while self.has_changed(false) {
                let bend = self.first_between(motion, solver, (low, high))?;
                if self.has_changed(true) {
                    return Ok(None);
                }
                if self.matters(motion, solver, bend, scales)? {
                    return Ok(Some(bend));
                }
                self.take_over();
                low = bend;
                self.look(motion, solver, high)?;
            }
            self.take_over();
            low = high;
        }
        self.end = Some(to);
        Ok(None)
    }

    /// Where the first condition changes between two times; the conditions are evaluated there.
    fn first_between(
        &mut self,
        motion: &Motion<'_>,
        solver: &mut dyn Solver,
        (mut low, mut high): (f64, f64),
    ) -> Result<f64, SolverFault> {
        let near = LOCATED * (solver.time() - solver.previous());
        while high - low > near {
            let middle = low + 0.5 * (high - low);
            if middle <= low || middle >= high {
                break;
            }
            self.look(motion, solver, middle)?;
            match self.has_changed(false) {
                true => high = middle,
                false => low = middle,
            }
        }
        self.look(motion, solver, high)?;
        Ok(high)
    }

    /// Whether what a bend adds to the states is more than what is allowed.
    fn matters(
        &mut self,
        motion: &Motion<'_>,
        solver: &mut dyn Solver,
        bend: f64,
        scales: &Scales,
    ) -> Result<bool, SolverFault> {
        let (from, to) = (solver.previous(), solver.time());
        let (length, share) = (to - from, (bend - from) / (to - from));
        if share.min(1.0 - share) < AT_ONCE {
            return Ok(false);
        }
        let times = [
            (bend - BESIDE * length).max(from),
            bend,
            (bend + BESIDE * length).min(to),
        ];
        let mut rates = vec![vec![0.0; self.states.len()]; 3];
        for (time, rates) in times.into_iter().zip(&mut rates) {
            solver.interpolate(time, &mut self.states)?;
            if !motion.rates(time, &self.states, rates) {
                return Ok(false);
            }
        }
        let kernel = KERNEL
            .min(KERNEL_AT_BEGINNING * share)
            .min(KERNEL_AT_END * (1.0 - share));
        let adds = |at: usize| {
            let slope = |side: usize| (rates[side + 1][at] - rates[side][at]) / (times[side + 1] - times[side]);
            kernel * length * length * (slope(1) - slope(0)).abs()
        };
        Ok((0..self.states.len()).any(|at| adds(at) > ALLOWED * scales.allowed(at, self.states[at])))
    }
}
