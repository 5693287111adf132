//! Models with events: the equations of all combinations of modes over one set of symbols, and the changes between combinations.

mod combinations;
mod conditions;
mod gathered;
mod kernels;
mod merged;
mod row;
mod sampled;
mod table;

pub(super) use crate::code::instants::{Clock, Place, Sampled, SampledBlock};
pub(super) use conditions::ConditionWords;
pub(super) use gathered::gather;
pub(super) use kernels::{ChangeKernels, Changing, Modal, chosen};
pub(super) use sampled::sampled;
pub(super) use table::{EmittedBlock, Gathered, Row};

use lgm_equations::Options;
use lgm_equations::switching::Events;
use lgm_source::codes::Code;
use lgm_source::diagnostic::Diagnostic;

/// The changes of a model at events.
#[derive(Clone, Debug)]
pub struct Changes<'a> {
    /// The model in all its modes.
    pub events: &'a Events,
    /// Options of the formulation.
    pub options: &'a Options,
    /// The source line of each block.
    pub lines: Vec<usize>,
}

/// Returns the error for events that an emitted program cannot support.
pub(super) fn refused(model: &str, reason: &str, help: &str) -> Diagnostic {
    let message = format!("`{model}` has events, which this program cannot handle: {reason}");
    Diagnostic::error(Code::LGM0944, message).help(help.to_string())
}
