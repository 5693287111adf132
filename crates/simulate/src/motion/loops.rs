//! Algebraic loops at a point of a run.

use super::{FaultKind, Motion};
use crate::motion::newton::{Joint, Newton};
use lgm_kernels::Arguments;

impl Motion<'_> {
    /// Searches for a first solution of the algebraic loops, starting from zero and, if that fails, from other values.
    /// If none is found, the next use of the unknowns reports it.
    pub fn find_loops(&self, time: f64, states: &[f64]) {
        for guess in [0.0, 1.0, -1.0, 1e-3, 1e3] {
            let guesses = self.system.first_unknowns(guess);
            self.work.borrow_mut().unknowns.copy_from_slice(&guesses);
            if self.solve_loops(time, states) {
                return;
            }
        }
        if let Some(found) = self.solution_elsewhere(time, states) {
            self.guess_unknowns(&found);
            self.solve_loops(time, states);
        }
    }

    /// Solves the algebraic loops at a point, beginning with the last solution.
    pub fn solve_loops(&self, time: f64, states: &[f64]) -> bool {
        self.solve_loops_with(time, states, true)
    }

    fn solve_loops_with(&self, time: f64, states: &[f64], may_approach: bool) -> bool {
        if self.unknowns == 0 {
            return true;
        }
        let found = self.with_newton(time, states, may_approach, |newton, at, unknowns, solution| {
            newton.solve_from(at, unknowns, solution)
        });
        match found {
            Ok(()) => true,
            Err(unknown) => {
                self.note(time, states, FaultKind::Loop(unknown));
                false
            }
        }
    }

    /// Returns true if unknowns solve the loops within the tolerance of the states, for an implicit method that solves for both together.
    pub fn holds_nearly(&self, time: f64, states: &[f64], unknowns: &[f64]) -> bool {
        self.with_newton(time, states, true, |newton, at, _, _| newton.holds_nearly(at, unknowns))
    }

    /// Applies Newton's iteration at a point, starting from the last unknowns and the last solution. If the long path
    /// is not allowed, only a solution is accepted.
    fn with_newton<R>(
        &self,
        time: f64,
        states: &[f64],
        may_approach: bool,
        then: impl FnOnce(&mut Newton<'_>, &Arguments<'_>, &mut [f64], &mut [f64]) -> R,
    ) -> R {
        let work = &mut *self.work.borrow_mut();
        let inside = self.set_inputs(work, time);
        let at = Arguments {
            time: inside,
            parameters: self.parameters,
            states,
            inputs: &work.inputs,
            rates: &work.rates,
            unknowns: &[],
        };
        let joint = self.joint.borrow();
        let mut newton = Newton {
            equations: &self.kernels.residuals,
            matrix: &self.kernels.jacobians(self.system).residuals_by_unknowns,
            small: &self.small.borrow(),
            scratch: &mut work.scratch,
            residuals: &mut work.residuals,
            values: &mut work.values,
            trial: &mut work.trial,
            step: &mut work.step,
            is_held: &self.is_held,
            may_approach,
            joint: self.joint_with(&joint).filter(|_| may_approach),
        };
        then(&mut newton, &at, &mut work.unknowns, &mut work.solution)
    }

    pub(super) fn joint_with<'j>(&'j self, tolerances: &'j Option<(Vec<f64>, f64)>) -> Option<Joint<'j>> {
        let (absolute, relative) = tolerances.as_ref()?;
        Some(Joint {
            by_states: &self.kernels.jacobians(self.system).residuals_by_states,
            absolute,
            relative: *relative,
        })
    }

    /// Returns the solution of the loops that Newton's iteration finds from a guess; not finding one is not an error.
    pub fn unknowns_near(&self, guess: &[f64], time: f64, states: &[f64]) -> Option<Vec<f64>> {
        let fault = self.fault.take();
        {
            let work = &mut *self.work.borrow_mut();
            work.unknowns.copy_from_slice(guess);
            work.solution.copy_from_slice(guess);
        }
        let is_solved = self.solve_loops_with(time, states, false);
        self.fault.replace(fault);
        is_solved.then(|| self.work.borrow().unknowns.clone())
    }

    /// Does the same for a solver that has left its own unknowns as the last ones: these are returned if the loops
    /// cannot distinguish the two.
    pub fn unknowns_on_way(&self, guess: &[f64], time: f64, states: &[f64]) -> Option<Vec<f64>> {
        let own = self.joint.borrow().is_some().then(|| self.solution());
        let mut near = self.unknowns_near(guess, time, states);
        let Some(own) = own else { return near };
        let meant = self.with_newton(time, states, true, |newton, at, _, _| {
            newton.meant(at, own, near.as_deref_mut())
        });
        meant.or(near)
    }

    /// Tries the long path to a solution, less often after each consecutive failure: near the edge of a law's domain,
    /// many trial points have no value.
    pub(super) fn approach_now_and_then(
        &self,
        newton: &mut Newton<'_>,
        at: &Arguments<'_>,
        unknowns: &mut [f64],
        solution: &mut [f64],
        found: Result<(), usize>,
    ) -> Result<(), usize> {
        let (missed, skipped) = self.approaches.get();
        if skipped + 1 < 1 << missed.min(8) {
            self.approaches.set((missed, skipped + 1));
            return found;
        }
        let found = newton.approach(at, unknowns);
        match found {
            Ok(()) => solution.copy_from_slice(unknowns),
            Err(_) => unknowns.copy_from_slice(solution),
        }
        self.approaches
            .set(if found.is_ok() { (0, 0) } else { (missed + 1, 0) });
        found
    }
}
