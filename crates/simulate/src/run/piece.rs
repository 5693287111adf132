//! One piece of a run: from a corner, or from a restart of the solver, to the next corner.

use crate::failure::{Blame, Failure, FailureKind};
use crate::motion::BEYOND;
use crate::plan::Method;
use crate::run::course::{Run, SHORTEST};
use crate::run::first_step;
use crate::solvers::interpolation::{LIMIT, LIMIT_AFTER_REJECTION};
use crate::solvers::solver::{Reached, Solver, SolverFault};
use crate::zero_crossings::events::Events;
use lgm_runtime::bends::AT_ONCE;

/// The number of parts of a step across a jump.
const PARTS: u32 = 8;

/// The number of consecutive steps without progress before the run is abandoned. Growing steps are not counted: from
/// 1e-80 s on they need hundreds of steps for visible progress.
const WITHOUT_WAY: u32 = 50;

/// Returns true if a state is so large that the replacement for missing values ([`BEYOND`]) is not distinguishable from
/// it, or is a replacement itself.
fn is_unbounded(value: f64) -> bool {
    value.is_nan() || value.abs() > 1e-20 * BEYOND
}

/// The end of a piece.
pub(crate) enum Piece {
    AtEnd,
    Event,
    /// The piece continues: the last step is repeated.
    Again,
    Switch(Method),
    NoHeadway(f64),
    /// A watched condition acts here.
    Stopped,
}

/// Data of a piece in addition to those of the run.
struct Course {
    /// Its latest end.
    end: f64,
    /// True if another method may take over.
    may_switch: bool,
    /// The number of consecutive steps without progress, and the longest step tried after them.
    without_way: (u32, f64),
}

impl Course {
    /// Returns true if one more step ends the run, because many steps in a row made no progress.
    fn makes_no_way(&mut self, Made { from, to, .. }: Made, next: f64) -> bool {
        let (count, longest) = self.without_way;
        self.without_way = match to - from <= 4.0 * f64::EPSILON * to.abs() {
            true if next > longest => (0, next),
            true => (count + 1, longest),
            false => (0, 0.0),
        };
        self.without_way.0 >= WITHOUT_WAY
    }
}

/// A step that the solver has made.
#[derive(Clone, Copy)]
struct Made {
    from: f64,
    to: f64,
    reached: Reached,
    /// True if attempts before it were rejected.
    was_rejected: bool,
}

impl Run<'_> {
    /// Runs from here to the next corner, or to a restart of the solver.
    pub(crate) fn piece(&mut self, solver: &mut dyn Solver, end: f64, may_switch: bool) -> Result<Piece, Failure> {
        self.begin_piece(solver, end)?;
        let mut course = Course {
            end,
            may_switch,
            without_way: (0, 0.0),
        };
        loop {
            match self.step(solver, &mut course)? {
                None | Some(Piece::Again) => {}
                Some(piece) => return Ok(piece),
            }
        }
    }

    fn begin_piece(&mut self, solver: &mut dyn Solver, end: f64) -> Result<(), Failure> {
        let step = first_step::first_step(
            self.motion,
            self.time,
            &self.states,
            end - self.time,
            solver.first_order(),
            &self.scales,
        );
        self.watch.restart();
        if let Some(events) = &mut self.events {
            events.restart(self.motion, self.time, &self.states);
        }
        solver
            .restart(self.time, &self.states, step, end)
            .map_err(|error| self.failure(error, None))?;
        if let Some(bends) = &mut self.bends {
            bends.restart();
        }
        if let Some(branch) = &mut self.branch {
            branch.begin(self.motion, self.time, &self.states);
        }
        self.safe = self.motion.position(self.time, &self.states);
        Ok(())
    }

    /// Performs one step and writes the rows in it; returns `None` if the piece continues after it, or if it is repeated.
    fn step(&mut self, solver: &mut dyn Solver, course: &mut Course) -> Result<Option<Piece>, Failure> {
        if let Some(length) = self.bends.as_mut().and_then(|bends| bends.length_behind(solver.time())) {
            let lengthened = solver.lengthen(length);
            lengthened.map_err(|error| self.failure(error, None))?;
        }
        let rejected = solver.counts().rejected;
        let reached = match solver.step() {
            Ok(reached) => reached,
            Err(error) => return self.give_up(error, solver, course.may_switch).map(Some),
        };
        let made = Made {
            from: solver.previous(),
            to: solver.time(),
            reached,
            was_rejected: solver.counts().rejected > rejected,
        };
        if self.ends_at_bend(solver, course.end)? {
            return Ok(None);
        }
        if self.is_wrong_between(solver, made.was_rejected)? {
            self.make_again(solver, course.end)?;
            return Ok(None);
        }
        if course.makes_no_way(made, solver.next_step()) && reached == Reached::Inside {
            return self.give_up(SolverFault::TooSmall, solver, course.may_switch).map(Some);
        }
        self.look_for_failure(solver, made)?;
        if let Some(left) = self.mind_chains(solver)? {
            return Ok(Some(left));
        }
        match self.stay_on_branch(solver, course.end) {
            Ok(None) => {}
            Ok(left) => return Ok(left),
            Err(failure) => return self.other_method(failure, made.to, course.may_switch).map(Some),
        }
        self.guess_branch();
        if let Some(events) = &mut self.events {
            // Explicit steps end at significant kinks.
            events.take_trouble(made.was_rejected && !self.summary.method.is_explicit());
        }
        if self.changes_within(solver)? {
            return self.locate(solver, course.end);
        }
        self.guess_branch();
        let row = self.row;
        let last = match reached {
            Reached::Stop => course.end,
            Reached::Inside => made.to.min(course.end),
        };
        if let Some((time, states)) = self.watched_within(solver, last)? {
            if !self.rows_within(solver, time, course.end)? {
                self.guess_branch();
                return Ok(None);
            }
            (self.time, self.states) = (time, states);
            return Ok(Some(Piece::Stopped));
        }
        if !self.rows_within(solver, last, course.end)? {
            self.guess_branch();
            return Ok(None);
        }
        self.accept_branch(made.to, solver.states());
        if self.row > row {
            self.safe = self.motion.position(made.to, solver.states());
        }
        Ok(self.accept(solver, made, course))
    }

    /// Checks for causes that end a run with any method: too many steps, an interruption, unbounded states.
    fn look_for_failure(&mut self, solver: &dyn Solver, Made { from, to, .. }: Made) -> Result<(), Failure> {
        let steps = self.done.steps + solver.counts().steps;
        let stopped = |kind| Failure {
            time: to,
            kind,
            blame: None,
            steps,
        };
        if steps > self.plan.max_steps {
            return Err(Failure {
                blame: self.blamed(to, solver.states()),
                ..stopped(FailureKind::TooManySteps)
            });
        }
        if let Err(stop) = self.progress.reached(to) {
            return Err(stopped(FailureKind::Stopped(stop)));
        }
        if let Some(state) = solver.states().iter().position(|value| is_unbounded(*value)) {
            // Values without a result also count as unbounded growth.
            if let Some(fault) = self.motion.fault().filter(|fault| fault.time >= from) {
                let found = self.motion.failure(&fault, steps);
                // Unbounded values beyond the range of a law are not states of the run.
                let blame = found.blame.map(|blame| Blame {
                    states: String::new(),
                    ..*blame
                });
                let blame = blame.map(Box::new);
                return Err(Failure { blame, ..found });
            }
            return Err(Failure {
                blame: self.motion.state(state).map(Box::new),
                ..stopped(FailureKind::Unbounded)
            });
        }
        Ok(())
    }

    /// Accepts the step; returns the end of the piece if the piece ends with it.
    fn accept(&mut self, solver: &dyn Solver, made: Made, course: &Course) -> Option<Piece> {
        self.time = made.to;
        self.scales.see(solver.states());
        let piece = self.end_with(solver, made, course)?;
        self.states.copy_from_slice(solver.states());
        Some(piece)
    }

    fn end_with(&mut self, solver: &dyn Solver, made: Made, course: &Course) -> Option<Piece> {
        if made.reached == Reached::Stop {
            return Some(Piece::AtEnd);
        }
        if self.scales.have_outgrown(solver.counts().steps) {
            return Some(Piece::Switch(self.summary.method));
        }
        let (step, left) = ((made.from, made.to), self.plan.stop - made.to);
        if self.summary.method.is_explicit()
            && let Some(method) = self.watch.rejections(solver.counts().rejected)
        {
            return Some(match course.may_switch {
                true => Piece::Switch(method),
                false => Piece::NoHeadway(left / (made.to - made.from)),
            });
        }
        let here = (solver.states(), &self.scales);
        if course.may_switch
            && let Some(method) = self.watch.step(self.motion, step, here, left)
        {
            return Some(Piece::Switch(method));
        }
        self.headway.step(step, left, self.enough).map(Piece::NoHeadway)
    }

    /// Returns true if the solution between the ends of the last step is unreliable. Rows are checked individually;
    /// this check is for conditions, which are examined between the ends of a step, and for steps that may have passed
    /// the error test by chance. The latter are steps after rejections, and steps with loops, whose laws may have kinks
    /// as sharp as those of diodes.
    fn is_wrong_between(&mut self, solver: &mut dyn Solver, was_rejected: bool) -> Result<bool, Failure> {
        let is_explicit = self.summary.method.is_explicit();
        let allowed = match is_explicit {
            true if (was_rejected || self.motion.unknowns > 0) && !self.motion.system.equations.linear => {
                LIMIT_AFTER_REJECTION
            }
            _ if self.recorder.is_some() => LIMIT,
            false if self.events.is_some() => LIMIT,
            _ => return Ok(false),
        };
        let (from, to) = (solver.previous(), solver.time());
        let middle = from + 0.5 * (to - from);
        // Too short to be halved.
        if to - from <= f64::from(PARTS) * SHORTEST * to.abs().max(from.abs()) {
            return Ok(false);
        }
        let mut states = std::mem::take(&mut self.between);
        let found = solver.interpolate(middle, &mut states);
        let found = found.map_err(|error| self.failure(error, None));
        let error = found.and_then(|()| self.error_between(solver, middle, &states));
        self.between = states;
        Ok(error? > allowed)
    }

    /// Repeats the last step of an explicit method up to a kink that it crosses, if that is significant; returns true if it does so.
    fn ends_at_bend(&mut self, solver: &mut dyn Solver, stop: f64) -> Result<bool, Failure> {
        let (from, to) = (solver.previous(), solver.time());
        let is_long = to - from > SHORTEST / AT_ONCE * to.abs().max(from.abs());
        let is_explicit = self.summary.method.is_explicit();
        let Some(bends) = self.bends.as_mut().filter(|_| is_explicit && is_long) else {
            return Ok(false);
        };
        let cut = bends.cut(self.motion, solver, &self.scales);
        let Some(bend) = cut.map_err(|error| self.failure(error, None))? else {
            return Ok(false);
        };
        let made = solver.again(bend - from, stop);
        made.map_err(|error| self.failure(error, None))?;
        Ok(true)
    }

    /// Repeats the last step with half its length.
    fn make_again(&mut self, solver: &mut dyn Solver, stop: f64) -> Result<(), Failure> {
        let half = 0.5 * (solver.time() - solver.previous());
        let made = solver.again(half, stop);
        made.map_err(|error| self.failure(error, None))
    }

    /// Returns the first instant within the last step at which a condition ends this part of the run.
    fn watched_within(&mut self, solver: &mut dyn Solver, end: f64) -> Result<Option<(f64, Vec<f64>)>, Failure> {
        let Some(watched) = &mut self.watched else {
            return Ok(None);
        };
        let found = watched.first_within(self.motion, solver, end);
        found.map_err(|error| self.failure(error, None))
    }

    fn changes_within(&mut self, solver: &mut dyn Solver) -> Result<bool, Failure> {
        let Some(events) = &mut self.events else {
            return Ok(false);
        };
        let found = events.change_within(self.motion, solver);
        found.map_err(|error| self.failure(error, None))
    }

    /// Handles a condition that has changed within the last step: the solver restarts there; returns `None` if the step
    /// is repeated first.
    ///
    /// A step across a jump of the right sides has an error of its length times the jump, so it is repeated in shorter
    /// steps until the error is below the tolerance.
    fn locate(&mut self, solver: &mut dyn Solver, stop: f64) -> Result<Option<Piece>, Failure> {
        let mut states = vec![0.0; self.states.len()];
        loop {
            let (from, to) = (solver.previous(), solver.time());
            let reached = solver.states().to_vec();
            let found = solver.interpolate(from, &mut states);
            found.map_err(|error| self.failure(error, None))?;
            let jumps = self.events.as_ref().is_some_and(Events::has_jumped);
            if !jumps || !self.is_rough((from, &states), (to, &reached)) {
                break;
            }
            let end_of = |part: u32| match part {
                PARTS => to,
                _ => from + (to - from) * (f64::from(part) / f64::from(PARTS)),
            };
            let mut crossed = false;
            for part in 0..PARTS {
                let (begin, end) = (end_of(part), end_of(part + 1));
                let restarted = solver.restart(begin, &states, end - begin, end);
                restarted.map_err(|error| self.failure(error, None))?;
                let mut reached = Reached::Inside;
                while !crossed && reached == Reached::Inside {
                    reached = solver.step().map_err(|error| self.failure(error, Some(&*solver)))?;
                    crossed = self.changes_within(solver)?;
                    if !crossed {
                        let until = solver.time().min(to);
                        if !self.rows_within(solver, until, stop)? {
                            return Ok(None);
                        }
                    }
                }
                if crossed {
                    break;
                }
                states.copy_from_slice(solver.states());
            }
            if !crossed {
                // The more accurate solution changes slightly later.
                self.time = to;
                self.states = states;
                return Ok(Some(Piece::Event));
            }
        }
        let Some(events) = &mut self.events else {
            return Ok(Some(Piece::Event));
        };
        let found = events.first_change(self.motion, solver);
        let (time, states) = found.map_err(|error| self.failure(error, None))?;
        if !self.rows_within(solver, time, stop)? {
            return Ok(None);
        }
        let event = self.event(time, states, self.done.steps + solver.counts().steps)?;
        Ok(Some(event))
    }

    /// Returns true if the jump of the right sides across a step matters over its length.
    pub(crate) fn is_rough(&self, (from, before): (f64, &[f64]), (to, after): (f64, &[f64])) -> bool {
        let length = to - from;
        // Its parts must not be too short for the library.
        if length <= f64::from(PARTS) * SHORTEST * to.abs().max(from.abs()) {
            return false;
        }
        let (mut first, mut last) = (vec![0.0; before.len()], vec![0.0; before.len()]);
        self.motion.rates(from, before, &mut first);
        self.motion.rates(to, after, &mut last);
        let share = |at: usize| {
            let allowed = self.scales.allowed(at, before[at].abs().max(after[at].abs()));
            (last[at] - first[at]).abs() * length / allowed
        };
        (0..before.len()).any(|at| share(at) > 0.5)
    }

    /// Handles the change of a condition.
    pub(crate) fn event(&mut self, time: f64, states: Vec<f64>, steps: u64) -> Result<Piece, Failure> {
        self.time = time;
        self.states = states;
        self.summary.restarts += 1;
        let whole = self.plan.stop - self.plan.start;
        if self
            .events
            .as_mut()
            .is_some_and(|events| events.is_chatter(self.motion, time, &self.states, whole))
        {
            return Err(Failure {
                blame: self.motion.state(self.fastest(time, &self.states)).map(Box::new),
                steps,
                ..Failure::new(time, FailureKind::Chatter)
            });
        }
        if self.plan.events {
            self.event_row(time)?;
        }
        // A new solver adopts the new tolerances.
        Ok(match self.meets_unknown_scales() {
            true => Piece::Switch(self.summary.method),
            false => Piece::Event,
        })
    }
}
