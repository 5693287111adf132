//! The branch of solutions of the algebraic loops that a run follows.
//!
//! Loops may have several solutions, as that of an amplifier which saturates to either side. A run stays with the one that goes
//! on continuously from its last step. A step may lead beyond where that one ends, and Newton's iteration may find another one
//! there; so a step that was accepted is followed from its beginning to its end. Where the branch ends in between (two solutions
//! meet and vanish, or a limit is reached), that is an event: the run goes on with the solution that the loops come to from there.

use super::array::Array;
use super::linear::solve_factors;
use super::loops::{are_finite, small, zeros};
use super::model::Model;
use super::real::Real;
use super::system::{At, Fault, System};

/// Changes of an unknown below this share of its size are continuous.
pub const CONTINUOUS: f64 = 1e-5;
/// Changes of an unknown below this share of the largest value that it had are continuous.
pub const NOISE: f64 = 1e-7;
/// How far the middle of a way may be from the middle between its ends, as a share of their distance; at a jump it is half.
pub const BENT: f64 = 0.4;
/// Unknowns that differ by more than this share are on different branches.
pub const ELSEWHERE: f64 = 1e-3;
/// Parts of a way shorter than this share of it are an instant.
pub const INSTANT: f64 = 1e-12;
/// The most parts of a way that are looked at.
pub const PARTS: usize = 400;
/// The slopes at the end of a branch, where they may be lost, are taken so far before it, as a share of the run.
pub const APART: f64 = 1e-7;
/// The most moves from the end of a branch to another solution.
pub const MOVES: usize = 2000;
/// The longest move, as a share of the unknowns.
pub const MOVE: f64 = 0.05;

/// A point at which the loops are solved.
#[derive(Clone, Copy, Debug)]
pub struct Point<S: System> {
    /// The time.
    pub t: S::Real,
    /// The states.
    pub x: S::States,
    /// The inputs.
    pub u: S::Inputs,
    /// Their time derivatives.
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

/// The slopes of the loops at a point in factors, with the pivots.
type Slopes<S> = (<S as System>::Factors, <S as System>::Pivots);

/// The solution that a run follows.
#[derive(Clone, Debug)]
pub struct Branch<S: System> {
    /// The unknowns where the run is, where its last step began, and where the way ends that was followed last.
    unknowns: S::Unknowns,
    before: S::Unknowns,
    reached: S::Unknowns,
    /// Those that the solver came to by itself there.
    last: S::Unknowns,
    /// The largest value of each unknown so far.
    sizes: S::Unknowns,
    /// The unknowns at the end of the branch.
    end: S::Unknowns,
    /// The first place of a way that the branch does not reach.
    pub after: S::Real,
    /// Two points on the branch with their unknowns, the first one some way before the other; none before the run has begun.
    anchors: Option<[(Point<S>, S::Unknowns); 2]>,
}

fn largest<T: Real, W: Array<Item = T>>(values: &W) -> T {
    values
        .entries()
        .fold(T::c(0.0), |most, value| most.maximum(value.abs()))
}

fn product<T: Real, W: Array<Item = T>>(a: &W, b: &W) -> T {
    let products = a.entries().zip(b.entries()).map(|(a, b)| *a * *b);
    products.fold(T::c(0.0), |sum, product| sum + product)
}

/// Returns true if an unknown of two solutions is on different branches.
fn differs<S: System>(at: usize, a: &S::Unknowns, b: &S::Unknowns) -> bool {
    let size = a[at].abs().maximum(b[at].abs());
    !S::LOOPS.settled[at] && (a[at] - b[at]).abs() > S::Real::c(ELSEWHERE) * size + small()
}

/// Whether two solutions are on different branches.
fn is_elsewhere<S: System>(a: &S::Unknowns, b: &S::Unknowns) -> bool {
    (0..S::Unknowns::LENGTH).any(|at| differs::<S>(at, a, b))
}

impl<S: System> Model<S> {
    /// The solution of the loops next to some unknowns, if there is one.
    fn loops_near(&mut self, point: &Point<S>, guess: &S::Unknowns) -> Option<S::Unknowns> {
        self.loops.set(*guess);
        self.loops.solve(&mut self.system, point.at()).ok()?;
        Some(self.loops.w)
    }

    /// The slopes of the loops at a point in factors, unless they are singular.
    fn loops_slopes(&mut self, point: &Point<S>, unknowns: &S::Unknowns) -> Option<Slopes<S>> {
        self.loops.w = *unknowns;
        self.loops.factor(&mut self.system, point.at()).ok()?;
        Some((self.loops.factors, self.loops.pivots))
    }

    /// The sign of the determinant of the loops at a point; 0 where it is not known.
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

    /// The distance of unknowns from a solution as these slopes see it, if there is a value.
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
    /// Finds the solution at a point, next to the last one; the branch is that of this solution.
    pub fn begin(&mut self, model: &mut Model<S>, point: Point<S>) -> Result<(), Fault> {
        self.recall(model, false);
        model.loops.solve(&mut model.system, point.at())?;
        (self.unknowns, self.before) = (model.loops.w, model.loops.w);
        self.measure();
        self.anchors = Some([(point, self.unknowns); 2]);
        Ok(())
    }

    /// The branch goes on with the solution that the model has.
    pub fn take_over(&mut self, model: &Model<S>) {
        self.unknowns = model.loops.w;
    }

    /// The next evaluation looks for a solution next to that where the run is, or where its last step began.
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

    /// The change of an unknown that is continuous whatever lies between.
    fn small_change(&self, at: usize, a: S::Real, b: S::Real) -> S::Real {
        S::Real::c(CONTINUOUS) * a.abs().maximum(b.abs()) + S::Real::c(NOISE) * self.sizes[at] + small()
    }

    fn is_near(&self, a: &S::Unknowns, b: &S::Unknowns) -> bool {
        (0..S::Unknowns::LENGTH)
            .all(|at| S::LOOPS.settled[at] || (a[at] - b[at]).abs() <= self.small_change(at, a[at], b[at]))
    }

    /// Whether the solution between two others is between them, and not at one of them.
    fn is_way(&self, from: &S::Unknowns, between: &S::Unknowns, to: &S::Unknowns) -> bool {
        (0..S::Unknowns::LENGTH).all(|at| {
            let length = (to[at] - from[at]).abs();
            let off = (between[at] - S::Real::c(0.5) * (from[at] + to[at])).abs();
            S::LOOPS.settled[at] || off <= S::Real::c(BENT) * length + self.small_change(at, from[at], to[at])
        })
    }

    /// Whether the solution changes little by little from one place of a way to another.
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
        // What is stored may have many solutions of one total. One of them may lie in the middle of two others, so the middles of
        // both halves are looked at, too; and the determinants of neighbours differ in sign, while that of one branch keeps it.
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

    /// Follows the branch along a way, from where the run is on; false where it ends before `to`.
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
        // A way that winds more than this has passed the error test of the solver.
        true
    }

    /// The next evaluation is that of a share of the last step: of many solutions, Newton's iteration may find another one from where
    /// the step began.
    pub fn recall_within(&self, model: &mut Model<S>, share: S::Real) {
        for (at, guess) in model.loops.w.entries_mut().enumerate() {
            *guess = self.before[at] + share * (self.unknowns[at] - self.before[at]);
        }
    }

    /// Whether the last evaluation at the end of the way that was followed found the solution of another branch.
    pub fn is_lost(&self) -> bool {
        is_elsewhere::<S>(&self.last, &self.reached)
    }

    /// The way that was followed is that of the run, which is at its end now.
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

    /// Goes from the end of the branch, which is at this point, to the solution that the loops come to from there.
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

    /// Another solution next to a guess where the branch has ended: rounding makes its end a solution for a little longer.
    fn other(&self, model: &mut Model<S>, point: &Point<S>, guess: &S::Unknowns) -> Option<S::Unknowns> {
        let found = model.loops_near(point, guess)?;
        is_elsewhere::<S>(&found, &self.end).then_some(found)
    }

    /// Where the unknowns come to from the end of the branch if each had a little inertia with which the branch was stable.
    fn drift(&self, model: &mut Model<S>, point: &Point<S>) -> Option<S::Unknowns> {
        let (before, unknowns) = &self.anchors.as_ref()?[0];
        let slopes = model.loops_slopes(before, unknowns)?;
        let (mut at, mut share) = (self.end, S::Real::c(1.0));
        let size = largest(&self.end).maximum(S::Real::c(1e-9));
        for _ in 0..MOVES {
            let direction = model.loops_drift(point, &at, &slopes)?;
            let most = largest(&direction);
            if most <= S::Real::c(0.0) || largest(&at) > S::Real::c(1e30) || share < S::Real::c(1e-30) {
                return None;
            }
            let longest = S::Real::c(MOVE) * (largest(&at) + size) / most;
            let limit = share.maximum(S::Real::c(1.0));
            let length = share * if longest < limit { longest } else { limit };
            let mut trial = at;
            for (trial, direction) in trial.entries_mut().zip(direction.entries()) {
                *trial = *trial - length * *direction;
            }
            let next = model.loops_drift(point, &trial, &slopes);
            match next.map(|next| product(&next, &direction)) {
                Some(same) if same > S::Real::c(0.0) => {
                    at = trial;
                    share = S::Real::c(2.0) * share;
                }
                Some(_) => {
                    // A solution lies between.
                    let found = self
                        .other(model, point, &trial)
                        .or_else(|| self.other(model, point, &at));
                    if found.is_some() {
                        return found;
                    }
                    share = S::Real::c(0.25) * share;
                }
                None => share = S::Real::c(0.25) * share,
            }
        }
        None
    }
}
