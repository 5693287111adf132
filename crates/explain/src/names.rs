//! The names of ports, junctions and their variables.

use lgm_equations::bond::{BondGraph, Origin};
use lgm_equations::causality::words::quantity;
use lgm_model::{BondEnd, Connection, JunctionKind, Model, NodeId, PortId, Variable};

/// A model with its graph, for messages and reports.
#[derive(Clone, Copy)]
pub(crate) struct Names<'a> {
    pub(crate) model: &'a Model,
    pub(crate) graph: &'a BondGraph,
}

impl Names<'_> {
    /// Formats `mass`, `gears.a`, or `m[2]` for vectors.
    pub(crate) fn port(self, port: PortId) -> String {
        let info = &self.model.graph.ports[port.index()];
        let mut name = self.model.element_name(info.element);
        if let Some(own) = &info.name {
            name = format!("{name}.{own}");
        }
        if let Some(entry) = info.entry {
            name = format!("{name}[{entry}]");
        }
        name
    }

    /// Formats `x`, or `x[2]` for a vector node.
    pub(crate) fn node(self, node: NodeId) -> String {
        let info = &self.model.graph.nodes[node.index()];
        let entry = info.entry.map_or(String::new(), |entry| format!("[{entry}]"));
        format!("{}{entry}", self.model.path_name(info.path))
    }

    /// Returns the name of a node, or `1(spring)` for the junction of a branch between two nodes.
    pub(crate) fn junction(self, junction: u32) -> String {
        let info = &self.graph.junctions[junction as usize];
        let digit = match info.kind {
            JunctionKind::Zero => 0,
            JunctionKind::One => 1,
        };
        match info.origin {
            Origin::Node(node) => self.node(node),
            Origin::Branch(port) => format!("{digit}({})", self.port(port)),
            Origin::Direct(bond) => {
                let bond = &self.model.graph.bonds[bond.index()];
                format!("{digit}({}, {})", self.bond_end(bond.tail), self.bond_end(bond.head))
            }
        }
    }

    pub(crate) fn bond_end(self, end: BondEnd) -> String {
        match end {
            BondEnd::Node(node) => self.node(node),
            BondEnd::Port(port) => self.port(port),
        }
    }

    /// Formats a variable of a port as in expressions of the model: `across(mass)`, `effort(T.in)`, or `across(M)[2]` for vectors. In a
    /// bond graph it is the variable of the drawn bond.
    pub(crate) fn measure(self, port: PortId, variable: Variable) -> String {
        let info = &self.model.graph.ports[port.index()];
        let mut name = self.model.element_name(info.element);
        if let Some(own) = &info.name {
            name = format!("{name}.{own}");
        }
        let entry = info.entry.map_or(String::new(), |entry| format!("[{entry}]"));
        let word = match (self.effort_is_across(port), &info.connection, variable) {
            (Some(effort_is_across), Connection::Branch { .. }, _) => {
                match effort_is_across == (variable == Variable::Effort) {
                    true => "across",
                    false => "through",
                }
            }
            (_, _, Variable::Effort) => "effort",
            (_, _, Variable::Flow) => "flow",
        };
        format!("{word}({name}){entry}")
    }

    /// Returns the names of a port's effort and flow: "voltage" and "current", or "effort" and "flow" in a bond graph without a domain.
    pub(crate) fn words(self, port: PortId) -> (String, String) {
        let word = |variable: Variable| match self.model.graph.ports[port.index()].domain {
            Some(domain) => {
                let domain = &self.model.graph.domains[domain.index()];
                quantity(domain, domain.effort_is_across == (variable == Variable::Effort))
            }
            None => match variable {
                Variable::Effort => "effort".to_string(),
                Variable::Flow => "flow".to_string(),
            },
        };
        (word(Variable::Effort), word(Variable::Flow))
    }

    /// Returns the name of one of them.
    pub(crate) fn word(self, port: PortId, variable: Variable) -> String {
        let (effort, flow) = self.words(port);
        match variable {
            Variable::Effort => effort,
            Variable::Flow => flow,
        }
    }

    /// Returns true if the across variable of a port is its effort; `None` without a domain.
    pub(crate) fn effort_is_across(self, port: PortId) -> Option<bool> {
        let domain = self.model.graph.ports[port.index()].domain?;
        Some(self.model.graph.domains[domain.index()].effort_is_across)
    }

    /// Returns the common variable of a junction's bonds, with its name in the domain.
    pub(crate) fn common(self, junction: u32) -> String {
        let info = &self.graph.junctions[junction as usize];
        let domain = match info.origin {
            Origin::Node(node) => self.model.graph.nodes[node.index()].domain,
            Origin::Branch(port) => self.model.graph.ports[port.index()].domain,
            Origin::Direct(_) => None,
        };
        let is_effort = info.kind.common() == Variable::Effort;
        match domain {
            Some(domain) => {
                let domain = &self.model.graph.domains[domain.index()];
                quantity(domain, domain.effort_is_across == is_effort)
            }
            None if is_effort => "effort".to_string(),
            None => "flow".to_string(),
        }
    }
}
