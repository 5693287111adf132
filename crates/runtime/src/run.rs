//! A run over time: pieces between discontinuities, steps of controlled size within them, and rows.

use super::array::Array;
use super::bends::Bends;
use super::cause::Cause;
use super::dopri5::Dopri5;
use super::jump::Lost;
use super::loops::zeros;
use super::model::Model;
pub use super::motion::Plan;
use super::motion::{later, point, rounding, Instant, Motion};
use super::real::Real;
use super::system::{Fault, System};
use core::convert::Infallible;
use core::fmt::{Debug, Display};

/// The point within a piece from which the run restarts.
#[derive(Clone, Copy)]
struct Event<T> {
    t: T,
    /// True at the end of a branch, and false at a change of a condition.
    ends_branch: bool,
}

/// The events during a run.
pub trait RunEvents<S: System> {
    /// The reason why an event has no solution.
    type Cause: Copy + Debug + PartialEq + Display;

    /// Starts a run.
    fn begin(&mut self, motion: &mut Motion<S>, t: S::Real, x: &mut S::States) -> Result<(), Fault>;
    /// Returns the next instant of an event that is known in advance, or `now` if an event is due.
    fn next(&self, now: S::Real) -> S::Real;
    /// Performs the events of an instant.
    fn pass(&mut self, motion: &mut Motion<S>, t: S::Real, x: &mut S::States) -> Result<(), Fault>;
    /// Prepares for a discontinuity of the inputs, just before it.
    fn arrive(&mut self, motion: &mut Motion<S>, t: S::Real, x: &mut S::States) -> Result<(), Fault>;
    /// Performs the events at a discontinuity or at the stop. The input step from `before` moves states and may make conditions true.
    fn corner(
        &mut self,
        motion: &mut Motion<S>,
        t: S::Real,
        before: Option<&S::Inputs>,
        x: &mut S::States,
    ) -> Result<(), Fault>;
    /// Returns the first instant within the last step at which an event is due, and the time assigned to it. This time is the end of
    /// the step if the two coincide.
    fn first_within(
        &mut self,
        motion: &mut Motion<S>,
        solver: &Dopri5<S::States>,
        bound: S::Real,
    ) -> Option<(S::Real, S::Real)>;
    /// Returns the states of a row, if they differ from those of the run.
    fn row(&mut self, motion: &mut Motion<S>, t: S::Real, x: &S::States) -> Option<S::States>;
    /// Returns the reason why the last event has no solution.
    fn cause(&self) -> Option<Self::Cause>;
}

/// A run without events.
#[derive(Clone, Copy, Debug)]
pub struct NoEvents;

impl<S: System> RunEvents<S> for NoEvents {
    type Cause = Infallible;

    fn begin(&mut self, motion: &mut Motion<S>, t: S::Real, x: &mut S::States) -> Result<(), Fault> {
        motion.move_states(t, &zeros(), x, true)
    }

    fn next(&self, _: S::Real) -> S::Real {
        S::Real::c(f64::INFINITY)
    }

    fn pass(&mut self, _: &mut Motion<S>, _: S::Real, _: &mut S::States) -> Result<(), Fault> {
        Ok(())
    }

    fn arrive(&mut self, _: &mut Motion<S>, _: S::Real, _: &mut S::States) -> Result<(), Fault> {
        Ok(())
    }

    fn corner(
        &mut self,
        motion: &mut Motion<S>,
        t: S::Real,
        before: Option<&S::Inputs>,
        x: &mut S::States,
    ) -> Result<(), Fault> {
        match before {
            Some(before) => motion.move_states(t, before, x, false),
            None => Ok(()),
        }
    }

    fn first_within(&mut self, _: &mut Motion<S>, _: &Dopri5<S::States>, _: S::Real) -> Option<(S::Real, S::Real)> {
        None
    }

    fn row(&mut self, _: &mut Motion<S>, _: S::Real, _: &S::States) -> Option<S::States> {
        None
    }

    fn cause(&self) -> Option<Infallible> {
        None
    }
}

/// A run in progress.
pub struct Run<S: System, R, E = NoEvents> {
    motion: Motion<S>,
    /// The events of the run.
    events: E,
    /// The longest allowed step.
    longest: S::Real,
    row: usize,
    /// The number of changes of conditions since the following time, all in almost no time.
    changes: usize,
    changed: S::Real,
    /// The end of the last step.
    reached: S::Real,
    /// The derivative discontinuities within steps.
    bends: Bends<S::Bends>,
    rows: R,
}

impl<S: System, R: FnMut(S::Real, &S::Outputs, &S::States)> Run<S, R> {
    /// Prepares a run; `rows` receives the time, the outputs and the states of each row.
    pub fn new(model: Model<S>, plan: Plan<S::Real>, rows: R) -> Run<S, R> {
        const { assert!(!S::FEATURES.events, "a model with events is run by `Run::with_events`") }
        Run::with(model, plan, rows, NoEvents)
    }
}

impl<S: System, R: FnMut(S::Real, &S::Outputs, &S::States), E: RunEvents<S>> Run<S, R, E> {
    /// Prepares a run with events.
    pub(crate) fn with(model: Model<S>, plan: Plan<S::Real>, rows: R, events: E) -> Run<S, R, E> {
        let start = plan.start;
        Run {
            motion: Motion::new(model, plan),
            events,
            longest: S::Real::c(f64::INFINITY),
            row: 0,
            changes: 0,
            changed: start,
            reached: start,
            bends: Bends::default(),
            rows,
        }
    }

    /// Returns the time of a row. The last row is exactly at the stop.
    fn row_time(&self, row: usize) -> S::Real {
        let plan = self.motion.plan;
        if row + 1 >= plan.points {
            return plan.stop;
        }
        plan.start + S::Real::c(row as f64) / S::Real::c((plan.points - 1) as f64) * (plan.stop - plan.start)
    }

    /// Returns true if the next row is before a time.
    fn is_before(&self, t: S::Real) -> bool {
        self.row < self.motion.plan.points && self.row_time(self.row) < t - rounding(t)
    }

    fn print_row(&mut self, t: S::Real, x: &S::States) -> Result<(), Fault> {
        self.motion.branch.recall(&mut self.motion.model, t < self.reached);
        self.write_row(t, x)
    }

    fn write_row(&mut self, t: S::Real, x: &S::States) -> Result<(), Fault> {
        self.motion.last = (t, *x);
        let here = self.motion.point(t, *x);
        let mut y = zeros();
        // At a discontinuity, the values after it, also of functions of time in outputs.
        let is_after = here.t <= self.motion.from;
        let shown = if is_after { later::<S>(here.t) } else { here.t };
        self.motion.model.outputs(shown, x, &here.u, &here.du, &mut y)?;
        match self.events.row(&mut self.motion, t, x) {
            Some(row) => (self.rows)(t, &y, &row),
            None => (self.rows)(t, &y, x),
        }
        self.row += 1;
        Ok(())
    }

    /// Returns true if the last step crosses a derivative discontinuity that matters.
    fn is_cut(&mut self, solver: &mut Dopri5<S::States>) -> bool {
        if S::Bends::LENGTH == 0 {
            return false;
        }
        let mut bends = self.bends;
        let cut = bends.cut(solver, |t, x, rates| self.motion.look(t, x, rates));
        self.bends = bends;
        cut
    }

    /// Returns true if the branch of the loops continues along the last step.
    fn goes_on(&mut self, solver: &Dopri5<S::States>) -> bool {
        let (ends, piece) = ((solver.before, solver.t), (self.motion.from, self.motion.to));
        let mut x = solver.x;
        self.motion.branch.follow(&mut self.motion.model, ends, |model, t| {
            solver.dense(t, &mut x);
            point(model, piece, t, x)
        })
    }

    /// Leaves a branch that ends just ahead, if no step is small enough. Returns the point from which the run continues, if any.
    fn leaves_ahead(&mut self, solver: &Dopri5<S::States>, end: S::Real) -> Result<Option<Instant<S>>, Fault> {
        let (t, piece) = (solver.t, (self.motion.from, self.motion.to));
        let mut rates = zeros();
        self.motion.latest = S::Real::c(f64::INFINITY);
        if self.motion.motion(t, &solver.x, &mut rates).is_err() {
            return Ok(None);
        }
        let straight = |at: S::Real| S::States::of(|state| solver.x[state] + (at - t) * rates[state]);
        for share in [1e-12, 1e-10, 1e-8, 1e-6] {
            let ahead = (t + S::Real::c(share) * (self.motion.plan.stop - self.motion.plan.start)).minimum(end);
            let way = |model: &mut Model<S>, at: S::Real| point(model, piece, at, straight(at));
            if ahead > t && !self.motion.branch.follow(&mut self.motion.model, (t, ahead), way) {
                let after = self.motion.branch.after;
                while self.is_before(after) {
                    let time = self.row_time(self.row);
                    self.print_row(time, &straight(time))?;
                }
                self.leave(after, &straight(after))?;
                return Ok(Some((after, straight(after))));
            }
        }
        Ok(None)
    }

    /// Leaves the branch, which ends at this point.
    fn leave(&mut self, t: S::Real, x: &S::States) -> Result<(), Fault> {
        self.motion.last = (t, *x);
        let here = self.motion.point(t, *x);
        self.motion.branch.leave(&mut self.motion.model, &here)?;
        self.reached = t;
        if self.is_chatter(t) {
            return Err(Fault::Chatter);
        }
        Ok(())
    }

    /// Returns the first event within the last step, and true if the step must be repeated as shorter ones.
    fn happening(
        &mut self,
        solver: &Dopri5<S::States>,
        side: &S::Conditions,
        end: S::Real,
    ) -> (Option<Event<S::Real>>, bool) {
        let length = solver.t - solver.before;
        let is_long = length > S::Real::c(1e-9) * (end - self.motion.from)
            && length > S::Real::c(1e3 * S::Real::EPSILON) * solver.t.abs();
        if S::FEATURES.branches {
            if !self.goes_on(solver) {
                let t = self.motion.branch.after;
                return (Some(Event { t, ends_branch: true }), is_long);
            }
            if self.motion.branch.is_lost() && is_long {
                return (None, true);
            }
        }
        let event = self.event(solver, side);
        let event = event.map(|t| Event { t, ends_branch: false });
        (event, is_long && event.is_some())
    }

    /// Raises the scales of states if no step is small enough. After an event, states may become much larger than before, because
    /// their driving quantities have changed. Returns true if a scale has grown.
    fn expects_more(&mut self, solver: &Dopri5<S::States>) -> bool {
        let left = self.motion.plan.stop - solver.t;
        let ahead = S::Real::c(1e-6) * left;
        let least = S::Real::c(0.0);
        let (mut slope, mut rates) = (zeros::<S::States>(), zeros::<S::States>());
        self.motion.latest = S::Real::c(f64::INFINITY);
        if self.motion.tolerances.atol > least || self.motion.motion(solver.t, &solver.x, &mut slope).is_err() {
            return false;
        }
        let there = S::States::of(|at| solver.x[at] + ahead * slope[at]);
        if self.motion.motion(solver.t + ahead, &there, &mut rates).is_err() {
            return false;
        }
        let mut are_any = false;
        for (at, rate) in rates.entries().enumerate() {
            let tolerances = &mut self.motion.tolerances;
            let scale = S::Real::c(tolerances.scales[at]);
            let expected = S::Real::c(1e-3) * rate.abs() * left;
            let is_more = expected.is_finite() && expected > S::Real::c(100.0) * tolerances.seen[at].maximum(scale);
            if scale >= least && is_more {
                tolerances.seen[at] = expected;
                are_any = true;
            }
        }
        are_any
    }

    /// Finds the point from which the run continues after a jump or the end of a branch just ahead, if no step is small enough.
    fn goes_on_ahead(
        &mut self,
        solver: &Dopri5<S::States>,
        side: &S::Conditions,
        end: S::Real,
    ) -> Result<Option<Instant<S>>, Fault> {
        let beyond = self.beyond_jump(solver, side, end)?;
        if beyond.is_none() && S::FEATURES.branches {
            return self.leaves_ahead(solver, end);
        }
        Ok(beyond)
    }

    /// Returns a point beyond a jump just ahead, some units of round-off along the slope; none if no jump is ahead. A state that has
    /// always been zero has no scale yet, so every step across a jump fails its tolerance.
    fn beyond_jump(
        &mut self,
        solver: &Dopri5<S::States>,
        side: &S::Conditions,
        end: S::Real,
    ) -> Result<Option<Instant<S>>, Fault> {
        let t = solver.t;
        let there = t + S::Real::c(1024.0 * S::Real::EPSILON) * t.abs();
        let mut rates = zeros();
        self.motion.latest = S::Real::c(f64::INFINITY);
        if S::Conditions::LENGTH == 0 || there > end || self.motion.motion(t, &solver.x, &mut rates).is_err() {
            return Ok(None);
        }
        let x = S::States::of(|at| solver.x[at] + (there - t) * rates[at]);
        if !self.have_changed(side, there, &x) {
            return Ok(None);
        }
        if self.is_chatter(there) {
            return Err(Fault::Chatter);
        }
        while self.is_before(there) {
            let time = self.row_time(self.row);
            self.print_row(time, &x)?;
        }
        Ok(Some((there, x)))
    }

    /// Creates the solver at the start of a piece or of its remainder.
    fn begin(&mut self, t: S::Real, end: S::Real, x: &S::States) -> Result<Dopri5<S::States>, Fault> {
        let (tolerances, longest) = (self.motion.tolerances, self.longest);
        self.bends = Bends::default();
        self.motion.latest = S::Real::c(f64::INFINITY);
        Dopri5::new(
            |t, x, dx| self.motion.motion(t, x, dx),
            (t, end),
            x,
            tolerances,
            longest,
        )
    }

    /// Computes the rows from one discontinuity to the next, and restarts the solver when a condition on states changes. Returns the end
    /// of the piece, which is earlier if it contains an event.
    fn piece(&mut self, end: S::Real, x: &mut S::States) -> Result<S::Real, Fault> {
        let mut t = self.motion.from;
        // Steps are limited after a jump was found, until they reach it.
        let (mut short, mut near) = (S::Real::c(f64::INFINITY), t);
        'anew: while t < end {
            if S::FEATURES.branches {
                let here = self.motion.point(t, *x);
                self.motion.branch.begin(&mut self.motion.model, here)?;
                self.reached = t;
            }
            let mut solver = self.begin(t, end, x)?;
            let mut side = self.motion.conditions(t, x);
            let mut event = None;
            while solver.t < end && event.is_none() {
                if near > solver.t {
                    solver.h = solver.h.minimum(short);
                }
                self.motion.last = (solver.t, solver.x);
                self.motion.latest = S::Real::c(f64::INFINITY);
                let stop = self.bends.end(end);
                if let Err(fault) = solver.step(|t, x, dx| self.motion.motion(t, x, dx), stop) {
                    self.motion.tolerances = solver.tolerances;
                    (t, *x) = match self.expects_more(&solver) {
                        true => (solver.t, solver.x),
                        false => self.goes_on_ahead(&solver, &side, end)?.ok_or(fault)?,
                    };
                    continue 'anew;
                }
                let is_again;
                (event, is_again) = self.happening(&solver, &side, end);
                if is_again {
                    // A step across a jump is wrong, so it is repeated as shorter steps.
                    let length = solver.t - solver.before;
                    (short, near) = (length / S::Real::c(8.0), solver.before + length);
                    *x = solver.x_before;
                    solver = self.begin(solver.before, end, x)?;
                    solver.h = short;
                    event = None;
                    continue;
                }
                if event.is_none() && self.is_cut(&mut solver) {
                    continue;
                }
                if event.is_none() {
                    if let Some((happens, until)) = self.events.first_within(&mut self.motion, &solver, end) {
                        self.rows_of_step(&solver, until)?;
                        solver.dense(happens, x);
                        self.motion.tolerances = solver.tolerances;
                        return Ok(until);
                    }
                    self.accept(&solver, &mut side);
                }
                self.rows_of_step(&solver, event.map_or(solver.t, |event| event.t))?;
            }
            self.motion.tolerances = solver.tolerances;
            let Some(event) = event else {
                (t, *x) = (end, solver.x);
                continue;
            };
            t = event.t;
            solver.dense(t, x);
            if event.ends_branch {
                self.leave(t, x)?;
            } else if self.is_chatter(t) {
                return Err(Fault::Chatter);
            }
        }
        Ok(end)
    }

    /// Accepts the last step.
    fn accept(&mut self, solver: &Dopri5<S::States>, side: &mut S::Conditions) {
        if S::Conditions::LENGTH > 0 {
            let values = self.motion.conditions(solver.t, &solver.x);
            for (side, value) in side.entries_mut().zip(values.entries()) {
                *side = if *value == S::Real::c(0.0) { *side } else { *value };
            }
        }
        if S::FEATURES.branches {
            let here = self.motion.point(solver.t, solver.x);
            self.motion
                .branch
                .accept(here, self.motion.plan.stop - self.motion.plan.start);
            self.reached = solver.t;
        }
    }

    /// Writes the rows within the last step, up to a time.
    fn rows_of_step(&mut self, solver: &Dopri5<S::States>, until: S::Real) -> Result<(), Fault> {
        let mut between = solver.x;
        while self.is_before(until) {
            let time = self.row_time(self.row);
            solver.dense(time, &mut between);
            if S::FEATURES.totals && time < self.reached {
                let share = (time - solver.before) / (self.reached - solver.before);
                self.motion.branch.recall_within(&mut self.motion.model, share);
                self.write_row(time, &between)?;
            } else {
                self.print_row(time, &between)?;
            }
        }
        Ok(())
    }

    /// Returns true if a change of a condition is one of a hundred in almost no time.
    fn is_chatter(&mut self, t: S::Real) -> bool {
        let moment = S::Real::c(1e-8) * (self.motion.plan.stop - self.motion.plan.start);
        if self.changes == 0 || t - self.changed > moment {
            (self.changes, self.changed) = (0, t);
        }
        self.changes += 1;
        self.changes >= 100
    }

    /// Returns true if a condition has changed since the last accepted step.
    fn have_changed(&mut self, side: &S::Conditions, t: S::Real, x: &S::States) -> bool {
        let values = self.motion.conditions(t, x);
        let mut pairs = side.entries().zip(values.entries());
        pairs.any(|(side, value)| *side * *value < S::Real::c(0.0))
    }

    /// Returns the first instant within the last step at which a condition has changed.
    fn event(&mut self, solver: &Dopri5<S::States>, side: &S::Conditions) -> Option<S::Real> {
        if S::Conditions::LENGTH == 0 {
            return None;
        }
        let half = S::Real::c(0.5);
        let mut point = solver.x;
        let mut changed = |run: &mut Run<S, R, E>, t: S::Real| {
            solver.dense(t, &mut point);
            run.have_changed(side, t, &point)
        };
        let middle = solver.before + half * (solver.t - solver.before);
        let mut after = [middle, solver.t].into_iter().find(|t| changed(self, *t))?;
        let mut before = solver.before;
        loop {
            let middle = before + half * (after - before);
            if middle <= before || middle >= after {
                return Some(after);
            }
            if changed(self, middle) {
                after = middle;
            } else {
                before = middle;
            }
        }
    }

    /// Performs the complete run from the initial states.
    pub fn run(&mut self, x: &mut S::States) -> Result<(), Fault> {
        let (start, stop, points) = (self.motion.plan.start, self.motion.plan.stop, self.motion.plan.points);
        let ahead = |corner: S::Real| {
            if corner <= stop {
                corner
            } else {
                S::Real::c(f64::INFINITY)
            }
        };
        self.motion.last = (start, *x);
        let (mut t, mut corner) = self.motion.together(start);
        (self.motion.from, self.motion.to) = (t, ahead(corner));
        self.events.begin(&mut self.motion, t, x)?;
        self.print_row(start, x)?;
        self.longest = self.motion.model.longest_step(start, stop);
        while t < stop {
            let end = corner.minimum(stop).minimum(self.events.next(t));
            self.motion.from = t;
            t = self.piece(end, x)?;
            // An instant that equals the discontinuity within round-off counts as this discontinuity.
            let mut now = if corner <= t + rounding(t) {
                t.maximum(corner)
            } else {
                t
            };
            // The same applies to an instant of a block.
            let instant = self.events.next(t);
            if corner <= now && instant <= now + rounding(now) {
                now = now.maximum(instant).minimum(stop);
            }
            self.motion.last = (t, *x);
            if now < corner && now < stop && self.events.next(t) <= now {
                self.motion.from = t;
                self.events.pass(&mut self.motion, t, x)?;
            } else {
                let mut inputs = None;
                if corner <= now {
                    self.events.arrive(&mut self.motion, t, x)?;
                    inputs = Some(self.motion.model.inputs(t.next_down()).0);
                    (t, corner) = self.motion.together(now);
                    t = t.maximum(now);
                    (self.motion.from, self.motion.to) = (t, ahead(corner));
                }
                self.events.corner(&mut self.motion, t, inputs.as_ref(), x)?;
            }
            while self.row < points && self.row_time(self.row) <= t + rounding(t) {
                let time = self.row_time(self.row);
                self.print_row(time, x)?;
            }
        }
        Ok(())
    }

    /// Returns the end time of a failed run, the cause, and the variable at fault.
    pub fn cause(&mut self, fault: Fault) -> (S::Real, Cause<S::Real, E::Cause>) {
        let cause = match fault {
            Fault::LoopNotSolved => Cause::LoopNotSolved(S::LOOPS.elements),
            Fault::StartsDisagree => Cause::StartsDisagree,
            Fault::NotFinite => self.not_finite_cause(),
            Fault::Chatter => Cause::Chatter,
            Fault::EventNotKnown => self.events.cause().map_or(Cause::NotFinite, Cause::Event),
            Fault::JumpNotKnown => Cause::Jump(
                self.motion.lost,
                match self.motion.lost {
                    Lost::Endless(at) | Lost::Open(at, ..) => S::STATES.names[at],
                    Lost::NoWay => "",
                },
            ),
        };
        (self.motion.last.0, cause)
    }

    fn not_finite_cause(&mut self) -> Cause<S::Real, E::Cause> {
        let (t, x) = self.motion.last;
        let here = self.motion.point(t, x);
        let (mut dx, mut y) = (zeros::<S::States>(), zeros::<S::Outputs>());
        let _ = self.motion.model.rhs(here.t, &x, &here.u, &here.du, &mut dx);
        if let Some(at) = dx.entries().position(|rate| !rate.is_finite()) {
            return Cause::Rate(S::STATES.names[at]);
        }
        let _ = self.motion.model.outputs(here.t, &x, &here.u, &here.du, &mut y);
        if let Some(at) = y.entries().position(|value| !value.is_finite()) {
            return Cause::Output(S::OUTPUT_NAMES[at]);
        }
        let share = |at: usize| dx[at].abs() / self.motion.tolerances.allowed(at, x[at], x[at]);
        let fastest = (0..S::States::LENGTH).reduce(|a, b| if share(b) < share(a) { a } else { b });
        fastest.map_or(Cause::NotFinite, |at| Cause::NoStep(S::STATES.names[at]))
    }
}
