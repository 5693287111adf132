//! What the structure solves for at each port, for those who show it.

use super::bond::BondGraph;
use super::causality::Request;
use super::decision::decide;
use super::nonlinear;
use super::options::Options;
use super::retain::retained;
use lgm_model::{Model, Variable};
use lgm_source::diagnostic::has_errors;

/// For each port of a model, the variable that the rest of the model gives it; its law gives the other one. None for ports of couplers.
/// The same decision as that of the equations; nothing if that fails.
pub fn port_causality(model: &Model, graph: &BondGraph, options: &Options) -> Option<Vec<Option<Variable>>> {
    let mut diagnostics = Vec::new();
    let retain = retained(model, options, &mut diagnostics);
    let mut solved = match nonlinear::applies(model) {
        true => nonlinear::port_causality(model, &retain, &mut diagnostics),
        false => {
            let request = Request {
                retain,
                ..Request::default()
            };
            let (causality, _, found) = decide(model, graph, &request);
            diagnostics.extend(found);
            causality.solved
        }
    };
    // The equations may add storage of their own behind that of the model.
    solved.truncate(model.ports.len());
    (!has_errors(&diagnostics)).then_some(solved)
}
