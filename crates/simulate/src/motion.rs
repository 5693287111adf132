//! The equations of one run as functions of time and states.
//!
//! Inputs, algebraic loops and a mass matrix are resolved here, so an explicit method always evaluates `x' = f(t, x)`
//! and an implicit one `M y' = g(t, y)`.

mod loops;
pub(crate) mod newton;
pub(crate) mod scales;

use super::failure::{Blame, Failure, FailureKind};
use super::plan::Plan;
use crate::finite::all_finite;
use crate::inputs::signals::{Side, Signals};
use crate::linear_factors::pattern;
use crate::linear_factors::{Factor, Singular};
use crate::motion::newton::Newton;
use crate::motion::scales::Scales;
use lgm_algebra::expr::{ExprId, SymbolId, SymbolKind};
use lgm_kernels::{Arguments, Kernel, Kernels};
use lgm_model::system::StateSystem;
use rustc_hash::FxHashSet;
use std::cell::{Cell, RefCell};

/// The replacement for a value that is not a number: large enough to fail every error test, and small enough for a finite square.
pub(super) const BEYOND: f64 = 1e100;

/// The equations of one run.
pub(super) struct Motion<'a> {
    pub system: &'a StateSystem,
    pub kernels: &'a Kernels,
    pub parameters: &'a [f64],
    signals: &'a dyn Signals,
    /// Number of states.
    pub states: usize,
    /// Number of loop unknowns.
    pub unknowns: usize,
    pub mass: Mass,
    /// The magnitude below which each unknown is negligible.
    small: RefCell<Vec<f64>>,
    /// The absolute and relative tolerances of states, if the unknowns come from an implicit method.
    joint: RefCell<Option<(Vec<f64>, f64)>>,
    /// The unknowns with initial values, such as displacements of closed chains: they continue from the last solution without jumps.
    is_held: Vec<bool>,
    work: RefCell<Workspace>,
    /// The corners on both sides of the solver: no value from beyond them is used.
    piece: Cell<(f64, f64)>,
    fault: RefCell<Option<Fault>>,
    /// The number of consecutive failures of the long path to a loop solution, and of times it was skipped since.
    approaches: Cell<(u32, u32)>,
    pub evaluations: Cell<u64>,
    pub jacobians: Cell<u64>,
}

/// The matrix M of `M x' = f`.
pub(super) enum Mass {
    /// The identity.
    Identity,
    /// A matrix that depends on neither time nor states.
    Constant { values: Vec<f64>, factor: Factor },
    /// A matrix that must be evaluated at every point.
    Changing,
}

/// The last point at which the equations could not be evaluated.
#[derive(Clone, Debug)]
pub(super) struct Fault {
    pub time: f64,
    pub states: Vec<f64>,
    pub kind: FaultKind,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum FaultKind {
    /// A value is not finite.
    Domain,
    /// The loop of this unknown has no solution.
    Loop(usize),
    /// The mass matrix is singular, in this state's column if it is known.
    Mass(Option<usize>),
}

/// Reused memory.
struct Workspace {
    /// The instant of the inputs and rates.
    instant: Option<(f64, Side)>,
    inputs: Vec<f64>,
    rates: Vec<f64>,
    unknowns: Vec<f64>,
    /// The last unknowns that solved the loops.
    solution: Vec<f64>,
    /// The unknowns of the last accepted step, from which every attempt at the next one begins.
    kept: Option<Vec<f64>>,
    /// The last time at which rates were requested: an earlier request belongs to a new attempt.
    latest: f64,
    scratch: Vec<f64>,
    residuals: Vec<f64>,
    values: Vec<f64>,
    trial: Vec<f64>,
    step: Vec<f64>,
}

/// Returns all symbols that expressions depend on, including through assignments.
pub(crate) fn symbols_behind(system: &StateSystem, roots: &[ExprId]) -> FxHashSet<SymbolId> {
    let mut found: FxHashSet<SymbolId> = system.exprs.symbols_of(roots).into_iter().collect();
    // An assignment contains only earlier ones.
    for assignment in system.equations.assignments.iter().rev() {
        if found.contains(&assignment.symbol) {
            found.extend(system.exprs.symbols_of(&[assignment.value]));
        }
    }
    found
}

impl<'a> Motion<'a> {
    /// Prepares the equations of a run from a time on; fails if a constant mass matrix is singular.
    pub fn new(
        system: &'a StateSystem,
        kernels: &'a Kernels,
        parameters: &'a [f64],
        signals: &'a dyn Signals,
        plan: &Plan,
    ) -> Result<Motion<'a>, Failure> {
        let (states, unknowns, inputs) = (system.states.len(), kernels.residuals.outputs(), system.inputs.len());
        let mut all = vec![&kernels.derivatives, &kernels.outputs, &kernels.residuals];
        all.extend(kernels.mass.iter().map(|mass| &mass.values));
        if unknowns > 0 {
            all.push(&kernels.jacobians(system).residuals_by_unknowns.values);
        }
        let needed = all.into_iter().map(Kernel::scratch).max().unwrap_or(0);
        let motion = Motion {
            system,
            kernels,
            parameters,
            signals,
            states,
            unknowns,
            mass: Mass::Identity,
            small: RefCell::new(Scales::new(plan, Vec::new()).small_unknowns(unknowns)),
            joint: RefCell::default(),
            is_held: system
                .equations
                .loops
                .iter()
                .flat_map(|each| each.unknowns.iter().map(|_| !each.guesses.is_empty()))
                .collect(),
            work: RefCell::new(Workspace {
                instant: None,
                inputs: vec![0.0; inputs],
                rates: vec![0.0; inputs],
                unknowns: vec![0.0; unknowns],
                solution: vec![0.0; unknowns],
                kept: None,
                latest: f64::NEG_INFINITY,
                scratch: vec![0.0; needed],
                residuals: vec![0.0; unknowns],
                values: Vec::new(),
                trial: vec![0.0; unknowns],
                step: vec![0.0; unknowns],
            }),
            piece: Cell::new((f64::NEG_INFINITY, f64::INFINITY)),
            fault: RefCell::new(None),
            approaches: Cell::new((0, 0)),
            evaluations: Cell::new(0),
            jacobians: Cell::new(0),
        };
        match motion.mass_form() {
            Ok(mass) => Ok(Motion { mass, ..motion }),
            Err(Singular(column)) => Err(Failure {
                blame: column.and_then(|column| Blame::state(system, column)).map(Box::new),
                ..Failure::new(plan.start, FailureKind::SingularMass)
            }),
        }
    }

    fn mass_form(&self) -> Result<Mass, Singular> {
        let (Some(mass), Some(matrix)) = (&self.kernels.mass, &self.system.equations.mass_matrix) else {
            return Ok(Mass::Identity);
        };
        let entries: Vec<ExprId> = matrix.rows.iter().flatten().map(|entry| entry.1).collect();
        let system = self.system;
        let exprs = &system.exprs;
        let assigned: FxHashSet<SymbolId> = system.equations.assignments.iter().map(|entry| entry.symbol).collect();
        let changes = symbols_behind(self.system, &entries)
            .into_iter()
            .any(|symbol| exprs.symbol_info(symbol).kind != SymbolKind::Parameter && !assigned.contains(&symbol));
        if changes {
            return Ok(Mass::Changing);
        }
        let values = mass.values.values(&Arguments {
            parameters: self.parameters,
            ..Arguments::default()
        });
        let factor = Factor::new(&pattern(mass), &values)?;
        Ok(Mass::Constant { values, factor })
    }

    /// Returns the signals of the inputs.
    pub fn signals(&self) -> &'a dyn Signals {
        self.signals
    }

    /// Sets the magnitudes below which the unknowns are negligible.
    pub fn set_small(&self, small: Vec<f64>) {
        self.small.replace(small);
    }

    /// Sets the tolerances of the states if an implicit method solves for the unknowns together with the states from
    /// now on, otherwise `None`. Returns the previous setting.
    pub fn set_joint(&self, tolerances: Option<(Vec<f64>, f64)>) -> Option<(Vec<f64>, f64)> {
        self.joint.replace(tolerances)
    }

    /// Sets the corners on both sides of the solver.
    pub fn set_piece(&self, from: f64, to: f64) {
        self.piece.set((from, to));
        self.work.borrow_mut().instant = None;
        self.fault.replace(None);
    }

    /// Returns the corners on both sides of the solver.
    pub fn piece(&self) -> (f64, f64) {
        self.piece.get()
    }

    /// Returns the last point in this piece that could not be evaluated.
    pub fn fault(&self) -> Option<Fault> {
        self.fault.borrow().clone()
    }

    /// Discards the fault: points without values were not part of the path.
    pub fn forget_fault(&self) {
        self.fault.replace(None);
    }

    /// Returns the instant that corresponds to a time of the solver, and the time at which `step` and similar functions are evaluated.
    fn instant(&self, time: f64) -> (f64, f64, Side) {
        let (from, to) = self.piece.get();
        if time >= to {
            // Just before the corner, where the old branch still applies.
            (to, to.next_down(), Side::Before)
        } else {
            (time.max(from), time.max(from), Side::After)
        }
    }

    fn set_inputs(&self, work: &mut Workspace, time: f64) -> f64 {
        let (time, inside, side) = self.instant(time);
        if work.instant != Some((time, side)) {
            self.signals.values(time, side, &mut work.inputs, &mut work.rates);
            work.instant = Some((time, side));
        }
        inside
    }

    /// Returns the inputs and their rates at a time.
    pub fn inputs(&self, time: f64) -> (Vec<f64>, Vec<f64>) {
        let mut work = self.work.borrow_mut();
        self.set_inputs(&mut work, time);
        (work.inputs.clone(), work.rates.clone())
    }

    /// Returns the last solution of the loops.
    pub fn copy_unknowns(&self, to: &mut [f64]) {
        to.copy_from_slice(&self.work.borrow().unknowns);
    }

    /// Returns the last solution of the loops.
    pub fn solution(&self) -> Vec<f64> {
        self.work.borrow().unknowns.clone()
    }

    /// Returns true for each loop unknown with an initial value, such as displacements of closed chains.
    pub fn held_unknowns(&self) -> &[bool] {
        &self.is_held
    }

    /// Sets the guess for the next solution of the loops.
    pub fn guess_unknowns(&self, from: &[f64]) {
        self.work.borrow_mut().unknowns.copy_from_slice(from);
    }

    /// Makes every attempt at a step begin with these unknowns from now on.
    pub fn keep_unknowns(&self, from: &[f64]) {
        let work = &mut *self.work.borrow_mut();
        work.kept.get_or_insert_default().clear();
        work.kept.get_or_insert_default().extend(from);
        work.latest = f64::NEG_INFINITY;
    }

    /// Returns the unknowns with which every attempt at a step begins.
    pub fn kept_unknowns(&self) -> Option<Vec<f64>> {
        self.work.borrow().kept.clone()
    }

    /// Makes the loops continue from their last solution from now on.
    pub fn release_unknowns(&self) {
        self.work.borrow_mut().kept = None;
    }

    /// Performs an action that needs the solutions of the loops to round-off, for any magnitude.
    pub fn solving_exactly<R>(&self, then: impl FnOnce() -> R) -> R {
        let small = self.small.replace(vec![0.0; self.unknowns]);
        let joint = self.joint.take();
        let done = then();
        self.joint.replace(joint);
        self.small.replace(small);
        done
    }

    /// Returns the magnitude below which an unknown is negligible.
    pub fn small_unknown(&self, at: usize) -> f64 {
        self.small.borrow()[at]
    }

    /// Computes `x' = f(t, x)`, with loops and mass matrix resolved. If the result has no value, `to` is filled with
    /// [`BEYOND`] and the failure is kept.
    pub fn rates(&self, time: f64, states: &[f64], to: &mut [f64]) -> bool {
        let work = &mut *self.work.borrow_mut();
        let inside = self.set_inputs(work, time);
        if let Some(kept) = work.kept.as_ref().filter(|_| time < work.latest) {
            work.unknowns.copy_from_slice(kept);
        }
        work.latest = time;
        let done = self.evaluate(work, inside, states, None, to);
        self.finish_rates(time, states, done, to)
    }

    /// Does the same with other rates of the inputs instead of those of the signals; inputs may be set to zero.
    pub fn rates_with(
        &self,
        time: f64,
        states: &[f64],
        inputs: Option<&[f64]>,
        input_rates: &[f64],
        to: &mut [f64],
    ) -> bool {
        let work = &mut *self.work.borrow_mut();
        let inside = self.set_inputs(work, time);
        let done = self.evaluate(work, inside, states, Some((inputs, input_rates)), to);
        self.finish_rates(time, states, done, to)
    }

    fn finish_rates(&self, time: f64, states: &[f64], done: Result<(), FaultKind>, to: &mut [f64]) -> bool {
        self.evaluations.set(self.evaluations.get() + 1);
        let finite = all_finite(to);
        let done = match done {
            Ok(()) if finite => return true,
            Ok(()) => FaultKind::Domain,
            Err(fault) => fault,
        };
        for value in to.iter_mut() {
            if !value.is_finite() || done != FaultKind::Domain {
                *value = BEYOND;
            }
        }
        self.note(time, states, done);
        false
    }

    fn note(&self, time: f64, states: &[f64], kind: FaultKind) {
        self.fault.replace(Some(Fault {
            time: self.instant(time).0,
            states: states.to_vec(),
            kind,
        }));
    }

    #[allow(clippy::type_complexity)] // The pair is what replaces inputs and their rates.
    fn evaluate(
        &self,
        work: &mut Workspace,
        time: f64,
        states: &[f64],
        replaced: Option<(Option<&[f64]>, &[f64])>,
        to: &mut [f64],
    ) -> Result<(), FaultKind> {
        let Workspace {
            inputs,
            rates,
            unknowns,
            solution,
            scratch,
            residuals,
            values,
            trial,
            step,
            ..
        } = work;
        let (inputs, rates) = match replaced {
            Some((other, rates)) => (other.unwrap_or(inputs), rates),
            None => (inputs.as_slice(), rates.as_slice()),
        };
        let at = Arguments {
            time,
            parameters: self.parameters,
            states,
            inputs,
            rates,
            unknowns: &[],
        };
        if self.unknowns > 0 {
            let joint = self.joint.borrow();
            let mut newton = Newton {
                equations: &self.kernels.residuals,
                matrix: &self.kernels.jacobians(self.system).residuals_by_unknowns,
                small: &self.small.borrow(),
                scratch,
                residuals,
                values,
                trial,
                step,
                is_held: &self.is_held,
                may_approach: false,
                joint: self.joint_with(&joint),
            };
            let mut found = newton.solve_from(&at, unknowns, solution);
            if found.is_err() && !self.is_held.contains(&true) {
                found = self.approach_now_and_then(&mut newton, &at, unknowns, solution, found);
            }
            found.map_err(FaultKind::Loop)?;
        }
        let at = Arguments { unknowns, ..at };
        self.kernels.derivatives.call(&at, scratch, to);
        match (&self.mass, &self.kernels.mass) {
            (Mass::Constant { factor, .. }, _) => factor.solve(to),
            (Mass::Changing, Some(mass)) => {
                let mut entries = vec![0.0; mass.stored()];
                mass.values.call(&at, scratch, &mut entries);
                match Factor::new(&pattern(mass), &entries) {
                    Ok(factor) => factor.solve(to),
                    Err(Singular(column)) => return Err(FaultKind::Mass(column)),
                }
            }
            _ => {}
        }
        Ok(())
    }

    /// Computes the outputs at a time; returns false if one of them has no value, or a loop no solution.
    pub fn outputs(&self, time: f64, states: &[f64], to: &mut [f64]) -> bool {
        self.outputs_with(time, states, None, to)
    }

    /// Does the same with other rates of the inputs.
    pub fn outputs_with(&self, time: f64, states: &[f64], input_rates: Option<&[f64]>, to: &mut [f64]) -> bool {
        if !self.solve_loops(time, states) {
            return false;
        }
        let work = &mut *self.work.borrow_mut();
        let inside = self.set_inputs(work, time);
        let at = Arguments {
            time: inside,
            parameters: self.parameters,
            states,
            inputs: &work.inputs,
            rates: input_rates.unwrap_or(&work.rates),
            unknowns: &work.unknowns,
        };
        self.kernels.outputs.call(&at, &mut work.scratch, to);
        let finite = all_finite(to);
        if !finite {
            self.note(time, states, FaultKind::Domain);
        }
        finite
    }

    /// Calls a kernel with given unknowns; other rates of the inputs may replace those of the signals.
    pub fn call(
        &self,
        kernel: &Kernel,
        time: f64,
        states: &[f64],
        unknowns: &[f64],
        input_rates: Option<&[f64]>,
        to: &mut [f64],
    ) {
        let work = &mut *self.work.borrow_mut();
        let inside = self.set_inputs(work, time);
        if work.scratch.len() < kernel.scratch() {
            work.scratch.resize(kernel.scratch(), 0.0);
        }
        let at = Arguments {
            time: inside,
            parameters: self.parameters,
            states,
            inputs: &work.inputs,
            rates: input_rates.unwrap_or(&work.rates),
            unknowns,
        };
        kernel.call(&at, &mut work.scratch, to);
    }

    /// Records a fault of an implicit evaluation.
    pub fn note_domain(&self, time: f64, states: &[f64]) {
        self.note(time, states, FaultKind::Domain);
    }
}
