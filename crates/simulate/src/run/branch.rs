//! A run follows the branch of solutions of its algebraic loops, and continues from the end of a branch.

use crate::failure::{Failure, FailureKind};
use crate::loops::singular::Position;
use crate::loops::solution_branch::{Branch, End};
use crate::motion::FaultKind;
use crate::plan::Method;
use crate::run::ahead::{AHEAD, Slope};
use crate::run::course::Run;
use crate::run::piece::Piece;
use crate::solvers::solver::{Solver, SolverFault};
use lgm_runtime::branch::{APART, INSTANT};

/// Failures within this fraction of the run count as one location: each method is tried there once.
const NEAR: f64 = 1e-9;

impl Run<'_> {
    /// Processes an accepted step: does nothing if it stays on the branch of the loops, otherwise restarts the solver.
    pub(crate) fn stay_on_branch(&mut self, solver: &mut dyn Solver, stop: f64) -> Result<Option<Piece>, Failure> {
        let Some(mut branch) = self.branch.take() else {
            return Ok(None);
        };
        let followed = branch.follow(self.motion, solver);
        let result = match followed {
            Ok(None) => self.with_the_solver(&branch, solver, stop),
            Ok(Some(end)) => {
                let left = self.at_end(&branch, &end, solver, stop);
                match left {
                    // No method can continue the stored quantities.
                    Err(failure) if matches!(failure.kind, FailureKind::StorageWouldJump) => Err(failure),
                    // The method itself can continue.
                    Err(_) if branch.takes_over(self.motion, solver) => Ok(None),
                    left => left.map(Some),
                }
            }
            Err(error) => Err(self.failure(error, None)),
        };
        self.branch = Some(branch);
        result
    }

    /// Handles an implicit method, which solves the loops itself and may have reached another branch before this one
    /// ends: the step is then repeated.
    fn with_the_solver(
        &mut self,
        branch: &Branch,
        solver: &mut dyn Solver,
        stop: f64,
    ) -> Result<Option<Piece>, Failure> {
        let is_off = |unknowns: &[f64]| self.motion.is_elsewhere(unknowns, &branch.reached);
        let (from, to) = (solver.previous(), solver.time());
        if !solver.unknowns().is_some_and(is_off) || to - from <= INSTANT * to.abs() {
            return Ok(None);
        }
        let mut first = solver.states().to_vec();
        let made = solver.interpolate(from, &mut first);
        self.motion.keep_unknowns(&branch.unknowns);
        self.motion.guess_unknowns(&branch.unknowns);
        let made = made.and_then(|()| solver.restart(from, &first, 0.125 * (to - from), stop));
        made.map_err(|error| self.failure(error, None))?;
        Ok(Some(Piece::Again))
    }

    /// Starts the rows of the last step with the solution at its beginning; the solution at its end is kept for later.
    pub(crate) fn guess_branch(&self) {
        if let Some(branch) = &self.branch {
            self.motion.guess_unknowns(&branch.unknowns);
        }
    }

    /// Accepts the last step, up to these states.
    pub(crate) fn accept_branch(&mut self, time: f64, states: &[f64]) {
        if let Some(branch) = &mut self.branch {
            branch.unknowns.copy_from_slice(&branch.reached);
            branch.measure();
            self.motion.keep_unknowns(&branch.unknowns);
            self.motion.guess_unknowns(&branch.unknowns);
            if time - branch.anchors[1].time > APART * (self.plan.stop - self.plan.start) {
                branch.anchors.swap(0, 1);
                branch.anchors[1] = Position {
                    time,
                    states: states.to_vec(),
                    unknowns: branch.unknowns.clone(),
                };
            }
        }
    }

    /// Handles the end of a branch within the last step, which is repeated in shorter steps until the resulting error
    /// is below the tolerance.
    fn at_end(&mut self, branch: &Branch, end: &End, solver: &mut dyn Solver, stop: f64) -> Result<Piece, Failure> {
        let fault = |run: &Run<'_>, error| run.failure(error, None);
        let (from, to) = (solver.previous(), solver.time());
        let last = solver.states().to_vec();
        let [mut first, mut after] = [last.clone(), last.clone()];
        solver
            .interpolate(from, &mut first)
            .map_err(|error| fault(self, error))?;
        self.motion.keep_unknowns(&branch.unknowns);
        self.motion.guess_unknowns(&branch.unknowns);
        if self.is_rough((from, &first), (to, &last)) {
            self.motion.guess_unknowns(&branch.unknowns);
            let shorter = solver.restart(from, &first, 0.125 * (to - from), stop);
            shorter.map_err(|error| fault(self, error))?;
            return Ok(Piece::Again);
        }
        if end.after < to {
            solver
                .interpolate(end.after, &mut after)
                .map_err(|error| fault(self, error))?;
        }
        self.motion.guess_unknowns(&branch.unknowns);
        if !self.rows_within(solver, end.after, stop)? {
            self.motion.guess_unknowns(&branch.unknowns);
            return Ok(Piece::Again);
        }
        self.leave(end, &branch.anchors[0], after, solver)
    }

    /// Handles a solver that finds no sufficiently small step: the run passes a jump, leaves a branch that ends ahead,
    /// continues with another method, or fails.
    pub(crate) fn give_up(
        &mut self,
        error: SolverFault,
        solver: &mut dyn Solver,
        may_switch: bool,
    ) -> Result<Piece, Failure> {
        let failure = self.failure(error, Some(&*solver));
        if self.expects_more(solver.time(), solver.states()) {
            return Ok(Piece::Switch(self.summary.method));
        }
        if let Some(piece) = self.pass_jump_ahead(solver)? {
            return Ok(piece);
        }
        let ahead = self.leave_ahead(solver);
        if let Ok(Some(piece)) = ahead {
            return Ok(piece);
        }
        self.other_method(ahead.err().unwrap_or(failure), solver.time(), may_switch)
    }

    /// After the failure of a method, continues with another one from the last safe point, unless the user chose the method.
    pub(crate) fn other_method(&mut self, failure: Failure, time: f64, may_switch: bool) -> Result<Piece, Failure> {
        // If a system is too stiff for an explicit method, all its trial points may be outside the domain of a law.
        // Multistep methods are worse than others at kinks of a law.
        let next = match self.summary.method {
            Method::Auto | Method::Tsit45 => Method::Bdf,
            Method::Bdf => Method::Sdirk,
            Method::Sdirk | Method::TrBdf2 => Method::Tsit45,
        };
        let (last, tried) = &mut self.given_up;
        if time - *last > NEAR * (self.plan.stop - self.plan.start) {
            *last = time;
            tried.clear();
        }
        tried.push(self.summary.method);
        let is_final = failure.is_stop() || matches!(failure.kind, FailureKind::StorageWouldJump);
        if !may_switch || tried.contains(&next) || is_final {
            return Err(failure);
        }
        if next == Method::Tsit45 {
            self.watch.back();
        }
        // Its last steps may already have led to the edge of a law.
        self.time = self.safe.time;
        self.states.copy_from_slice(&self.safe.states);
        self.motion.guess_unknowns(&self.safe.unknowns);
        self.motion.keep_unknowns(&self.safe.unknowns);
        Ok(Piece::Switch(next))
    }

    /// Leaves a branch that ends just ahead of the point at which a solver gives up.
    fn leave_ahead(&mut self, solver: &mut dyn Solver) -> Result<Option<Piece>, Failure> {
        let Some(mut branch) = self.branch.take() else {
            return Ok(None);
        };
        let time = solver.time();
        self.motion.guess_unknowns(&branch.unknowns);
        let Some(slope) = Slope::new(self, time, solver.states()) else {
            self.branch = Some(branch);
            return Ok(None);
        };
        let mut found = None;
        for share in AHEAD {
            let to = (time + share * (self.plan.stop - self.plan.start)).min(self.end_of_piece());
            let mut way = |at: f64, to: &mut [f64]| {
                slope.at(at, to);
                Ok(())
            };
            if let (true, Ok(Some(end))) = (to > time, branch.walk(self.motion, (time, to), &mut way)) {
                found = Some(end);
                break;
            }
        }
        let anchor = branch.anchors[0].clone();
        self.branch = Some(branch);
        let Some(end) = found else { return Ok(None) };
        let mut after = solver.states().to_vec();
        slope.at(end.after, &mut after);
        self.leave(&end, &anchor, after, solver).map(Some)
    }

    /// Writes a row at the end of a branch, before the solution jumps; none if round-off hides the branch there.
    fn row_before(&mut self, before: &Position) -> Result<(), Failure> {
        self.motion.guess_unknowns(&before.unknowns);
        let is_solved = self.motion.solve_loops(before.time, &before.states);
        match is_solved && !self.motion.is_elsewhere(&self.motion.solution(), &before.unknowns) {
            true => self.write_row(before.time, &before.states),
            false => Ok(()),
        }
    }

    /// Reports that the solution of a loop ends, and with it the values of an unknown that determines a stored quantity.
    fn stored_limit(&self, time: f64, unknown: usize, steps: u64) -> Failure {
        Failure {
            time,
            kind: FailureKind::StorageWouldJump,
            blame: self.motion.unknown(unknown).map(Box::new),
            steps,
        }
    }

    /// Continues from the end of a branch with another solution, or reports that none exists.
    fn leave(&mut self, end: &End, anchor: &Position, after: Vec<f64>, solver: &dyn Solver) -> Result<Piece, Failure> {
        let steps = self.done.steps + solver.counts().steps;
        match self.motion.land(end, anchor, &after) {
            Some(found) => {
                if let Some(unknown) = self.motion.stored_jump(&end.before.unknowns, &found) {
                    return Err(self.stored_limit(end.after, unknown, steps));
                }
                if self.plan.events {
                    self.row_before(&end.before)?;
                }
                self.motion.guess_unknowns(&found);
                self.motion.keep_unknowns(&found);
                self.event(end.after, after, steps)
            }
            None => {
                self.motion.guess_unknowns(&end.before.unknowns);
                self.motion.solve_loops(end.after, &after);
                let fault = self.motion.fault();
                let stored = self.motion.stored_unknowns().position(|is_stored| is_stored);
                let kind = fault.as_ref().map(|fault| (fault, &fault.kind));
                Err(match (kind, stored) {
                    (Some((_, FaultKind::Loop(at))), _) if self.motion.stored_unknowns().nth(*at) == Some(true) => {
                        self.stored_limit(end.after, *at, steps)
                    }
                    (Some((fault, FaultKind::Loop(_))), _) => self.motion.failure(fault, steps),
                    // The stored quantity would differ from its value just before.
                    (_, Some(at)) => self.stored_limit(end.after, at, steps),
                    (_, None) => self.failure(SolverFault::TooSmall, Some(solver)),
                })
            }
        }
    }
}
