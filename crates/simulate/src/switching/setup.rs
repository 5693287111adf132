//! The parts of a run with events, and what it reports.

use crate::inputs::table::Table;
use crate::plan::Summary;
use crate::switching::balance::Balance;
use lgm_equations::Options;
use lgm_equations::switching::Events;
use lgm_kernels::Kernels;
use lgm_model::system::StateSystem;

/// An event of a run, as it is reported.
#[derive(Clone, Debug, PartialEq)]
pub struct Event {
    /// When, in seconds.
    pub time: f64,
    /// `mode`, `junction`, `when` or `every`.
    pub kind: &'static str,
    /// The element that changes its mode, or the block by its kind and its place in the text, `when:12`.
    pub element: String,
    /// The modes before and after; empty for a block.
    pub from: String,
    /// See `from`.
    pub to: String,
    /// The energy that storage has lost in all events of this instant, given with the last of them, in joules; none where a storage has
    /// a nonlinear law, and at a start where states jump.
    pub lost: Option<f64>,
}

/// The parts of a run with events.
pub struct Switched<'r> {
    /// The model.
    pub events: &'r Events,
    /// Options of the formulation.
    pub options: &'r Options,
    /// The equations in the modes of the start, compiled. Their states have columns in the rows.
    pub first: (&'r StateSystem, &'r Kernels),
    /// Values of all parameters.
    pub parameters: Vec<f64>,
    /// Tables in the place of declared inputs.
    pub tables: &'r [Option<Table>],
    /// The line of a block in the text, by its place.
    pub line: &'r dyn Fn(lgm_source::Span) -> usize,
}

/// The end of a run with events.
#[derive(Debug)]
pub struct Finished {
    /// The work that was done.
    pub summary: Summary,
    /// The combinations of modes that were met.
    pub met: Vec<Vec<usize>>,
    /// The energies of the run; none unless [`Events::watching_powers`] asks for them, and none if a storage has a nonlinear law or no power.
    pub balance: Option<Balance>,
}
