//! Algebraic loops: the elements whose laws must be solved simultaneously, and the solution method.

use crate::snapshot::storage::listed;
use lgm_compilation::Compilation;

/// For models with more elements than this, hovers show no causal paths: following them takes too long.
const LARGEST: usize = 1000;

/// The maximum number of elements of a loop that are named.
const NAMED: usize = 6;

/// The solution method of a loop.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Solved {
    /// The elimination has solved it.
    Before,
    /// A linear system in each evaluation of the right-hand side.
    Linear,
    /// Newton's method in each evaluation of the right-hand side.
    Newton,
}

/// An algebraic loop of the model.
#[derive(Clone, Debug)]
pub(crate) struct Loop {
    /// The elements whose laws must be solved simultaneously.
    pub elements: Vec<String>,
    between: Vec<String>,
    solved: Solved,
}

impl Loop {
    /// Returns a few words for a hint: `linear loop with r2`.
    pub(crate) fn words(&self, own: &str, most: usize) -> String {
        let others = self.elements.iter().map(String::as_str).filter(|name| *name != own);
        let others: Vec<&str> = others.collect();
        let with = match others.is_empty() {
            true => String::new(),
            false => format!(" with {}", listed(&others, most)),
        };
        match self.solved {
            Solved::Before | Solved::Linear => format!("linear loop{with}"),
            Solved::Newton => format!("Newton loop{with}"),
        }
    }

    /// Returns a paragraph for a hover.
    pub(crate) fn paragraph(&self) -> String {
        let quoted = |names: &[String]| {
            let names: Vec<String> = names.iter().map(|name| format!("`{name}`")).collect();
            listed(&names.iter().map(String::as_str).collect::<Vec<_>>(), NAMED)
        };
        let between = match self.between.is_empty() {
            true => String::new(),
            false => format!(", by way of {}", quoted(&self.between)),
        };
        let solved = match self.solved {
            Solved::Before => "It is linear, and solved before the run.",
            Solved::Linear => "It is linear, and solved at each instant of a run.",
            Solved::Newton => "Newton's method solves it at each instant of a run.",
        };
        format!("In an algebraic loop of {}{between}. {solved}", quoted(&self.elements))
    }
}

/// Returns the loops of the model; none if it has no equations, or if it is large.
pub(crate) fn loops(compilation: &Compilation) -> Vec<Loop> {
    let is_small = |count: usize| count <= LARGEST;
    let report = match (compilation.model(), compilation.system()) {
        (Some(model), Some(_)) if is_small(model.graph.elements.len()) => compilation.causality(),
        _ => None,
    };
    let Some(report) = report else {
        return Vec::new();
    };
    let at_run_time = |is_of: &dyn Fn(&str) -> bool| {
        let mut own = report.at_run_time.iter();
        own.find(|each| each.laws.iter().any(|law| is_of(law)))
    };
    let solved = |is_linear: bool| if is_linear { Solved::Linear } else { Solved::Newton };
    let mut found: Vec<Loop> = Vec::new();
    for each in &report.loops {
        let mut elements: Vec<String> = each
            .ports
            .iter()
            .map(|port| report.ports[*port].element.clone())
            .collect();
        elements.dedup();
        let own = at_run_time(&|law| elements.iter().any(|element| *element == *law));
        found.push(Loop {
            solved: own.map_or(Solved::Before, |each| solved(each.is_linear)),
            between: each.through.clone(),
            elements,
        });
    }
    for each in &report.at_run_time {
        let is_known = |law: &str| {
            found
                .iter()
                .any(|known| known.elements.iter().any(|element| *element == *law))
        };
        if !each.laws.is_empty() && !each.laws.iter().any(|law| is_known(law)) {
            found.push(Loop {
                elements: each.laws.iter().map(ToString::to_string).collect(),
                between: Vec::new(),
                solved: solved(each.is_linear),
            });
        }
    }
    found
}
