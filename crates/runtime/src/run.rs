//! A run over time: pieces between corners, steps of controlled length within them, and rows.

use super::array::Array;
use super::bends::Bends;
use super::branch::{Branch, Point};
use super::cause::Cause;
use super::dopri5::{Dopri5, Tolerances};
use super::jump::{self, Lost, Steps};
use super::loops::zeros;
use super::model::Model;
use super::real::Real;
use super::system::{Fault, System};

/// When a run begins and ends, and how many rows it has.
#[derive(Clone, Copy, Debug)]
pub struct Plan<T> {
    /// The time of the first row.
    pub start: T,
    /// The time of the last one.
    pub stop: T,
    /// The number of rows, 2 at least.
    pub points: usize,
    /// The relative tolerance.
    pub rtol: T,
    /// The absolute tolerance; if it is 0, it follows from the scale of each state.
    pub atol: T,
}

/// The place within a piece at which the run begins anew.
#[derive(Clone, Copy)]
struct Event<T> {
    t: T,
    /// If it is the end of a branch, and no condition that changes.
    ends_branch: bool,
}

/// A time and the states there.
type Instant<S> = (<S as System>::Real, <S as System>::States);

/// One run on its way.
pub struct Run<S: System, R> {
    model: Model<S>,
    plan: Plan<S::Real>,
    /// The corners that the solver is between: no value from beyond them is used.
    from: S::Real,
    to: S::Real,
    tolerances: Tolerances<S::States>,
    /// No step is longer.
    longest: S::Real,
    row: usize,
    /// Where the run was last, for the report of a failure.
    last: Instant<S>,
    /// So many conditions have changed since this time, which is hardly before now.
    changes: usize,
    changed: S::Real,
    /// The solution of the algebraic loops that the run follows.
    branch: Branch<S>,
    /// The time that was evaluated last: an earlier one belongs to another attempt at a step.
    latest: S::Real,
    /// The end of the last step.
    reached: S::Real,
    /// Derivative discontinuities within steps.
    bends: Bends<S::Bends>,
    /// The reason for which the states after a step of an input are not known.
    lost: Lost<S::Real>,
    rows: R,
}

/// A point of a run between two corners.
fn point<S: System>(model: &mut Model<S>, (from, to): (S::Real, S::Real), t: S::Real, x: S::States) -> Point<S> {
    let inside = if t >= to { to.next_down() } else { t.maximum(from) };
    let (u, du) = model.inputs(inside);
    Point { t: inside, x, u, du }
}

/// The distance within which two times are one.
fn rounding<T: Real>(t: T) -> T {
    T::c(64.0 * T::EPSILON) * t.abs()
}

impl<S: System, R: FnMut(S::Real, &S::Outputs, &S::States)> Run<S, R> {
    /// Prepares a run; `rows` takes the time, the outputs and the states of each row.
    pub fn new(model: Model<S>, plan: Plan<S::Real>, rows: R) -> Run<S, R> {
        let start = plan.start;
        Run {
            model,
            plan,
            from: start,
            to: S::Real::c(f64::INFINITY),
            tolerances: Tolerances::with_scales(plan.rtol, plan.atol, S::STATES.scales),
            longest: S::Real::c(f64::INFINITY),
            row: 0,
            last: (start, zeros()),
            changes: 0,
            changed: start,
            branch: Branch::default(),
            latest: S::Real::c(f64::INFINITY),
            reached: start,
            bends: Bends::default(),
            lost: Lost::NoWay,
            rows,
        }
    }

    /// The inputs at a time between two corners: at the later one, the branch before it still holds.
    fn point(&mut self, t: S::Real, x: S::States) -> Point<S> {
        point(&mut self.model, (self.from, self.to), t, x)
    }

    fn rates_at(&mut self, t: S::Real, x: &S::States, dx: &mut S::States) -> Result<Point<S>, Fault> {
        let here = self.point(t, *x);
        self.model.rhs(here.t, x, &here.u, &here.du, dx)?;
        Ok(here)
    }

    fn motion(&mut self, t: S::Real, x: &S::States, dx: &mut S::States) -> Result<(), Fault> {
        // Every attempt at a step begins with the solution where the last one ended.
        if t < self.latest {
            self.branch.recall(&mut self.model, false);
        }
        self.latest = t;
        self.rates_at(t, x, dx).map(|_| ())
    }

    /// The time of a row. The last row is exactly at the stop.
    fn row_time(&self, row: usize) -> S::Real {
        let plan = self.plan;
        if row + 1 >= plan.points {
            return plan.stop;
        }
        plan.start + S::Real::c(row as f64) / S::Real::c((plan.points - 1) as f64) * (plan.stop - plan.start)
    }

    /// Returns true if the next row is before a time.
    fn is_before(&self, t: S::Real) -> bool {
        self.row < self.plan.points && self.row_time(self.row) < t - rounding(t)
    }

    fn print_row(&mut self, t: S::Real, x: &S::States) -> Result<(), Fault> {
        self.branch.recall(&mut self.model, t < self.reached);
        self.write_row(t, x)
    }

    fn write_row(&mut self, t: S::Real, x: &S::States) -> Result<(), Fault> {
        self.last = (t, *x);
        let here = self.point(t, *x);
        let mut y = zeros();
        self.model.outputs(here.t, x, &here.u, &here.du, &mut y)?;
        (self.rows)(t, &y, x);
        self.row += 1;
        Ok(())
    }

    /// The growth of each input at an instant; 0 where none steps.
    fn steps(&mut self, t: S::Real, before: &S::Inputs) -> (Point<S>, S::Inputs) {
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

    /// A step of the inputs moves states by E times the step.
    fn move_states(&mut self, t: S::Real, before: &S::Inputs, x: &mut S::States, is_start: bool) -> Result<(), Fault> {
        if !S::FEATURES.moves {
            return Ok(());
        }
        let (here, steps) = self.steps(t, before);
        if steps.entries().all(|step| *step == S::Real::c(0.0)) {
            return Ok(());
        }
        let moved = match S::FEATURES.linear {
            true => self.moved_by_constants(&here, &steps, x)?,
            false => {
                let steps = Steps {
                    t: here.t,
                    is_start,
                    before: *before,
                    steps,
                };
                self.moved_on_a_way(t, &steps, x)?
            }
        };
        for at in 0..S::States::LENGTH {
            if !(is_start && S::STATES.start_given[at]) {
                x[at] = moved[at];
            }
        }
        Ok(())
    }

    /// E is the same everywhere; at zero nothing else is rounded with it.
    fn moved_by_constants(&mut self, here: &Point<S>, steps: &S::Inputs, x: &S::States) -> Result<S::States, Fault> {
        let (still, rest) = (zeros(), zeros());
        let (mut moved, mut without) = (rest, rest);
        self.model.rhs(here.t, &rest, &still, steps, &mut moved)?;
        self.model.rhs(here.t, &rest, &still, &still, &mut without)?;
        Ok(S::States::of(|at| x[at] + (moved[at] - without[at])))
    }

    fn moved_on_a_way(&mut self, t: S::Real, steps: &Steps<S>, x: &S::States) -> Result<S::States, Fault> {
        self.last = (t, *x);
        let moved = jump::after(&mut self.model, steps, self.tolerances.rtol, x).map_err(|lost| {
            self.lost = lost;
            Fault::JumpNotKnown
        })?;
        self.branch.take_over(&self.model);
        Ok(moved)
    }

    /// The conditions on states at a point.
    fn conditions(&mut self, t: S::Real, x: &S::States) -> S::Conditions {
        if S::Conditions::LENGTH == 0 {
            return zeros();
        }
        self.branch.recall(&mut self.model, false);
        let here = self.point(t, *x);
        let mut dx = zeros();
        // Where there is no value, the solver says so.
        let _ = self.model.rhs(here.t, x, &here.u, &here.du, &mut dx);
        self.model.conditions(here.t, x, &here.u, &here.du)
    }

    /// Returns true if the last step leads across a derivative discontinuity that matters.
    fn is_cut(&mut self, solver: &mut Dopri5<S::States>) -> bool {
        if S::Bends::LENGTH == 0 {
            return false;
        }
        let mut bends = self.bends;
        let cut = bends.cut(solver, |t, x, rates| self.look(t, x, rates));
        self.bends = bends;
        cut
    }

    /// The conditions of derivative discontinuities at a point, and the right sides if they are asked for.
    fn look(&mut self, t: S::Real, x: &S::States, rates: Option<&mut S::States>) -> Option<S::Bends> {
        self.branch.recall(&mut self.model, false);
        let here = match rates {
            Some(rates) => self.rates_at(t, x, rates).ok()?,
            // The conditions hold the solution of the loops.
            None if S::Unknowns::LENGTH > 0 => self.rates_at(t, x, &mut zeros()).ok()?,
            None => self.point(t, *x),
        };
        Some(self.model.bends(here.t, x, &here.u, &here.du))
    }

    /// Returns true if the branch of the loops goes on along the last step.
    fn goes_on(&mut self, solver: &Dopri5<S::States>) -> bool {
        let (ends, piece) = ((solver.before, solver.t), (self.from, self.to));
        let mut x = solver.x;
        self.branch.follow(&mut self.model, ends, |model, t| {
            solver.dense(t, &mut x);
            point(model, piece, t, x)
        })
    }

    /// Called where no step is small enough. Returns true if the branch ends just ahead; then the run has left it.
    fn leaves_ahead(&mut self, solver: &Dopri5<S::States>, end: S::Real) -> Result<Option<Instant<S>>, Fault> {
        let (t, piece) = (solver.t, (self.from, self.to));
        let mut rates = zeros();
        self.latest = S::Real::c(f64::INFINITY);
        if self.motion(t, &solver.x, &mut rates).is_err() {
            return Ok(None);
        }
        let straight = |at: S::Real| S::States::of(|state| solver.x[state] + (at - t) * rates[state]);
        for share in [1e-12, 1e-10, 1e-8, 1e-6] {
            let ahead = (t + S::Real::c(share) * (self.plan.stop - self.plan.start)).minimum(end);
            let way = |model: &mut Model<S>, at: S::Real| point(model, piece, at, straight(at));
            if ahead > t && !self.branch.follow(&mut self.model, (t, ahead), way) {
                let after = self.branch.after;
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
        self.last = (t, *x);
        let here = self.point(t, *x);
        self.branch.leave(&mut self.model, &here)?;
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
        let is_long = length > S::Real::c(1e-9) * (end - self.from)
            && length > S::Real::c(1e3 * S::Real::EPSILON) * solver.t.abs();
        if S::FEATURES.branches {
            if !self.goes_on(solver) {
                let t = self.branch.after;
                return (Some(Event { t, ends_branch: true }), is_long);
            }
            if self.branch.is_lost() && is_long {
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
        self.latest = S::Real::c(f64::INFINITY);
        if S::Conditions::LENGTH == 0 || there > end || self.motion(t, &solver.x, &mut rates).is_err() {
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
        let (tolerances, longest) = (self.tolerances, self.longest);
        self.bends = Bends::default();
        self.latest = S::Real::c(f64::INFINITY);
        Dopri5::new(|t, x, dx| self.motion(t, x, dx), (t, end), x, tolerances, longest)
    }

    /// Makes the rows from one corner to the next, and begins anew where a condition on states changes.
    fn piece(&mut self, end: S::Real, x: &mut S::States) -> Result<(), Fault> {
        let mut t = self.from;
        // After a jump was met, steps are at most so short, up to there.
        let (mut short, mut near) = (S::Real::c(f64::INFINITY), t);
        'anew: while t < end {
            if S::FEATURES.branches {
                let here = self.point(t, *x);
                self.branch.begin(&mut self.model, here)?;
                self.reached = t;
            }
            let mut solver = self.begin(t, end, x)?;
            let mut side = self.conditions(t, x);
            let mut event = None;
            while solver.t < end && event.is_none() {
                if near > solver.t {
                    solver.h = solver.h.minimum(short);
                }
                self.last = (solver.t, solver.x);
                self.latest = S::Real::c(f64::INFINITY);
                let stop = self.bends.end(end);
                if let Err(fault) = solver.step(|t, x, dx| self.motion(t, x, dx), stop) {
                    (t, *x) = self.goes_on_ahead(&solver, &side, end)?.ok_or(fault)?;
                    self.tolerances = solver.tolerances;
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
                    self.accept(&solver, &mut side);
                }
                self.rows_of_step(&solver, event.map_or(solver.t, |event| event.t))?;
            }
            self.tolerances = solver.tolerances;
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
        Ok(())
    }

    /// The run is at the end of the last step.
    fn accept(&mut self, solver: &Dopri5<S::States>, side: &mut S::Conditions) {
        if S::Conditions::LENGTH > 0 {
            let values = self.conditions(solver.t, &solver.x);
            for (side, value) in side.entries_mut().zip(values.entries()) {
                *side = if *value == S::Real::c(0.0) { *side } else { *value };
            }
        }
        if S::FEATURES.branches {
            let here = self.point(solver.t, solver.x);
            self.branch.accept(here, self.plan.stop - self.plan.start);
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
                self.branch.recall_within(&mut self.model, share);
                self.write_row(time, &between)?;
            } else {
                self.print_row(time, &between)?;
            }
        }
        Ok(())
    }

    /// Returns true if a change of a condition is one of a hundred within no time.
    fn is_chatter(&mut self, t: S::Real) -> bool {
        let moment = S::Real::c(1e-8) * (self.plan.stop - self.plan.start);
        if self.changes == 0 || t - self.changed > moment {
            (self.changes, self.changed) = (0, t);
        }
        self.changes += 1;
        self.changes >= 100
    }

    /// Returns true if a condition has changed at a point.
    fn have_changed(&mut self, side: &S::Conditions, t: S::Real, x: &S::States) -> bool {
        let values = self.conditions(t, x);
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
        let mut changed = |run: &mut Run<S, R>, t: S::Real| {
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

    /// Corners that are as near to an instant as rounding are one: the last of them, and the next one.
    fn together(&mut self, t: S::Real) -> (S::Real, S::Real) {
        let Plan { start, stop, .. } = self.plan;
        let (mut last, mut next) = (t, self.model.next_corner(start, t, stop));
        while next <= t + rounding(t) + S::Real::c(1e-200) {
            last = next;
            next = self.model.next_corner(start, last, stop);
        }
        (last, next)
    }

    /// Makes the whole run from the states that it begins with.
    pub fn run(&mut self, x: &mut S::States) -> Result<(), Fault> {
        let (start, stop, points) = (self.plan.start, self.plan.stop, self.plan.points);
        let endless = S::Real::c(f64::INFINITY);
        self.last = (start, *x);
        let (mut t, mut corner) = self.together(start);
        self.from = t;
        self.move_states(t, &zeros(), x, true)?;
        self.print_row(start, x)?;
        self.longest = self.model.longest_step(start, stop);
        while t < stop {
            let end = corner.minimum(stop);
            (self.from, self.to) = (t, if corner <= stop { corner } else { endless });
            self.piece(end, x)?;
            t = end;
            (self.from, self.to) = (t, endless);
            if corner <= t {
                let (before, _) = self.model.inputs(t.next_down());
                (t, corner) = self.together(t);
                self.from = t;
                self.move_states(t, &before, x, false)?;
            }
            while self.row < points && self.row_time(self.row) <= t + rounding(t) {
                let time = self.row_time(self.row);
                self.print_row(time, x)?;
            }
        }
        Ok(())
    }

    /// The time at which a run that failed ends, why it does, and which variable is at fault.
    pub fn cause(&mut self, fault: Fault) -> (S::Real, Cause<S::Real>) {
        let cause = match fault {
            Fault::LoopNotSolved => Cause::LoopNotSolved(S::LOOPS.elements),
            Fault::StartsDisagree => Cause::StartsDisagree,
            Fault::NotFinite => self.not_finite_cause(),
            Fault::Chatter => Cause::Chatter,
            Fault::JumpNotKnown => Cause::Jump(
                self.lost,
                match self.lost {
                    Lost::Endless(at) | Lost::Open(at, ..) => S::STATES.names[at],
                    Lost::NoWay => "",
                },
            ),
        };
        (self.last.0, cause)
    }

    fn not_finite_cause(&mut self) -> Cause<S::Real> {
        let (t, x) = self.last;
        let here = self.point(t, x);
        let (mut dx, mut y) = (zeros::<S::States>(), zeros::<S::Outputs>());
        let _ = self.model.rhs(here.t, &x, &here.u, &here.du, &mut dx);
        if let Some(at) = dx.entries().position(|rate| !rate.is_finite()) {
            return Cause::Rate(S::STATES.names[at]);
        }
        let _ = self.model.outputs(here.t, &x, &here.u, &here.du, &mut y);
        if let Some(at) = y.entries().position(|value| !value.is_finite()) {
            return Cause::Output(S::OUTPUT_NAMES[at]);
        }
        let share = |at: usize| dx[at].abs() / self.tolerances.allowed(at, x[at], x[at]);
        let fastest = (0..S::States::LENGTH).reduce(|a, b| if share(b) < share(a) { a } else { b });
        fastest.map_or(Cause::NotFinite, |at| Cause::NoStep(S::STATES.names[at]))
    }
}
