//! Equations extended by the derivatives of states and outputs with respect to parameters.
//!
//! With `x' = f(x, u, p)` and `y = h(x, u, p)` the sensitivities S = dx/dp follow from `S' = f_x S + f_p`, and dy/dp is `h_x S + h_p`. All
//! derivatives are expressions, and the extended system runs like any other.

use lgm_algebra::expr::{ExprId, Function, Gradient, GradientRow, Node, SymbolId, SymbolKind};
use lgm_model::system::{State, StateSystem};
use rustc_hash::FxHashSet;

/// The maximum number of states times parameters; beyond it, differences of runs are cheaper to compile.
const MOST: usize = 400;

/// Returns the system with further states dx/dp, one for each parameter and state, and further outputs dy/dp. `None` if these are not the
/// derivatives of the motion: if switching instants depend on the parameters, with algebraic loops, or if initial values are found
/// numerically. Also `None` if an input's rate or own signal depends on a parameter.
pub fn with_sensitivities(system: &StateSystem, parameters: &[SymbolId]) -> Option<StateSystem> {
    let is_plain =
        system.equations.loops.is_empty() && system.equations.mass_matrix.is_none() && system.starts.search.is_none();
    if !is_plain || system.states.len() * parameters.len() > MOST || !is_smooth(system) {
        return None;
    }
    let mut found = system.clone();
    let columns: Vec<SymbolId> = system
        .states
        .iter()
        .map(|state| state.symbol)
        .chain(parameters.iter().copied())
        .collect();
    let mut gradient = Gradient::new(&mut found.exprs, &columns);
    for entry in system.parameters.iter().flat_map(|parameter| &parameter.entries) {
        if let Some(derived) = entry.derived.filter(|_| !parameters.contains(&entry.symbol)) {
            gradient.define(&mut found.exprs, entry.symbol, derived).ok()?;
        }
    }
    for input in &system.inputs {
        if let Some(signal) = input.signal
            && !gradient.row(&mut found.exprs, signal).ok()?.is_empty()
        {
            return None;
        }
    }
    for assignment in &system.equations.assignments {
        gradient
            .define(&mut found.exprs, assignment.symbol, assignment.value)
            .ok()?;
    }
    let count = system.states.len();
    let symbols = sensitivity_states(&mut found, &mut gradient, parameters, count)?;
    let mut rates = Vec::with_capacity(count * parameters.len());
    let mut shown = Vec::new();
    for (at, own) in symbols.iter().enumerate() {
        for root in &system.equations.derivatives {
            let row = gradient.row(&mut found.exprs, *root).ok()?;
            rates.push(along(&mut found, &row, own, count, at));
        }
        for root in &system.equations.output_values {
            let row = gradient.row(&mut found.exprs, *root).ok()?;
            shown.push(along(&mut found, &row, own, count, at));
        }
    }
    found.equations.derivatives.extend(rates);
    found.equations.output_values.extend(shown);
    let outputs: Vec<_> = parameters.iter().flat_map(|_| system.outputs.iter().cloned()).collect();
    found.outputs.extend(outputs);
    found.equations.linear = false;
    (
        found.matrices.symbolic,
        found.matrices.numeric,
        found.equations.mass_form,
        found.matrices.blocks,
    ) = (None, None, None, None);
    found.equations.rate_blocks.clear();
    Some(found)
}

/// Returns the product of `row` and S for one parameter.
fn along(found: &mut StateSystem, row: &GradientRow, own: &[ExprId], count: usize, parameter: usize) -> ExprId {
    let mut terms = Vec::with_capacity(row.len());
    for (column, rate) in row.iter() {
        match (*column as usize).checked_sub(count) {
            None => terms.push(found.exprs.mul(*rate, own[*column as usize])),
            Some(at) if at == parameter => terms.push(*rate),
            Some(_) => {}
        }
    }
    found.exprs.sum(terms)
}

/// Adds a state for each parameter and state; returns the symbols, parameter by parameter.
fn sensitivity_states(
    found: &mut StateSystem,
    gradient: &mut Gradient,
    parameters: &[SymbolId],
    count: usize,
) -> Option<Vec<Vec<ExprId>>> {
    let values = crate::values::parameter_values(found);
    let states: Vec<State> = found.states.clone();
    let mut all = Vec::with_capacity(parameters.len());
    for (at, parameter) in parameters.iter().enumerate() {
        let named = found.exprs.symbol_info(*parameter).name.clone();
        let mut own = Vec::with_capacity(count);
        for state in &states {
            let row = gradient.row(&mut found.exprs, state.start).ok()?;
            let wanted = row.iter().find(|entry| entry.0 as usize == count + at);
            let start = wanted.map_or_else(|| found.exprs.zero(), |entry| entry.1);
            let name = format!("d {}/d {named}", state.name);
            let symbol = found.exprs.new_symbol(name.as_str(), SymbolKind::State);
            own.push(found.exprs.symbol(symbol));
            let start_value = found
                .exprs
                .evaluate_unchecked(&[start], &|symbol| values.get(&symbol).copied())[0];
            found.states.push(State {
                name: name.into(),
                symbol,
                start,
                start_value,
                unit: None,
                nominal: None,
                written: None,
                ..state.clone()
            });
        }
        all.push(own);
    }
    Some(all)
}

/// Returns true if no equation switches depending on states, and no rate of an input acts.
fn is_smooth(system: &StateSystem) -> bool {
    let mut moving: FxHashSet<SymbolId> = system.states.iter().map(|state| state.symbol).collect();
    moving.extend(system.equations.assignments.iter().map(|assignment| assignment.symbol));
    let assigned = system.equations.assignments.iter().map(|assignment| assignment.value);
    let roots: Vec<ExprId> = system.right_sides().chain(assigned).collect();
    let rates: FxHashSet<SymbolId> = system.input_rates.iter().copied().collect();
    let symbols = system.exprs.symbols_of(&roots);
    if symbols.iter().any(|symbol| rates.contains(symbol)) {
        return false;
    }
    system.exprs.reachable(&roots).into_iter().all(|id| {
        let is_side = matches!(
            system.exprs.node(id),
            Node::Relation(..)
                | Node::Not(_)
                | Node::If(..)
                | Node::Call(Function::Sign | Function::Floor | Function::Step | Function::Pulse, _)
        );
        !is_side
            || !system
                .exprs
                .symbols_of(&[id])
                .iter()
                .any(|symbol| moving.contains(symbol) || is_parameter(system, *symbol))
    })
}

fn is_parameter(system: &StateSystem, symbol: SymbolId) -> bool {
    system.exprs.symbol_info(symbol).kind == SymbolKind::Parameter
}
