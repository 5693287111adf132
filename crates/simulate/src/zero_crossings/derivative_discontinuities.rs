//! Kinks of laws within an explicit step: the step is repeated so that it ends at the kink.
//!
//! The error estimate of a Runge-Kutta method compares two sums of slopes, and is valid if the right sides are smooth.
//! Across a kink, such as that of `abs`, `min`, `max`, or of an `if` with equal values on both sides, the two sums may
//! happen to agree while both are wrong. If they do not agree, the step is shortened until they do. A step in which a
//! condition with a kink of the right sides changes is therefore examined: the effect of the kink on the states follows
//! from the change of slope there. If that is significant, the step is repeated up to the kink, and the next one begins
//! after it with the original length.

use crate::motion::Motion;
use crate::motion::scales::Scales;
use crate::solvers::solver::{Solver, SolverFault};
use lgm_kernels::{Corners, Kernel};
use lgm_runtime::bends::{AT_ONCE, BESIDE, LOCATED, MOST_AGAIN};

/// The largest effect of a kink on a state, as a fraction of the tolerance.
const ALLOWED: f64 = 0.25;

/// The largest error of Tsitouras's method at a kink, as a factor of the change of slope times the step squared. The
/// other two constants are the factors per fraction of the step before the kink, and after it. All are bounds of the
/// method's Peano kernel of degree 1.
const KERNEL: f64 = 0.047;
const KERNEL_AT_BEGINNING: f64 = 0.1;
const KERNEL_AT_END: f64 = 2.33;

/// Searches for kinks within steps.
pub(crate) struct Bends<'a> {
    crossings: &'a Kernel,
    /// For each crossing, true if it is a jump.
    jumps: Vec<bool>,
    values: Vec<f64>,
    unknowns: Vec<f64>,
    /// The unknowns before the step was examined.
    last: Vec<f64>,
    states: Vec<f64>,
    /// The side of each condition at the end of the examined part of the last step; 0 if it has none yet.
    before: Vec<f64>,
    /// The end of the last accepted step.
    end: Option<f64>,
    /// The number of consecutive repetitions of the last step.
    again: u32,
    /// The kink at which the next step ends, and the original length of the step.
    target: Option<(f64, f64)>,
}

impl<'a> Bends<'a> {
    /// Returns `None` if no law has a kink.
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

    /// Restarts with the solver.
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

    /// Returns true if a condition, or only one with a jump, has changed its side since the last evaluation.
    fn has_changed(&self, only_jumps: bool) -> bool {
        let pairs = self.before.iter().zip(&self.values).zip(&self.jumps);
        pairs
            .filter(|(_, jumps)| **jumps || !only_jumps)
            .any(|((before, value), _)| before * value < 0.0)
    }

    /// Records the sides of the last computed values; a zero leaves a side unchanged.
    fn take_over(&mut self) {
        let pairs = self.before.iter_mut().zip(&self.values).filter(|pair| *pair.1 != 0.0);
        pairs.for_each(|(before, value)| *before = value.signum());
    }

    /// Returns the significant kink within the last step, up to which it must be repeated; `None` if the step is accepted.
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

    /// Returns the length of the step after a kink reached at a time: that of the step that crossed it.
    pub fn length_behind(&mut self, time: f64) -> Option<f64> {
        let (bend, length) = self.target?;
        let is_reached = time >= bend - 4.0 * f64::EPSILON * bend.abs();
        is_reached.then(|| {
            self.target = None;
            length
        })
    }

    /// Returns the first significant kink within the last step, unless a jump comes first.
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

    /// Returns the first change of a condition between two times; the conditions are evaluated there.
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

    /// Returns true if the effect of a kink on the states exceeds the tolerance.
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
