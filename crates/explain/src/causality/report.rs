//! The causality of a model as data.

use lgm_model::{JunctionKind, Variable};
use std::sync::Arc;

/// The causality of a model, as used for its equations. Names are those that the author chose.
#[derive(Clone, Debug)]
pub struct CausalityReport {
    /// The model's name.
    pub model: Arc<str>,
    /// Junctions: the declared ones, and junctions that represent nodes and branches of a linear graph.
    pub junctions: Vec<Junction>,
    /// Bonds between junctions, and between junctions and ports.
    pub bonds: Vec<Bond>,
    /// True if the author drew bonds; otherwise all bonds represent branches.
    pub has_drawn_bonds: bool,
    /// Ports of elements, in declaration order.
    pub ports: Vec<Port>,
    /// Storage, one entry per port, in declaration order.
    pub storage: Vec<Storage>,
    /// Bonds with strokes, in the order of assignment.
    pub order: Vec<Step>,
    /// Ports whose results depend on each other at the same instant; empty if there are conflicts.
    pub loops: Vec<AlgebraicLoop>,
    /// Loops that remain to be solved during a run; empty without equations.
    pub at_run_time: Vec<RunTimeLoop>,
    /// Bonds without strokes, in connected groups.
    pub open: Vec<OpenBonds>,
    /// Floating nodes that are the reference of the across variables in their part of the graph.
    pub references: Vec<String>,
    /// Sources that cannot set their variable, as indices in `ports`.
    pub conflicts: Vec<usize>,
    /// Ports whose strokes the user set, as indices in `ports`.
    pub by_hand: Vec<usize>,
    /// The normal tree; none if the model has no branches.
    pub tree: Option<NormalTree>,
}

/// A junction.
#[derive(Clone, Debug)]
pub struct Junction {
    /// The name of the node, or `1(spring)` for a branch between two nodes.
    pub name: String,
    /// 0 or 1.
    pub kind: JunctionKind,
    /// The bond that sets the common variable, from 0; none if the junction is in a loop that is solved as a whole.
    pub set_by: Option<usize>,
}

/// One end of a bond: an index among the junctions or the ports, from 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    /// A junction.
    Junction(usize),
    /// A port.
    Port(usize),
}

/// A bond; power is positive from tail to head.
#[derive(Clone, Debug)]
pub struct Bond {
    /// The end at which the arrow starts.
    pub tail: End,
    /// The end to which the arrow points.
    pub head: End,
    /// The end with the causal stroke, where effort acts; none for a bond of a loop that is solved as a whole.
    pub effort_at: Option<End>,
}

/// The kind of element that owns a port.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// A source that sets this variable.
    Source(Variable),
    /// Storage whose co-energy is this variable.
    Storage(Variable),
    /// Not an element of the author's model, but a velocity that is a state because a modulus depends on its integral.
    Velocity,
    /// A dissipator, linear or not.
    Dissipator,
    /// A coupler.
    Coupler,
}

/// A port of an element.
#[derive(Clone, Debug)]
pub struct Port {
    /// `mass`, `gears.a`; `m[2]` for vectors.
    pub name: String,
    /// The element.
    pub element: String,
    /// The name of its definition.
    pub kind: Arc<str>,
    /// The role of the port.
    pub role: Role,
    /// Effort and flow in the words of the port's domain.
    pub words: (String, String),
    /// True if the across variable is the effort; none without a domain.
    pub effort_is_across: Option<bool>,
    /// The variable that the rest of the model sets; the law of the element sets the other one. None for a port of a coupler within a loop.
    pub taken: Option<Variable>,
}

/// Storage at one port.
#[derive(Clone, Debug)]
pub struct Storage {
    /// The index in `ports`.
    pub port: usize,
    /// The number of the port within its element, from 1.
    pub number: usize,
    /// True if it has a state of its own.
    pub is_integral: bool,
    /// The state, if it has one.
    pub state: Option<Arc<str>>,
    /// The ports that determine it, with the causal path to each; empty for integral causality.
    pub follows: Vec<CausalPath>,
    /// The reason.
    pub because: String,
}

/// A causal path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CausalPath {
    /// The end of the path, as an index in `ports`.
    pub to: usize,
    /// Elements and junctions from the dependent port to this one, including both.
    pub through: Vec<String>,
}

/// The reason for a bond's stroke.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cause {
    /// The bond belongs to a source.
    Source,
    /// The user set it.
    Hand,
    /// Storage took integral causality.
    Storage,
    /// The law of the element can set only one variable, or one better than the other.
    Law,
    /// No earlier rule applied; the dissipator sets the variable that is cheaper to compute.
    Dissipator,
    /// The other bonds of a junction left one possibility.
    Junction,
    /// The other bonds of a coupler left one possibility.
    Coupler,
    /// The equations of a loop of bonds left one possibility.
    Loop,
}

impl Cause {
    /// Returns the name used in JSON.
    pub fn word(self) -> &'static str {
        match self {
            Cause::Source => "source",
            Cause::Hand => "by hand",
            Cause::Storage => "storage",
            Cause::Law => "law",
            Cause::Dissipator => "dissipator",
            Cause::Junction => "junction",
            Cause::Coupler => "coupler",
            Cause::Loop => "loop",
        }
    }
}

/// One step of the assignment.
#[derive(Clone, Debug)]
pub struct Step {
    /// The bond, from 0.
    pub bond: usize,
    /// The cause.
    pub cause: Cause,
    /// The deciding element or junction.
    pub by: String,
    /// The reason.
    pub because: String,
}

/// An algebraic loop.
#[derive(Clone, Debug)]
pub struct AlgebraicLoop {
    /// The members, as indices in `ports`.
    pub ports: Vec<usize>,
    /// The junctions and couplers between them.
    pub through: Vec<String>,
}

/// A loop that Newton's method solves during a run.
#[derive(Clone, Debug)]
pub struct RunTimeLoop {
    /// The number of variables searched for.
    pub unknowns: usize,
    /// The names of these variables.
    pub names: Vec<String>,
    /// True if its equations are linear.
    pub is_linear: bool,
    /// The elements whose laws must be satisfied, if they are laws of single elements.
    pub laws: Vec<Arc<str>>,
}

/// Bonds in a loop.
#[derive(Clone, Debug)]
pub struct OpenBonds {
    /// The bonds, from 0.
    pub bonds: Vec<usize>,
    /// True if an undetermined variable circulates in the loop. Otherwise the equations of the loop are solved as a whole.
    pub circulates: bool,
    /// The junctions and couplers that the bonds join.
    pub between: Vec<String>,
}

/// A normal tree: its branches contain as much A-type storage and as little T-type storage as possible.
#[derive(Clone, Debug)]
pub struct NormalTree {
    /// Branches and links, in the order in which they were decided.
    pub members: Vec<TreeMember>,
}

/// The elements between two nodes: an index among the ports or the bonds, from 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Member {
    /// The branch of a port.
    Port(usize),
    /// A bond that ends at a node acts between it and the reference.
    Bond(usize),
}

/// A branch of the linear graph, in the tree or not.
#[derive(Clone, Debug)]
pub struct TreeMember {
    /// The element.
    pub of: Member,
    /// `spring`, `gears.a`; for a bond, the element that it leads to.
    pub name: String,
    /// The nodes; `None` is the reference.
    pub ends: (Option<String>, Option<String>),
    /// The variable that it sets: its across variable if it is a branch, its through variable if it is a link.
    pub gives: Option<String>,
    /// True for a branch of the tree, false for a link; none if a loop of couplers leaves it undetermined.
    pub is_branch: Option<bool>,
    /// The rule that decided this.
    pub rule: String,
}
