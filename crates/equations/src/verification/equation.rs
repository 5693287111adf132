//! The equations of the flat graph by name, and the findings of verification for each.

use crate::assembly::problem::Problem;
use crate::bond::{BondGraph, Origin};
use crate::causality::structure::{self, Structure};
use lgm_model::{ElementId, Model};
use lgm_source::Span;

/// An equation of the flat graph.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) enum Equation {
    /// A row of the junction structure.
    Structure(u32),
    /// The law of an element.
    Law(ElementId),
    /// The rate of an integral of the model.
    Integral(u32),
    /// An output.
    Output(u32),
    /// The power over all ports.
    Power,
}

/// The verdict on an equation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Verdict {
    Holds,
    /// Round-off may explain the residual, or hide one.
    Open,
    /// A law or an output has no value there.
    NoValue,
    Fails,
}

/// An examined equation.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Judged {
    pub(crate) equation: Equation,
    pub(crate) verdict: Verdict,
    /// The residual relative to the largest term; for the power, relative to the sum of all magnitudes.
    pub(crate) residual: f64,
    /// The part of this that round-off may explain.
    pub(crate) rounding: f64,
}

/// The equations of a flat graph.
#[derive(Clone, Copy)]
pub(crate) struct Flat<'a> {
    pub(crate) model: &'a Model,
    pub(crate) graph: &'a BondGraph,
    pub(crate) structure: &'a Structure,
}

impl<'a> Flat<'a> {
    /// Returns the equations of the flat graph of a problem.
    pub(crate) fn of(problem: &Problem<'a>) -> Flat<'a> {
        Flat {
            model: problem.model,
            graph: problem.graph,
            structure: &problem.causality.structure,
        }
    }

    /// Returns the name and the location of an equation.
    pub(crate) fn words(&self, equation: Equation) -> (String, Span) {
        let model = self.model;
        let element = |id: ElementId| {
            let words = format!("the law of `{}`", model.element_name(id));
            (words, model.element_span(id))
        };
        match equation {
            Equation::Structure(row) => match self.structure.equations[row as usize] {
                structure::Equation::Coupler(port, _) => element(model.graph.ports[port.index()].element),
                structure::Equation::Port(port) => {
                    let id = model.graph.ports[port.index()].element;
                    let words = format!("the connection of `{}`", model.element_name(id));
                    (words, model.element_span(id))
                }
                structure::Equation::Junction(junction) => self.junction(junction),
                structure::Equation::Bond(_) => ("a bond between two junctions".into(), model.heading.span),
            },
            Equation::Law(id) => element(id),
            Equation::Integral(at) => {
                let path = model.integrals[at as usize].path;
                let words = format!("the rate of `{}`", model.path_name(path));
                (words, model.paths[path.index()].span)
            }
            Equation::Output(at) => {
                let output = &model.outputs[at as usize];
                (format!("output `{}`", output.name), output.span)
            }
            Equation::Power => ("the power balance over all ports".into(), model.heading.span),
        }
    }

    fn junction(&self, junction: u32) -> (String, Span) {
        let model = self.model;
        match self.graph.junctions[junction as usize].origin {
            Origin::Node(node) => {
                let path = model.graph.nodes[node.index()].path;
                let words = format!("the sum at `{}`", model.path_name(path));
                (words, model.paths[path.index()].span)
            }
            Origin::Branch(port) => {
                let id = model.graph.ports[port.index()].element;
                let words = format!("the branch of `{}`", model.element_name(id));
                (words, model.element_span(id))
            }
            Origin::Direct(bond) => ("the sum at a bond".into(), model.graph.bonds[bond.index()].span),
        }
    }
}
