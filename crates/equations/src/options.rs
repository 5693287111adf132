//! The options of the equations.

use crate::assembly::refusal::Failure;
use crate::assembly::states::StateRequest;
use lgm_algebra::RationalFunctions;
use lgm_source::cancellation::Cancellation;

/// The requested equations.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Options {
    /// The choice of states.
    pub states: StateRequest,
    /// Names of elements whose storage should keep its state, in decreasing priority.
    pub retain: Vec<String>,
    /// True if symbolic matrices A..F are requested.
    pub symbolic: bool,
    /// True if numeric matrices A..F are requested.
    pub numeric: bool,
    /// True if the matrices are displayed, so that omissions are reported.
    pub shows_matrices: bool,
    /// True if the equations are displayed or emitted, so that their length matters. Otherwise, nonlinear equations
    /// stay as the reduction leaves them; errors and the numbers of states, outputs and loops are the same.
    pub readable: bool,
    /// True if the block form of the equations is also requested; the states are then co-energy variables.
    pub blocks: bool,
    /// True if nonlinear outputs are omitted, with a warning, so that the others have matrices.
    pub linear_outputs: bool,
    /// The number of term operations for exact symbolic entries before uncancelled shared expressions are used.
    pub size_limit: u64,
    /// Ends the work early, between its parts; there are then no equations, and no diagnostic reports the reason.
    pub cancellation: Cancellation,
}

impl Options {
    /// Returns the variables to use as states: power variables for the block form.
    pub(crate) fn state_request(&self) -> StateRequest {
        match self.blocks {
            true => StateRequest::Power,
            false => self.states,
        }
    }

    /// Returns an error if cancellation was requested.
    pub(crate) fn go_on(&self) -> Result<(), Failure> {
        match self.cancellation.is_cancelled() {
            true => Err(Failure::Cancelled),
            false => Ok(()),
        }
    }
}

impl Default for Options {
    fn default() -> Options {
        Options {
            states: StateRequest::Natural,
            retain: Vec::new(),
            symbolic: true,
            numeric: true,
            shows_matrices: false,
            readable: true,
            blocks: false,
            linear_outputs: false,
            size_limit: RationalFunctions::DEFAULT_OPERATIONS,
            cancellation: Cancellation::default(),
        }
    }
}
