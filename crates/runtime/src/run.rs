//! A run over time: pieces between corners, steps of controlled length within them, and rows.

use super::array::Array;
use super::bends::Bends;
use super::cause::Cause;
use super::dopri5::Dopri5;
use super::jump::Lost;
use super::loops::zeros;
use super::model::Model;
pub use super::motion::Plan;
use super::motion::{point, rounding, Instant, Motion};
use super::real::Real;
use super::system::{Fault, System};
use core::convert::Infallible;
use core::fmt::{Debug, Display};

/// The place within a piece at which the run begins anew.
#[derive(Clone, Copy)]
struct Event<T> {
    t: T,
    /// If it is the end of a branch, and no condition that changes.
    ends_branch: bool,
}

/// Events beside the motion of a run.
pub trait RunEvents<S: System> {
    /// The reason for which an event has no answer.
    type Cause: Copy + Debug + PartialEq + Display;

    /// The start of a run.
    fn begin(&mut self, motion: &mut Motion<S>, t: S::Real, x: &mut S::States) -> Result<(), Fault>;
    /// The next instant of an event that is known beforehand, or now if an event is due.
    fn next(&self, now: S::Real) -> S::Real;
    /// The events of an instant.
    fn pass(&mut self, motion: &mut Motion<S>, t: S::Real, x: &mut S::States) -> Result<(), Fault>;
    /// The run just before a corner.
    fn arrive(&mut self, motion: &mut Motion<S>, t: S::Real, x: &mut S::States) -> Result<(), Fault>;
    /// The corner, or the stop of the run, behind the inputs `before` it: a step moves states, and may make conditions true.
    fn corner(
        &mut self,
        motion: &mut Motion<S>,
        t: S::Real,
        before: Option<&S::Inputs>,
        x: &mut S::States,
    ) -> Result<(), Fault>;
    /// The first instant within the last step at which an event is due, and the time at which it counts: the bound of the step if that is
    /// the same.
    fn first_within(
        &mut self,
        motion: &mut Motion<S>,
        solver: &Dopri5<S::States>,
        bound: S::Real,
    ) -> Option<(S::Real, S::Real)>;
    /// The states of a row, if they are not those of the run.
    fn row(&mut self, motion: &mut Motion<S>, t: S::Real, x: &S::States) -> Option<S::States>;
    /// The reason for which the last event has no answer.
    fn cause(&self) -> Option<Self::Cause>;
}

/// No events.
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

/// One run on its way.
pub struct Run<S: System, R, E = NoEvents> {
    motion: Motion<S>,
    /// Events.
    events: E,
    /// No step is longer.
    longest: S::Real,
    row: usize,
    /// So many conditions have changed since this time, which is hardly before now.
    changes: usize,
    changed: S::Real,
    /// The end of the last step.
    reached: S::Real,
    /// Derivative discontinuities within steps.
    bends: Bends<S::Bends>,
    rows: R,
}

impl<S: System, R: FnMut(S::Real, &S::Outputs, &S::States)> Run<S, R> {
    /// Prepares a run; `rows` takes the time, the outputs and the states of each row.
    pub fn new(model: Model<S>, plan: Plan<S::Real>, rows: R) -> Run<S, R> {
        const { assert!(!S::FEATURES.events, "a model with events is run by `Run::with_events`") }
        Run::with(model, plan, rows, NoEvents)
    }
}

impl<S: System, R: FnMut(S::Real, &S::Outputs, &S::States), E: RunEvents<S>> Run<S, R, E> {
    /// Prepares a run in which these events happen.
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

    /// The time of a row. The last row is exactly at the stop.
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
        self.motion.model.outputs(here.t, x, &here.u, &here.du, &mut y)?;
        match self.events.row(&mut self.motion, t, x) {
            Some(row) => (self.rows)(t, &y, &row),
            None => (self.rows)(t, &y, x),
        }
        self.row += 1;
        Ok(())
    }

    /// Returns true if the last step leads across a derivative discontinuity that matters.
    fn is_cut(&mut self, solver: &mut Dopri5<S::States>) -> bool {
        if S::Bends::LENGTH == 0 {
            return false;
        }
        let mut bends = self.bends;
        let cut = bends.cut(solver, |t, x, rates| self.motion.look(t, x, rates));
        self.bends = bends;
        cut
    }

    /// Returns true if the branch of the loops goes on along the last step.
    fn goes_on(&mut self, solver: &Dopri5<S::States>) -> bool {
        let (ends, piece) = ((solver.before, solver.t), (self.motion.from, self.motion.to));
        let mut x = solver.x;
        self.motion.branch.follow(&mut self.motion.model, ends, |model, t| {
            solver.dense(t, &mut x);
            point(model, piece, t, x)
        })
    }

    /// Called where no step is small enough. Returns true if the branch ends just ahead; then the run has left it.
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

    /// The branch has ended here.
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

    /// The first event within the last step, and if the step is so long that it is to be made again in shorter ones.
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

    /// Where no step is small enough: where the run goes on, if a jump or the end of a branch is just ahead.
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

    /// A state that has been zero all along, and so has no size yet, forgives no step across a jump. Whether one is just ahead: then
    /// the run is on its other side, some units of rounding further along the slope.
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

    /// The solver where a piece, or what is left of it, begins.
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

    /// Makes the rows from one corner to the next, and begins anew where a condition on states changes; returns where the piece ends,
    /// which is earlier if an event is located in it.
    fn piece(&mut self, end: S::Real, x: &mut S::States) -> Result<S::Real, Fault> {
        let mut t = self.motion.from;
        // After a jump was met, steps are at most so short, up to there.
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
                    (t, *x) = self.goes_on_ahead(&solver, &side, end)?.ok_or(fault)?;
                    self.motion.tolerances = solver.tolerances;
                    continue 'anew;
                }
                let is_again;
                (event, is_again) = self.happening(&solver, &side, end);
                if is_again {
                    // A step across a jump is wrong, so it is made again in shorter ones.
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

    /// The run is at the end of the last step.
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

    /// The rows within the last step, up to a time.
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

    /// Returns true if a change of a condition is one of a hundred within no time.
    fn is_chatter(&mut self, t: S::Real) -> bool {
        let moment = S::Real::c(1e-8) * (self.motion.plan.stop - self.motion.plan.start);
        if self.changes == 0 || t - self.changed > moment {
            (self.changes, self.changed) = (0, t);
        }
        self.changes += 1;
        self.changes >= 100
    }

    /// Returns true if a condition has changed at a point.
    fn have_changed(&mut self, side: &S::Conditions, t: S::Real, x: &S::States) -> bool {
        let values = self.motion.conditions(t, x);
        let mut pairs = side.entries().zip(values.entries());
        pairs.any(|(side, value)| *side * *value < S::Real::c(0.0))
    }

    /// The first instant within the last step at which a condition has changed.
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

    /// Makes the whole run from the states that it begins with.
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
            // An instant within rounding of the corner is at it.
            let mut now = if corner <= t + rounding(t) {
                t.maximum(corner)
            } else {
                t
            };
            // So is an instant of a block.
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

    /// The time at which a run that failed ends, why it does, and which variable is at fault.
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
