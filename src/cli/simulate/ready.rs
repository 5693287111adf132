//! A model that is ready to run.

use lgm_equations::Options;
use lgm_equations::StateSystem;
use lgm_equations::switching::Events;
use lgm_kernels::{KernelOptions, Kernels};
use lgm_simulate::{Failure, FailureKind, Inputs, Plan, Stop, Table, with_slack};
use lgm_source::SourceMap;
use std::borrow::Cow;

/// A model that is ready to run.
pub(super) struct Ready {
    pub(super) map: SourceMap,
    pub(super) system: StateSystem,
    pub(super) kernels: Kernels,
    pub(super) parameters: Vec<f64>,
    pub(super) inputs: Inputs,
    pub(super) plan: Plan,
    /// Of a model with events.
    pub(super) switched: Option<SwitchedModel>,
}

/// Parts of a run with events, beside the equations of the first combination of modes.
pub(super) struct SwitchedModel {
    pub(super) events: Events,
    pub(super) options: Options,
    pub(super) tables: Vec<Option<Table>>,
}

impl Ready {
    /// Compiles a system.
    pub(super) fn new(
        map: SourceMap,
        system: StateSystem,
        tables: Vec<Option<Table>>,
        plan: Plan,
        switched: Option<(Events, Options)>,
    ) -> Ready {
        let switched = switched.map(|(events, options)| SwitchedModel {
            events,
            options,
            tables: tables.clone(),
        });
        let (system, kernels, parameters, inputs) = compiled(Cow::Owned(system), tables, &plan);
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
}

/// A system whose ranges end as far out as a plan allows, with its kernels, parameters and inputs.
pub(super) fn compiled<'s>(
    system: Cow<'s, StateSystem>,
    tables: Vec<Option<Table>>,
    plan: &Plan,
) -> (Cow<'s, StateSystem>, Kernels, Vec<f64>, Inputs) {
    let kernels = Kernels::new(&system, &KernelOptions::default());
    let parameters = kernels.parameters(&[]);
    let inputs = Inputs::new(&system, &kernels, &parameters, tables, plan.start);
    match with_slack(&system, &parameters, &inputs, plan) {
        Some(widened) => {
            let kernels = Kernels::new(&widened, &KernelOptions::default());
            (Cow::Owned(widened), kernels, parameters, inputs)
        }
        None => (system, kernels, parameters, inputs),
    }
}

pub(super) fn is_interruption(failure: &Failure) -> bool {
    failure.kind == FailureKind::Stopped(Stop::Interrupted)
}
