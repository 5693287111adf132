//! Laws of elements: read once for every definition and shape, and filled with the values of each instance.

mod blame;
mod couplers;
mod energy;
mod faults;
mod modes;
mod nonlinear;
mod reading;
mod starts;
mod symmetry;

use crate::context::layer;
use crate::evaluate::Evaluator;
use lgm_model::ElementId;

/// The reader of laws.
pub(crate) struct LawReader<'e, 'a> {
    evaluator: &'e mut Evaluator<'a>,
}

layer!(LawReader<'e, 'a>, evaluator: Evaluator<'a>);

/// Reads the laws of all elements.
pub(crate) fn read_all(evaluator: &mut Evaluator<'_>) {
    for element in 0..evaluator.graph.model.graph.elements.len() {
        if evaluator.reports.is_stopped() {
            return;
        }
        read(evaluator, ElementId(element as u32));
    }
}

/// Reads the law of an element, unless it is already read.
pub(crate) fn read<'a>(evaluator: &mut Evaluator<'a>, id: ElementId) {
    LawReader { evaluator }.ensure_law(id);
}
