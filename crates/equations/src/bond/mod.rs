//! Model to bond graph: one flat graph of ports, 0- and 1-junctions, bonds and couplers.
//!
//! AFTER THIS POINT both notations are unified: no nodes and branches remain, only junctions and bonds. Every port is
//! on exactly one bond, and every bond has a junction on at least one end. The reference node is gone: a branch to it
//! has lost that side. The graph may still contain junctions with two bonds, and bonds between junctions of the same
//! kind.

mod lower;

use lgm_model::{BondId, JunctionKind, NodeId, PortId};

pub use lower::lower;

/// The flat bond graph of a model. Element laws stay in the model; port ids are those of the model.
#[derive(Clone, Debug)]
pub struct BondGraph {
    /// Junctions.
    pub junctions: Vec<Junction>,
    /// Bonds between junctions, and between junctions and ports.
    pub bonds: Vec<Bond>,
    /// The bonds of each port of the model.
    pub ports: Vec<PortSide>,
    /// For each bond that the user drew, the corresponding bond of this graph.
    pub drawn: Vec<u32>,
    /// The junction of each node of the model.
    pub node_junctions: Vec<u32>,
}

/// A junction.
#[derive(Clone, Debug)]
pub struct Junction {
    /// 0 or 1.
    pub kind: JunctionKind,
    /// Its meaning.
    pub origin: Origin,
    /// Its bonds, in order of creation.
    pub bonds: Vec<u32>,
}

/// The origin of a junction.
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
    /// Its source.
    pub tail: End,
    /// Its target.
    pub head: End,
}

/// The bond of a port: `effort = effort_sign * effort of the bond`, `flow = flow_sign * flow of the bond`.
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
