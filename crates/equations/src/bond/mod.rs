//! Model to bond graph: one flat graph of ports, 0- and 1-junctions, bonds and couplers.
//!
//! AFTER THIS POINT both notations are one: there are no nodes and branches, only junctions and bonds. Every port is on
//! exactly one bond, every bond has a junction at one end at least, and the reference node is gone: a branch to it
//! lost that side. What may still be in the graph: junctions with two bonds, and bonds between junctions of one kind.

mod lower;

use lgm_model::{BondId, JunctionKind, NodeId, PortId};

pub use lower::lower;

/// The flat bond graph of a model. Element laws stay in the model; ports have the ids they have there.
#[derive(Clone, Debug)]
pub struct BondGraph {
    /// Junctions.
    pub junctions: Vec<Junction>,
    /// Bonds between junctions, and between junctions and ports.
    pub bonds: Vec<Bond>,
    /// How each port of the model is bonded.
    pub ports: Vec<PortSide>,
    /// The bond of this graph that carries each bond the user drew.
    pub drawn: Vec<u32>,
    /// The junction of each node of the model.
    pub node_junctions: Vec<u32>,
}

/// A junction.
#[derive(Clone, Debug)]
pub struct Junction {
    /// 0 or 1.
    pub kind: JunctionKind,
    /// What it stands for.
    pub origin: Origin,
    /// Its bonds, in the order they were made.
    pub bonds: Vec<u32>,
}

/// What a junction stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Origin {
    /// A node or junction that the user declared.
    Node(NodeId),
    /// The junction of a branch between two nodes.
    Branch(PortId),
    /// A bond that the user drew between two elements.
    Direct(BondId),
}

/// One end of a bond.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    /// A junction.
    Junction(u32),
    /// A port.
    Port(PortId),
}

/// A bond; power is positive from tail to head.
#[derive(Clone, Debug)]
pub struct Bond {
    /// Where it comes from.
    pub tail: End,
    /// Where it goes to.
    pub head: End,
}

/// How a port is bonded: `effort = effort_sign * effort of the bond`, `flow = flow_sign * flow of the bond`.
#[derive(Clone, Copy, Debug)]
pub struct PortSide {
    /// The bond.
    pub bond: u32,
    /// The junction at its other end.
    pub junction: u32,
    /// 1 or -1.
    pub effort_sign: i8,
    /// 1 or -1.
    pub flow_sign: i8,
}
