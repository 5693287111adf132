//! Trial runs that determine the state magnitudes in emitted programs.

use lgm_emit::code::{TrialRuns, UNKNOWN_SPAN};
use lgm_kernels::Kernels;
use lgm_model::system::StateSystem;
use lgm_simulate::{Plan, state_scales, trial_sizes, with_default_slack};

/// Trial runs by `simulate`.
#[derive(Clone, Copy, Debug)]
pub struct Simulated;

impl TrialRuns for Simulated {
    fn widened(&self, system: &StateSystem) -> Option<StateSystem> {
        with_default_slack(system, &plan(system))
    }

    fn scales(&self, system: &StateSystem, kernels: &Kernels) -> Vec<f64> {
        state_scales(system, kernels, &plan(system))
    }

    fn sizes(&self, system: &StateSystem, kernels: &Kernels) -> Vec<f64> {
        trial_sizes(system, kernels, &plan(system))
    }
}

/// Returns the plan of a trial run, with the tolerances of `lgm simulate`.
pub(crate) fn plan(system: &StateSystem) -> Plan {
    let start = system.experiment.start.unwrap_or(0.0);
    Plan {
        start,
        stop: system.experiment.stop.unwrap_or(start + UNKNOWN_SPAN),
        ..Plan::default()
    }
}
