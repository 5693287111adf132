//! The components of a run with events, and its reports.

use crate::inputs::given::Signal;
use crate::plan::Summary;
use crate::run::balance::Balance;
use lgm_equations::Options;
use lgm_equations::switching::Events;
use lgm_kernels::Kernels;
use lgm_model::system::StateSystem;

/// A reported event of a run.
#[derive(Clone, Debug, PartialEq)]
pub struct Event {
    /// The time in seconds.
    pub time: f64,
    /// `mode`, `junction`, `when` or `every`; `start` if nothing happens at the start except that initial values are lost.
    pub kind: &'static str,
    /// The element that changes its mode, or the block by its kind and its location in the text, `when:12`.
    pub element: String,
    /// The modes before and after; empty for a block.
    pub from: String,
    /// See `from`.
    pub to: String,
    /// The energy of storage lost in all events of this instant, in joules, reported with the last event. None if a storage
    /// element has a nonlinear law.
    pub lost: Option<f64>,
}

impl Event {
    /// Returns an event in which nothing is lost.
    pub(super) fn at(time: f64, kind: &'static str, element: String) -> Event {
        Event {
            time,
            kind,
            element,
            from: String::new(),
            to: String::new(),
            lost: Some(0.0),
        }
    }
}

/// The components of a run with events.
pub struct Switched<'r> {
    /// The model.
    pub events: &'r Events,
    /// Options of the formulation.
    pub options: &'r Options,
    /// The compiled equations in the modes of the start. Their states have columns in the rows.
    pub first: (&'r StateSystem, &'r Kernels),
    /// Values of all parameters.
    pub parameters: Vec<f64>,
    /// Signals that replace those of declared inputs.
    pub tables: &'r [Option<Signal>],
    /// The line of a block in the text, by its location.
    pub line: &'r dyn Fn(lgm_source::Span) -> usize,
}

/// The end of a run with events.
#[derive(Debug)]
pub struct Finished {
    /// The summary of the work.
    pub summary: Summary,
    /// The combinations of modes that occurred.
    pub met: Vec<Vec<usize>>,
    /// The energies of the run; none unless requested by [`Events::watching_powers`], or if a storage has a nonlinear
    /// law or no power.
    pub balance: Option<Balance>,
}
