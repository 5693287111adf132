//! What is asked of the equations.

use crate::diagnosis::refusal::Failure;
use crate::state_selection::states::StateRequest;
use lgm_algebra::RationalFunctions;
use lgm_source::cancellation::Cancellation;

/// What equations are asked for.
#[derive(Clone, Debug)]
pub struct Options {
    /// Which variables are the states.
    pub states: StateRequest,
    /// Names of elements whose storage should keep its state, most wanted first.
    pub retain: Vec<String>,
    /// Whether A..F over the parameters are wanted.
    pub symbolic: bool,
    /// Whether A..F in numbers are wanted.
    pub numeric: bool,
    /// True if these are shown, so that what they leave out is reported.
    pub shows_matrices: bool,
    /// Whether somebody reads or emits the equations, so that it matters how long they are. If not, nonlinear ones stay as they came
    /// out of reduction; faults and the numbers of states, outputs and loops are the same.
    pub readable: bool,
    /// Whether the equations are wanted in blocks too; the states are co-energy variables then.
    pub blocks: bool,
    /// Whether outputs that are not linear are left out, with a warning, so that the others have matrices.
    pub linear_outputs: bool,
    /// How many term operations the exact symbolic entries may take before uncancelled shared expressions are used.
    pub size_limit: u64,
    /// Ends the work early, between its parts; there are no equations then, and no diagnostic says why.
    pub cancellation: Cancellation,
}

impl Options {
    /// The variables that are the states: those of equations in blocks are power variables.
    pub(crate) fn state_request(&self) -> StateRequest {
        match self.blocks {
            true => StateRequest::Power,
            false => self.states,
        }
    }

    /// The work goes on, unless its end is asked for.
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
