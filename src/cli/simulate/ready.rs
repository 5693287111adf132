//! A model that is ready to run.

use lgm_equations::StateSystem;
use lgm_kernels::{KernelOptions, Kernels};
use lgm_simulate::{Failure, FailureKind, Inputs, Plan, Stop, Table, with_slack};
use lgm_source::SourceMap;

/// A model that is ready to run.
pub(super) struct Ready {
    pub(super) map: SourceMap,
    pub(super) system: StateSystem,
    pub(super) kernels: Kernels,
    pub(super) parameters: Vec<f64>,
    pub(super) inputs: Inputs,
    pub(super) plan: Plan,
}

impl Ready {
    /// Compiles a system, whose ranges end as far out as the plan allows.
    pub(super) fn new(map: SourceMap, system: StateSystem, tables: Vec<Option<Table>>, plan: Plan) -> Ready {
        let kernels = Kernels::new(&system, &KernelOptions::default());
        let parameters = kernels.parameters(&[]);
        let inputs = Inputs::new(&system, &kernels, &parameters, tables, plan.start);
        let (system, kernels) = match with_slack(&system, &parameters, &inputs, &plan) {
            Some(widened) => {
                let kernels = Kernels::new(&widened, &KernelOptions::default());
                (widened, kernels)
            }
            None => (system, kernels),
        };
        Ready {
            map,
            system,
            kernels,
            parameters,
            inputs,
            plan,
        }
    }
}

pub(super) fn is_interruption(failure: &Failure) -> bool {
    failure.kind == FailureKind::Stopped(Stop::Interrupted)
}
