//! The variables of the flat graph as sums over states and inputs.
//!
//! They support claims about another graph: that of the same model with more equal sections.

use crate::assembly::problem::Problem;
use crate::assembly::states::StateRequest;
use crate::bond::BondGraph;
use crate::causality::Request;
use crate::causality::structure::column_port;
use crate::state_selection::decision::decide;
use crate::verification::flat_run::flat_run;
use crate::verification::points::{Numbers, parameter_set};
use lgm_algebra::{ExactValues, Field};
use lgm_model::{ElementId, Model, PortId, Variable};
use num_rational::BigRational;

/// A port variable as a sum over the given variables.
#[derive(Clone, Debug)]
pub struct Reach {
    /// The port.
    pub port: PortId,
    /// Its effort or its flow.
    pub variable: Variable,
    /// The given variables that determine it, with exact factors.
    pub terms: Vec<(Term, BigRational)>,
}

/// A given variable.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Term {
    /// A state, by index.
    State(usize),
    /// An input.
    Input(usize),
    /// The rate of an input.
    InputRate(usize),
    /// The number 1.
    One,
}

/// Returns every port variable that the equations of the flat graph determine, at parameter values near the given ones.
///
/// `retain` and `states` must be the same as for the derivation of the equations. Returns `None` for nonlinear models,
/// for models with functions of time in their laws, and if exact numbers grow too long.
pub fn reaches(model: &Model, graph: &BondGraph, retain: &[ElementId], states: StateRequest) -> Option<Vec<Reach>> {
    if crate::assembly::linearity::applies(model) {
        return None;
    }
    let request = Request::retaining(retain);
    let (causality, _, _) = decide(model, graph, &request);
    let problem = Problem {
        model,
        graph,
        causality: &causality,
        states,
    };
    let values = parameter_set(model, 1);
    let mut field = ExactValues::with_values(&values);
    let flat = flat_run(problem, &mut field).ok()?;
    let columns = flat.run.columns;
    let number = |list: &[lgm_algebra::expr::ExprId]| {
        let known = |symbol| values.get(&symbol).cloned();
        flat.exprs.evaluate_exact(list, &known).ok()
    };
    let mut constants = number(&flat.run.constants)?;
    constants.extend(number(&flat.run.constant_rates)?);
    let first_input = columns.states();
    let first_constant = columns.constant(0) as usize;
    let ports = 2 * model.graph.ports.len();
    let (_, rows) = flat.run.measures.split_at(model.measures.len());
    let mut found = Vec::new();
    for (column, row) in flat.wanted.iter().zip(rows) {
        if *column as usize >= ports {
            continue;
        }
        let (port, variable) = column_port(*column);
        let mut terms: Vec<(Term, BigRational)> = Vec::with_capacity(row.len());
        let mut one = field.zero();
        for (column, factor) in row {
            let at = *column as usize;
            if at >= first_constant {
                let constant = constants.get(at - first_constant)?;
                let product = field.mul(factor, constant);
                one = field.add(&one, &product);
                continue;
            }
            let term = match at.checked_sub(first_input) {
                None => Term::State(at),
                Some(input) if input < columns.inputs => Term::Input(input),
                Some(input) => Term::InputRate(input - columns.inputs),
            };
            terms.push((term, factor.clone()));
        }
        if !field.is_zero(&one) {
            terms.push((Term::One, one));
        }
        terms.sort();
        found.push(Reach { port, variable, terms });
    }
    (!field.exhausted()).then_some(found)
}
