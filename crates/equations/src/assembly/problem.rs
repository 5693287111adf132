//! The subject of formulation, for all stages from causality to verification.

use crate::assembly::states::StateRequest;
use crate::bond::BondGraph;
use crate::causality::Causality;
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

/// Returns true if numbers are computed in exact rationals.
pub(crate) fn is_small(model: &Model, causality: &Causality) -> bool {
    causality.independent.len() + causality.dependent.len() <= EXACT_STORAGE && model.graph.ports.len() <= EXACT_PORTS
}
