//! The branch of solutions of the algebraic loops that a run follows.
//!
//! Loops may have several solutions, such as those of an amplifier that saturates to either side. A run follows the
//! solution that is continuous with its last step. A step may pass the end of this solution, after which Newton's
//! iteration may find another one. An accepted step is therefore followed from start to end. If the branch ends within
//! the step (two solutions meet and vanish, or a limit is reached), this end is an event. The run then continues with
//! the solution to which the loops settle.

use super::array::{Array, Numbers};
use super::linear::solve_factors;
use super::loops::{are_finite, small, zeros};
use super::model::Model;
use super::real::Real;
use super::system::{At, Fault, System};

/// Relative changes of an unknown below this value are continuous.
pub const CONTINUOUS: f64 = 1e-5;
/// Changes of an unknown below this fraction of its largest value so far are continuous.
pub const NOISE: f64 = 1e-7;
/// The largest deviation of the midpoint of a path from the chord, relative to its length; at a jump it is one half.
pub const BENT: f64 = 0.4;
/// Unknowns that differ by more than this fraction are on different branches.
pub const ELSEWHERE: f64 = 1e-3;
/// Parts of a path shorter than this fraction of it are an instant.
pub const INSTANT: f64 = 1e-12;
/// The maximum number of examined parts of a path.
pub const PARTS: usize = 400;
/// The distance from the end of a branch at which slopes are evaluated, as a fraction of the run.
pub const APART: f64 = 1e-7;
/// The maximum number of moves from the end of a branch to another solution.
const MOVES: usize = 2000;
/// The longest move, relative to the unknowns.
const MOVE: f64 = 0.05;

/// A point at which the loops are solved.
#[derive(Clone, Copy, Debug)]
pub struct Point<S: System> {
    /// The time.
    pub t: S::Real,
    /// The states.
    pub x: S::States,
    /// The inputs.
    pub u: S::Inputs,
    /// The time derivatives of the inputs.
    pub du: S::Inputs,
}

impl<S: System> Point<S> {
    fn at(&self) -> At<'_, S> {
        At {
            t: self.t,
            x: &self.x,
            u: &self.u,
            du: &self.du,
        }
    }
}

/// The factorised derivatives of the loops with respect to the unknowns at a point, and the pivots.
type Slopes<S> = (<S as System>::Factors, <S as System>::Pivots);

/// The solution that a run follows.
#[derive(Clone, Debug)]
pub struct Branch<S: System> {
    /// The unknowns at the current point, at the start of its last step, and at the end of the path followed last.
    unknowns: S::Unknowns,
    before: S::Unknowns,
    reached: S::Unknowns,
    /// The unknowns that the solver found at the end of this path.
    last: S::Unknowns,
    /// The largest magnitude of each unknown so far.
    sizes: S::Unknowns,
    /// The unknowns at the end of the branch.
    end: S::Unknowns,
    /// The first point of a path that the branch does not reach.
    pub after: S::Real,
    /// Two points on the branch with their unknowns, the first some distance before the second; none before the run has begun.
    anchors: Option<[(Point<S>, S::Unknowns); 2]>,
}

fn largest<T: Real>(values: &[T]) -> T {
    values.iter().fold(T::c(0.0), |most, value| most.maximum(value.abs()))
}

fn product<T: Real>(a: &[T], b: &[T]) -> T {
    let products = a.iter().zip(b).map(|(a, b)| *a * *b);
    products.fold(T::c(0.0), |sum, product| sum + product)
}

/// Returns the limit of the unknowns after the end of a branch, as if each had a small inertia that stabilises the branch. `drift` returns
/// the residuals in the scale of the unknowns, which move against them; `other` returns another solution next to a guess.
pub fn drift_from<M, T: Real, W: Numbers<T>>(
    model: &mut M,
    end: &W,
    drift: impl Fn(&mut M, &W) -> Option<W>,
    other: impl Fn(&mut M, &W) -> Option<W>,
) -> Option<W> {
    let (mut at, mut share) = (end.clone(), T::c(1.0));
    let size = largest(end.as_ref()).maximum(T::c(1e-9));
    for _ in 0..MOVES {
        let direction = drift(model, &at)?;
        let (most, here) = (largest(direction.as_ref()), largest(at.as_ref()));
        if most <= T::c(0.0) || here > T::c(1e30) || share < T::c(1e-30) {
            return None;
        }
        // Increasing moves lead away from the end, where the drift is small.
        let longest = T::c(MOVE) * (here + size) / most;
        let length = share * longest.minimum(share.maximum(T::c(1.0)));
        let mut trial = at.clone();
        for (trial, direction) in trial.as_mut().iter_mut().zip(direction.as_ref()) {
            *trial = *trial - length * *direction;
        }
        let next = drift(model, &trial);
        let same = next.map(|next| product(next.as_ref(), direction.as_ref()));
        if same.is_some_and(|same| same > T::c(0.0)) {
            at = trial;
            share = T::c(2.0) * share;
            continue;
        }
        if same.is_some() {
            // A solution lies between the two points.
            let found = other(model, &trial).or_else(|| other(model, &at));
            if found.is_some() {
                return found;
            }
        }
        share = T::c(0.25) * share;
    }
    None
}

/// Returns true if an unknown differs between two solutions by more than a branch allows.
fn differs<S: System>(at: usize, a: &S::Unknowns, b: &S::Unknowns) -> bool {
    let size = a[at].abs().maximum(b[at].abs());
    !S::LOOPS.settled[at] && (a[at] - b[at]).abs() > S::Real::c(ELSEWHERE) * size + small()
}

/// Returns true if two solutions are on different branches.
fn is_elsewhere<S: System>(a: &S::Unknowns, b: &S::Unknowns) -> bool {
    (0..S::Unknowns::LENGTH).any(|at| differs::<S>(at, a, b))
}

impl<S: System> Model<S> {
    /// Returns the solution of the loops next to a guess, if one exists.
    fn loops_near(&mut self, point: &Point<S>, guess: &S::Unknowns) -> Option<S::Unknowns> {
        self.loops.set(*guess);
        self.loops.solve(&mut self.system, point.at()).ok()?;
        Some(self.loops.w)
    }

    /// Returns the factorised derivatives of the loops at a point, unless they are singular.
    fn loops_slopes(&mut self, point: &Point<S>, unknowns: &S::Unknowns) -> Option<Slopes<S>> {
        self.loops.w = *unknowns;
        self.loops.factor(&mut self.system, point.at()).ok()?;
        Some((self.loops.factors, self.loops.pivots))
    }

    /// Returns the sign of the determinant of the loops at a point; 0 if it is not known.
    fn loops_sign(&mut self, point: &Point<S>, unknowns: &S::Unknowns) -> i32 {
        let Some((factors, pivots)) = self.loops_slopes(point, unknowns) else {
            return 0;
        };
        let is_turned = |at: &usize| (pivots[*at] != *at) != (factors[*at][*at] < S::Real::c(0.0));
        if (0..S::Unknowns::LENGTH).filter(is_turned).count() % 2 == 0 {
            1
        } else {
            -1
        }
    }

    /// Returns the distance of the unknowns from a solution, estimated from these derivatives; none if it has no value.
    fn loops_drift(&mut self, point: &Point<S>, unknowns: &S::Unknowns, slopes: &Slopes<S>) -> Option<S::Unknowns> {
        self.loops.w = *unknowns;
        let mut step = self.loops.residuals(&mut self.system, point.at())?;
        solve_factors(&slopes.0, &slopes.1, &mut step);
        are_finite(&step).then_some(step)
    }
}

impl<S: System> Default for Branch<S> {
    fn default() -> Branch<S> {
        let none = zeros();
        Branch {
            unknowns: none,
            before: none,
            reached: none,
            last: none,
            sizes: none,
            end: none,
            after: S::Real::c(0.0),
            anchors: None,
        }
    }
}

impl<S: System> Branch<S> {
    /// Finds the solution at a point, next to the last one, and follows its branch.
    pub fn begin(&mut self, model: &mut Model<S>, point: Point<S>) -> Result<(), Fault> {
        self.recall(model, false);
        model.loops.solve(&mut model.system, point.at())?;
        (self.unknowns, self.before) = (model.loops.w, model.loops.w);
        self.measure();
        self.anchors = Some([(point, self.unknowns); 2]);
        Ok(())
    }

    /// Continues the branch with the solution stored in the model.
    pub fn take_over(&mut self, model: &Model<S>) {
        self.unknowns = model.loops.w;
    }

    /// Starts the next search for a solution from the current point of the run, or from the start of its last step if
    /// `is_before`.
    pub fn recall(&self, model: &mut Model<S>, is_before: bool) {
        if self.anchors.is_some() {
            model.loops.w = if is_before { self.before } else { self.unknowns };
        }
    }

    fn measure(&mut self) {
        for (size, value) in self.sizes.entries_mut().zip(self.unknowns.entries()) {
            *size = size.maximum(value.abs());
        }
    }

    /// Returns the largest change of an unknown that always counts as continuous.
    fn small_change(&self, at: usize, a: S::Real, b: S::Real) -> S::Real {
        S::Real::c(CONTINUOUS) * a.abs().maximum(b.abs()) + S::Real::c(NOISE) * self.sizes[at] + small()
    }

    fn is_near(&self, a: &S::Unknowns, b: &S::Unknowns) -> bool {
        (0..S::Unknowns::LENGTH)
            .all(|at| S::LOOPS.settled[at] || (a[at] - b[at]).abs() <= self.small_change(at, a[at], b[at]))
    }

    /// Returns true if a solution is between two others, and not at one of them.
    fn is_way(&self, from: &S::Unknowns, between: &S::Unknowns, to: &S::Unknowns) -> bool {
        (0..S::Unknowns::LENGTH).all(|at| {
            let length = (to[at] - from[at]).abs();
            let off = (between[at] - S::Real::c(0.5) * (from[at] + to[at])).abs();
            S::LOOPS.settled[at] || off <= S::Real::c(BENT) * length + self.small_change(at, from[at], to[at])
        })
    }

    /// Returns true if the solution changes gradually from one point of a path to another.
    fn is_whole_way(
        &self,
        model: &mut Model<S>,
        (low, from): (S::Real, &S::Unknowns),
        (high, to): (S::Real, &S::Unknowns),
        way: &mut impl FnMut(&mut Model<S>, S::Real) -> Point<S>,
    ) -> bool {
        let mut between = |model: &mut Model<S>, place: S::Real, from: &S::Unknowns, to: &S::Unknowns| {
            let point = way(model, place);
            let found = model.loops_near(&point, from);
            found.filter(|found| self.is_way(from, found, to))
        };
        let half = S::Real::c(0.5) * (high - low);
        if !S::FEATURES.totals {
            return between(model, low + half, from, to).is_some();
        }
        let Some(middle) = between(model, low + half, from, to) else {
            return false;
        };
        // Storage may have many solutions for one total, and one of them may be midway between two others. The midpoints of
        // both halves are therefore examined, too. The determinant keeps its sign along a branch, and has opposite signs on
        // neighbouring branches.
        let mut is_half = |start: S::Real, from: &S::Unknowns, to: &S::Unknowns| {
            self.is_near(from, to) || between(model, start + S::Real::c(0.5) * half, from, to).is_some()
        };
        if !(is_half(low, from, &middle) && is_half(low + half, &middle, to)) {
            return false;
        }
        let signs = [(low, from), (high, to)].map(|(place, unknowns)| {
            let point = way(model, place);
            model.loops_sign(&point, unknowns)
        });
        signs[0] * signs[1] >= 0
    }

    /// Follows the branch along a path from the current point of the run; returns false if the branch ends before `to`.
    pub fn follow(
        &mut self,
        model: &mut Model<S>,
        (from, to): (S::Real, S::Real),
        mut way: impl FnMut(&mut Model<S>, S::Real) -> Point<S>,
    ) -> bool {
        self.last = model.loops.w;
        self.end = self.unknowns;
        let shortest = (S::Real::c(INSTANT) * (to - from)).maximum(S::Real::c(64.0 * S::Real::EPSILON) * to.abs());
        let (mut low, mut high) = (from, to);
        for _ in 0..PARTS {
            let middle = low + S::Real::c(0.5) * (high - low);
            let point = way(model, high);
            let mut is_on = false;
            if let Some(reached) = model.loops_near(&point, &self.end) {
                self.reached = reached;
                is_on = self.is_near(&self.end, &reached)
                    || self.is_whole_way(model, (low, &self.end), (high, &reached), &mut way);
            }
            if is_on && high >= to {
                return true;
            }
            if is_on {
                let next = high + S::Real::c(2.0) * (high - low);
                low = high;
                high = if next < to { next } else { to };
                self.end = self.reached;
            } else if high - low <= shortest || middle <= low || middle >= high {
                self.after = high;
                return false;
            } else {
                high = middle;
            }
        }
        // A path with more turns than this has passed the error test of the solver.
        true
    }

    /// Starts the next search from a point at a fraction of the last step. If the loops have many solutions, a search from the start
    /// of the step may find another one.
    pub fn recall_within(&self, model: &mut Model<S>, share: S::Real) {
        for (at, guess) in model.loops.w.entries_mut().enumerate() {
            *guess = self.before[at] + share * (self.unknowns[at] - self.before[at]);
        }
    }

    /// Returns true if the last evaluation at the end of the followed path found a solution on another branch.
    pub fn is_lost(&self) -> bool {
        is_elsewhere::<S>(&self.last, &self.reached)
    }

    /// Accepts the followed path; the run is now at its end.
    pub fn accept(&mut self, point: Point<S>, span: S::Real) {
        self.before = self.unknowns;
        self.unknowns = self.reached;
        self.measure();
        if let Some(anchors) = &mut self.anchors {
            if point.t - anchors[1].0.t > S::Real::c(APART) * span {
                anchors[0] = anchors[1];
                anchors[1] = (point, self.unknowns);
            }
        }
    }

    /// Continues from the end of the branch, at this point, to the solution to which the loops settle.
    pub fn leave(&mut self, model: &mut Model<S>, point: &Point<S>) -> Result<(), Fault> {
        let found = self.drift(model, point);
        let guesses = S::LOOPS.guesses.into_iter();
        let guesses = guesses.map(|guess| S::Unknowns::of(|at| S::Real::c(guess[at])));
        let mut guesses = [self.end].into_iter().chain(guesses);
        let found = found.or_else(|| guesses.find_map(|guess| self.other(model, point, &guess)));
        let found = found.filter(|found| {
            !(0..S::Unknowns::LENGTH).any(|at| S::LOOPS.stored[at] && differs::<S>(at, found, &self.end))
        });
        self.before = self.unknowns;
        self.unknowns = found.ok_or(Fault::LoopNotSolved)?;
        Ok(())
    }

    /// Returns another solution next to a guess at the end of the branch; due to round-off, this end remains a solution for a little
    /// longer.
    fn other(&self, model: &mut Model<S>, point: &Point<S>, guess: &S::Unknowns) -> Option<S::Unknowns> {
        let found = model.loops_near(point, guess)?;
        is_elsewhere::<S>(&found, &self.end).then_some(found)
    }

    /// Returns the limit of the unknowns after the end of the branch.
    fn drift(&self, model: &mut Model<S>, point: &Point<S>) -> Option<S::Unknowns> {
        let (before, unknowns) = &self.anchors.as_ref()?[0];
        let slopes = model.loops_slopes(before, unknowns)?;
        drift_from(
            model,
            &self.end,
            |model, at| model.loops_drift(point, at, &slopes),
            |model, guess| self.other(model, point, guess),
        )
    }
}
