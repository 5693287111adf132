//! The rest of a graph after elements are removed: junctions and couplers that no longer transmit power are removed as well.

use super::statements::{Incident, Names, ends_at};
use lgm_model::{BondEnd, Connection, ElementId, JunctionKind, Law, Model, NodeId, PortId, Variable};
use rustc_hash::FxHashSet;

/// A model with its removed parts.
pub(super) struct Remains<'a> {
    model: &'a Model,
    names: &'a Names<'a>,
    at: Vec<Vec<Incident>>,
    nodes: FxHashSet<NodeId>,
    elements: FxHashSet<ElementId>,
}

impl<'a> Remains<'a> {
    pub(super) fn of(model: &'a Model, names: &'a Names<'a>) -> Remains<'a> {
        Remains {
            model,
            names,
            at: ends_at(model),
            nodes: FxHashSet::default(),
            elements: FxHashSet::default(),
        }
    }

    /// Returns true if a name of the text was removed.
    pub(super) fn is_gone(&self, name: &str) -> bool {
        let element = |id: &ElementId| self.model.element_name(*id) == name;
        let node = |id: &NodeId| self.model.path_name(self.model.graph.nodes[id.index()].path) == name;
        self.elements.iter().any(element) || self.nodes.iter().any(node)
    }

    /// Returns true if an element was removed.
    pub(super) fn has_lost(&self, id: ElementId) -> bool {
        self.elements.contains(&id)
    }

    /// Returns true if a node was removed.
    pub(super) fn has_lost_node(&self, id: NodeId) -> bool {
        self.nodes.contains(&id)
    }

    /// Removes a single-port element with a variable that is zero. Returns false if the zero must be set by another element.
    pub(super) fn remove(&mut self, port: PortId, zero: Variable) -> bool {
        if !self.is_neutral(port, zero) {
            return false;
        }
        self.elements.insert(self.model.graph.ports[port.index()].element);
        self.cut(port, zero);
        true
    }

    /// Returns true if a port with a zero can simply be disconnected.
    pub(super) fn is_neutral(&self, port: PortId, zero: Variable) -> bool {
        match &self.model.graph.ports[port.index()].connection {
            Connection::Branch { .. } => !self.is_across(port, zero),
            Connection::Bond(bond) => match self.far_end(*bond, BondEnd::Port(port)) {
                BondEnd::Node(node) => self.absorbs(node, zero),
                BondEnd::Port(other) => self.opens(other, zero),
            },
        }
    }

    fn far_end(&self, bond: lgm_model::BondId, end: BondEnd) -> BondEnd {
        let bond = &self.model.graph.bonds[bond.index()];
        if bond.tail == end { bond.head } else { bond.tail }
    }

    fn is_across(&self, port: PortId, variable: Variable) -> bool {
        let domain = self.model.graph.ports[port.index()].domain;
        domain.is_some_and(|domain| {
            self.model.graph.domains[domain.index()].effort_is_across == (variable == Variable::Effort)
        })
    }

    /// Returns true if a zero on one bond does not affect the others: an effort at a 1-junction, a flow at a 0-junction.
    fn absorbs(&self, node: NodeId, zero: Variable) -> bool {
        self.model.graph.nodes[node.index()].kind.common() != zero
    }

    /// Returns the zero at the other port of a two-port coupler that may be removed.
    fn behind(&self, port: PortId, zero: Variable) -> Option<(ElementId, PortId, Variable)> {
        let id = self.model.graph.ports[port.index()].element;
        let element = &self.model.graph.elements[id.index()];
        let Law::Coupler { input, output, .. } = element.law else {
            return None;
        };
        let is_known = self.names.has_instance(&self.model.element_name(id));
        if element.ports.len() != 2 || !is_known {
            return None;
        }
        let (first, second) = (PortId(element.ports.start), PortId(element.ports.start + 1));
        let (own, other, far) = if port == first {
            (input, second, output)
        } else {
            (output, first, input)
        };
        // A multiplied zero stays zero, and the conjugates are multiplied in the other direction.
        let zero = if zero == own { far } else { far.conjugate() };
        Some((id, other, zero))
    }

    /// Returns true if a coupler with a zero at one port can be removed.
    fn opens(&self, port: PortId, zero: Variable) -> bool {
        let behind = self.behind(port, zero);
        behind.is_some_and(|(_, other, zero)| self.is_neutral(other, zero))
    }

    /// Removes the connection of a removed port, and examines the graph around it.
    fn cut(&mut self, port: PortId, zero: Variable) {
        match self.model.graph.ports[port.index()].connection.clone() {
            Connection::Branch { from, to, .. } => {
                for node in [from, to].into_iter().flatten() {
                    self.at[node.index()].retain(|incident| *incident != Incident::Branch(port));
                    self.look_at_node(node);
                }
            }
            Connection::Bond(bond) => match self.far_end(bond, BondEnd::Port(port)) {
                BondEnd::Node(node) => self.cut_bond(node, bond.0, zero),
                BondEnd::Port(other) => self.cut_coupler(other, zero),
            },
        }
    }

    fn cut_coupler(&mut self, port: PortId, zero: Variable) {
        if let Some((id, other, zero)) = self.behind(port, zero) {
            self.elements.insert(id);
            self.cut(other, zero);
        }
    }

    /// Removes a bond with a zero from a junction; if only one bond is left, it has the zero too.
    fn cut_bond(&mut self, node: NodeId, bond: u32, zero: Variable) {
        self.at[node.index()].retain(|incident| !matches!(incident, Incident::Bond(at, _) if *at == bond));
        let is_known = self
            .names
            .has_junction(&self.model.path_name(self.model.graph.nodes[node.index()].path));
        let last = match self.at[node.index()][..] {
            [Incident::Bond(last, other)] if is_known => (last, other),
            _ => return self.look_at_node(node),
        };
        match last.1 {
            BondEnd::Node(next) if self.absorbs(next, zero) => {
                self.nodes.insert(node);
                self.cut_bond(next, last.0, zero);
            }
            BondEnd::Port(port) if self.opens(port, zero) => {
                self.nodes.insert(node);
                self.cut_coupler(port, zero);
            }
            _ => {}
        }
    }

    /// Removes a node of a linear graph without connections; if only the port of a coupler is left, the through variable there is zero.
    fn look_at_node(&mut self, node: NodeId) {
        let info = &self.model.graph.nodes[node.index()];
        if !info.is_graph_node || !self.names.has_junction(&self.model.path_name(info.path)) {
            return;
        }
        match self.at[node.index()][..] {
            [] => _ = self.nodes.insert(node),
            [Incident::Branch(port)] => {
                let through = match info.kind {
                    JunctionKind::Zero => Variable::Flow,
                    JunctionKind::One => Variable::Effort,
                };
                let id = self.model.graph.ports[port.index()].element;
                if !self.elements.contains(&id) && self.opens(port, through) {
                    self.at[node.index()].clear();
                    self.nodes.insert(node);
                    self.cut_coupler(port, through);
                    self.close(port, node);
                }
            }
            _ => {}
        }
    }

    /// Detaches a branch, removed with its coupler, from its other node, and examines that node.
    fn close(&mut self, port: PortId, gone: NodeId) {
        if let Connection::Branch { from, to, .. } = self.model.graph.ports[port.index()].connection.clone() {
            for node in [from, to].into_iter().flatten().filter(|node| *node != gone) {
                self.at[node.index()].retain(|incident| *incident != Incident::Branch(port));
                self.look_at_node(node);
            }
        }
    }
}
