//! One run in progress, from corner to corner.

use crate::failure::{Failure, FailureKind};
use crate::inputs::signals::Corner;
use crate::loops::joint::Corrections;
use crate::plan::{Method, Plan};
use crate::reinitialisation::initial_states;
use crate::reinitialisation::jump::{impulse, move_states};
use crate::run::course::{NEAREST, Run, SHORTEST};
use crate::run::expected;
use crate::run::headway::Headway;
use crate::run::piece::Piece;
use crate::solvers::diffsol::{DiffsolSolver, Equations};
use crate::solvers::solver::Solver;
use diffsol::{Bdf, DiffsolError, FaerVec, OdeSolverMethod, OdeSolverProblem, OdeSolverState, RkState, Sdirk, Tableau};

/// Creates a singly diagonally implicit method.
fn singly_implicit<'p, 'a>(
    problem: &'p OdeSolverProblem<Equations<'a>>,
    tableau: Tableau<f64>,
) -> impl FnOnce(RkState<FaerVec<f64>>) -> Result<Sdirk<'p, Equations<'a>, Corrections<'p, 'a>>, DiffsolError> {
    let linear = Corrections::new(&problem.eqn, tableau.a(1, 1));
    move |state| Sdirk::new(problem, state, tableau, linear)
}

/// Returns true if a corner is reached at an instant: it is not later, or only by round-off, so that nothing happens in between.
fn is_reached(corner: f64, instant: f64) -> bool {
    corner <= instant + 8.0 * f64::EPSILON * instant.abs() + NEAREST
}

/// If each method would take more steps than this, and the states do not determine the loops, the run is not continued.
const MANY: f64 = 2e7;

/// The maximum number of corners at which the drivers of the states are examined before a run.
const SEEN: usize = 256;

/// The outcome of a solver's part of a run.
enum Outcome {
    Finished,
    /// A watched condition acts.
    Stopped,
    /// Another method continues.
    Switch(Method),
    /// The number of further steps that the method would need, which exceeds the allowed number.
    NoHeadway(f64),
}

impl Run<'_> {
    /// Finds the states just after the start, and writes the first row.
    pub(crate) fn begin(&mut self) -> Result<(), Failure> {
        let start = self.plan.start;
        let mut corner = Corner {
            time: start,
            steps: Vec::new(),
        };
        // A function that changes just after the start, such as `sign(time)`, has its later value from the start on.
        while let Some(next) = self
            .corners
            .get(self.corner)
            .filter(|next| is_reached(next.time, start))
        {
            self.time = next.time.max(start);
            corner.steps.extend(&next.steps);
            self.corner += 1;
        }
        self.enter_piece(self.time);
        self.states = initial_states::given(self.motion, start)?;
        self.enter_piece(self.time);
        self.motion.find_loops(start, &self.states);
        self.first = self.motion.position(start, &self.states);
        self.chains = self.motion.watch_chains(&self.first);
        self.summary
            .notes
            .extend(self.motion.other_solutions(start, &self.states));
        let read = (self.rates_read, self.plan.rtol);
        move_states(self.motion, self.signals, read, &corner, &mut self.states, true)?;
        if self.plan.from_equilibrium {
            // Conserved combinations of states keep the values that the input steps at the start produce.
            self.states = initial_states::steady(self.motion, start, &self.states, &mut self.summary.notes)?;
        } else {
            self.report_impulse(&corner);
        }
        self.find_scales(start);
        self.rows_at(start)
    }

    /// Estimates the magnitudes of the states, before the run.
    fn find_scales(&mut self, start: f64) {
        self.scales.see(&self.states);
        if self.states.is_empty() && self.motion.unknowns == 0 || !self.scales.follow() {
            return;
        }
        let corners: Vec<f64> = self.corners.iter().map(|corner| corner.time).take(SEEN).collect();
        let expected = expected::expected(self.motion, self.plan, &self.states, &corners);
        self.scales.begin(expected, &self.states);
        self.motion.set_small(self.scales.small_unknowns(self.motion.unknowns));
        // Later instants were examined. Return to the piece in which the run begins, after changes just after the start.
        self.enter_piece(self.time);
        self.motion.solve_loops(start, &self.states);
    }

    /// If no step is small enough, returns true if the expected magnitudes of states have grown because events changed
    /// their drivers. The run then continues with other tolerances.
    pub(crate) fn expects_more(&mut self, time: f64, states: &[f64]) -> bool {
        if self.watched.is_none() || !self.scales.follow() || time >= self.plan.stop {
            return false;
        }
        let corners: Vec<f64> = self.corners.iter().map(|corner| corner.time).take(SEEN).collect();
        let left = Plan {
            start: time,
            ..self.plan.clone()
        };
        let expected = expected::expected(self.motion, &left, states, &corners);
        self.enter_piece(time);
        self.guess_branch();
        let are_larger = self.scales.expect_more(&expected);
        if are_larger {
            self.time = time;
            self.states.copy_from_slice(states);
            self.motion.set_small(self.scales.small_unknowns(self.motion.unknowns));
        }
        are_larger
    }

    /// Returns true if a state without a previous or expected motion begins to move at an event; it then gets a scale.
    pub(crate) fn meets_unknown_scales(&mut self) -> bool {
        let mut rates = vec![0.0; self.states.len()];
        if !self.scales.follow() || !self.motion.rates(self.time, &self.states, &mut rates) {
            return false;
        }
        let left = self.plan.stop - self.time;
        self.scales.expect_of_unknown(&rates, left)
    }

    /// Returns the end time of the piece that begins now.
    pub(crate) fn end_of_piece(&self) -> f64 {
        let corner = self
            .corners
            .get(self.corner)
            .map_or(f64::INFINITY, |corner| corner.time);
        corner.min(self.until)
    }

    fn enter_piece(&mut self, time: f64) {
        let corner = self
            .corners
            .get(self.corner)
            .map_or(f64::INFINITY, |corner| corner.time);
        let end = if corner > time { corner } else { f64::INFINITY };
        self.motion.set_piece(time, end);
    }

    /// Completes the run after the first row.
    pub(crate) fn solve(&mut self) -> Result<(), Failure> {
        if self.states.is_empty() {
            return self.without_states();
        }
        if self.time >= self.until {
            return Ok(());
        }
        let motion = self.motion;
        let span = self.plan.stop - self.plan.start;
        let mut method = match self.plan.method {
            Method::Auto => Method::Tsit45,
            method => method,
        };
        let mut may_switch = self.plan.method == Method::Auto;
        if let (true, Some(expected)) = (may_switch, self.expected) {
            let here = (&self.states[..], &self.scales);
            if let Some(stiff) = self.watch.begin(motion, self.time, here, expected) {
                method = stiff;
                self.summary.stiff_from = Some(self.time);
            }
        }
        let mut given_up = Vec::new();
        loop {
            self.summary.method = method;
            self.headway = Headway::default();
            let equations = Equations::new(motion, !method.is_explicit(), self.time, &self.states);
            let problem = equations.problem(self.time, &mut self.scales, (span, self.bends.is_some()));
            let outcome = match method {
                Method::Tsit45 | Method::Auto => {
                    let make = |state: RkState<FaerVec<f64>>| problem.tsit45_solver(state);
                    self.drive(&problem, make, may_switch)
                }
                Method::Bdf => {
                    let linear = Corrections::new(&problem.eqn, 1.0);
                    let make = |state| -> Result<Bdf<'_, _, _>, _> { Bdf::new(&problem, state, linear) };
                    self.drive(&problem, make, may_switch)
                }
                Method::Sdirk => self.drive(&problem, singly_implicit(&problem, Tableau::esdirk34()), may_switch),
                Method::TrBdf2 => self.drive(&problem, singly_implicit(&problem, Tableau::tr_bdf2()), may_switch),
            }?;
            match outcome {
                Outcome::Finished | Outcome::Stopped => return Ok(()),
                Outcome::Switch(next) => {
                    if next != method {
                        self.summary.stiff_from = (!next.is_explicit()).then_some(self.time);
                    }
                    method = next;
                }
                Outcome::NoHeadway(needed) => {
                    given_up.push(method);
                    let others = [Method::Sdirk, Method::TrBdf2, Method::Bdf];
                    match others.into_iter().find(|other| !given_up.contains(other)) {
                        Some(next) => {
                            self.given_up_for.push(self.remark_on_headway(method, next, needed));
                            self.summary.stiff_from = Some(self.time);
                            (method, may_switch) = (next, false);
                        }
                        None if needed > self.plan.max_steps as f64 || needed > MANY && self.is_undetermined() => {
                            return Err(self.without_headway(needed));
                        }
                        // No other method is better than the first one, which completes the run within the allowed steps.
                        None => {
                            self.given_up_for.clear();
                            self.summary.stiff_from = None;
                            (method, may_switch) = (given_up[0], self.plan.method == Method::Auto);
                            self.enough = u64::MAX;
                        }
                    }
                }
            }
        }
    }

    /// Creates a solver of the library and continues the run with it.
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
        let solver = &mut DiffsolSolver::new(problem, solver, (self.longest, self.looks.clone()));
        let result = self.pieces(solver, may_switch);
        let work = solver.counts();
        self.done.steps += work.steps;
        self.done.rejected += work.rejected;
        self.done.factorisations += work.factorisations;
        result
    }

    fn pieces(&mut self, solver: &mut dyn Solver, may_switch: bool) -> Result<Outcome, Failure> {
        loop {
            let end = self.end_of_piece();
            self.enter_piece(self.time);
            // Corners as close as two adjacent doubles have nothing in between.
            if end - self.time > SHORTEST * end.abs().max(self.time.abs()) + NEAREST {
                match self.piece(solver, end, may_switch)? {
                    Piece::AtEnd => {}
                    Piece::Event | Piece::Again => continue,
                    Piece::Stopped => return Ok(Outcome::Stopped),
                    Piece::Switch(method) => return Ok(Outcome::Switch(method)),
                    Piece::NoHeadway(needed) => return Ok(Outcome::NoHeadway(needed)),
                }
            }
            self.time = end;
            let is_next = |run: &Self| {
                run.corners
                    .get(run.corner)
                    .is_some_and(|corner| is_reached(corner.time, end))
            };
            let at_corner = self.corners.get(self.corner).is_some_and(|corner| corner.time <= end);
            if !at_corner {
                self.enter_piece(end);
            }
            if at_corner && self.steps_end_it() {
                return Ok(Outcome::Stopped);
            }
            if at_corner && self.plan.events {
                self.event_row(end)?;
            }
            while at_corner && is_next(self) {
                self.time = self.corners[self.corner].time.max(end);
                self.pass_corner()?;
            }
            if at_corner && self.plan.events && !self.is_row(self.time) {
                self.event_row(self.time)?;
            }
            if at_corner && self.watched_here() {
                return Ok(Outcome::Stopped);
            }
            // A row at the end of a part of the run shows the state after the event there.
            if self.ends_with_event && is_reached(self.until, end) {
                // A corner may precede it by round-off.
                self.time = self.until;
                return Ok(Outcome::Finished);
            }
            self.rows_at(end)?;
            if end >= self.until {
                return Ok(Outcome::Finished);
            }
            self.summary.restarts += 1;
        }
    }

    /// Returns true if an input that moves states or transmits an impulse steps at the next corner: in a run with
    /// events, the modes after it are determined together with the states. Other corners are passed.
    fn steps_end_it(&self) -> bool {
        let is_moving = |step: &(usize, f64)| step.1 != 0.0 && self.moving.get(step.0).copied().unwrap_or(false);
        let corner = self.corners.get(self.corner);
        corner.is_some_and(|corner| corner.steps.iter().any(is_moving))
    }

    /// Applies the steps of inputs at the current corner.
    fn pass_corner(&mut self) -> Result<(), Failure> {
        let before = self.energy();
        let corner = self.corners[self.corner].clone();
        self.corner += 1;
        self.enter_piece(corner.time);
        move_states(
            self.motion,
            self.signals,
            (self.rates_read, self.plan.rtol),
            &corner,
            &mut self.states,
            false,
        )?;
        let after = self.energy();
        if let Some(meter) = &mut self.meter {
            meter.found.lost += before - after;
        }
        self.report_impulse(&corner);
        Ok(())
    }

    /// Returns the current energy of storage; 0 unless the energy balance is requested.
    fn energy(&mut self) -> f64 {
        let (motion, time) = (self.motion, self.time);
        let states = &self.states;
        self.meter
            .as_mut()
            .map_or(0.0, |meter| meter.energy(motion, time, states))
    }

    /// Reports once that outputs would have an impulse.
    fn report_impulse(&mut self, corner: &Corner) {
        if self.has_impulse {
            return;
        }
        if let Some(note) = impulse(self.motion, self.rates_read, corner, &self.states) {
            self.has_impulse = true;
            self.summary.notes.push(note);
        }
    }

    /// Begins a part of a run after an event, with the states after the event, and writes the rows at this instant.
    /// Returns true if a condition acts immediately.
    pub(crate) fn begin_behind_event(
        &mut self,
        time: f64,
        states: Vec<f64>,
        has_scales: bool,
    ) -> Result<bool, Failure> {
        self.time = time;
        // Corners up to here were passed before the event.
        while self.corners.get(self.corner).is_some_and(|next| next.time <= time) {
            self.corner += 1;
        }
        self.states = states;
        self.enter_piece(time);
        self.motion.find_loops(time, &self.states);
        self.first = self.motion.position(time, &self.states);
        self.chains = self.motion.watch_chains(&self.first);
        if self.watched_here() {
            return Ok(true);
        }
        match has_scales {
            true => {
                self.scales.see(&self.states);
                self.motion.set_small(self.scales.small_unknowns(self.motion.unknowns));
            }
            false => self.find_scales(time),
        }
        if let Some(watched) = &mut self.watched {
            watched.tolerate(self.motion, (time, &self.states), &self.scales);
        }
        self.rows_at(time)?;
        Ok(false)
    }

    /// Returns true if a watched condition acts at the current point of the run.
    fn watched_here(&mut self) -> bool {
        let (motion, time) = (self.motion, self.time);
        let states = &self.states;
        self.watched
            .as_mut()
            .is_some_and(|watched| watched.begin(motion, time, states))
    }

    /// Returns the next instant before `end` at which a condition acts, for a static system.
    fn watched_before(&mut self, end: f64) -> Option<f64> {
        let (motion, from) = (self.motion, self.time);
        let watched = self.watched.as_mut()?;
        let found = watched.first(motion, (from, end), &mut |_, _| Ok(()));
        found.ok().flatten().map(|found| found.0)
    }

    /// Advances to a time without states.
    fn go_to(&mut self, time: f64) {
        if let Some(meter) = &mut self.meter {
            let found = meter.go_to(self.motion, time, &mut |_, _| Ok(()));
            found.expect("invariant: without states, nothing is interpolated");
        }
        if let Some(recorder) = &mut self.recorder {
            let found = recorder.go_to(self.motion, time, &mut |_, _| Ok(()));
            found.expect("invariant: without states, nothing is interpolated");
        }
        self.time = time;
    }

    /// Runs a static system: rows and nothing in between.
    fn without_states(&mut self) -> Result<(), Failure> {
        while self.row < self.plan.points {
            let time = self.plan.time(self.row);
            let corner = self
                .corners
                .get(self.corner)
                .map_or(f64::INFINITY, |corner| corner.time);
            let end = time.min(self.until);
            // Up to the next corner, if one is in between, and up to the row.
            let next = if is_reached(corner, end) { corner.min(end) } else { end };
            let is_far = next - self.time > self.longest;
            let next = if is_far { self.time + self.longest } else { next };
            if next > self.time {
                if let Some(event) = self.watched_before(next) {
                    self.go_to(event);
                    return Ok(());
                }
                self.go_to(next);
            }
            if is_far {
                continue;
            }
            if is_reached(corner, end) {
                if self.steps_end_it() {
                    self.time = self.time.max(corner);
                    return Ok(());
                }
                let corner = self.corners[self.corner].clone();
                self.corner += 1;
                self.time = self.time.max(corner.time);
                self.enter_piece(corner.time);
                self.report_impulse(&corner);
                if self.watched_here() {
                    return Ok(());
                }
                continue;
            }
            // A row at the end of the part shows the state after the event there.
            if time > self.until || self.ends_with_event && is_reached(self.until, time) {
                return Ok(());
            }
            if let Err(stop) = self.progress.reached(time) {
                return Err(Failure::new(time, FailureKind::Stopped(stop)));
            }
            self.state_row(time)?;
            self.row += 1;
        }
        Ok(())
    }
}
