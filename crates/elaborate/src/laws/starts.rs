//! The state attributes of an instance, in addition to its law: `start = ..` and `nominal = ..`.

use crate::context::values::DimId;
use crate::laws::LawReader;
use lgm_model::{ElementId, Law, StateChoice, Variable};

impl<'a> LawReader<'_, 'a> {
    /// Returns the dimensions of the initial values of a linear storage, one per port.
    pub(crate) fn start_dimensions(&mut self, id: ElementId, law: &Law) -> Vec<DimId> {
        let Law::Storage { co_energy, .. } = law else {
            return Vec::new();
        };
        let element = &self.graph.model.graph.elements[id.index()];
        if element.state_choice != StateChoice::CoEnergy {
            return Vec::new();
        }
        let dimension = |port: u32| {
            let domain = &self.graph.model.graph.domains[self.graph.model.graph.ports[port as usize].domain?.index()];
            domain.dimension(domain.effort_is_across == (*co_energy == Variable::Effort))
        };
        let found: Vec<_> = element.ports.clone().map(dimension).collect();
        found.into_iter().map(|each| self.dims.optional(each)).collect()
    }
}
