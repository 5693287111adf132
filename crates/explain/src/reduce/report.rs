//! The reduction of storage fields as data.

use lgm_algebra::expr::{ExprId, Exprs};
use lgm_equations::Assigned;
use lgm_model::PortId;
use std::sync::Arc;

/// A report on the storage fields of a model. Names are those of the model's author.
#[derive(Clone, Debug)]
pub struct ReductionReport {
    /// The model's name.
    pub model: Arc<str>,
    /// Storage without a state of its own, an element each, in declaration order.
    pub dependent: Vec<Dependent>,
    /// Combinations of states that nothing changes, or sources alone.
    pub conserved: Vec<Conserved>,
    /// True if conserved quantities were looked for; otherwise the model is too large, or its parameters make a special case.
    pub knows_conserved: bool,
}

/// The class of a dependent storage element.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Class {
    /// It follows from one storage element by a constant gain: one element does for both.
    OneToOne,
    /// It follows from several storage elements.
    SplitPath,
    /// It follows from sources, alone or beside storage.
    Source,
    /// It has several ports, or the storage that it follows from has.
    Multiport,
    /// Its law, or that of what it follows from, is nonlinear.
    Nonlinear,
    /// Its gain changes with states, inputs or the time, or signals lie on its path.
    Signal,
}

impl Class {
    /// The words of the JSON.
    pub fn word(self) -> &'static str {
        match self {
            Class::OneToOne => "one to one",
            Class::SplitPath => "split path",
            Class::Source => "source",
            Class::Multiport => "multiport",
            Class::Nonlinear => "nonlinear",
            Class::Signal => "signal",
        }
    }
}

/// A dependent storage element.
#[derive(Clone, Debug)]
pub struct Dependent {
    /// Its name.
    pub element: String,
    /// The independent storage elements that determine it.
    pub on: Vec<String>,
    /// Its class.
    pub class: Class,
    /// One for each port that one of its ports follows from.
    pub paths: Vec<GainedPath>,
    /// The equivalent parameter of the storage that keeps its state, in the words of the language; empty where there is none.
    pub equivalent: String,
    /// The SI unit of the equivalent parameter.
    pub unit: Option<String>,
    /// The treatment of it, as a sentence.
    pub done: String,
}

/// A causal path with its gains.
#[derive(Clone, Debug)]
pub struct GainedPath {
    /// The port that it leads to.
    pub to: String,
    /// Elements and junctions on the way, both ends included; junctions of bond graphs begin with their digit: `I2 1B T 1A I1`.
    pub through: Vec<String>,
    /// The factor from the effort at one end to its part of the effort, or behind a gyrator of the flow, at the other end. It has a sign;
    /// none where it is too long to be read.
    pub effort_gain: Option<String>,
    /// The same of flows.
    pub flow_gain: Option<String>,
    /// Both gains as equations between measures.
    pub equations: Vec<String>,
}

/// A combination of what storage holds.
#[derive(Clone, Debug)]
pub struct Conserved {
    /// The combination: `first_spring.q - second_spring.q`.
    pub quantity: String,
    /// The kind of the quantity: momentum, charge, ..
    pub kind: &'static str,
    /// The storage elements that take part.
    pub of: Vec<String>,
    /// The sources that change it; nothing else does.
    pub driven_by: Vec<String>,
    /// The parameter of the one element that does the same; empty where there is none.
    pub equivalent: String,
    /// The reduction that was or can be done, as a sentence.
    pub done: String,
}

/// The report, with what a text of the reduced model is made of.
#[derive(Clone, Debug)]
pub struct Reduction<'m> {
    /// The report.
    pub report: ReductionReport,
    /// Storage that one element does for.
    pub merges: Vec<Merge>,
    /// The model's expressions, and those of the merges.
    pub exprs: Exprs,
    /// The causality that was decided.
    pub assigned: Assigned<'m>,
}

/// A storage element of one port that another one of one port does for.
#[derive(Clone, Copy, Debug)]
pub struct Merge {
    /// The port of the element that goes.
    pub removed: PortId,
    /// The port of the element that stays.
    pub kept: PortId,
    /// The variable of the first over that of the second: co-energies of dependent storage, conjugates of a conserved field.
    pub gain: ExprId,
    /// The reason why it is possible.
    pub kind: MergeKind,
    /// `M` of the removed element, as in `w = M*der(z)`.
    pub own: ExprId,
    /// `M` of the element that stays, before anything is merged with it.
    pub before: ExprId,
    /// `M` of the element that stays, with all that is merged with it.
    pub after: ExprId,
}

/// The reason why a merge is possible.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MergeKind {
    /// The co-energy of one is a multiple of that of the other.
    Dependent,
    /// The intake of one is a multiple of the intake of the other, so that a combination of both never changes.
    Conserved,
}
