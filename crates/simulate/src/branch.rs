//! The branch of solutions of the algebraic loops that a run follows.
//!
//! A loop may have several solutions, as that of an amplifier which saturates to either side. A run stays with the one that goes on
//! continuously from its last step. Trial points of a solver lie beyond where a branch ends, and Newton's iteration may find
//! another one there; so every attempt at a step begins with the solution of the last step that was accepted, and a step
//! that was accepted is followed from its beginning to its end. Where the branch ends in between (two solutions meet and
//! vanish, or a limit of `min` and `max` is reached), that is an event: the run goes on with the solution that the loops come
//! to from there.

use super::ahead::{AHEAD, Slope};
use super::failure::Failure;
use super::motion::{FaultKind, Motion};
use super::piece::Piece;
use super::plan::Method;
use super::run::Run;
use super::singular::Position;
use super::solver::{Solver, SolverFault};
use nalgebra::DVector;

/// Changes of an unknown below this share of its size are continuous.
const CONTINUOUS: f64 = 1e-5;

/// So are those below this share of the largest value that it had.
const NOISE: f64 = 1e-7;

/// How far the middle of a way may be from the middle between its ends, as a share of their distance; at a jump it is half.
const BENT: f64 = 0.4;

/// Unknowns that differ by more than this share are on different branches.
const ELSEWHERE: f64 = 1e-3;

/// Parts of a step shorter than this share of it are an instant.
const INSTANT: f64 = 1e-12;

/// The most parts of a way that are looked at.
const PARTS: usize = 400;

/// The slopes at the end of a branch, where they may be lost, are taken so far before it, as a share of the run.
const APART: f64 = 1e-7;

/// Failures within this share of the run are at one place: each method is tried there once.
const NEAR: f64 = 1e-9;

/// The most moves from the end of a branch to another solution, and the longest one as a share of the unknowns.
const MOVES: usize = 2000;
const MOVE: f64 = 0.05;

/// The solution that a run follows.
#[derive(Clone, Debug)]
pub(super) struct Branch {
    /// The unknowns where the last step ended that was accepted.
    unknowns: Vec<f64>,
    /// Those at the end of the step that was followed last.
    reached: Vec<f64>,
    /// The largest value of each unknown so far.
    sizes: Vec<f64>,
    /// Two points on the branch, the first one some way before the other.
    anchors: [Position; 2],
}

/// Where a branch ends.
#[derive(Clone, Debug)]
pub(super) struct End {
    /// The unknowns at the last instant that was reached on it.
    unknowns: Vec<f64>,
    /// The first instant that it does not reach.
    after: f64,
}

/// A way of the states over time.
type Way<'w> = dyn FnMut(f64, &mut [f64]) -> Result<(), SolverFault> + 'w;

impl Branch {
    /// None where there is no loop, or where all unknowns are displacements of closed chains, which have their own watch.
    pub fn new(motion: &Motion<'_>) -> Option<Branch> {
        let has_open = motion.held_unknowns().contains(&false);
        has_open.then(|| Branch {
            unknowns: vec![0.0; motion.unknowns],
            reached: vec![0.0; motion.unknowns],
            sizes: vec![0.0; motion.unknowns],
            anchors: [Position::default(), Position::default()],
        })
    }

    /// A solver begins here.
    pub fn begin(&mut self, motion: &Motion<'_>, time: f64, states: &[f64]) {
        motion.solve_loops(time, states);
        motion.copy_unknowns(&mut self.unknowns);
        motion.keep_unknowns(&self.unknowns);
        self.measure();
        let here = motion.position(time, states);
        self.anchors = [here.clone(), here];
    }

    fn measure(&mut self) {
        for (size, value) in self.sizes.iter_mut().zip(&self.unknowns) {
            *size = size.max(value.abs());
        }
    }

    /// The change of an unknown that is continuous whatever lies between: less than what is seen of it, or of what it has been.
    fn continuous(&self, motion: &Motion<'_>, at: usize, values: [f64; 2]) -> f64 {
        let size = values[0].abs().max(values[1].abs());
        CONTINUOUS * size + NOISE * self.sizes[at] + motion.small_unknown(at)
    }

    /// Takes over what an implicit method has found at the end of its last step, if that solves the loops.
    fn takes_over(&mut self, motion: &Motion<'_>, solver: &dyn Solver) -> bool {
        let own = solver.unknowns();
        let Some(own) = own.filter(|own| motion.holds_nearly(solver.time(), solver.states(), own)) else {
            return false;
        };
        self.reached.copy_from_slice(own);
        motion.forget_fault();
        true
    }

    /// Whether the last step stays on the branch; where it ends if not.
    fn follow(&mut self, motion: &Motion<'_>, solver: &mut dyn Solver) -> Result<Option<End>, SolverFault> {
        let (from, to) = (solver.previous(), solver.time());
        let last = solver.states().to_vec();
        let mut way = |time: f64, states: &mut [f64]| match time == to {
            true => {
                states.copy_from_slice(&last);
                if let Some(unknowns) = solver.unknowns() {
                    motion.guess_unknowns(unknowns);
                }
                Ok(())
            }
            false => solver.interpolate(time, states),
        };
        self.walk(motion, (from, to), &mut way)
    }

    /// Follows the branch along a way, in parts that are short enough to see that it is continuous.
    fn walk(
        &mut self,
        motion: &Motion<'_>,
        (from, to): (f64, f64),
        way: &mut Way<'_>,
    ) -> Result<Option<End>, SolverFault> {
        let mut states = vec![0.0; motion.states];
        let mut solve = |time: f64, guess: &[f64]| -> Result<Option<Vec<f64>>, SolverFault> {
            way(time, &mut states)?;
            Ok(motion.unknowns_on_way(guess, time, &states))
        };
        let shortest = (INSTANT * (to - from)).max(2.0 * f64::EPSILON * to.abs());
        let (mut low, mut unknowns, mut high) = (from, self.unknowns.clone(), to);
        for _ in 0..PARTS {
            let middle = low + 0.5 * (high - low);
            let reached = match solve(high, &unknowns)? {
                Some(reached) if self.is_near(motion, &unknowns, &reached) => Some(reached),
                Some(reached) => {
                    let between = solve(middle, &unknowns)?;
                    between
                        .filter(|between| self.is_way(motion, [&unknowns, between, &reached]))
                        .map(|_| reached)
                }
                None => None,
            };
            match reached {
                Some(reached) if high >= to => {
                    self.reached = reached;
                    return Ok(None);
                }
                Some(reached) => {
                    let next = (high + 2.0 * (high - low)).min(to);
                    (low, unknowns, high) = (high, reached, next);
                }
                None if high - low <= shortest || middle <= low || middle >= high => {
                    return Ok(Some(End { unknowns, after: high }));
                }
                None => high = middle,
            }
        }
        // Too winding to be followed: the solver's own error test has passed it.
        motion.copy_unknowns(&mut self.reached);
        Ok(None)
    }

    /// Whether two solutions differ by no more than what is continuous whatever lies between.
    fn is_near(&self, motion: &Motion<'_>, a: &[f64], b: &[f64]) -> bool {
        let is_open = |at: &usize| !motion.held_unknowns()[*at];
        (0..a.len())
            .filter(is_open)
            .all(|at| (a[at] - b[at]).abs() <= self.continuous(motion, at, [a[at], b[at]]))
    }

    /// Whether the solution between two others is between them, and not at one of them.
    fn is_way(&self, motion: &Motion<'_>, [from, between, to]: [&[f64]; 3]) -> bool {
        let is_open = |at: &usize| !motion.held_unknowns()[*at];
        (0..from.len()).filter(is_open).all(|at| {
            let length = (to[at] - from[at]).abs();
            let off = (between[at] - 0.5 * (from[at] + to[at])).abs();
            off <= BENT * length + self.continuous(motion, at, [from[at], to[at]])
        })
    }
}

impl Motion<'_> {
    /// The solution that the loops come to from the end of a branch, as if each unknown had a little inertia with which the branch
    /// was stable; where that leads nowhere, the nearest one that is found.
    fn land(&self, end: &End, anchor: &Position, after: &[f64]) -> Option<Vec<f64>> {
        // Rounding makes the end a solution for a little longer.
        let near = |guess: &[f64]| {
            let found = self.unknowns_near(guess, end.after, after)?;
            self.is_elsewhere(&found, &end.unknowns).then_some(found)
        };
        let slopes = self.loop_matrix(anchor).lu();
        let drift = |at: &[f64]| -> Option<DVector<f64>> {
            let mut residuals = vec![0.0; self.unknowns];
            self.call(&self.kernels.residuals, end.after, after, at, None, &mut residuals);
            let drift = slopes.solve(&DVector::from_vec(residuals))?;
            drift.iter().all(|value| value.is_finite()).then_some(drift)
        };
        let mut at = DVector::from_column_slice(&end.unknowns);
        let mut share = 1.0;
        for _ in 0..MOVES {
            let Some(direction) = drift(at.as_slice()).filter(|drift| drift.amax() > 0.0) else {
                break;
            };
            let size = MOVE * (at.amax() + end.unknowns.iter().fold(1e-9, |most: f64, value| most.max(value.abs())));
            let longest = share * (size / direction.amax()).min(1.0f64.max(share));
            let trial = &at - &direction * longest;
            match drift(trial.as_slice()) {
                Some(next) if next.dot(&direction) > 0.0 => {
                    at = trial;
                    share *= 2.0;
                }
                Some(_) => {
                    // A solution lies between.
                    if let Some(found) = near(trial.as_slice()).or_else(|| near(at.as_slice())) {
                        return Some(found);
                    }
                    share *= 0.25;
                }
                None => share *= 0.25,
            }
            if at.amax() > 1e100 || share < 1e-30 {
                break;
            }
        }
        let other = || self.solution_elsewhere(end.after, after);
        near(&end.unknowns).or_else(|| other().filter(|found| self.is_elsewhere(found, &end.unknowns)))
    }

    /// Whether two solutions are on different branches.
    fn is_elsewhere(&self, a: &[f64], b: &[f64]) -> bool {
        let is_open = |at: &usize| !self.held_unknowns()[*at];
        (0..a.len())
            .filter(is_open)
            .any(|at| (a[at] - b[at]).abs() > ELSEWHERE * a[at].abs().max(b[at].abs()) + self.small_unknown(at))
    }
}

impl Run<'_> {
    /// What becomes of a step that was accepted: nothing where it stays on the branch of the loops; a new beginning where it does not.
    pub(super) fn stay_on_branch(&mut self, solver: &mut dyn Solver, stop: f64) -> Result<Option<Piece>, Failure> {
        let Some(mut branch) = self.branch.take() else {
            return Ok(None);
        };
        let followed = branch.follow(self.motion, solver);
        let result = match followed {
            Ok(None) => self.with_the_solver(&branch, solver, stop),
            Ok(Some(end)) => {
                let left = self.at_end(&branch, &end, solver, stop);
                match left {
                    // The method itself has found a way on.
                    Err(_) if branch.takes_over(self.motion, solver) => Ok(None),
                    left => left.map(Some),
                }
            }
            Err(error) => Err(self.failure(error, None)),
        };
        self.branch = Some(branch);
        result
    }

    /// An implicit method solves the loops itself, and may have gone to another branch before this one ends: then the step is made
    /// again.
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

    /// The rows of the last step begin with the solution where it began; then the one where it ended is kept.
    pub(super) fn guess_branch(&self) {
        if let Some(branch) = &self.branch {
            self.motion.guess_unknowns(&branch.unknowns);
        }
    }

    /// The last step is accepted, up to these states.
    pub(super) fn accept_branch(&mut self, time: f64, states: &[f64]) {
        if let Some(branch) = &mut self.branch {
            branch.unknowns.copy_from_slice(&branch.reached);
            branch.measure();
            self.motion.keep_unknowns(&branch.unknowns);
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

    /// The end of a branch lies in the last step, which is made again in shorter ones until what it misses by that is less than
    /// what is allowed.
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

    /// What becomes of a run whose solver finds no step that is small enough: it passes a jump or leaves a branch that ends ahead, or
    /// another method goes on, or it has failed.
    pub(super) fn give_up(
        &mut self,
        error: SolverFault,
        solver: &mut dyn Solver,
        may_switch: bool,
    ) -> Result<Piece, Failure> {
        let failure = self.failure(error, Some(&*solver));
        if let Some(piece) = self.pass_jump_ahead(solver)? {
            return Ok(piece);
        }
        let ahead = self.leave_ahead(solver);
        if let Ok(Some(piece)) = ahead {
            return Ok(piece);
        }
        self.other_method(ahead.err().unwrap_or(failure), solver.time(), may_switch)
    }

    /// Where a method has failed, another goes on from the last place that is safe, if the choice is not the user's.
    pub(super) fn other_method(&mut self, failure: Failure, time: f64, may_switch: bool) -> Result<Piece, Failure> {
        // What is too stiff for an explicit method may lie outside of a law at each of its trial points; and methods of several steps
        // fare worse than others where a law bends.
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
        if !may_switch || tried.contains(&next) || failure.is_stop() {
            return Err(failure);
        }
        if next == Method::Tsit45 {
            self.watch.back();
        }
        // Its last steps may have led to the edge of a law already.
        self.time = self.safe.time;
        self.states.copy_from_slice(&self.safe.states);
        self.motion.guess_unknowns(&self.safe.unknowns);
        self.motion.keep_unknowns(&self.safe.unknowns);
        Ok(Piece::Switch(next))
    }

    /// Where a solver gives up: whether that is because the branch ends just ahead.
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

    /// Goes on from the end of a branch with another solution, or says that there is none.
    fn leave(&mut self, end: &End, anchor: &Position, after: Vec<f64>, solver: &dyn Solver) -> Result<Piece, Failure> {
        let steps = self.done.steps + solver.work().steps;
        match self.motion.land(end, anchor, &after) {
            Some(found) => {
                self.motion.guess_unknowns(&found);
                self.motion.keep_unknowns(&found);
                self.event(end.after, after, steps)
            }
            None => {
                self.motion.guess_unknowns(&end.unknowns);
                self.motion.solve_loops(end.after, &after);
                let error = SolverFault::TooSmall;
                Err(match self.motion.fault() {
                    Some(fault) if matches!(fault.kind, FaultKind::Loop(_)) => self.motion.failure(&fault, steps),
                    _ => self.failure(error, Some(solver)),
                })
            }
        }
    }
}
