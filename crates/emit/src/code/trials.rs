//! Trial runs: sizes that only a run shows, and that a program carries as numbers. This crate runs nothing; its caller does.

use lgm_kernels::Kernels;
use lgm_model::system::StateSystem;

/// Length of a run in seconds if the model has no stop time.
pub const UNKNOWN_SPAN: f64 = 10.0;

/// Answers that the caller of [`super::package`] finds by short runs: with the parameters and the signals of the model, from its start
/// to its stop, or over [`UNKNOWN_SPAN`].
pub trait TrialRuns {
    /// The system with the ranges of its laws as wide as the tolerance of a run allows; none if no law ends within its range.
    fn widened(&self, system: &StateSystem) -> Option<StateSystem>;

    /// The scales that states begin with, one for each in its SI unit. A negative one is given by the model, and stays.
    fn scales(&self, system: &StateSystem, kernels: &Kernels) -> Vec<f64>;

    /// Sizes of the states in a short run, one for each in its SI unit; 0 if the run shows none.
    fn sizes(&self, system: &StateSystem, kernels: &Kernels) -> Vec<f64>;
}
