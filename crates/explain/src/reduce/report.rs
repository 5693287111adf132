//! The reduction of storage fields as data.

use lgm_algebra::expr::{ExprId, Exprs};
use lgm_equations::Assigned;
use lgm_model::PortId;
use std::sync::Arc;

/// A report on the storage fields of a model. Names are those that the author chose.
#[derive(Clone, Debug)]
pub struct ReductionReport {
    /// The model's name.
    pub model: Arc<str>,
    /// Storage without a state of its own, one entry per element, in declaration order.
    pub dependent: Vec<Dependent>,
    /// Combinations of states that are constant, or that only sources change.
    pub conserved: Vec<Conserved>,
    /// True if conserved quantities were searched for; otherwise the model is too large, or its parameters are a special case.
    pub knows_conserved: bool,
}

/// The class of a dependent storage element.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Class {
    /// Determined by one storage element with a constant gain: one element can replace both.
    OneToOne,
    /// Determined by several storage elements.
    SplitPath,
    /// Determined by sources, with or without storage.
    Source,
    /// The element, or the storage that determines it, has several ports.
    Multiport,
    /// The law of the element, or a law that it follows from, is nonlinear.
    Nonlinear,
    /// The gain depends on states, inputs or time, or the path contains signals.
    Signal,
}

impl Class {
    /// Returns the name used in JSON.
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
    /// The name of the element.
    pub element: String,
    /// The independent storage elements that determine it.
    pub on: Vec<String>,
    /// The class of the element.
    pub class: Class,
    /// One path for each port that determines one of its ports.
    pub paths: Vec<GainedPath>,
    /// The equivalent parameter of the storage that keeps its state, as an expression of the language; empty if there is none.
    pub equivalent: String,
    /// The SI unit of the equivalent parameter.
    pub unit: Option<String>,
    /// The treatment, as a sentence.
    pub done: String,
}

/// A causal path with its gains.
#[derive(Clone, Debug)]
pub struct GainedPath {
    /// The port at the end of the path.
    pub to: String,
    /// Elements and junctions on the path, including both ends; junctions of bond graphs are prefixed with their digit: `I2 1B T 1A I1`.
    pub through: Vec<String>,
    /// The factor from the effort at one end to its contribution at the other end, which is an effort, or a flow beyond a gyrator. Signed;
    /// none if it is too long to read.
    pub effort_gain: Option<String>,
    /// The corresponding factor of flows.
    pub flow_gain: Option<String>,
    /// Both gains as equations between measurements.
    pub equations: Vec<String>,
}

/// A combination of stored quantities.
#[derive(Clone, Debug)]
pub struct Conserved {
    /// The combination: `first_spring.q - second_spring.q`.
    pub quantity: String,
    /// The kind of the quantity: momentum, charge, ..
    pub kind: &'static str,
    /// The storage elements in the combination.
    pub of: Vec<String>,
    /// The only sources that change it.
    pub driven_by: Vec<String>,
    /// The parameter of the equivalent single element; empty if there is none.
    pub equivalent: String,
    /// The reduction that was or can be done, as a sentence.
    pub done: String,
}

/// The report, with the data for the text of the reduced model.
#[derive(Clone, Debug)]
pub struct Reduction<'m> {
    /// The report.
    pub report: ReductionReport,
    /// Storage that one element can replace.
    pub merges: Vec<Merge>,
    /// The expressions of the model and of the merges.
    pub exprs: Exprs,
    /// The assigned causality.
    pub assigned: Assigned<'m>,
}

/// A single-port storage element that another one replaces.
#[derive(Clone, Copy, Debug)]
pub struct Merge {
    /// The port of the removed element.
    pub removed: PortId,
    /// The port of the kept element.
    pub kept: PortId,
    /// The ratio of the first element's variable to the second's: co-energies for dependent storage, conjugates for a conserved field.
    pub gain: ExprId,
    /// The reason why the merge is possible.
    pub kind: MergeKind,
    /// `M` of the removed element, as in `w = M*der(z)`.
    pub own: ExprId,
    /// `M` of the kept element before any merge.
    pub before: ExprId,
    /// `M` of the kept element after all merges.
    pub after: ExprId,
}

/// The reason why a merge is possible.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MergeKind {
    /// The co-energy of one is a multiple of the co-energy of the other.
    Dependent,
    /// The intake of one is a multiple of the intake of the other, so that a combination of both is constant.
    Conserved,
}
