//! The rest of a graph once elements are taken out: junctions and couplers that no power reaches any more go as well.

use super::statements::{Incident, Names, ends_at};
use lgm_model::{BondEnd, Connection, ElementId, JunctionKind, Law, Model, NodeId, PortId, Variable};
use rustc_hash::FxHashSet;

/// A model with what is gone from it.
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

    /// Returns true if a name of the text is gone.
    pub(super) fn is_gone(&self, name: &str) -> bool {
        let element = |id: &ElementId| self.model.element_name(*id) == name;
        let node = |id: &NodeId| self.model.path_name(self.model.graph.nodes[id.index()].path) == name;
        self.elements.iter().any(element) || self.nodes.iter().any(node)
    }

    /// Returns true if an element is gone.
    pub(super) fn has_lost(&self, id: ElementId) -> bool {
        self.elements.contains(&id)
    }

    /// Returns true if a node is gone.
    pub(super) fn has_lost_node(&self, id: NodeId) -> bool {
        self.nodes.contains(&id)
    }

    /// Takes out an element of one port with a variable that is zero. False where something must give the zero in its place.
    pub(super) fn remove(&mut self, port: PortId, zero: Variable) -> bool {
        if !self.is_neutral(port, zero) {
            return false;
        }
        self.elements.insert(self.model.graph.ports[port.index()].element);
        self.cut(port, zero);
        true
    }

    /// Returns true if a port with a zero can be taken off its connection, without more.
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

    /// Returns true if a zero on one bond changes nothing for the others: an effort at a 1-junction, a flow at a 0-junction.
    fn absorbs(&self, node: NodeId, zero: Variable) -> bool {
        self.model.graph.nodes[node.index()].kind.common() != zero
    }

    /// The zero at the other port of a coupler of two ports that may be taken out.
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
        // A zero that is multiplied is one, and the conjugates are multiplied the other way.
        let zero = if zero == own { far } else { far.conjugate() };
        Some((id, other, zero))
    }

    /// Returns true if a coupler with a zero at one port can be taken out.
    fn opens(&self, port: PortId, zero: Variable) -> bool {
        let behind = self.behind(port, zero);
        behind.is_some_and(|(_, other, zero)| self.is_neutral(other, zero))
    }

    /// Removes the connection of a port that was taken out, and looks at the graph around it.
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

    /// A bond with a zero is gone from a junction; with one bond left, that one has the zero too.
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

    /// A node of a linear graph with nothing on it is gone; with the port of a coupler alone, nothing flows there.
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

    /// The other node of a branch that is gone with its coupler.
    fn close(&mut self, port: PortId, gone: NodeId) {
        if let Connection::Branch { from, to, .. } = self.model.graph.ports[port.index()].connection.clone() {
            for node in [from, to].into_iter().flatten().filter(|node| *node != gone) {
                self.at[node.index()].retain(|incident| *incident != Incident::Branch(port));
                self.look_at_node(node);
            }
        }
    }
}
