//! The causality of a model as data.

use lgm_model::{JunctionKind, Variable};
use std::sync::Arc;

/// What is known of the causality of a model: the one that its equations are formed with. Names are those of the model's author.
#[derive(Clone, Debug)]
pub struct CausalityReport {
    /// The model's name.
    pub model: Arc<str>,
    /// Junctions: those that were declared, and those that nodes and branches of a linear graph stand for.
    pub junctions: Vec<Junction>,
    /// Bonds between junctions, and between junctions and ports.
    pub bonds: Vec<Bond>,
    /// Whether the author drew bonds; otherwise all of them stand for branches.
    pub has_drawn_bonds: bool,
    /// Ports of elements, in declaration order.
    pub ports: Vec<Port>,
    /// Storage, a port each, in declaration order.
    pub storage: Vec<Storage>,
    /// Bonds with strokes in the order in which they got them.
    pub order: Vec<Step>,
    /// Ports whose results depend on each other at the same instant; none if there are conflicts.
    pub loops: Vec<AlgebraicLoop>,
    /// Loops that are left to be solved during a run; none if there are no equations.
    pub at_run_time: Vec<RunTimeLoop>,
    /// Bonds without strokes, in groups that hang together.
    pub open: Vec<OpenBonds>,
    /// Floating nodes that the across variables of their part of the graph are counted from.
    pub references: Vec<String>,
    /// Sources that cannot set their variable, as places in `ports`.
    pub conflicts: Vec<usize>,
    /// The normal tree; none if the model has no branches.
    pub tree: Option<NormalTree>,
}

/// A junction.
#[derive(Clone, Debug)]
pub struct Junction {
    /// Its name: that of the node, or `1(spring)` where it belongs to a branch between two nodes.
    pub name: String,
    /// 0 or 1.
    pub kind: JunctionKind,
    /// The bond that sets its common variable, from 0; none where the loop that it lies in is solved as a whole.
    pub set_by: Option<usize>,
}

/// One end of a bond: a place among the junctions or the ports, from 0.
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
    /// Where it comes from.
    pub tail: End,
    /// Where it goes to.
    pub head: End,
    /// The end with the causal stroke, where effort acts; none for a bond of a loop that is solved as a whole.
    pub effort_at: Option<End>,
}

/// What kind of element a port belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// A source that gives this variable.
    Source(Variable),
    /// Storage whose co-energy is this variable.
    Storage(Variable),
    /// No element of the author's, but a velocity that is a state since a modulus depends on its integral.
    Velocity,
    /// A dissipator, linear or not.
    Dissipator,
    /// A coupler.
    Coupler,
}

/// A port of an element.
#[derive(Clone, Debug)]
pub struct Port {
    /// `mass`, `gears.a`, of vectors `m[2]`.
    pub name: String,
    /// The element.
    pub element: String,
    /// The name of its definition.
    pub kind: Arc<str>,
    /// What it is.
    pub role: Role,
    /// Effort and flow in the words of the port's domain.
    pub words: (String, String),
    /// Whether the across variable is the effort; none without a domain.
    pub effort_is_across: Option<bool>,
    /// The variable that the rest of the model gives; its law gives the other one. None for a port of a coupler within a loop.
    pub taken: Option<Variable>,
}

/// Storage at one port.
#[derive(Clone, Debug)]
pub struct Storage {
    /// Its place in `ports`.
    pub port: usize,
    /// Its place among the ports of its element, from 1.
    pub number: usize,
    /// Whether it has a state of its own.
    pub is_integral: bool,
    /// The state, where there is one.
    pub state: Option<Arc<str>>,
    /// The ports that it follows from, with the causal path to each; empty for integral causality.
    pub follows: Vec<CausalPath>,
    /// The reason.
    pub because: String,
}

/// A causal path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CausalPath {
    /// The place of its end in `ports`.
    pub to: usize,
    /// Elements and junctions from the port that follows to this one, both included.
    pub through: Vec<String>,
}

/// Why a bond got its stroke.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cause {
    /// It is the bond of a source.
    Source,
    /// Storage took integral causality.
    Storage,
    /// The law of the element gives one variable only, or one better than the other.
    Law,
    /// Nothing decided it before; the dissipator takes what is cheaper.
    Dissipator,
    /// The other bonds of a junction left one possibility.
    Junction,
    /// The other bonds of a coupler left one possibility.
    Coupler,
    /// The equations of a loop of bonds left one possibility.
    Loop,
}

impl Cause {
    /// The word of the JSON.
    pub fn word(self) -> &'static str {
        match self {
            Cause::Source => "source",
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
    /// Why.
    pub cause: Cause,
    /// The element or junction that decided.
    pub by: String,
    /// The reason.
    pub because: String,
}

/// An algebraic loop.
#[derive(Clone, Debug)]
pub struct AlgebraicLoop {
    /// Its members, as places in `ports`.
    pub ports: Vec<usize>,
    /// The junctions and couplers between them.
    pub through: Vec<String>,
}

/// A loop that Newton's method solves during a run.
#[derive(Clone, Debug)]
pub struct RunTimeLoop {
    /// How many variables are looked for.
    pub unknowns: usize,
    /// Their names.
    pub names: Vec<String>,
    /// Whether its equations are linear.
    pub is_linear: bool,
    /// The elements whose laws are to be met, as far as they are laws of single elements.
    pub laws: Vec<Arc<str>>,
}

/// Bonds that lie in a loop.
#[derive(Clone, Debug)]
pub struct OpenBonds {
    /// The bonds, from 0.
    pub bonds: Vec<usize>,
    /// Whether something circulates in the loop that nothing determines. Otherwise its equations are solved as a whole.
    pub circulates: bool,
    /// The junctions and couplers that they join.
    pub between: Vec<String>,
}

/// A normal tree: as many A-type storage and as few T-type storage among its branches as there can be.
#[derive(Clone, Debug)]
pub struct NormalTree {
    /// Branches and links in the order in which they were decided.
    pub members: Vec<TreeMember>,
}

/// What acts between two nodes: a place among the ports or the bonds, from 0.
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
    /// What it is.
    pub of: Member,
    /// `spring`, `gears.a`; of a bond, what it leads to.
    pub name: String,
    /// The nodes; none is the reference.
    pub ends: (Option<String>, Option<String>),
    /// What it gives to the rest of the model: its across variable if it is a branch, its through variable if it is a link.
    pub gives: Option<String>,
    /// Whether it is a branch of the tree, and not a link; none where a loop of couplers leaves both.
    pub is_branch: Option<bool>,
    /// The rule that put it there.
    pub rule: String,
}
