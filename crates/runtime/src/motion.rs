//! The motion of a model between two discontinuities in time: right-hand sides, conditions, and input steps that move states.

use super::array::Array;
use super::branch::{Branch, Point};
use super::dopri5::Tolerances;
use super::jump::{self, Lost, Steps};
use super::loops::zeros;
use super::model::Model;
use super::real::Real;
use super::system::{At, Fault, System};

/// The start and the stop of a run, and the number of its rows.
#[derive(Clone, Copy, Debug)]
pub struct Plan<T> {
    /// The time of the first row.
    pub start: T,
    /// The time of the last row.
    pub stop: T,
    /// The number of rows, at least 2.
    pub points: usize,
    /// The relative tolerance.
    pub rtol: T,
    /// The absolute tolerance; if it is 0, it follows from the scale of each state.
    pub atol: T,
}

/// A time, and the states at this time.
pub(crate) type Instant<S> = (<S as System>::Real, <S as System>::States);

/// A model in the course of a run.
pub struct Motion<S: System> {
    pub(crate) model: Model<S>,
    pub(crate) plan: Plan<S::Real>,
    /// The discontinuities at both ends of the current piece; the solver uses no value from outside it.
    pub(crate) from: S::Real,
    pub(crate) to: S::Real,
    pub(crate) tolerances: Tolerances<S::States>,
    /// The last instant of the run, for failure reports.
    pub(crate) last: Instant<S>,
    /// The solution of the algebraic loops that the run follows.
    pub(crate) branch: Branch<S>,
    /// The time of the latest evaluation: an earlier time belongs to another attempt at a step.
    pub(crate) latest: S::Real,
    /// The reason why the states after a step of an input cannot be determined.
    pub(crate) lost: Lost<S::Real>,
}

/// Returns a point of a run between two discontinuities.
pub(crate) fn point<S: System>(
    model: &mut Model<S>,
    (from, to): (S::Real, S::Real),
    t: S::Real,
    x: S::States,
) -> Point<S> {
    let inside = if t >= to { to.next_down() } else { t.maximum(from) };
    let (u, du) = model.inputs(if t >= to { inside } else { later::<S>(inside) });
    Point { t: inside, x, u, du }
}

/// Returns the time at which inputs that step are read: a few units in the last place later, so that a period of 0.1 s is over at the third of
/// its instants although 0.3 in doubles is less than 3 times 0.1.
pub(crate) fn later<S: System>(t: S::Real) -> S::Real {
    match S::Switches::LENGTH {
        0 => t,
        _ => t + S::Real::c(4.0 * S::Real::EPSILON) * t.abs(),
    }
}

/// Returns the distance within which two times are equal.
pub(crate) fn rounding<T: Real>(t: T) -> T {
    T::c(64.0 * T::EPSILON) * t.abs()
}

impl<S: System> Motion<S> {
    /// Prepares a run of a model.
    pub(crate) fn new(model: Model<S>, plan: Plan<S::Real>) -> Motion<S> {
        Motion {
            model,
            plan,
            from: plan.start,
            to: S::Real::c(f64::INFINITY),
            tolerances: Tolerances::with_scales(plan.rtol, plan.atol, S::STATES.scales),
            last: (plan.start, zeros()),
            branch: Branch::default(),
            latest: S::Real::c(f64::INFINITY),
            lost: Lost::NoWay,
        }
    }

    /// Returns the inputs at a time between two discontinuities. At the later one, the values before it still apply.
    pub(crate) fn point(&mut self, t: S::Real, x: S::States) -> Point<S> {
        point(&mut self.model, (self.from, self.to), t, x)
    }

    pub(crate) fn rates_at(&mut self, t: S::Real, x: &S::States, dx: &mut S::States) -> Result<Point<S>, Fault> {
        let here = self.point(t, *x);
        self.model.rhs(here.t, x, &here.u, &here.du, dx)?;
        Ok(here)
    }

    pub(crate) fn motion(&mut self, t: S::Real, x: &S::States, dx: &mut S::States) -> Result<(), Fault> {
        // Every attempt at a step begins with the solution at the end of the last step.
        if t < self.latest {
            self.branch.recall(&mut self.model, false);
        }
        self.latest = t;
        self.rates_at(t, x, dx).map(|_| ())
    }

    /// Returns the step of each input at an instant; 0 for an input that is continuous there.
    pub(crate) fn steps(&mut self, t: S::Real, before: &S::Inputs) -> (Point<S>, S::Inputs) {
        let here = self.point(t, zeros());
        let apart = S::Real::c(16.0) * (t - t.next_down());
        let steps = S::Inputs::of(|at| {
            let (before, after) = (before[at], here.u[at]);
            let rounded = S::Real::c(64.0 * S::Real::EPSILON) * before.abs().maximum(after.abs());
            let drifted = apart * here.du[at].abs();
            match (after - before).abs() > rounded + drifted {
                true => after - before,
                false => S::Real::c(0.0),
            }
        });
        (here, steps)
    }

    /// Moves the states by E times the step of the inputs.
    pub(crate) fn move_states(
        &mut self,
        t: S::Real,
        before: &S::Inputs,
        x: &mut S::States,
        is_start: bool,
    ) -> Result<(), Fault> {
        if !S::FEATURES.moves {
            return Ok(());
        }
        let (here, steps) = self.steps(t, before);
        if steps.entries().all(|step| *step == S::Real::c(0.0)) {
            return Ok(());
        }
        let moved = match S::FEATURES.linear {
            true => self.moved_by_constants(&here, &steps, x)?,
            false => self.moved_on_a_way((t, here.t), is_start, (*before, steps), x)?,
        };
        for at in 0..S::States::LENGTH {
            if !(is_start && S::STATES.start_given[at]) {
                x[at] = moved[at];
            }
        }
        Ok(())
    }

    /// Moves the states if E is the same everywhere. The evaluation at zero adds no round-off of other terms.
    pub(crate) fn moved_by_constants(
        &mut self,
        here: &Point<S>,
        steps: &S::Inputs,
        x: &S::States,
    ) -> Result<S::States, Fault> {
        let (still, rest) = (zeros(), zeros());
        let (mut moved, mut without) = (rest, rest);
        self.model.rhs(here.t, &rest, &still, steps, &mut moved)?;
        self.model.rhs(here.t, &rest, &still, &still, &mut without)?;
        Ok(S::States::of(|at| x[at] + (moved[at] - without[at])))
    }

    /// Moves the states along the path of the inputs, which have these values and steps.
    fn moved_on_a_way(
        &mut self,
        (t, inside): (S::Real, S::Real),
        is_start: bool,
        (before, steps): (S::Inputs, S::Inputs),
        x: &S::States,
    ) -> Result<S::States, Fault> {
        self.last = (t, *x);
        let model = &mut self.model;
        let begun = if is_start { None } else { model.loops.solution() };
        let guesses = S::LOOPS
            .guesses
            .map(|guess| begun.unwrap_or(S::Unknowns::of(|at| S::Real::c(guess[at]))));
        let is_one = begun.is_some() || S::Unknowns::LENGTH == 0;
        let steps = Steps {
            kinds: S::STATES.kinds,
            guesses: &guesses[..if is_one { 1 } else { guesses.len() }],
            before,
            steps,
        };
        model.loops.solve_exactly(true);
        let moved = jump::after(
            &mut |w, x, (u, du), dx| model.rates_near(w, At { t: inside, x, u, du }, dx).is_ok(),
            &steps,
            self.tolerances.rtol,
            x,
        );
        model.loops.solve_exactly(false);
        let moved = moved.map_err(|lost| {
            self.lost = lost;
            Fault::JumpNotKnown
        })?;
        self.branch.take_over(&self.model);
        Ok(moved)
    }

    /// Computes the conditions on states at a point.
    pub(crate) fn conditions(&mut self, t: S::Real, x: &S::States) -> S::Conditions {
        if S::Conditions::LENGTH == 0 {
            return zeros();
        }
        self.branch.recall(&mut self.model, false);
        let here = self.point(t, *x);
        let mut dx = zeros();
        // The solver reports a missing value.
        let _ = self.model.rhs(here.t, x, &here.u, &here.du, &mut dx);
        self.model.conditions(here.t, x, &here.u, &here.du)
    }

    /// Computes the conditions for derivative discontinuities at a point and, if requested, the right-hand sides.
    pub(crate) fn look(&mut self, t: S::Real, x: &S::States, rates: Option<&mut S::States>) -> Option<S::Bends> {
        self.branch.recall(&mut self.model, false);
        let here = match rates {
            Some(rates) => self.rates_at(t, x, rates).ok()?,
            // The conditions include the solution of the loops.
            None if S::Unknowns::LENGTH > 0 => self.rates_at(t, x, &mut zeros()).ok()?,
            None => self.point(t, *x),
        };
        Some(self.model.bends(here.t, x, &here.u, &here.du))
    }

    /// Returns the last discontinuity that equals an instant within round-off, and the next one after it.
    pub(crate) fn together(&mut self, t: S::Real) -> (S::Real, S::Real) {
        let Plan { start, stop, .. } = self.plan;
        let (mut last, mut next) = (t, self.model.next_corner(start, t, stop));
        while next <= t + rounding(t) + S::Real::c(1e-200) {
            last = next;
            next = self.model.next_corner(start, last, stop);
        }
        (last, next)
    }
}
