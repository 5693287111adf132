//! Initial values of dependent storage: each is a constraint on the initial values of the states (language 9).

use crate::assembly::assemble::is_variable;
use crate::assembly::run::Run;
use crate::causality::Causality;
use crate::state_selection::links::Links;
use lgm_algebra::expr::{ExprId, Exprs, Function, Node, SymbolId, SymbolKind};
use lgm_model::system::{StartConstraint, StateSystem};
use lgm_model::{Law, Model, PortId, StateChoice, StorageForm};
use rustc_hash::FxHashMap;
use std::sync::Arc;

/// Returns each `start` given on dependent storage, and its value from the states, over their symbols.
pub(crate) fn constraints<E>(
    model: &Model,
    causality: &Causality,
    system: &mut StateSystem,
    run: &Run<E>,
    links: &mut Links,
    present: &mut dyn FnMut(&mut Exprs, &E) -> ExprId,
) -> Vec<StartConstraint> {
    link(model, causality, system, run, links);
    let mut exprs = std::mem::take(&mut system.exprs);
    let mut list = Vec::new();
    for (port, row) in causality.dependent.iter().zip(&run.dependent_co_energy) {
        let element = &model.graph.elements[model.graph.ports[port.index()].element.index()];
        let at = (port.0 - element.ports.start) as usize;
        let Some(Some(given)) = element.start.get(at) else {
            continue;
        };
        let mut terms = Vec::new();
        for (column, factor) in row {
            let columns = run.columns;
            let variable = if (*column as usize) < system.states.len() {
                exprs.symbol(system.states[*column as usize].symbol)
            } else if *column < columns.input_rate(0) {
                exprs.symbol(system.inputs[(*column - columns.input(0)) as usize].symbol)
            } else if (columns.constant(0)..columns.constant_rate(0)).contains(column) {
                run.constants[(*column - columns.constant(0)) as usize]
            } else {
                continue;
            };
            let factor = present(&mut exprs, factor);
            terms.push(exprs.mul(factor, variable));
        }
        let co_energy = exprs.sum(terms);
        let follows = match natural_factor(model, *port, &mut exprs) {
            Some(factor) => exprs.mul(factor, co_energy),
            None => co_energy,
        };
        links.dependent.push(*port);
        list.push(StartConstraint {
            name: port_name(model, *port),
            is_storage: true,
            given: *given,
            follows,
            span: element.start_span.unwrap_or(element.law_span),
        });
    }
    system.exprs = exprs;
    list
}

/// Determines the ports with states, and the ties of dependent storage: first from the structure only, then with controlled sources.
fn link<E>(model: &Model, causality: &Causality, system: &StateSystem, run: &Run<E>, links: &mut Links) {
    *links = Links::default();
    let states: Vec<SymbolId> = system.states.iter().map(|state| state.symbol).collect();
    let states = &states[..causality.independent.len()];
    let state = |column: u32| states.get(column as usize).copied();
    let columns = run.columns;
    let is_switched = |column: u32| {
        // A declared state with a nonzero initial value drives the sources that it controls, as a constant does.
        if let Some(declared) = system.states.get(column as usize) {
            let is_storage = (column as usize) < states.len();
            return !is_storage && declared.start_given && declared.start_value != 0.0;
        }
        let constants = columns.constant(0)..columns.constant_rate(0);
        let constant = |column: u32| run.constants[(column - columns.constant(0)) as usize];
        constants.contains(&column) && is_over_parameters(&system.exprs, constant(column))
    };
    links.carry(model, &causality.independent, states);
    links.tie(&run.couplings, state, |_| false);
    links.tie(&run.dependent_co_energy, state, is_switched);
}

/// Returns true if an expression is constant in time and nonzero.
fn is_over_parameters(exprs: &Exprs, id: ExprId) -> bool {
    let mut nodes = exprs.reachable(&[id]).into_iter();
    let is_constant = |id: ExprId| match exprs.node(id) {
        Node::Symbol(symbol) => exprs.symbol_info(*symbol).kind == SymbolKind::Parameter,
        Node::Call(function, _) => !matches!(
            function,
            Function::Step | Function::Pulse | Function::Ramp | Function::Int | Function::Der
        ),
        _ => true,
    };
    !exprs.is_zero(id) && nodes.all(is_constant)
}

/// Returns the initial values of declared states that are known in advance; `None` represents 0.
pub(crate) fn declared_starts(model: &Model) -> FxHashMap<SymbolId, Option<ExprId>> {
    let declared = model.integrals.iter();
    let declared = declared.filter(|integral| integral.is_state() && !integral.is_guess && integral.owner.is_none());
    declared.map(|integral| (integral.symbol, integral.start)).collect()
}

/// Returns the part of a source's value that depends only on parameters and on declared states at their initial values;
/// `None` if it has no such part.
pub(crate) fn constant_part(
    exprs: &mut Exprs,
    value: ExprId,
    starts: &FxHashMap<SymbolId, Option<ExprId>>,
) -> Option<ExprId> {
    let zero = exprs.zero();
    let at_start = |symbol: SymbolId| starts.get(&symbol).map(|start| start.unwrap_or(zero));
    let value = exprs.substitute(&[value], at_start)[0];
    let rest = exprs.affine(value, &is_variable)?.rest;
    is_over_parameters(exprs, rest).then_some(rest)
}

/// Returns the factor from co-energy to the variable whose initial value the user gives; `None` if it is 1, as for graph elements.
pub(crate) fn natural_factor(model: &Model, port: PortId, exprs: &mut Exprs) -> Option<ExprId> {
    let element = &model.graph.elements[model.graph.ports[port.index()].element.index()];
    let at = (port.0 - element.ports.start) as usize;
    match (&element.law, element.state_choice) {
        (Law::Storage { value, form, .. }, StateChoice::Energy) => Some(match form {
            StorageForm::Direct => value.get(at, at),
            StorageForm::Inverse => {
                let one = exprs.one();
                exprs.div(one, value.get(at, at))
            }
        }),
        _ => None,
    }
}

/// Returns the name of a dependent storage port, with its index if the element has several: `bob[1]`.
pub(crate) fn port_name(model: &Model, port: PortId) -> Arc<str> {
    let about = &model.graph.ports[port.index()];
    let name = model.element_name(about.element);
    match about.entry {
        Some(entry) => format!("{name}[{entry}]").into(),
        None => name.into(),
    }
}
