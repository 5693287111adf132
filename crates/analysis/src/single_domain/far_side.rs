//! Maps each part of a model outside a domain to the coupler that leads to it from this domain.

use crate::one_port::domain_of;
use lgm_algebra::DisjointSets;
use lgm_algebra::expr::{ExprId, SymbolId};
use lgm_model::{BondEnd, Connection, DomainId, ElementId, Law, Measure, Model, NodeId};
use rustc_hash::FxHashMap;

/// Connected sets of elements and nodes outside the domain.
pub(super) struct FarSide<'m> {
    model: &'m Model,
    own: DomainId,
    /// The elements, followed by the nodes.
    sets: DisjointSets,
    /// For each element and node, the first index in its set.
    roots: Vec<usize>,
}

impl<'m> FarSide<'m> {
    /// Finds the connected parts of a model outside one of its domains.
    pub(super) fn of(model: &'m Model, own: DomainId) -> FarSide<'m> {
        let count = model.graph.elements.len() + model.graph.nodes.len();
        let mut side = FarSide {
            model,
            own,
            sets: DisjointSets::new(count),
            roots: Vec::new(),
        };
        let first_node = model.graph.elements.len();
        for port in &model.graph.ports {
            if domain_of(model, port) == Some(own) {
                continue;
            }
            if let Connection::Branch { from, to, .. } = port.connection {
                for node in [from, to].into_iter().flatten() {
                    side.sets.join(port.element.index(), first_node + node.index());
                }
            }
        }
        for bond in &model.graph.bonds {
            let ends = [bond.tail, bond.head].map(|end| side.place(end));
            if let [Some(a), Some(b)] = ends {
                side.sets.join(a, b);
            }
        }
        // An element is joined with the measures that control it.
        let owners: FxHashMap<SymbolId, Measure> = model.measures.iter().copied().collect();
        for index in 0..model.graph.elements.len() {
            let element = ElementId(index as u32);
            if side.is_own(element) {
                continue;
            }
            for symbol in model.exprs.symbols_of(&expressions(&model.graph.elements[index].law)) {
                if let Some(place) = owners.get(&symbol).and_then(|measure| side.place_of(*measure)) {
                    side.sets.join(index, place);
                }
            }
        }
        side.roots = std::mem::take(&mut side.sets).roots();
        side
    }

    fn is_own_node(&self, node: NodeId) -> bool {
        self.model.graph.nodes[node.index()].domain == Some(self.own)
    }

    /// Returns true if all ports of an element are in the domain.
    fn is_own(&self, element: ElementId) -> bool {
        let mut ports = self.model.ports_of(element);
        ports.all(|port| domain_of(self.model, &self.model.graph.ports[port.index()]) == Some(self.own))
    }

    /// Returns the set index of a bond's end; `None` if it is in the domain.
    fn place(&self, end: BondEnd) -> Option<usize> {
        match end {
            BondEnd::Node(node) if self.is_own_node(node) => None,
            BondEnd::Node(node) => Some(self.model.graph.elements.len() + node.index()),
            BondEnd::Port(port) => {
                let port = &self.model.graph.ports[port.index()];
                (domain_of(self.model, port) != Some(self.own)).then_some(port.element.index())
            }
        }
    }

    /// Returns the set index of a measurement; `None` if it is in the domain.
    fn place_of(&self, measure: Measure) -> Option<usize> {
        match measure {
            Measure::PortEffort(port) | Measure::PortFlow(port) => self.place(BondEnd::Port(port)),
            Measure::Common(node) => self.place(BondEnd::Node(node)),
            Measure::BondEffort(bond) | Measure::BondFlow(bond) => {
                let bond = &self.model.graph.bonds[bond.index()];
                self.place(bond.tail).or(self.place(bond.head))
            }
        }
    }

    /// Returns true if two elements are connected outside the domain.
    pub(super) fn hang_together(&self, a: ElementId, b: ElementId) -> bool {
        self.roots[a.index()] == self.roots[b.index()]
    }

    /// Returns the index of the first coupler connected to a measurement outside the domain.
    pub(super) fn owner(&self, measure: Measure, couplers: &[ElementId]) -> Option<usize> {
        let place = self.roots[self.place_of(measure)?];
        couplers.iter().position(|coupler| self.roots[coupler.index()] == place)
    }
}

/// Returns the expressions of a law that may contain measurements.
fn expressions(law: &Law) -> Vec<ExprId> {
    match law {
        Law::Source { values, .. } => values.clone(),
        Law::Coupler { matrix, .. } => matrix.entries.clone(),
        Law::Nonlinear(law) => law.residuals.clone(),
        Law::Storage { .. } | Law::Dissipator(_) => Vec::new(),
    }
}
