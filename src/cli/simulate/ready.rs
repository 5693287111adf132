//! A model that is ready to run.

use lgm_equations::StateSystem;
use lgm_kernels::Kernels;
use lgm_simulate::{Failure, FailureKind, Inputs, Plan, Stop};
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

pub(super) fn is_interruption(failure: &Failure) -> bool {
    failure.kind == FailureKind::Stopped(Stop::Interrupted)
}
