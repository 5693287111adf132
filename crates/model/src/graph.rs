//! The flat graph: domains, junctions, elements with their ports, and bonds.

use crate::{BondId, DomainId, ElementId, Law, NodeId, PathId, PortId, SiUnit, Variable};
use lgm_algebra::expr::ExprId;
use lgm_algebra::units::Dimension;
use lgm_source::Span;
use std::ops::Range;
use std::sync::Arc;

/// The scalar graph of a model. Ids are indices into these lists.
#[derive(Clone, Debug, Default)]
pub struct Graph {
    /// Domains.
    pub domains: Vec<Domain>,
    /// Junctions.
    pub nodes: Vec<Node>,
    /// The scalar nodes at the ports of the component that is left open, in order.
    pub open_ports: Vec<NodeId>,
    /// Ports; those of one element are consecutive.
    pub ports: Vec<Port>,
    /// Elements in declaration order.
    pub elements: Vec<Element>,
    /// Bonds drawn by the user.
    pub bonds: Vec<Bond>,
}

impl Graph {
    /// Returns the ports of an element.
    pub fn ports_of(&self, id: ElementId) -> impl Iterator<Item = PortId> + use<> {
        self.elements[id.index()].ports.clone().map(PortId)
    }
}

/// A domain.
#[derive(Clone, Debug)]
pub struct Domain {
    /// Its name.
    pub name: Arc<str>,
    /// Symbol of the across variable: `v`.
    pub across: Arc<str>,
    /// Its unit.
    pub across_unit: Option<SiUnit>,
    /// Symbol of the through variable: `i`.
    pub through: Arc<str>,
    /// Its unit.
    pub through_unit: Option<SiUnit>,
    /// True if the effort is the across variable (otherwise it is the through variable).
    pub effort_is_across: bool,
    /// True if across times through is not a power.
    pub pseudo: bool,
}

impl Domain {
    /// Returns the unit of the across variable, or of the through variable.
    pub fn unit(&self, across: bool) -> Option<&SiUnit> {
        match across {
            true => self.across_unit.as_ref(),
            false => self.through_unit.as_ref(),
        }
    }

    /// Returns the dimension of the across variable, or of the through variable.
    pub fn dimension(&self, across: bool) -> Option<Dimension> {
        self.unit(across).map(|unit| unit.dimension)
    }
}

impl JunctionKind {
    /// Returns the variable that all bonds of the junction share.
    pub fn common(self) -> Variable {
        match self {
            JunctionKind::Zero => Variable::Effort,
            JunctionKind::One => Variable::Flow,
        }
    }
}

/// The kind of a junction, by the variable that its bonds share.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum JunctionKind {
    /// 0-junction: one effort, flows add to zero.
    Zero,
    /// 1-junction: one flow, efforts add to zero.
    One,
}

/// A scalar junction.
#[derive(Clone, Debug)]
pub struct Node {
    /// Its name.
    pub path: PathId,
    /// The index within a vector node, from 1.
    pub entry: Option<u32>,
    /// Its kind; a graph node has the kind of its domain: a 0-junction if effort is across, otherwise a 1-junction.
    pub kind: JunctionKind,
    /// Its domain; `None` for a plain bond-graph junction.
    pub domain: Option<DomainId>,
    /// Declared with `node` (its across variable is measured against the reference).
    pub is_graph_node: bool,
    /// Declared `floating`.
    pub floating: bool,
}

/// A scalar port of an element with absorbing orientation: effort times flow is the absorbed power.
#[derive(Clone, Debug)]
pub struct Port {
    /// The element.
    pub element: ElementId,
    /// `a`, `b`, `in`, `out`; `None` for a one-port.
    pub name: Option<Arc<str>>,
    /// The index within a vector port, from 1.
    pub entry: Option<u32>,
    /// Its domain; `None` for a bond element.
    pub domain: Option<DomainId>,
    /// Its connection.
    pub connection: Connection,
}

/// The connection of a port.
#[derive(Clone, Debug)]
pub enum Connection {
    /// A branch `from -> to` of a linear graph; `None` is the reference node. The across variable is that of `from` minus that of `to`; the
    /// through variable flows from `from` through the element to `to`.
    Branch {
        /// Tail node.
        from: Option<NodeId>,
        /// Head node.
        to: Option<NodeId>,
        /// The location of `a -> b`.
        span: Span,
    },
    /// Exactly one entry of [`Graph::bonds`].
    Bond(BondId),
}

/// A scalar bond; power is positive from tail to head.
#[derive(Clone, Debug)]
pub struct Bond {
    /// Its tail.
    pub tail: BondEnd,
    /// Its head.
    pub head: BondEnd,
    /// Its location in the text.
    pub span: Span,
}

/// One end of a bond.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum BondEnd {
    /// A junction.
    Node(NodeId),
    /// A port of an element.
    Port(PortId),
}

/// An element with its law.
#[derive(Clone, Debug)]
pub struct Element {
    /// Its name.
    pub path: PathId,
    /// The name of its definition: `Mass`.
    pub kind: Arc<str>,
    /// Its ports.
    pub ports: Range<u32>,
    /// Its law over these ports, in order.
    pub law: Law,
    /// The location of the value (the argument list or the instance).
    pub law_span: Span,
    /// Initial values of storage, one per port; empty if none was given.
    pub start: Vec<Option<ExprId>>,
    /// The location of `start = ..`.
    pub start_span: Option<Span>,
    /// The magnitudes of its states (`nominal = ..`), like the initial values; empty if not given.
    pub nominal: Vec<Option<ExprId>>,
    /// The state variable of this storage, unless the user selects one.
    pub state_choice: StateChoice,
    /// Its mode in a modal block, from 1: its state is named after the block, `bar.v[2]`.
    pub mode: Option<u32>,
}

/// The state variable of a storage element.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum StateChoice {
    /// The co-energy variable: across of an A-type, through of a T-type.
    CoEnergy,
    /// The energy variable: p or q, the integral of the conjugate.
    Energy,
}

impl Element {
    /// The kind of the storage of value 0 that represents the velocity of a displacement without storage. The equations of a mechanism are
    /// written in such velocities; only their formulation adds them.
    pub const VELOCITY: &'static str = "velocity of a displacement";

    /// The kind of the element that turns a junction on and off.
    pub const JUNCTION: &'static str = "controlled junction";

    /// Returns true for the velocity of a displacement; it has no energy, and therefore no energy variable.
    pub fn is_velocity(&self) -> bool {
        *self.kind == *Element::VELOCITY
    }
}
