//! A model that is ready to run.

use crate::run::happened::Happened;
use lgm_algebra::expr::{ExprId, Node};
use lgm_equations::Options;
use lgm_equations::StateSystem;
use lgm_equations::switching::Events;
use lgm_kernels::{KernelOptions, Kernels};
use lgm_simulate::{
    Failure, FailureKind, Inputs, Plan, Progress, Signal, Sink, Stop, Summary, Switched, run_switched, simulate,
    with_slack,
};
use lgm_source::{SourceMap, Span, stack};
use rustc_hash::FxHashSet;
use std::borrow::Cow;

/// A model that is ready to run.
#[derive(Debug)]
pub struct Ready {
    /// The source texts of the model.
    pub map: SourceMap,
    /// The equations of the model.
    pub system: StateSystem,
    /// The equations as functions of arrays.
    pub kernels: Kernels,
    /// The values of all entries of all parameters.
    pub parameters: Vec<f64>,
    /// The signals of the inputs.
    pub inputs: Inputs,
    /// The plan of the run.
    pub plan: Plan,
    /// The switched form, for a model with events.
    pub switched: Option<SwitchedModel>,
}

/// Parts of a run with events, in addition to the equations of the first mode combination.
#[derive(Debug)]
pub struct SwitchedModel {
    /// The changes at events.
    pub events: Events,
    /// The form of the equations in other mode combinations.
    pub options: Options,
    /// Signals that replace the declared signals of inputs.
    pub signals: Vec<Option<Signal>>,
}

impl Ready {
    /// Compiles a system.
    pub fn new(
        map: SourceMap,
        system: StateSystem,
        signals: Vec<Option<Signal>>,
        plan: Plan,
        switched: Option<(Events, Options)>,
    ) -> Ready {
        let switched = switched.map(|(events, options)| SwitchedModel {
            events,
            options,
            signals: signals.clone(),
        });
        let (system, kernels, parameters, inputs) = compiled(Cow::Owned(system), signals, &plan);
        Ready {
            map,
            system: system.into_owned(),
            kernels,
            parameters,
            inputs,
            plan,
            switched,
        }
    }

    /// Returns true if the equations may read the rate of an input. In other mode combinations they may read any rate.
    pub fn reads_rate(&self, input: usize) -> bool {
        self.switched.is_some() || reads_rate(&self.system, input)
    }

    /// Runs the model. `happened` receives the events, if the model has any.
    ///
    /// # Errors
    ///
    /// The reason and the time if the run ends before its stop time. The samples up to that time have already been passed on.
    pub fn run(
        &self,
        sink: &mut dyn Sink,
        progress: &dyn Progress,
        happened: &mut Happened,
    ) -> Result<Summary, Failure> {
        if self.switched.is_some() {
            return self.run_switched((&self.parameters, &self.plan), sink, progress, happened);
        }
        let Ready {
            system,
            kernels,
            parameters,
            inputs,
            plan,
            ..
        } = self;
        simulate(system, kernels, parameters, inputs, plan, sink, progress)
    }

    /// Runs a model with events, with these values of all parameters.
    ///
    /// # Errors
    ///
    /// The reason and the time if the run ends before its stop time.
    pub fn run_switched(
        &self,
        (parameters, plan): (&[f64], &Plan),
        sink: &mut dyn Sink,
        progress: &dyn Progress,
        happened: &mut Happened,
    ) -> Result<Summary, Failure> {
        let switched = self
            .switched
            .as_ref()
            .expect("invariant: only models with events are run so");
        let line = |span: Span| self.map.line_column(span.source, span.start).0;
        let watching = happened
            .counts_energy
            .then(|| switched.events.clone().watching_powers());
        let setup = Switched {
            events: watching.as_ref().unwrap_or(&switched.events),
            options: &switched.options,
            first: (&self.system, &self.kernels),
            parameters: parameters.to_vec(),
            tables: &switched.signals,
            line: &line,
        };
        let events = &mut happened.events;
        let run = || run_switched(&setup, plan, sink, progress, &mut |event| events.push(event));
        let finished = stack::deep(run)?;
        (happened.met, happened.balance) = (finished.met, finished.balance);
        Ok(finished.summary)
    }
}

/// Returns true if the equations contain the rate of an input.
pub fn reads_rate(system: &StateSystem, input: usize) -> bool {
    let equations = &system.equations;
    let residuals = equations.loops.iter().flat_map(|entry| &entry.residuals);
    let assigned = equations.assignments.iter().map(|assignment| &assignment.value);
    let mass = equations.mass_matrix.iter().flat_map(|mass| mass.rows.iter().flatten());
    let roots = system.right_sides().chain(residuals.chain(assigned).copied());
    let mut pending: Vec<ExprId> = roots.chain(mass.map(|entry| entry.1)).collect();
    let mut seen: FxHashSet<ExprId> = pending.iter().copied().collect();
    while let Some(id) = pending.pop() {
        let node = system.exprs.node(id);
        if matches!(node, Node::Symbol(symbol) if *symbol == system.input_rates[input]) {
            return true;
        }
        pending.extend(node.children().filter(|child| seen.insert(*child)));
    }
    false
}

/// Compiles a system whose ranges extend as far as a plan allows, and returns it with its kernels, parameters and inputs.
pub fn compiled<'s>(
    system: Cow<'s, StateSystem>,
    signals: Vec<Option<Signal>>,
    plan: &Plan,
) -> (Cow<'s, StateSystem>, Kernels, Vec<f64>, Inputs) {
    let kernels = Kernels::new(&system, &KernelOptions::default());
    let parameters = kernels.parameters(&[]);
    let inputs = Inputs::new(&system, &kernels, &parameters, signals, plan.start);
    match with_slack(&system, &parameters, &inputs, plan) {
        Some(widened) => {
            let kernels = Kernels::new(&widened, &KernelOptions::default());
            (Cow::Owned(widened), kernels, parameters, inputs)
        }
        None => (system, kernels, parameters, inputs),
    }
}

/// Returns true if a run was ended by its caller.
pub fn is_interruption(failure: &Failure) -> bool {
    failure.kind == FailureKind::Stopped(Stop::Interrupted)
}
