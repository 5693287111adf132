//! Trial runs: magnitudes that only a run reveals, stored in a program as numbers. The caller of this crate performs the runs.

use lgm_kernels::Kernels;
use lgm_model::system::StateSystem;

/// The length of a trial run in seconds if the model has no stop time.
pub const UNKNOWN_SPAN: f64 = 10.0;

/// Answers that the caller of [`super::package`] obtains from short runs, with the model's parameters and signals, from its start time
/// to its stop time or over [`UNKNOWN_SPAN`].
pub trait TrialRuns {
    /// Returns the system with the ranges of its laws widened by the tolerance of a run; `None` if no law has a limited range.
    fn widened(&self, system: &StateSystem) -> Option<StateSystem>;

    /// Returns the initial scales of the states, one per state in SI units. Negative scales are given by the model and stay fixed.
    fn scales(&self, system: &StateSystem, kernels: &Kernels) -> Vec<f64>;

    /// Returns the magnitudes of the states in a short run, one per state in SI units; 0 if the run shows none.
    fn sizes(&self, system: &StateSystem, kernels: &Kernels) -> Vec<f64>;
}
