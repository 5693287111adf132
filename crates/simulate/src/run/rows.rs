//! The rows of a run, and their accuracy between the ends of steps.

use crate::failure::{Failure, FailureKind};
use crate::plan::{EQUAL_TIMES, Stop};
use crate::run::course::Run;
use crate::solvers::interpolation::LIMIT;
use crate::solvers::solver::Solver;

/// The limits on the change of the longest step, if samples between steps limit it.
const GROWTH: std::ops::RangeInclusive<f64> = 0.5..=2.0;

/// The order of the error between steps.
const ORDER: f64 = 4.0;

impl Run<'_> {
    /// Returns true if the next row is at this time, within the round-off of both.
    pub(crate) fn is_row(&self, time: f64) -> bool {
        self.plan.is_row(self.row, time)
    }

    /// Writes the rows within the last step, up to a time that is excluded. Returns false if the next row is less
    /// accurate than the ends of the step and so cannot be written: the step is repeated up to this row.
    pub(crate) fn rows_within(&mut self, solver: &mut dyn Solver, end: f64, stop: f64) -> Result<bool, Failure> {
        let last = end - EQUAL_TIMES * end.abs();
        let mut worst = 0.0_f64;
        while self.row < self.plan.points && self.plan.time(self.row) < last {
            let time = self.plan.time(self.row);
            let mut between = std::mem::take(&mut self.between);
            let written = self.row_within(solver, time, &mut between);
            self.between = between;
            let error = written?;
            if error > LIMIT {
                self.end_at_row(solver, time, stop)?;
                return Ok(false);
            }
            worst = worst.max(error);
            self.row += 1;
        }
        self.loosen(solver, worst);
        self.meter_within(solver, end)?;
        Ok(true)
    }

    /// Integrates powers and records values before delays up to a time within the last step, if they are requested.
    fn meter_within(&mut self, solver: &mut dyn Solver, end: f64) -> Result<(), Failure> {
        if self.meter.is_none() && self.recorder.is_none() {
            return Ok(());
        }
        let (from, to) = (solver.previous(), solver.time());
        let (motion, branch) = (self.motion, self.branch.as_ref().filter(|_| self.motion.has_totals()));
        let states_at = &mut |time: f64, states: &mut [f64]| {
            let inside = time.clamp(from, to);
            if let Some(branch) = branch {
                branch.guess_within(motion, (inside - from) / (to - from));
            }
            solver.interpolate(inside, states)
        };
        let metered = self.meter.as_mut().map(|meter| meter.go_to(motion, end, states_at));
        let recorded = self
            .recorder
            .as_mut()
            .map(|recorder| recorder.go_to(motion, end, states_at));
        let found = metered.unwrap_or(Ok(())).and(recorded.unwrap_or(Ok(())));
        found.map_err(|error| self.failure(error, None))
    }

    /// Writes an interpolated sample, unless its error is too large.
    fn row_within(&mut self, solver: &mut dyn Solver, time: f64, states: &mut [f64]) -> Result<f64, Failure> {
        let (from, to) = (solver.previous(), solver.time());
        let inside = time.clamp(from, to);
        let found = solver.interpolate(inside, states);
        found.map_err(|error| self.failure(error, None))?;
        // With many solutions, Newton's method may find another one from the start of the step.
        if let Some(branch) = self.branch.as_ref().filter(|_| self.motion.has_totals()) {
            branch.guess_within(self.motion, (inside - from) / (to - from));
        }
        let is_end = (inside - from).min(to - inside) <= EQUAL_TIMES * to.abs();
        let error = match is_end {
            true => 0.0,
            false => self.error_between(solver, inside, states)?,
        };
        if error <= LIMIT {
            self.write_row(time, states)?;
        }
        Ok(error)
    }

    /// Returns the interpolation error at a time within the last step, in units of the tolerance.
    pub(crate) fn error_between(&mut self, solver: &mut dyn Solver, time: f64, states: &[f64]) -> Result<f64, Failure> {
        let is_explicit = self.summary.method.is_explicit();
        let found = self
            .interpolation
            .error(solver, (time, states), &self.scales, is_explicit);
        found.map_err(|error| self.failure(error, None))
    }

    /// Repeats the last step so that it ends at a row; the next steps grow gradually.
    fn end_at_row(&mut self, solver: &mut dyn Solver, time: f64, stop: f64) -> Result<(), Failure> {
        let length = time - solver.previous();
        self.reach = length;
        solver.limit(length);
        let made = solver.again(length, stop);
        made.map_err(|error| self.failure(error, None))
    }

    /// Sets the length of the next step after one whose samples had this maximum error.
    fn loosen(&mut self, solver: &mut dyn Solver, worst: f64) {
        if self.reach == f64::INFINITY {
            return;
        }
        let length = solver.time() - solver.previous();
        // If steps are shorter for other reasons, samples no longer limit them.
        self.reach = match length < 0.25 * self.reach {
            true => f64::INFINITY,
            false => length * (0.9 * (LIMIT / worst).powf(1.0 / ORDER)).clamp(*GROWTH.start(), *GROWTH.end()),
        };
        solver.limit(self.reach);
    }

    /// Writes all rows at this time, with the current states.
    pub(crate) fn rows_at(&mut self, time: f64) -> Result<(), Failure> {
        while self.is_row(time) {
            let at = self.plan.time(self.row);
            self.state_row(at)?;
            self.row += 1;
        }
        Ok(())
    }

    /// Writes a row at a corner or an event.
    pub(crate) fn event_row(&mut self, time: f64) -> Result<(), Failure> {
        self.state_row(self.plan.shown(self.row, time))
    }

    pub(crate) fn state_row(&mut self, time: f64) -> Result<(), Failure> {
        let states = std::mem::take(&mut self.states);
        let result = self.write_row(time, &states);
        self.states = states;
        result
    }

    /// Writes one row.
    pub(crate) fn write_row(&mut self, time: f64, states: &[f64]) -> Result<(), Failure> {
        if !self.motion.outputs(time, states, &mut self.outputs)
            && let Some(fault) = self.motion.fault()
        {
            if let Some(found) = self.singular([Some((time, states)), None], self.done.steps) {
                return Err(found);
            }
            return Err(self.motion.failure(&fault, self.done.steps));
        }
        if self.motion.unknowns > 0 {
            self.sink.unknowns(&self.motion.solution());
        }
        let stopped = |stop: Stop| Failure {
            time,
            kind: FailureKind::Stopped(stop),
            blame: None,
            steps: self.done.steps,
        };
        self.sink.row(time, &self.outputs, states).map_err(stopped)?;
        self.output_errors
            .see(self.motion, &self.scales, (time, states), &self.outputs);
        Ok(())
    }
}
