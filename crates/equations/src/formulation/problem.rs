//! The subject of formulation, for all stages from causality to verification.

use crate::bond::BondGraph;
use crate::causality::Causality;
use crate::state_selection::states::StateRequest;
use crate::verification::equation::Flat;
use lgm_model::Model;

/// Beyond this many storage ports, numbers are computed in doubles instead of exact rationals.
pub(crate) const EXACT_STORAGE: usize = 80;

/// The same limit for all ports.
pub(crate) const EXACT_PORTS: usize = 400;

/// The subject of formulation: a graph with its causality, and the requested states.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Problem<'a> {
    pub(crate) model: &'a Model,
    pub(crate) graph: &'a BondGraph,
    pub(crate) causality: &'a Causality,
    pub(crate) states: StateRequest,
}

impl<'a> Problem<'a> {
    /// Returns the equations of the flat graph.
    pub(crate) fn flat(&self) -> Flat<'a> {
        Flat {
            model: self.model,
            graph: self.graph,
            structure: &self.causality.structure,
        }
    }
}

/// Returns true if numbers are computed in exact rationals.
pub(crate) fn is_small(model: &Model, causality: &Causality) -> bool {
    causality.independent.len() + causality.dependent.len() <= EXACT_STORAGE && model.graph.ports.len() <= EXACT_PORTS
}
