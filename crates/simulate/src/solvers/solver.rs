//! The interface of solvers, independent of the library.

/// Solves the equations from corner to corner.
pub(crate) trait Solver {
    /// Restarts at a time and state, with a first trial step, and does not go beyond the stop.
    fn restart(&mut self, time: f64, states: &[f64], step: f64, stop: f64) -> Result<(), SolverFault>;

    /// Returns to the start of the last step, with a trial step from there. Known data of the solution are kept: the
    /// rates of parts that are much faster than the steps are not recomputed, because they would be dominated by
    /// round-off.
    fn again(&mut self, step: f64, stop: f64) -> Result<(), SolverFault>;

    /// Tries the next step with this length, if nothing prevents it.
    fn lengthen(&mut self, step: f64) -> Result<(), SolverFault>;

    /// Limits all steps from now on, even if the error test allows longer ones.
    fn limit(&mut self, longest: f64);

    /// Performs one step that passes the error test.
    fn step(&mut self) -> Result<Reached, SolverFault>;

    /// Returns the start of the last step.
    fn previous(&self) -> f64;

    /// Returns the end of the last step.
    fn time(&self) -> f64;

    /// Returns the length of the next trial step.
    fn next_step(&self) -> f64;

    /// Returns the states at the end of the last step.
    fn states(&self) -> &[f64];

    /// Returns the unknowns of the loops at the end of the last step, if the method solves them together with the states.
    fn unknowns(&self) -> Option<&[f64]>;

    /// Computes the states at a time within the last step.
    fn interpolate(&mut self, time: f64, states: &mut [f64]) -> Result<(), SolverFault>;

    /// Computes the slopes of [`Solver::interpolate`] at a time within the last step.
    fn slopes(&mut self, time: f64, slopes: &mut [f64]) -> Result<(), SolverFault>;

    /// Returns the order of the method for the choice of a first step.
    fn first_order(&self) -> u32;

    /// Returns the statistics of the completed work.
    fn counts(&self) -> Counts;
}

/// The end of a step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Reached {
    /// Before the stop.
    Inside,
    /// At the stop.
    Stop,
}

/// The reason why a step failed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum SolverFault {
    /// The error test failed down to the smallest step.
    TooSmall,
    /// Newton's iteration failed down to the smallest step.
    NotSolved,
    /// The library's own message, for other failures.
    Other(String),
}

/// Counts of a solver.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Counts {
    pub steps: u64,
    pub rejected: u64,
    pub factorisations: u64,
}
