//! The branch of solutions of the algebraic loops that a run follows.
//!
//! A loop may have several solutions, such as that of an amplifier that saturates in either direction. A run follows
//! the solution that continues continuously from its last step. Trial points of a solver may be beyond the end of a
//! branch, and Newton's iteration may find another branch there. Every attempt at a step therefore begins with the
//! solution of the last accepted step, and an accepted step is followed from its beginning to its end. If the branch
//! ends in between (two solutions meet and vanish, or a limit of `min` and `max` is reached), that is an event: the run
//! continues with the solution to which the unknowns drift from there (`landing`).

use crate::loops::singular::Position;
use crate::motion::Motion;
use crate::solvers::solver::{Solver, SolverFault};
use lgm_runtime::branch::{BENT, CONTINUOUS, ELSEWHERE, INSTANT, NOISE, PARTS};
use nalgebra::DVector;

/// The branch that a run follows.
#[derive(Clone, Debug)]
pub(crate) struct Branch {
    /// The unknowns at the end of the last accepted step.
    pub(crate) unknowns: Vec<f64>,
    /// The unknowns at the end of the last followed step.
    pub(crate) reached: Vec<f64>,
    /// The largest value of each unknown so far.
    pub(crate) sizes: Vec<f64>,
    /// Two points on the branch, the first one some distance before the other.
    pub(crate) anchors: [Position; 2],
}

/// The end of a branch.
#[derive(Clone, Debug)]
pub(crate) struct End {
    /// The last position that was reached on the branch.
    pub(crate) before: Position,
    /// The first instant that the branch does not reach.
    pub(crate) after: f64,
}

/// A path of the states over time.
pub(crate) type Way<'w> = dyn FnMut(f64, &mut [f64]) -> Result<(), SolverFault> + 'w;

impl Branch {
    /// Returns `None` if no loop exists, or if all unknowns are displacements of closed chains, which are monitored separately.
    pub fn new(motion: &Motion<'_>) -> Option<Branch> {
        let has_open = motion.held_unknowns().contains(&false);
        has_open.then(|| Branch {
            unknowns: vec![0.0; motion.unknowns],
            reached: vec![0.0; motion.unknowns],
            sizes: vec![0.0; motion.unknowns],
            anchors: [Position::default(), Position::default()],
        })
    }

    /// Starts following the branch where a solver begins.
    pub fn begin(&mut self, motion: &Motion<'_>, time: f64, states: &[f64]) {
        motion.solve_loops(time, states);
        motion.copy_unknowns(&mut self.unknowns);
        motion.keep_unknowns(&self.unknowns);
        self.measure();
        let here = motion.position(time, states);
        self.anchors = [here.clone(), here];
    }

    pub(crate) fn measure(&mut self) {
        for (size, value) in self.sizes.iter_mut().zip(&self.unknowns) {
            *size = size.max(value.abs());
        }
    }

    /// Returns the change of an unknown that always counts as continuous: a change below the visible one, or below the previous one.
    fn continuous(&self, motion: &Motion<'_>, at: usize, values: [f64; 2]) -> f64 {
        let size = values[0].abs().max(values[1].abs());
        CONTINUOUS * size + NOISE * self.sizes[at] + motion.small_unknown(at)
    }

    /// Adopts the unknowns of an implicit method at the end of its last step, if they solve the loops.
    pub(crate) fn takes_over(&mut self, motion: &Motion<'_>, solver: &dyn Solver) -> bool {
        let own = solver.unknowns();
        let Some(own) = own.filter(|own| motion.holds_nearly(solver.time(), solver.states(), own)) else {
            return false;
        };
        self.reached.copy_from_slice(own);
        motion.forget_fault();
        true
    }

    /// Follows the branch along the last step; returns its end if it ends there.
    pub(crate) fn follow(&mut self, motion: &Motion<'_>, solver: &mut dyn Solver) -> Result<Option<End>, SolverFault> {
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

    /// Sets the guess at a fraction of the last step, which has not been accepted yet, on the line between its ends.
    pub(crate) fn guess_within(&self, motion: &Motion<'_>, share: f64) {
        let ends = self.unknowns.iter().zip(&self.reached);
        let guess: Vec<f64> = ends.map(|(from, to)| from + share * (to - from)).collect();
        motion.guess_unknowns(&guess);
    }

    /// Follows the branch along a path, in parts that are short enough to verify continuity.
    pub(crate) fn walk(
        &mut self,
        motion: &Motion<'_>,
        (from, to): (f64, f64),
        way: &mut Way<'_>,
    ) -> Result<Option<End>, SolverFault> {
        let mut steps = Steps {
            motion,
            way,
            states: vec![0.0; motion.states],
        };
        let shortest = (INSTANT * (to - from)).max(2.0 * f64::EPSILON * to.abs());
        let (mut low, mut unknowns, mut high) = (from, self.unknowns.clone(), to);
        for _ in 0..PARTS {
            let middle = low + 0.5 * (high - low);
            let reached = match steps.solve(high, &unknowns)? {
                Some(reached) if self.is_near(motion, &unknowns, &reached) => Some(reached),
                Some(reached) => {
                    let is_way = self.is_whole_way(&mut steps, (low, &unknowns), (high, &reached))?;
                    is_way.then_some(reached)
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
                    let before = steps.position(low, &unknowns)?;
                    return Ok(Some(End { before, after: high }));
                }
                None => high = middle,
            }
        }
        // The path has too many turns to be followed; the solver's own error test has accepted it.
        motion.copy_unknowns(&mut self.reached);
        Ok(None)
    }

    /// Returns true if two solutions differ by at most the always continuous change.
    fn is_near(&self, motion: &Motion<'_>, a: &[f64], b: &[f64]) -> bool {
        let is_open = |at: &usize| !motion.held_unknowns()[*at];
        (0..a.len())
            .filter(is_open)
            .all(|at| (a[at] - b[at]).abs() <= self.continuous(motion, at, [a[at], b[at]]))
    }

    /// Returns true if a solution changes gradually from one to another, according to the middle and the middles of
    /// both halves: one solution may be in the middle of two others.
    fn is_whole_way(
        &self,
        steps: &mut Steps<'_, '_, '_>,
        (low, from): (f64, &[f64]),
        (high, to): (f64, &[f64]),
    ) -> Result<bool, SolverFault> {
        let motion = steps.motion;
        let half = 0.5 * (high - low);
        let Some(middle) = steps.solve(low + half, from)? else {
            return Ok(false);
        };
        let parts = [
            (low, from, low + half, &middle[..]),
            (low + half, &middle[..], high, to),
        ];
        let mut is_way = self.is_way(motion, [from, &middle, to]);
        // For loops of other models, only the midpoint is tested: finer tests add minutes to runs of three-phase rectifiers.
        if !motion.has_totals() {
            return Ok(is_way);
        }
        for (start, from, end, to) in parts {
            if !is_way || self.is_near(motion, from, to) {
                continue;
            }
            let quarter = start + 0.5 * half;
            let Some(between) = steps.solve(quarter, from)? else {
                return Ok(false);
            };
            is_way = self.is_way(motion, [from, &between, to])
                && self.adds_up(steps, [(start, from), (quarter, &between), (end, to)])?;
        }
        Ok(is_way
            && steps.turn_alike((low, from), (high, to))?
            && self.adds_up(steps, [(low, from), (low + half, &middle), (high, to)])?)
    }

    /// Returns true if the rates of a solution at the ends and in the middle of a path integrate to its change, by
    /// Simpson's rule. Jumps in between affect only the change.
    fn adds_up(&self, steps: &mut Steps<'_, '_, '_>, at: [(f64, &[f64]); 3]) -> Result<bool, SolverFault> {
        let motion = steps.motion;
        if motion.unknowns > TURNED {
            return Ok(true);
        }
        let [(low, from), middle, (high, to)] = at;
        let ahead = AHEAD * (high - low);
        let ends = [steps.rates((low, from), ahead)?, steps.rates((high, to), -ahead)?];
        let ([Some(begin), Some(end)], Some(middle)) = (ends, steps.rates(middle, ahead)?) else {
            return Ok(false);
        };
        let is_open = |at: &usize| !motion.held_unknowns()[*at];
        Ok((0..from.len()).filter(is_open).all(|at| {
            let change = to[at] - from[at];
            let sum = (high - low) / 6.0 * (begin[at] + 4.0 * middle[at] + end[at]);
            (sum - change).abs() <= ADDED * change.abs() + self.continuous(motion, at, [from[at], to[at]])
        }))
    }

    /// Returns true if the intermediate solution is between the two others, and not equal to one of them.
    fn is_way(&self, motion: &Motion<'_>, [from, between, to]: [&[f64]; 3]) -> bool {
        let is_open = |at: &usize| !motion.held_unknowns()[*at];
        (0..from.len()).filter(is_open).all(|at| {
            let length = (to[at] - from[at]).abs();
            let off = (between[at] - 0.5 * (from[at] + to[at])).abs();
            off <= BENT * length + self.continuous(motion, at, [from[at], to[at]])
        })
    }
}

/// A path of the states over time, with the loops solved along it.
struct Steps<'s, 'm, 'w> {
    motion: &'s Motion<'m>,
    way: &'s mut Way<'w>,
    states: Vec<f64>,
}

impl Steps<'_, '_, '_> {
    fn solve(&mut self, time: f64, guess: &[f64]) -> Result<Option<Vec<f64>>, SolverFault> {
        (self.way)(time, &mut self.states)?;
        Ok(self.motion.unknowns_on_way(guess, time, &self.states))
    }

    fn position(&mut self, time: f64, unknowns: &[f64]) -> Result<Position, SolverFault> {
        (self.way)(time, &mut self.states)?;
        Ok(Position {
            time,
            states: self.states.clone(),
            unknowns: unknowns.to_vec(),
        })
    }

    /// Returns the rate of a solution along the path, from the residuals slightly ahead of it.
    fn rates(&mut self, (time, unknowns): (f64, &[f64]), ahead: f64) -> Result<Option<DVector<f64>>, SolverFault> {
        let motion = self.motion;
        let position = self.position(time, unknowns)?;
        let slopes = motion.loop_matrix(&position).lu();
        let mut change = motion.residuals_at(&position);
        change -= motion.residuals_at(&self.position(time + ahead, unknowns)?);
        let rates = slopes.solve(&change).map(|change| change / ahead);
        Ok(rates.filter(|rates| rates.iter().all(|rate| rate.is_finite())))
    }

    /// Returns true if the loop determinants have the same sign at two solutions. Solutions on one branch have the same
    /// sign; adjacent solutions, such as those of a periodic law, have opposite signs.
    fn turn_alike(&mut self, a: (f64, &[f64]), b: (f64, &[f64])) -> Result<bool, SolverFault> {
        if self.motion.unknowns > TURNED {
            return Ok(true);
        }
        let mut sign = |(time, unknowns): (f64, &[f64])| -> Result<f64, SolverFault> {
            let position = self.position(time, unknowns)?;
            Ok(self.motion.loop_matrix(&position).determinant())
        };
        let product = sign(a)? * sign(b)?;
        Ok(product.is_nan() || product >= 0.0)
    }
}

impl Motion<'_> {
    /// Returns true if a state is a total, so that several solutions for storage may follow from it.
    pub(crate) fn has_totals(&self) -> bool {
        self.system.states.iter().any(|state| state.is_total())
    }

    /// Returns the residuals of the loops.
    pub(crate) fn residuals_at(&self, at: &Position) -> DVector<f64> {
        let mut residuals = vec![0.0; self.unknowns];
        let kernel = &self.kernels.residuals;
        self.call(kernel, at.time, &at.states, &at.unknowns, None, &mut residuals);
        DVector::from_vec(residuals)
    }

    /// Returns the first unknown that differs between two solutions and determines a stored quantity.
    pub(crate) fn stored_jump(&self, a: &[f64], b: &[f64]) -> Option<usize> {
        let mut stored = self.stored_unknowns().enumerate();
        stored.find_map(|(at, is_stored)| (is_stored && self.is_unknown_elsewhere(at, a[at], b[at])).then_some(at))
    }

    /// Returns for each unknown true if it determines a stored quantity.
    pub(crate) fn stored_unknowns(&self) -> impl Iterator<Item = bool> {
        self.system.equations.loops.iter().flat_map(|each| {
            let known = each.rated.iter().copied();
            known.chain(std::iter::repeat(false)).take(each.unknowns.len())
        })
    }

    /// Returns true if two solutions are on different branches.
    pub(crate) fn is_elsewhere(&self, a: &[f64], b: &[f64]) -> bool {
        (0..a.len()).any(|at| self.is_unknown_elsewhere(at, a[at], b[at]))
    }

    fn is_unknown_elsewhere(&self, at: usize, a: f64, b: f64) -> bool {
        let allowed = ELSEWHERE * a.abs().max(b.abs()) + self.small_unknown(at);
        !self.held_unknowns()[at] && (a - b).abs() > allowed
    }
}

/// The distance ahead at which residuals are evaluated, as a fraction of the path.
const AHEAD: f64 = 1e-4;

/// The largest part of the change of a solution that its integrated rates may miss.
const ADDED: f64 = 0.02;

/// Loops with more unknowns than this have no determinants, and no rates.
const TURNED: usize = 12;
