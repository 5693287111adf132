//! Models with events: the equations of all combinations of modes over one set of symbols, and what changes lead from one to another.

mod combinations;
mod gathered;
mod merged;
mod row;
mod table;

pub(super) use gathered::gather;
pub(super) use table::{Block, Gathered, InCombination, Row, only_margin};

use lgm_equations::Options;
use lgm_equations::switching::Events;
use lgm_source::codes::Code;
use lgm_source::diagnostic::Diagnostic;

/// The changes of a model at events.
#[derive(Clone, Debug)]
pub struct Changes<'a> {
    /// The model in all of its modes.
    pub events: &'a Events,
    /// Options of the formulation.
    pub options: &'a Options,
    /// The line of each block in the text.
    pub lines: Vec<usize>,
}

/// The error that an emitted program cannot carry the events of a model.
pub(super) fn refused(model: &str, reason: &str, help: &str) -> Diagnostic {
    let message = format!("`{model}` has events, which this program cannot carry: {reason}");
    Diagnostic::error(Code::LGM0944, message).help(help.to_string())
}
