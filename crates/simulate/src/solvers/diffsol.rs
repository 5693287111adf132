//! The solvers of the library diffsol as implementations of [`Solver`].

use crate::motion::newton::NEARLY;
use crate::motion::scales::Scales;
use crate::motion::{BEYOND, Motion};
use crate::solvers::implicit::Implicit;
use crate::solvers::implicit::Point;
use crate::solvers::solver::{Counts, Reached, Solver, SolverFault};
use diffsol::error::{NonLinearSolverError, OdeSolverError};
use diffsol::{
    ConstantOp, DiffsolError, FaerContext, FaerSparseMat, FaerVec, LinearOp, Matrix, NonLinearOp, NonLinearOpJacobian,
    OdeEquations, OdeEquationsRef, OdeSolverMethod, OdeSolverOptions, OdeSolverProblem, OdeSolverStopReason, Op,
    Vector, VectorCommon,
};
use faer::sparse::SymbolicSparseColMat;
use std::cell::RefCell;
use std::sync::Arc;

type V = FaerVec<f64>;
type M = FaerSparseMat<f64>;

/// The error-test tolerance of a loop unknown. The unknown follows from the states, as the iteration ensures; it has no
/// history to accumulate errors. At a kink of a law it may jump from one value to another, for which no step is short
/// enough.
const UNTESTED: f64 = 1e90;

/// Returns the numbers of a vector.
pub(crate) fn numbers(vector: &V) -> &[f64] {
    vector.inner().col_as_slice(0)
}

pub(crate) fn numbers_mut(vector: &mut V) -> &mut [f64] {
    vector.inner_mut().col_as_slice_mut(0)
}

/// The form, the absolute and relative tolerance of each unknown, and the last evaluation point of the right sides.
pub type Evaluated<'e, 'a> = (&'e Implicit<'a>, (&'e [f64], f64), Point);

/// The equations in the form of the library.
pub(crate) struct Equations<'a> {
    motion: &'a Motion<'a>,
    /// The implicit form; none for explicit methods, which are given rates.
    implicit: Option<Implicit<'a>>,
    /// The initial y passed to the library; each piece has a separate one.
    first: Vec<f64>,
    context: FaerContext,
    /// The absolute and relative tolerance of each entry of y, if loop unknowns are not part of the error test.
    allowed: (Vec<f64>, f64),
    /// The last evaluation point of the right sides, if there are loops and no later request.
    evaluated: RefCell<Option<Point>>,
    /// The last y for which all right sides had a value.
    good: RefCell<Vec<f64>>,
}

impl<'a> Equations<'a> {
    /// Creates the equations for methods with or without a Jacobian, from a time and states on.
    pub fn new(motion: &'a Motion<'a>, is_implicit: bool, time: f64, states: &[f64]) -> Equations<'a> {
        let implicit = is_implicit.then(|| Implicit::new(motion));
        let first = match &implicit {
            Some(form) => {
                let mut first = vec![0.0; form.size];
                form.begin(time, states, &mut first);
                first
            }
            None => states.to_vec(),
        };
        Equations {
            motion,
            implicit,
            first,
            context: FaerContext::default(),
            allowed: Default::default(),
            evaluated: RefCell::default(),
            good: RefCell::default(),
        }
    }

    /// Returns the form, the tolerance and the last point, for supervising the library's iteration.
    pub fn take_point(&self) -> Option<Evaluated<'_, 'a>> {
        let point = self.evaluated.take()?;
        Some((self.implicit.as_ref()?, (&self.allowed.0, self.allowed.1), point))
    }

    /// Records the point at which the right sides of loops were evaluated.
    fn remember(&self, time: f64, y: &[f64], right: &[f64]) {
        let mut good = self.good.borrow_mut();
        if good.is_empty() {
            good.clone_from(&self.first);
        }
        let mut evaluated = self.evaluated.borrow_mut();
        let point = evaluated.get_or_insert_default();
        point.set(time, y, right);
        point.good.clone_from(&good);
        if right.iter().all(|value| value.abs() < BEYOND) {
            good.copy_from_slice(y);
        }
    }

    fn size(&self) -> usize {
        self.implicit.as_ref().map_or(self.motion.states, |form| form.size)
    }

    /// Returns the complete problem from a time on, with the current tolerances and the length of the run; `bends` is
    /// true if right sides have kinks at conditions.
    pub fn problem(
        mut self,
        time: f64,
        scales: &mut Scales,
        (span, bends): (f64, bool),
    ) -> OdeSolverProblem<Equations<'a>> {
        let mut atol = scales.absolutes(&self.first);
        let mut rtol = scales.rtol();
        self.motion.set_joint(None);
        if let Some(form) = self.implicit.as_ref().filter(|form| !form.loops().is_empty()) {
            self.allowed = (atol.clone(), rtol);
            // The expected value of an unknown from a law at rest, such as that of a diode, may be far from all later
            // values.
            for (at, allowed) in self.allowed.0[form.loops()].iter_mut().enumerate() {
                if !self.motion.held_unknowns()[at] {
                    *allowed = allowed.min(NEARLY * self.motion.small_unknown(at));
                }
            }
            self.motion.set_joint(Some(self.allowed.clone()));
            // The mean of the errors must be that of the other unknowns.
            let tested = form.size - form.loops().len();
            let share = (tested as f64 / form.size as f64).sqrt();
            rtol *= share;
            atol.iter_mut().for_each(|atol| *atol *= share);
            atol[form.loops()].fill(UNTESTED);
        }
        let ode_options = OdeSolverOptions {
            // Steps below the resolution of time have a separate limit. Near time zero a long run may begin with
            // arbitrarily short steps: the fastest part of a run of 3000 years may last a nanosecond, and a capacitor
            // of 5 V discharges into a diode in 1e-78 s.
            min_timestep: 1e-250 * span,
            max_error_test_failures: 60,
            // The library counts these over the complete run, which may be arbitrarily long.
            max_nonlinear_solver_failures: usize::MAX,
            nonlinear_solver_tolerance: newton_tolerance(rtol, bends),
            ..OdeSolverOptions::default()
        };
        OdeSolverProblem {
            atol: V::from_vec(atol, self.context),
            eqn: self,
            rtol,
            t0: time,
            h0: 1.0,
            integrate_out: false,
            sens_rtol: None,
            sens_atol: None,
            out_rtol: None,
            out_atol: None,
            param_rtol: None,
            param_atol: None,
            ic_options: Default::default(),
            ode_options,
        }
    }
}

/// One operator of the equations, borrowed.
pub(crate) struct RightSide<'b>(&'b Equations<'b>);

/// The matrix that multiplies the rates.
pub(crate) struct LeftSide<'b>(&'b Equations<'b>);

/// The initial state of a solver.
pub(crate) struct First<'b>(&'b Equations<'b>);

impl<'a> Equations<'a> {
    /// Returns itself, so that it and its borrowers are used in the same way.
    fn whole(&self) -> &Equations<'a> {
        self
    }
}

macro_rules! borrowed {
    ($name:ident) => {
        impl<'b> $name<'b> {
            fn whole(&self) -> &'b Equations<'b> {
                self.0
            }
        }
    };
}

borrowed!(RightSide);
borrowed!(LeftSide);
borrowed!(First);

macro_rules! operator {
    ($name:ident) => {
        impl Op for $name<'_> {
            type T = f64;
            type V = V;
            type M = M;
            type C = FaerContext;
            fn context(&self) -> &FaerContext {
                &self.whole().context
            }
            fn nstates(&self) -> usize {
                self.whole().size()
            }
            fn nout(&self) -> usize {
                self.whole().size()
            }
            fn nparams(&self) -> usize {
                0
            }
        }
    };
}

operator!(Equations);
operator!(RightSide);
operator!(LeftSide);
operator!(First);

impl NonLinearOp for RightSide<'_> {
    fn call_inplace(&self, x: &V, t: f64, y: &mut V) {
        match &self.0.implicit {
            Some(form) => {
                form.right_sides(t, numbers(x), numbers_mut(y));
                if !form.loops().is_empty() {
                    self.0.remember(t, numbers(x), numbers(y));
                }
            }
            None => {
                self.0.motion.rates(t, numbers(x), numbers_mut(y));
            }
        }
    }
}

impl NonLinearOpJacobian for RightSide<'_> {
    fn jac_mul_inplace(&self, x: &V, t: f64, v: &V, y: &mut V) {
        if let Some(form) = &self.0.implicit {
            form.jacobian_times(t, numbers(x), numbers(v), numbers_mut(y));
        }
    }

    fn jacobian_sparsity(&self) -> Option<SymbolicSparseColMat<usize>> {
        let form = self.0.implicit.as_ref()?;
        Some(symbolic(form.size, &form.column_starts, &form.rows_of))
    }

    fn jacobian_inplace(&self, x: &V, t: f64, y: &mut M) {
        if let Some(form) = &self.0.implicit {
            form.jacobian(t, numbers(x), y.inner_mut()[0].val_mut());
        }
    }
}

impl LinearOp for LeftSide<'_> {
    fn gemv_inplace(&self, x: &V, _t: f64, beta: f64, y: &mut V) {
        match self.0.implicit.as_ref().and_then(|form| form.mass.as_ref()) {
            Some(mass) => mass.multiply(numbers(x), beta, numbers_mut(y)),
            None => y.axpy(1.0, x, beta),
        }
    }

    fn sparsity(&self) -> Option<SymbolicSparseColMat<usize>> {
        let form = self.0.implicit.as_ref()?;
        let mass = form.mass.as_ref()?;
        Some(symbolic(form.size, &mass.column_starts, &mass.rows_of))
    }

    fn matrix_inplace(&self, _t: f64, y: &mut M) {
        if let Some(mass) = self.0.implicit.as_ref().and_then(|form| form.mass.as_ref()) {
            y.inner_mut()[0].val_mut().copy_from_slice(&mass.values);
        }
    }
}

impl ConstantOp for First<'_> {
    fn call_inplace(&self, _t: f64, y: &mut V) {
        numbers_mut(y).copy_from_slice(&self.0.first);
    }
}

fn symbolic(size: usize, column_starts: &[usize], rows_of: &[usize]) -> SymbolicSparseColMat<usize> {
    SymbolicSparseColMat::new_checked(size, size, column_starts.to_vec(), None, rows_of.to_vec())
}

impl<'b> OdeEquationsRef<'b> for Equations<'_> {
    type Mass = LeftSide<'b>;
    type Rhs = RightSide<'b>;
    type Root = RightSide<'b>;
    type Init = First<'b>;
    type Out = RightSide<'b>;
    type Reset = RightSide<'b>;
}

impl OdeEquations for Equations<'_> {
    fn rhs(&self) -> RightSide<'_> {
        RightSide(self)
    }

    fn mass(&self) -> Option<LeftSide<'_>> {
        self.implicit.as_ref()?.mass.as_ref()?;
        Some(LeftSide(self))
    }

    fn init(&self) -> First<'_> {
        First(self)
    }

    fn set_params(&mut self, _p: &V) {}

    fn get_params(&self, _p: &mut V) {}
}

/// One of the solvers of diffsol.
pub(crate) struct DiffsolSolver<'p, 'a, S> {
    solver: S,
    problem: &'p OdeSolverProblem<Equations<'a>>,
    previous: f64,
    /// The time beyond which the library does not step, as set by the run.
    stop: f64,
    /// The longest step in the run.
    longest: f64,
    /// Instants that no step may pass over.
    looks: Arc<[f64]>,
    /// The current limit of the step.
    limit: f64,
    /// The limit of the library's next step.
    target: f64,
    /// True if the solver restarts with its next step.
    is_new: bool,
    /// True if an earlier stop was set in the library, which limits its step.
    is_held: bool,
    /// The order after a restart: 1 for BDF, after any previous order.
    first_order: u32,
    /// A vector of the library for interpolated values.
    within: V,
    work: Counts,
}

impl<'p, 'a, S> DiffsolSolver<'p, 'a, S>
where
    S: OdeSolverMethod<'p, Equations<'a>>,
{
    pub fn new(
        problem: &'p OdeSolverProblem<Equations<'a>>,
        solver: S,
        (longest, looks): (f64, Arc<[f64]>),
    ) -> DiffsolSolver<'p, 'a, S> {
        DiffsolSolver {
            within: V::zeros(problem.eqn.size(), problem.eqn.context),
            first_order: solver.order() as u32,
            solver,
            problem,
            previous: 0.0,
            stop: f64::INFINITY,
            longest,
            looks,
            limit: f64::INFINITY,
            target: f64::INFINITY,
            is_new: true,
            is_held: false,
            work: Counts::default(),
        }
    }
}

impl<'p, 'a, S> DiffsolSolver<'p, 'a, S>
where
    S: OdeSolverMethod<'p, Equations<'a>>,
{
    /// Restarts, with the rates of the states or those that follow from the equations.
    fn begin(
        &mut self,
        time: f64,
        states: &[f64],
        known: Option<&[f64]>,
        step: f64,
        stop: f64,
    ) -> Result<(), SolverFault> {
        let equations = &self.problem.eqn;
        let mut y = V::zeros(equations.size(), equations.context);
        let mut rates = y.clone();
        match &equations.implicit {
            Some(form) => {
                form.begin(time, states, numbers_mut(&mut y));
            }
            None => numbers_mut(&mut y).copy_from_slice(states),
        }
        // The rates of the states are needed, even if a matrix multiplies them.
        let of_states = &mut numbers_mut(&mut rates)[..states.len()];
        match known {
            Some(known) => of_states.copy_from_slice(known),
            None => {
                equations.motion.rates(time, states, of_states);
            }
        }
        // The library predicts from these rates, and allows an error relative to its prediction. Far from the states
        // its iteration would always appear converged.
        let problem = self.problem;
        let own = |at: usize| states[at].abs() + numbers(&problem.atol)[at] / problem.rtol;
        let within = numbers(&rates)[..states.len()].iter().enumerate();
        let within = within.map(|(at, rate)| own(at) / rate.abs()).fold(step, f64::min);
        let state = self.solver.state_mut();
        state.y.copy_from(&y);
        state.dy.copy_from(&rates);
        *state.t = time;
        *state.h = within.min(stop - time);
        self.previous = time;
        (self.stop, self.is_held, self.is_new) = (stop, false, true);
        self.set_target(stop)
    }

    fn set_target(&mut self, target: f64) -> Result<(), SolverFault> {
        self.target = target;
        self.solver.set_stop_time(target).map_err(|error| fault(&error))
    }

    /// Makes an implicit method evaluate its Jacobian and factorise its matrix before a step whose length was changed
    /// by a stop or a restart.
    ///
    /// The library does not do this: it continues with the matrix of another step, and with the estimated convergence
    /// rate of the iteration. For a linear system convergence is immediate, so the first iterate is accepted without a
    /// check; with the wrong matrix its error is the relative difference of the steps.
    fn renew(&mut self) {
        let state = self.solver.state();
        let end = state.t + state.h;
        let is_cut = (end - self.target).abs() <= 8.0 * f64::EPSILON * end.abs();
        if self.problem.eqn.implicit.is_some() && (is_cut || self.is_new) {
            let state = self.solver.state_clone();
            self.solver.set_state(state);
        }
        self.is_new = false;
    }

    /// Limits the next step to the longest one, and to the next instant that must be sampled. The library has no such
    /// limit, but shortens a step that would pass a stop. A stop is not set so near the last one that nothing is in
    /// between.
    fn hold(&mut self) -> Result<(), SolverFault> {
        let (time, step) = (self.solver.state().t, self.solver.state().h);
        let longest = self.longest.min(self.limit);
        let too_long = step > longest && self.stop - time > 1.5 * longest;
        let reach = if too_long { time + longest } else { self.stop };
        let near = 1e-10 * time.abs().max(self.stop.abs());
        let next = self.looks.partition_point(|look| *look <= time + near);
        let look = self.looks.get(next).filter(|look| **look < reach - near).copied();
        let is_held = too_long || look.is_some();
        if is_held || self.is_held {
            self.is_held = is_held;
            self.set_target(look.unwrap_or(reach))?;
        }
        Ok(())
    }
}

impl<'p, 'a, S> Solver for DiffsolSolver<'p, 'a, S>
where
    S: OdeSolverMethod<'p, Equations<'a>>,
{
    fn restart(&mut self, time: f64, states: &[f64], step: f64, stop: f64) -> Result<(), SolverFault> {
        self.begin(time, states, None, step, stop)
    }

    fn again(&mut self, step: f64, stop: f64) -> Result<(), SolverFault> {
        let time = self.previous;
        let size = self.problem.eqn.motion.states;
        let (mut states, mut slopes) = (vec![0.0; size], vec![0.0; size]);
        self.interpolate(time, &mut states)?;
        self.slopes(time, &mut slopes)?;
        self.begin(time, &states, Some(&slopes), step, stop)
    }

    fn lengthen(&mut self, step: f64) -> Result<(), SolverFault> {
        let state = self.solver.state_mut();
        *state.h = step.min(self.stop - *state.t);
        self.set_target(self.target)
    }

    fn next_step(&self) -> f64 {
        self.solver.state().h
    }

    fn limit(&mut self, longest: f64) {
        self.limit = longest;
    }

    fn step(&mut self) -> Result<Reached, SolverFault> {
        self.previous = self.solver.state().t;
        self.hold()?;
        self.renew();
        match self.solver.step() {
            Ok(OdeSolverStopReason::TstopReached) => {
                self.work.steps += 1;
                Ok(if self.is_held { Reached::Inside } else { Reached::Stop })
            }
            Ok(_) => {
                self.work.steps += 1;
                Ok(Reached::Inside)
            }
            Err(error) => Err(fault(&error)),
        }
    }

    fn previous(&self) -> f64 {
        self.previous
    }

    fn time(&self) -> f64 {
        self.solver.state().t
    }

    fn states(&self) -> &[f64] {
        &numbers(self.solver.state().y)[..self.problem.eqn.motion.states]
    }

    fn unknowns(&self) -> Option<&[f64]> {
        let motion = self.problem.eqn.motion;
        let is_theirs = self.problem.eqn.implicit.is_some() && motion.unknowns > 0;
        is_theirs.then(|| &numbers(self.solver.state().y)[motion.states..motion.states + motion.unknowns])
    }

    fn interpolate(&mut self, time: f64, states: &mut [f64]) -> Result<(), SolverFault> {
        let result = self.solver.interpolate_inplace(time, &mut self.within);
        result.map_err(|error| fault(&error))?;
        states.copy_from_slice(&numbers(&self.within)[..states.len()]);
        let motion = self.problem.eqn.motion;
        if self.problem.eqn.implicit.is_some() && motion.unknowns > 0 {
            let unknowns = &numbers(&self.within)[motion.states..motion.states + motion.unknowns];
            motion.guess_unknowns(unknowns);
        }
        Ok(())
    }

    fn slopes(&mut self, time: f64, slopes: &mut [f64]) -> Result<(), SolverFault> {
        let result = self.solver.interpolate_dy_inplace(time, &mut self.within);
        result.map_err(|error| fault(&error))?;
        slopes.copy_from_slice(&numbers(&self.within)[..slopes.len()]);
        Ok(())
    }

    fn first_order(&self) -> u32 {
        self.first_order
    }

    fn counts(&self) -> Counts {
        let counts = self.solver.get_statistics();
        Counts {
            rejected: (counts.number_of_error_test_failures + counts.number_of_nonlinear_solver_fails) as u64,
            factorisations: counts.number_of_linear_solver_setups as u64,
            ..self.work
        }
    }
}

/// Returns the fraction of the tolerance that Newton's method may leave in a step.
///
/// Next to a steep law that begins at a condition, such as a clamp, the tolerance of a state may far exceed the
/// distance between the condition and the solution. The equations of a step are therefore solved almost to round-off
/// there.
fn newton_tolerance(rtol: f64, bends: bool) -> f64 {
    const USUAL: f64 = 0.2;
    const NEARLY_ROUNDING: f64 = 1e-12;
    match bends {
        true => (NEARLY_ROUNDING / rtol).clamp(1e-6, USUAL),
        false => USUAL,
    }
}

impl From<&DiffsolError> for SolverFault {
    fn from(error: &DiffsolError) -> SolverFault {
        fault(error)
    }
}

fn fault(error: &DiffsolError) -> SolverFault {
    match error {
        DiffsolError::OdeSolverError(
            OdeSolverError::TooManyErrorTestFailures { .. } | OdeSolverError::StepSizeTooSmall { .. },
        ) => SolverFault::TooSmall,
        DiffsolError::OdeSolverError(OdeSolverError::TooManyNonlinearSolverFailures { .. })
        | DiffsolError::NonLinearSolverError(
            NonLinearSolverError::NewtonMaxIterations | NonLinearSolverError::NewtonDiverged,
        ) => SolverFault::NotSolved,
        other => SolverFault::Other(other.to_string()),
    }
}
