//! A derivation as data.

use crate::causality::CausalityReport;
use lgm_algebra::expr::{ExprId, Exprs, print};
use lgm_equations::bond::BondGraph;
use lgm_equations::{Options, StateSystem};
use lgm_model::{ElementId, Model};
use std::sync::Arc;

/// The parts from which a derivation is made.
#[derive(Clone, Copy)]
pub struct Given<'a> {
    /// The flat model that the equations were made from.
    pub model: &'a Model,
    /// Its bond graph.
    pub graph: &'a BondGraph,
    /// Its equations.
    pub system: &'a StateSystem,
    /// The options of the equations.
    pub options: &'a Options,
    /// The storage elements that were to keep their states.
    pub retained: &'a [ElementId],
    /// The causality that the equations are formed with.
    pub causality: &'a CausalityReport,
}

/// The way from the elements of a model to its state equations.
#[derive(Clone, Debug)]
pub struct Derivation {
    /// The model's name.
    pub model: Arc<str>,
    /// The arena of all expressions here. Variables are symbols of the author's names: `mass.F`, `piston.a.Q`, `I1.e`.
    pub exprs: Exprs,
    /// The steps in their order.
    pub steps: Vec<Step>,
}

/// One equation with its place in the derivation.
#[derive(Clone, Debug)]
pub struct Step {
    /// Its number, from 1.
    pub number: usize,
    /// The kind of the equation.
    pub rule: Rule,
    /// The part to which it belongs: the element, the node, the link that closes the loop, the junction; empty for other rules.
    pub of: String,
    /// Its left side.
    pub left: ExprId,
    /// Its right side.
    pub right: ExprId,
    /// The numbers of the steps that it follows from; a substitution has the equation that is substituted into first.
    pub because: Vec<usize>,
    /// Variables that the steps are solved for together, where they make a loop.
    pub together: Vec<String>,
    /// True if it is the time derivative of the first of them.
    pub is_derivative: bool,
}

impl Step {
    /// Returns true if the steps before it were solved together for the variable on its left. Other steps of a loop are left to be solved.
    pub fn is_solution(&self, exprs: &Exprs) -> bool {
        let left = print::text(exprs, self.left);
        self.together.contains(&left)
    }
}

/// The kind of the equation of a step.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Rule {
    /// Storage with a state of its own: the rate of the state.
    Shell,
    /// Any other law of an element.
    Constitutive,
    /// The through variables at a node add up to zero.
    Node,
    /// The across variables around a loop of one link and branches of the tree add up to zero.
    Loop,
    /// The variable that the bonds of a junction share, and the sum that is zero.
    Junction,
    /// Variables were replaced by what other steps say of them.
    Substitution,
    /// An equation of the model, as `lgm equations` prints it.
    Result,
}

impl Rule {
    /// All rules in the order of their steps.
    pub const ALL: [Rule; 7] = [
        Rule::Shell,
        Rule::Constitutive,
        Rule::Node,
        Rule::Loop,
        Rule::Junction,
        Rule::Substitution,
        Rule::Result,
    ];

    /// The word of the JSON.
    pub fn word(self) -> &'static str {
        match self {
            Rule::Shell => "shell",
            Rule::Constitutive => "constitutive",
            Rule::Node => "node",
            Rule::Loop => "loop",
            Rule::Junction => "junction",
            Rule::Substitution => "substitution",
            Rule::Result => "result",
        }
    }

    /// The heading over its steps.
    pub fn heading(self) -> &'static str {
        match self {
            Rule::Shell => "State-space shell",
            Rule::Constitutive => "Other constitutive equations",
            Rule::Node => "Node equations",
            Rule::Loop => "Loop equations",
            Rule::Junction => "Junctions",
            Rule::Substitution => "Elimination",
            Rule::Result => "Result",
        }
    }
}
