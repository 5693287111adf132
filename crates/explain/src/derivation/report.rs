//! A derivation as data.

use crate::causality::CausalityReport;
use lgm_algebra::expr::{ExprId, Exprs, print};
use lgm_equations::bond::BondGraph;
use lgm_equations::{Options, StateSystem};
use lgm_model::{ElementId, Model};
use std::sync::Arc;

/// The parts from which a derivation is made.
#[derive(Clone, Copy)]
pub struct DerivationSource<'a> {
    /// The flat model from which the equations were derived.
    pub model: &'a Model,
    /// The bond graph of the model.
    pub graph: &'a BondGraph,
    /// The equations of the model.
    pub system: &'a StateSystem,
    /// The options of the equations.
    pub options: &'a Options,
    /// The storage elements that were requested to keep their states.
    pub retained: &'a [ElementId],
    /// The causality with which the equations are formed.
    pub causality: &'a CausalityReport,
}

/// The derivation of the state equations of a model from its elements.
#[derive(Clone, Debug)]
pub struct Derivation {
    /// The model's name.
    pub model: Arc<str>,
    /// The arena of all expressions here. Variables are symbols with the author's names: `mass.F`, `piston.a.Q`, `I1.e`.
    pub exprs: Exprs,
    /// The steps in order.
    pub steps: Vec<Step>,
}

/// One equation with its position in the derivation.
#[derive(Clone, Debug)]
pub struct Step {
    /// The number of the step, from 1.
    pub number: usize,
    /// The kind of the equation.
    pub rule: Rule,
    /// The owner of the equation: the element, the node, the link that closes the loop, the junction; empty for other rules.
    pub of: String,
    /// The equation.
    pub sides: Sides,
    /// The numbers of the steps from which it follows; for a substitution, the equation that is substituted into comes first.
    pub because: Vec<usize>,
    /// The variables for which the steps are solved together, if they form a loop.
    pub together: Vec<String>,
    /// True if the step is the time derivative of the first step in `because`.
    pub is_derivative: bool,
}

impl Step {
    /// Returns true if the preceding steps were solved together for the variable on the left. Other steps of a loop remain to be solved.
    pub fn is_solution(&self, exprs: &Exprs) -> bool {
        match &self.sides {
            Sides::Scalar(left, _) => self.together.contains(&print::text(exprs, *left)),
            Sides::Written { .. } => false,
        }
    }
}

/// The two sides of an equation.
#[derive(Clone, Debug)]
pub enum Sides {
    /// Expressions.
    Scalar(ExprId, ExprId),
    /// An equation between vectors.
    Written {
        /// In plain text.
        text: String,
        /// In LaTeX.
        latex: String,
        /// In Typst.
        typst: String,
    },
}

impl Sides {
    /// Returns the equation in plain text.
    pub fn text(&self, exprs: &Exprs) -> String {
        match self {
            Sides::Scalar(left, right) => equation(exprs, print::text, *left, *right),
            Sides::Written { text, .. } => text.clone(),
        }
    }

    /// Returns the equation in LaTeX.
    pub fn latex(&self, exprs: &Exprs) -> String {
        match self {
            Sides::Scalar(left, right) => equation(exprs, print::latex, *left, *right),
            Sides::Written { latex, .. } => latex.clone(),
        }
    }

    /// Returns the equation in Typst.
    pub fn typst(&self, exprs: &Exprs) -> String {
        match self {
            Sides::Scalar(left, right) => equation(exprs, print::typst, *left, *right),
            Sides::Written { typst, .. } => typst.clone(),
        }
    }
}

fn equation(exprs: &Exprs, printed: fn(&Exprs, ExprId) -> String, left: ExprId, right: ExprId) -> String {
    format!("{} = {}", printed(exprs, left), printed(exprs, right))
}

/// The kind of the equation of a step.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Rule {
    /// The rate of a state, from storage with its own state.
    Shell,
    /// Any other law of an element.
    Constitutive,
    /// The through variables at a node add up to zero.
    Node,
    /// The across variables around a loop of one link and branches of the tree add up to zero.
    Loop,
    /// The variable that the bonds of a junction share, and the sum that is zero.
    Junction,
    /// Variables were replaced by their values from other steps.
    Substitution,
    /// An equation of the model, as printed by `lgm equations`.
    Result,
    /// The entries of a matrix in equations between vectors.
    Matrix,
}

impl Rule {
    /// All rules in the order of their steps.
    pub const ALL: [Rule; 8] = [
        Rule::Shell,
        Rule::Constitutive,
        Rule::Node,
        Rule::Loop,
        Rule::Junction,
        Rule::Substitution,
        Rule::Result,
        Rule::Matrix,
    ];

    /// Returns the name used in JSON.
    pub fn word(self) -> &'static str {
        match self {
            Rule::Shell => "shell",
            Rule::Constitutive => "constitutive",
            Rule::Node => "node",
            Rule::Loop => "loop",
            Rule::Junction => "junction",
            Rule::Substitution => "substitution",
            Rule::Result => "result",
            Rule::Matrix => "matrix",
        }
    }

    /// Returns the heading of the rule's steps.
    pub fn heading(self) -> &'static str {
        match self {
            Rule::Shell => "State-space shell",
            Rule::Constitutive => "Other constitutive equations",
            Rule::Node => "Node equations",
            Rule::Loop => "Loop equations",
            Rule::Junction => "Junctions",
            Rule::Substitution => "Elimination",
            Rule::Result => "Result",
            Rule::Matrix => "Matrices",
        }
    }
}
