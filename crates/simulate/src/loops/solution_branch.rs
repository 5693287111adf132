//! The branch of solutions of the algebraic loops that a run follows.
//!
//! A loop may have several solutions, as that of an amplifier which saturates to either side. A run stays with the one that goes on
//! continuously from its last step. Trial points of a solver lie beyond where a branch ends, and Newton's iteration may find
//! another one there; so every attempt at a step begins with the solution of the last step that was accepted, and a step
//! that was accepted is followed from its beginning to its end. Where the branch ends in between (two solutions meet and
//! vanish, or a limit of `min` and `max` is reached), that is an event: the run goes on with the solution that the loops come
//! to from there.

use crate::loops::singular::Position;
use crate::motion::Motion;
use crate::solvers::solver::{Solver, SolverFault};
use lgm_runtime::branch::{BENT, CONTINUOUS, ELSEWHERE, INSTANT, NOISE, PARTS};
use nalgebra::DVector;

/// The solution that a run follows.
#[derive(Clone, Debug)]
pub(crate) struct Branch {
    /// The unknowns where the last step ended that was accepted.
    pub(crate) unknowns: Vec<f64>,
    /// Those at the end of the step that was followed last.
    pub(crate) reached: Vec<f64>,
    /// The largest value of each unknown so far.
    pub(crate) sizes: Vec<f64>,
    /// Two points on the branch, the first one some way before the other.
    pub(crate) anchors: [Position; 2],
}

/// Where a branch ends.
#[derive(Clone, Debug)]
pub(crate) struct End {
    /// The last position that was reached on it.
    pub(crate) before: Position,
    /// The first instant that it does not reach.
    pub(crate) after: f64,
}

/// A way of the states over time.
pub(crate) type Way<'w> = dyn FnMut(f64, &mut [f64]) -> Result<(), SolverFault> + 'w;

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

    pub(crate) fn measure(&mut self) {
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
    pub(crate) fn takes_over(&mut self, motion: &Motion<'_>, solver: &dyn Solver) -> bool {
        let own = solver.unknowns();
        let Some(own) = own.filter(|own| motion.holds_nearly(solver.time(), solver.states(), own)) else {
            return false;
        };
        self.reached.copy_from_slice(own);
        motion.forget_fault();
        true
    }

    /// Whether the last step stays on the branch; where it ends if not.
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

    /// Looks next for the solution at a share of the last step, which has not been accepted yet, on the line between its ends.
    pub(crate) fn guess_within(&self, motion: &Motion<'_>, share: f64) {
        let ends = self.unknowns.iter().zip(&self.reached);
        let guess: Vec<f64> = ends.map(|(from, to)| from + share * (to - from)).collect();
        motion.guess_unknowns(&guess);
    }

    /// Follows the branch along a way, in parts that are short enough to see that it is continuous.
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

    /// Whether a solution changes from one to another little by little, as far as the middle, and the middles of both halves, show it:
    /// of several solutions, one may lie in the middle of two others.
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
        // Loops of other models are followed by their middles alone: the finer tests cost runs of three-phase rectifiers minutes.
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

    /// Whether the rates of a solution at the ends and in the middle of a way add up to its change, by Simpson's rule. What leaps in
    /// between is in the change alone.
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

/// A way of the states over time, with the loops solved along it.
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

    /// How fast a solution changes along the way, as the residuals a little ahead of it show.
    fn rates(&mut self, (time, unknowns): (f64, &[f64]), ahead: f64) -> Result<Option<DVector<f64>>, SolverFault> {
        let motion = self.motion;
        let position = self.position(time, unknowns)?;
        let slopes = motion.loop_matrix(&position).lu();
        let mut change = motion.residuals_at(&position);
        change -= motion.residuals_at(&self.position(time + ahead, unknowns)?);
        let rates = slopes.solve(&change).map(|change| change / ahead);
        Ok(rates.filter(|rates| rates.iter().all(|rate| rate.is_finite())))
    }

    /// Whether the determinants of the loops have one sign at two solutions. On one branch they do; where solutions follow each
    /// other, as those of a periodic law, those of neighbours differ.
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
    /// Whether a state is a total, so that storage with several solutions may follow from it.
    pub(crate) fn has_totals(&self) -> bool {
        self.system.states.iter().any(|state| state.is_total())
    }

    /// The residuals of the loops.
    pub(crate) fn residuals_at(&self, at: &Position) -> DVector<f64> {
        let mut residuals = vec![0.0; self.unknowns];
        let kernel = &self.kernels.residuals;
        self.call(kernel, at.time, &at.states, &at.unknowns, None, &mut residuals);
        DVector::from_vec(residuals)
    }

    /// The first unknown that differs between two solutions although it says what storage holds.
    pub(crate) fn stored_jump(&self, a: &[f64], b: &[f64]) -> Option<usize> {
        let mut stored = self.stored_unknowns().enumerate();
        stored.find_map(|(at, is_stored)| (is_stored && self.is_unknown_elsewhere(at, a[at], b[at])).then_some(at))
    }

    /// Of each unknown, whether it says what storage holds.
    pub(crate) fn stored_unknowns(&self) -> impl Iterator<Item = bool> {
        self.system.equations.loops.iter().flat_map(|each| {
            let known = each.rated.iter().copied();
            known.chain(std::iter::repeat(false)).take(each.unknowns.len())
        })
    }

    /// Whether two solutions are on different branches.
    pub(crate) fn is_elsewhere(&self, a: &[f64], b: &[f64]) -> bool {
        (0..a.len()).any(|at| self.is_unknown_elsewhere(at, a[at], b[at]))
    }

    fn is_unknown_elsewhere(&self, at: usize, a: f64, b: f64) -> bool {
        let allowed = ELSEWHERE * a.abs().max(b.abs()) + self.small_unknown(at);
        !self.held_unknowns()[at] && (a - b).abs() > allowed
    }
}

/// How far ahead the residuals are looked at, as a share of the way.
const AHEAD: f64 = 1e-4;

/// How much of the change of a solution its rates may not add up to.
const ADDED: f64 = 0.02;

/// Loops of more unknowns have no determinants, and no rates.
const TURNED: usize = 12;
