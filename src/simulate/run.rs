//! One run on its way, from corner to corner.

use super::diffsol_solver::{Equations, Library};
use super::events::Events;
use super::failure::{Blame, Failure, FailureKind};
use super::jump::{RatesRead, impulse, move_states};
use super::motion::{Fault, FaultKind, Motion};
use super::plan::{Method, Plan, Progress, Sink, Stop, Summary};
use super::scales::Scales;
use super::signals::{Corner, Signals};
use super::singular::{ChainWatch, Position};
use super::solver::{Reached, Solver, SolverFault, Work};
use super::stiffness::Watch;
use super::{doubt, expected, first_step, starts};
use diffsol::{
    BdfState, DiffsolError, FaerSparseLU, FaerVec, OdeSolverMethod, OdeSolverProblem, OdeSolverState, RkState,
};
use std::sync::Arc;

type LU = FaerSparseLU<f64>;

/// Shorter pieces than this share of the time have nothing between their ends, and the library refuses to stop so soon: within
/// 100 roundings of the time and the step together.
const SHORTEST: f64 = 256.0 * f64::EPSILON;

/// Nor have pieces, in seconds, that are shorter than this wherever they are: beside 0 there are numbers as near as 5e-324 s.
const NEAREST: f64 = 1e-200;

/// Whether a corner is as near to an instant before it as rounding: nothing happens between the two.
fn is_together(instant: f64, corner: f64) -> bool {
    corner <= instant + 8.0 * f64::EPSILON * instant.abs() + NEAREST
}

/// Into so many parts a step across a jump is cut.
const PARTS: u32 = 8;

/// Steps in a row that make no way before the run gives up.
const WITHOUT_WAY: u32 = 50;

/// A run on its way.
pub(super) struct Run<'r> {
    pub(super) motion: &'r Motion<'r>,
    pub(super) signals: &'r dyn Signals,
    pub(super) plan: &'r Plan,
    pub(super) sink: &'r mut dyn Sink,
    pub(super) progress: &'r dyn Progress,
    pub(super) rates_read: &'r RatesRead,
    pub(super) events: Option<Events<'r>>,
    pub(super) corners: Vec<Corner>,
    /// The next corner.
    pub(super) corner: usize,
    pub(super) time: f64,
    pub(super) states: Vec<f64>,
    /// Where the run began.
    pub(super) first: Position,
    pub(super) chains: Option<ChainWatch>,
    pub(super) outputs: Vec<f64>,
    pub(super) between: Vec<f64>,
    /// The next row.
    pub(super) row: usize,
    pub(super) watch: Watch,
    pub(super) scales: Scales,
    pub(super) summary: Summary,
    /// What solvers have done that are gone.
    pub(super) done: Work,
    /// No step is longer.
    pub(super) longest: f64,
    /// No step leaps over one of these instants.
    pub(super) looks: Arc<[f64]>,
}

/// How a solver's part of a run ends.
enum Outcome {
    Finished,
    /// Another method goes on.
    Switch(Method),
}

impl Run<'_> {
    /// The states just after the start, and the first row.
    pub(super) fn begin(&mut self) -> Result<(), Failure> {
        let start = self.plan.start;
        let mut corner = Corner {
            time: start,
            steps: Vec::new(),
        };
        // What changes just after the start, as `sign(time)` does, has its later value from the start on.
        while let Some(next) = self
            .corners
            .get(self.corner)
            .filter(|next| is_together(start, next.time))
        {
            self.time = next.time.max(start);
            corner.steps.extend(&next.steps);
            self.corner += 1;
        }
        self.enter_piece(self.time);
        self.states = starts::given(self.motion, start)?;
        self.enter_piece(self.time);
        self.motion.find_loops(start, &self.states);
        self.first = self.motion.position(start, &self.states);
        self.chains = self.motion.watch_chains(&self.first);
        self.summary
            .notes
            .extend(self.motion.other_solutions(start, &self.states));
        if self.plan.from_equilibrium {
            self.states = starts::steady(self.motion, start, &self.states, &mut self.summary.notes)?;
        } else {
            move_states(
                self.motion,
                self.signals,
                self.rates_read,
                &corner,
                &mut self.states,
                true,
            );
            self.tell_impulse(&corner);
        }
        self.find_scales(start);
        self.rows_at(start)
    }

    /// Of what size the states are, as far as it can be told before the run.
    fn find_scales(&mut self, start: f64) {
        self.scales.see(&self.states);
        if self.states.is_empty() && self.motion.unknowns == 0 || !self.scales.follow() {
            return;
        }
        let expected = expected::expected(self.motion, self.plan, &self.states);
        self.scales.begin(expected, &self.states);
        self.motion.set_small(self.scales.small_unknowns(self.motion.unknowns));
        self.enter_piece(start);
        self.motion.solve_loops(start, &self.states);
    }

    /// Where the piece that begins now ends.
    fn end_of_piece(&self) -> f64 {
        let corner = self
            .corners
            .get(self.corner)
            .map_or(f64::INFINITY, |corner| corner.time);
        corner.min(self.plan.stop)
    }

    fn enter_piece(&mut self, time: f64) {
        let corner = self
            .corners
            .get(self.corner)
            .map_or(f64::INFINITY, |corner| corner.time);
        let end = if corner > time { corner } else { f64::INFINITY };
        self.motion.set_piece(time, end);
    }

    /// All that comes after.
    pub(super) fn solve(&mut self) -> Result<(), Failure> {
        if self.states.is_empty() {
            return self.without_states();
        }
        if self.time >= self.plan.stop {
            return Ok(());
        }
        let motion = self.motion;
        let span = self.plan.stop - self.plan.start;
        let mut method = match self.plan.method {
            Method::Auto => Method::Tsit45,
            method => method,
        };
        let may_switch = self.plan.method == Method::Auto;
        loop {
            self.summary.method = method;
            let equations = Equations::new(motion, !method.is_explicit(), self.time, &self.states);
            let problem = equations.problem(self.time, &mut self.scales, span);
            let outcome = match method {
                Method::Tsit45 | Method::Auto => {
                    let make = |state: RkState<FaerVec<f64>>| problem.tsit45_solver(state);
                    self.drive(&problem, make, may_switch)
                }
                Method::Bdf => {
                    let make = |state: BdfState<FaerVec<f64>>| problem.bdf_solver::<LU>(state);
                    self.drive(&problem, make, may_switch)
                }
                Method::Sdirk => {
                    let make = |state: RkState<FaerVec<f64>>| problem.esdirk34_solver::<LU>(state);
                    self.drive(&problem, make, may_switch)
                }
                Method::TrBdf2 => {
                    let make = |state: RkState<FaerVec<f64>>| problem.tr_bdf2_solver::<LU>(state);
                    self.drive(&problem, make, may_switch)
                }
            }?;
            match outcome {
                Outcome::Finished => return Ok(()),
                Outcome::Switch(next) => {
                    if next != method {
                        self.summary.stiff_from = (!next.is_explicit()).then_some(self.time);
                    }
                    method = next;
                }
            }
        }
    }

    /// Makes a solver of the library and lets it go on from where the run is.
    fn drive<'p, 'a: 'p, State, Method>(
        &mut self,
        problem: &'p OdeSolverProblem<Equations<'a>>,
        make: impl FnOnce(State) -> Result<Method, DiffsolError>,
        may_switch: bool,
    ) -> Result<Outcome, Failure>
    where
        State: OdeSolverState<FaerVec<f64>>,
        Method: OdeSolverMethod<'p, Equations<'a>>,
    {
        let solver = State::new_without_initialise(problem).and_then(make);
        let solver = solver.map_err(|error| self.failure((&error).into(), None))?;
        let solver = &mut Library::new(problem, solver, (self.longest, self.looks.clone()));
        let result = self.pieces(solver, may_switch);
        let work = solver.work();
        self.done.steps += work.steps;
        self.done.rejected += work.rejected;
        self.done.factorisations += work.factorisations;
        result
    }

    fn pieces(&mut self, solver: &mut dyn Solver, may_switch: bool) -> Result<Outcome, Failure> {
        loop {
            let end = self.end_of_piece();
            self.enter_piece(self.time);
            // Corners as near as two doubles have nothing between them.
            if end - self.time > SHORTEST * end.abs().max(self.time.abs()) + NEAREST {
                match self.piece(solver, end, may_switch)? {
                    Piece::AtEnd => {}
                    Piece::Event => continue,
                    Piece::Switch(method) => return Ok(Outcome::Switch(method)),
                }
            }
            self.time = end;
            let is_next = |run: &Self| {
                run.corners
                    .get(run.corner)
                    .is_some_and(|corner| is_together(end, corner.time))
            };
            let at_corner = self.corners.get(self.corner).is_some_and(|corner| corner.time <= end);
            if !at_corner {
                self.enter_piece(end);
            }
            while at_corner && is_next(self) {
                self.time = self.corners[self.corner].time.max(end);
                self.pass_corner()?;
            }
            self.rows_at(end)?;
            if end >= self.plan.stop {
                return Ok(Outcome::Finished);
            }
            self.summary.restarts += 1;
        }
    }

    /// From here to the next corner, or to where the run is started anew.
    fn piece(&mut self, solver: &mut dyn Solver, end: f64, may_switch: bool) -> Result<Piece, Failure> {
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
        let mut without_way = 0;
        loop {
            let rejected = solver.work().rejected;
            let reached = solver.step().map_err(|error| self.failure(error, Some(&*solver)))?;
            let (from, to) = (solver.previous(), solver.time());
            if self.summary.method.is_explicit() && solver.work().rejected > rejected && !self.motion.system.linear {
                let doubtful = doubt::is_doubtful(self.motion, solver, &self.scales);
                if doubtful.map_err(|error| self.failure(error, None))? {
                    self.make_again(solver, end)?;
                    continue;
                }
            }
            without_way = if to - from <= 4.0 * f64::EPSILON * to.abs() {
                without_way + 1
            } else {
                0
            };
            if without_way >= WITHOUT_WAY && reached == Reached::Inside {
                return Err(self.failure(SolverFault::TooSmall, Some(&*solver)));
            }
            let steps = self.done.steps + solver.work().steps;
            let stopped = |kind| Failure {
                time: to,
                kind,
                blame: None,
                steps,
            };
            if steps > self.plan.max_steps {
                return Err(Failure {
                    blame: self.motion.state(self.fastest(to, solver.states())).map(Box::new),
                    ..stopped(FailureKind::TooManySteps)
                });
            }
            if let Err(stop) = self.progress.reached(to) {
                return Err(stopped(FailureKind::Stopped(stop)));
            }
            if self.motion.has_left_chain(&mut self.chains, to, solver.states()) {
                return Err(self.failure(SolverFault::TooSmall, Some(&*solver)));
            }
            if self.changes_within(solver)? {
                return self.locate(solver);
            }
            self.rows_within(solver, if reached == Reached::Stop { end } else { to.min(end) })?;
            self.time = to;
            self.scales.see(solver.states());
            if reached == Reached::Stop {
                self.states.copy_from_slice(solver.states());
                return Ok(Piece::AtEnd);
            }
            if self.scales.have_outgrown(solver.work().steps) {
                self.states.copy_from_slice(solver.states());
                return Ok(Piece::Switch(self.summary.method));
            }
            if may_switch
                && let Some(method) = {
                    let left = self.plan.stop - to;
                    self.watch
                        .step(self.motion, (from, to), (solver.states(), &self.scales), left)
                }
            {
                self.states.copy_from_slice(solver.states());
                return Ok(Piece::Switch(method));
            }
        }
    }

    /// Makes the last step again, in half its length.
    fn make_again(&mut self, solver: &mut dyn Solver, end: f64) -> Result<(), Failure> {
        let (from, to) = (solver.previous(), solver.time());
        let mut states = vec![0.0; self.states.len()];
        let made = solver.interpolate(from, &mut states);
        let made = made.and_then(|()| solver.restart(from, &states, 0.5 * (to - from), end));
        made.map_err(|error| self.failure(error, None))
    }

    fn changes_within(&mut self, solver: &mut dyn Solver) -> Result<bool, Failure> {
        let Some(events) = &mut self.events else {
            return Ok(false);
        };
        let found = events.change_within(self.motion, solver);
        found.map_err(|error| self.failure(error, None))
    }

    /// A condition has changed within the last step, and the solver begins anew there.
    ///
    /// A step across a jump of the right sides is wrong by its length times the jump, so it is made again in shorter ones
    /// until that is less than what is allowed.
    fn locate(&mut self, solver: &mut dyn Solver) -> Result<Piece, Failure> {
        let mut states = vec![0.0; self.states.len()];
        loop {
            let (from, to) = (solver.previous(), solver.time());
            let reached = solver.states().to_vec();
            let found = solver.interpolate(from, &mut states);
            found.map_err(|error| self.failure(error, None))?;
            if !self.is_rough((from, &states), (to, &reached)) {
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
                        self.rows_within(solver, until)?;
                    }
                }
                if crossed {
                    break;
                }
                states.copy_from_slice(solver.states());
            }
            if !crossed {
                // The better solution changes a little later.
                self.time = to;
                self.states = states;
                return Ok(Piece::Event);
            }
        }
        let Some(events) = &mut self.events else {
            return Ok(Piece::Event);
        };
        let found = events.first_change(self.motion, solver);
        let (time, states) = found.map_err(|error| self.failure(error, None))?;
        self.rows_within(solver, time)?;
        self.event(time, states, self.done.steps + solver.work().steps)
    }

    /// Whether the jump of the right sides across a step matters over its length.
    fn is_rough(&self, (from, before): (f64, &[f64]), (to, after): (f64, &[f64])) -> bool {
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

    /// Where a condition has changed.
    fn event(&mut self, time: f64, states: Vec<f64>, steps: u64) -> Result<Piece, Failure> {
        self.time = time;
        self.states = states;
        self.summary.restarts += 1;
        let whole = self.plan.stop - self.plan.start;
        if self
            .events
            .as_mut()
            .is_some_and(|events| events.is_chatter(time, whole))
        {
            return Err(Failure {
                blame: self.motion.state(self.fastest(time, &self.states)).map(Box::new),
                steps,
                ..Failure::new(time, FailureKind::Chatter)
            });
        }
        if self.plan.events {
            self.state_row(time)?;
        }
        Ok(Piece::Event)
    }

    /// Steps of inputs at the corner that was reached.
    fn pass_corner(&mut self) -> Result<(), Failure> {
        if self.plan.events {
            self.state_row(self.time)?;
        }
        let corner = self.corners[self.corner].clone();
        self.corner += 1;
        self.enter_piece(corner.time);
        move_states(
            self.motion,
            self.signals,
            self.rates_read,
            &corner,
            &mut self.states,
            false,
        );
        self.tell_impulse(&corner);
        if self.plan.events && !self.is_row(corner.time) {
            self.state_row(corner.time)?;
        }
        Ok(())
    }

    /// Says once that outputs would carry an impulse.
    fn tell_impulse(&mut self, corner: &Corner) {
        let told = self.summary.notes.iter().any(|note| note.code == "LGM1022");
        if !told && let Some(note) = impulse(self.motion, self.rates_read, corner, &self.states) {
            self.summary.notes.push(note);
        }
    }

    /// Whether the next row is at this time, which it may miss by the rounding of the two.
    fn is_row(&self, time: f64) -> bool {
        self.row < self.plan.points && self.plan.time(self.row) <= time + 8.0 * f64::EPSILON * time.abs()
    }

    /// All rows within the last step, up to a time that is left out.
    fn rows_within(&mut self, solver: &mut dyn Solver, end: f64) -> Result<(), Failure> {
        let last = end - 8.0 * f64::EPSILON * end.abs();
        while self.row < self.plan.points && self.plan.time(self.row) < last {
            let time = self.plan.time(self.row);
            let mut between = std::mem::take(&mut self.between);
            let found = solver.interpolate(time.clamp(solver.previous(), solver.time()), &mut between);
            let result = found.map_err(|error| self.failure(error, None));
            let result = result.and_then(|()| self.row(time, &between));
            self.between = between;
            result?;
            self.row += 1;
        }
        Ok(())
    }

    /// All rows at this time, with the states of now.
    fn rows_at(&mut self, time: f64) -> Result<(), Failure> {
        while self.is_row(time) {
            let at = self.plan.time(self.row);
            self.state_row(at)?;
            self.row += 1;
        }
        Ok(())
    }

    fn state_row(&mut self, time: f64) -> Result<(), Failure> {
        let states = std::mem::take(&mut self.states);
        let result = self.row(time, &states);
        self.states = states;
        result
    }

    /// One row.
    fn row(&mut self, time: f64, states: &[f64]) -> Result<(), Failure> {
        if !self.motion.outputs(time, states, &mut self.outputs)
            && let Some(fault) = self.motion.fault()
        {
            if let Some(found) = self.singular([Some((time, states)), None], self.done.steps) {
                return Err(found);
            }
            return Err(self.motion.failure(&fault, self.done.steps));
        }
        if self.motion.unknowns > 0 {
            self.sink.unknowns(&self.motion.solution());
        }
        let stopped = |stop: Stop| Failure {
            time,
            kind: FailureKind::Stopped(stop),
            blame: None,
            steps: self.done.steps,
        };
        self.sink.row(time, &self.outputs, states).map_err(stopped)
    }

    /// What is told of a solver's fault.
    fn failure(&self, error: SolverFault, solver: Option<&dyn Solver>) -> Failure {
        let time = solver.map_or(self.time, Solver::time);
        let steps = self.done.steps + solver.map_or(0, |solver| solver.work().steps);
        // The last good point, and beyond it the one that could not be evaluated.
        let states = solver.map_or(&self.states[..], Solver::states);
        let fault = self.motion.fault().filter(|fault| fault.time >= time);
        let beyond = fault.as_ref().map(|fault| (fault.time, &fault.states[..]));
        if let Some(found) = self.singular([Some((time, states)), beyond], steps) {
            return Failure { time, ..found };
        }
        if let Some(fault) = fault {
            return Failure {
                time,
                ..self.motion.failure(&fault, steps)
            };
        }
        let kind = match error {
            SolverFault::TooSmall => FailureKind::StepTooSmall,
            SolverFault::NotSolved => FailureKind::StepNotSolved,
            SolverFault::Other(words) => FailureKind::Refused(format!("the solver gave up at {time} s: {words}")),
        };
        let blame = solver
            .and_then(|solver| self.motion.state(self.fastest(time, solver.states())))
            .map(Box::new);
        Failure {
            time,
            kind,
            blame,
            steps,
        }
    }

    /// What is told where one of some points is a position at which the equations are singular.
    fn singular(&self, ends: [Option<(f64, &[f64])>; 2], steps: u64) -> Option<Failure> {
        // Where a run begins without a solution of the loops, there was no position before.
        let is_unsolved = |fault: Fault| matches!(fault.kind, FaultKind::Loop(_)) && fault.time <= self.first.time;
        if self.motion.fault().is_some_and(is_unsolved) {
            return None;
        }
        ends.into_iter().flatten().find_map(|(time, states)| {
            let end = self.motion.position(time, states);
            let (kind, blame) = self.motion.singular_position(&self.first, &end)?;
            let states = self.motion.states_in_words(states);
            Some(Failure {
                time,
                kind,
                blame: Some(Box::new(Blame { states, ..blame })),
                steps,
            })
        })
    }

    /// The state that changes most, for its size.
    fn fastest(&self, time: f64, states: &[f64]) -> usize {
        let mut rates = vec![0.0; states.len()];
        self.motion.rates(time, states, &mut rates);
        let share = |at: usize| rates[at].abs() / self.scales.allowed(at, states[at]);
        let fastest = (0..states.len()).max_by(|a, b| share(*a).total_cmp(&share(*b)));
        fastest.unwrap_or(0)
    }

    /// A static system: rows and nothing between them.
    fn without_states(&mut self) -> Result<(), Failure> {
        while self.row < self.plan.points {
            let time = self.plan.time(self.row);
            if let Err(stop) = self.progress.reached(time) {
                return Err(Failure::new(time, FailureKind::Stopped(stop)));
            }
            while self
                .corners
                .get(self.corner)
                .is_some_and(|corner| is_together(time, corner.time))
            {
                let corner = self.corners[self.corner].clone();
                self.corner += 1;
                self.enter_piece(corner.time);
                self.tell_impulse(&corner);
            }
            self.state_row(time)?;
            self.row += 1;
        }
        Ok(())
    }
}

/// How a piece ends.
enum Piece {
    AtEnd,
    Event,
    Switch(Method),
}
