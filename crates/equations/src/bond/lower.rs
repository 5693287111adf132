//! The textbook procedure: a node becomes the junction whose common variable is its across variable. A branch between
//! two nodes gets the opposite junction, at which the across variables add up.

use super::{Bond, BondGraph, End, Junction, Origin, PortSide};
use lgm_model::{BondEnd, Connection, JunctionKind, Model, NodeId, PortId, Variable};

/// Lowers a model to its bond graph. Cannot fail: elaboration has reported every connection error.
pub fn lower(model: &Model) -> BondGraph {
    let mut graph = BondGraph {
        junctions: Vec::with_capacity(model.graph.nodes.len()),
        bonds: Vec::with_capacity(model.graph.ports.len()),
        ports: Vec::with_capacity(model.graph.ports.len()),
        drawn: Vec::with_capacity(model.graph.bonds.len()),
        node_junctions: (0..model.graph.nodes.len() as u32).collect(),
    };
    for (index, node) in model.graph.nodes.iter().enumerate() {
        graph.add_junction(node.kind, Origin::Node(NodeId(index as u32)));
    }
    let mut sides: Vec<Option<PortSide>> = vec![None; model.graph.ports.len()];
    for (index, bond) in model.graph.bonds.iter().enumerate() {
        let carrier = graph.add_drawn_bond(index, bond.tail, bond.head, &mut sides);
        graph.drawn.push(carrier);
    }
    for (index, port) in model.graph.ports.iter().enumerate() {
        if let Connection::Branch { from, to, .. } = &port.connection {
            let domain = port
                .domain
                .map(|id| &model.graph.domains[id.index()])
                .expect("invariant: a port on a branch has a domain");
            let across = if domain.effort_is_across {
                Variable::Effort
            } else {
                Variable::Flow
            };
            let side = graph.add_branch(PortId(index as u32), *from, *to, across);
            sides[index] = Some(side);
        }
    }
    graph.ports = sides
        .into_iter()
        .map(|side| side.expect("invariant: elaboration connects every port"))
        .collect();
    graph
}

impl BondGraph {
    fn add_junction(&mut self, kind: JunctionKind, origin: Origin) -> u32 {
        let id = self.junctions.len() as u32;
        self.junctions.push(Junction {
            kind,
            origin,
            bonds: Vec::new(),
        });
        id
    }

    fn add_bond(&mut self, tail: End, head: End) -> u32 {
        let id = self.bonds.len() as u32;
        for end in [tail, head] {
            if let End::Junction(junction) = end {
                self.junctions[junction as usize].bonds.push(id);
            }
        }
        self.bonds.push(Bond { tail, head });
        id
    }

    /// Adds a bond that the user drew. A bond between two elements gets a junction in its middle; the returned bond is
    /// the one at its tail.
    fn add_drawn_bond(&mut self, index: usize, tail: BondEnd, head: BondEnd, sides: &mut [Option<PortSide>]) -> u32 {
        let into = |port: PortId, bond: u32, junction: u32, sides: &mut [Option<PortSide>]| {
            sides[port.index()] = Some(PortSide {
                bond,
                junction,
                effort_sign: 1,
                flow_sign: 1,
            });
        };
        let out_of = |port: PortId, bond: u32, junction: u32, sides: &mut [Option<PortSide>]| {
            sides[port.index()] = Some(PortSide {
                bond,
                junction,
                effort_sign: 1,
                flow_sign: -1,
            });
        };
        match (tail, head) {
            (BondEnd::Node(a), BondEnd::Node(b)) => self.add_bond(End::Junction(a.0), End::Junction(b.0)),
            (BondEnd::Node(a), BondEnd::Port(port)) => {
                let bond = self.add_bond(End::Junction(a.0), End::Port(port));
                into(port, bond, a.0, sides);
                bond
            }
            (BondEnd::Port(port), BondEnd::Node(b)) => {
                let bond = self.add_bond(End::Port(port), End::Junction(b.0));
                out_of(port, bond, b.0, sides);
                bond
            }
            (BondEnd::Port(first), BondEnd::Port(second)) => {
                let middle = self.add_junction(JunctionKind::Zero, Origin::Direct(lgm_model::BondId(index as u32)));
                let bond = self.add_bond(End::Port(first), End::Junction(middle));
                out_of(first, bond, middle, sides);
                let next = self.add_bond(End::Junction(middle), End::Port(second));
                into(second, next, middle, sides);
                bond
            }
        }
    }

    /// Adds a branch. A branch to the reference node needs no junction of its own. If it is drawn from the reference,
    /// its across variable is minus that of the node, while its through variable flows into the node.
    fn add_branch(&mut self, port: PortId, from: Option<NodeId>, to: Option<NodeId>, across: Variable) -> PortSide {
        match (from, to) {
            (Some(from), None) => {
                let bond = self.add_bond(End::Junction(from.0), End::Port(port));
                PortSide {
                    bond,
                    junction: from.0,
                    effort_sign: 1,
                    flow_sign: 1,
                }
            }
            (None, Some(to)) => {
                let bond = self.add_bond(End::Port(port), End::Junction(to.0));
                let (effort_sign, flow_sign) = match across {
                    Variable::Effort => (-1, 1),
                    Variable::Flow => (1, -1),
                };
                PortSide {
                    bond,
                    junction: to.0,
                    effort_sign,
                    flow_sign,
                }
            }
            (from, to) => {
                let kind = match across {
                    Variable::Effort => JunctionKind::One,
                    Variable::Flow => JunctionKind::Zero,
                };
                let middle = self.add_junction(kind, Origin::Branch(port));
                if let Some(from) = from {
                    self.add_bond(End::Junction(from.0), End::Junction(middle));
                }
                if let Some(to) = to {
                    self.add_bond(End::Junction(middle), End::Junction(to.0));
                }
                let bond = self.add_bond(End::Junction(middle), End::Port(port));
                PortSide {
                    bond,
                    junction: middle,
                    effort_sign: 1,
                    flow_sign: 1,
                }
            }
        }
    }
}
