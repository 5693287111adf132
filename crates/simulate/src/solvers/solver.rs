//! What a run asks of a solver, whichever library it comes from.

/// Solves the equations from corner to corner.
pub(crate) trait Solver {
    /// Starts anew at a time and state, with a first step that is tried, and will not go beyond the stop.
    fn restart(&mut self, time: f64, states: &[f64], step: f64, stop: f64) -> Result<(), SolverFault>;

    /// Goes back to where the last step began, with a step from there that is tried. What is known of the solution there is kept: the
    /// rates of parts that are much faster than the steps are not computed anew, since they would be those of its rounding.
    fn again(&mut self, step: f64, stop: f64) -> Result<(), SolverFault>;

    /// The next step is tried with this length, if nothing forbids it.
    fn lengthen(&mut self, step: f64) -> Result<(), SolverFault>;

    /// From now on no step is longer, whatever the error test says.
    fn limit(&mut self, longest: f64);

    /// Makes one step that passes the error test.
    fn step(&mut self) -> Result<Reached, SolverFault>;

    /// Where the last step began.
    fn previous(&self) -> f64;

    /// Where the last step ended.
    fn time(&self) -> f64;

    /// The length of the step that is tried next.
    fn next_step(&self) -> f64;

    /// The states where the last step ended.
    fn states(&self) -> &[f64];

    /// The unknowns of the loops where the last step ended, where the method solves them together with the states.
    fn unknowns(&self) -> Option<&[f64]>;

    /// The states at a time within the last step.
    fn interpolate(&mut self, time: f64, states: &mut [f64]) -> Result<(), SolverFault>;

    /// The slopes of what [`Solver::interpolate`] gives, at a time within the last step.
    fn slopes(&mut self, time: f64, slopes: &mut [f64]) -> Result<(), SolverFault>;

    /// The order of the method for the choice of a first step.
    fn first_order(&self) -> u32;

    /// What has been done until now.
    fn counts(&self) -> Counts;
}

/// Where a step ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Reached {
    /// Before the stop.
    Inside,
    /// At the stop.
    Stop,
}

/// Why a step could not be made.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum SolverFault {
    /// The error test failed down to the smallest step.
    TooSmall,
    /// Newton's iteration failed down to the smallest step.
    NotSolved,
    /// The library's own message, for failures that have no plainer words.
    Other(String),
}

/// Counts of a solver.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Counts {
    pub steps: u64,
    pub rejected: u64,
    pub factorisations: u64,
}
