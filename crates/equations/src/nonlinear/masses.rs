//! Equations of motion as people write them: masses times accelerations on the left, forces on the right.

use crate::nonlinear::inline::{READABLE, inlined, named_length};
use crate::nonlinear::loops::{MassRow, Resolved};
use lgm_algebra::expr::{ExprId, Exprs, Node, SymbolId, SymbolKind, text, to_f64};
use lgm_model::system::{Assignment, MassEquation, MassForm, StateSystem};
use lgm_readable::{Shortening, is_large};
use rustc_hash::{FxHashMap, FxHashSet};

/// Writes masses times accelerations, if that is shorter than `length` characters. Names that do not depend on
/// accelerations are kept if they shorten the result, either all of them or none.
pub(crate) fn mass_form(
    system: &StateSystem,
    exprs: &mut Exprs,
    resolved: &Resolved,
    names: &FxHashSet<SymbolId>,
    shortening: &mut Shortening,
    length: usize,
) -> Option<MassForm> {
    if resolved.mass.is_empty() || !shortening.is_read_through() {
        return None;
    }
    // Coupled accelerations are always best written as a matrix times a vector.
    let is_coupled = resolved.mass.iter().any(|row| row.terms.len() > 1);
    let length = if is_coupled { length + length / 2 } else { length };
    let mut found = with_names(system, exprs, resolved, &FxHashSet::default(), shortening, length);
    if !names.is_empty() {
        let length = found.as_ref().map_or(length, |found| found.0);
        found = with_names(system, exprs, resolved, names, shortening, length).or(found);
    }
    found.map(|found| found.1)
}

/// Writes the same form with these names; also returns its length.
fn with_names(
    system: &StateSystem,
    exprs: &mut Exprs,
    resolved: &Resolved,
    names: &FxHashSet<SymbolId>,
    shortening: &mut Shortening,
    length: usize,
) -> Option<(usize, MassForm)> {
    let rates: FxHashSet<SymbolId> = resolved.mass.iter().map(|row| row.rate).collect();
    let is_kept = |symbol: SymbolId| rates.contains(&symbol) || names.contains(&symbol);
    let mut form = inlined(exprs, resolved, |symbol| !is_kept(symbol));
    let mut named = form.assignments.clone();
    named.retain(|entry| !rates.contains(&entry.0));
    let values: Vec<ExprId> = named.iter().map(|entry| entry.1).collect();
    if exprs.symbols_of(&values).iter().any(|symbol| rates.contains(symbol)) {
        return None;
    }
    let mut states: FxHashMap<SymbolId, usize> = FxHashMap::default();
    for (state, root) in resolved.roots[..resolved.states].iter().enumerate() {
        if let Node::Symbol(rate) = exprs.node(*root) {
            states.entry(*rate).or_insert(state);
        }
    }
    // Sorted by state: each rate represents one and is solved for once.
    let mut rows: FxHashMap<usize, MassRow> = FxHashMap::default();
    let mut shown: FxHashMap<SymbolId, (u32, ExprId)> = FxHashMap::default();
    for row in std::mem::take(&mut form.mass) {
        let state = *states.get(&row.rate)?;
        let symbol = exprs.new_symbol(format!("der({})", system.states[state].name), SymbolKind::Assignment);
        shown.insert(row.rate, (state as u32, exprs.symbol(symbol)));
        rows.insert(state, row);
    }
    // No unlisted rate remains: all of them were substituted.
    let (mut budget, mut is_readable) = (length, true);
    let mut finish = |exprs: &mut Exprs, shortening: &mut Shortening, id: ExprId| {
        let id = exprs.substitute(&[id], |symbol| shown.get(&symbol).map(|entry| entry.1))[0];
        let id = shortening.shortest(exprs, id);
        if is_large(exprs, id) {
            is_readable = false;
            return id;
        }
        let written = text(exprs, id).len();
        is_readable &= written <= READABLE && written <= budget;
        budget = budget.saturating_sub(written);
        id
    };
    let mut assignments = Vec::with_capacity(named.len());
    let mut names_length = 0;
    for (symbol, value) in named {
        names_length += named_length(exprs, symbol);
        let value = finish(exprs, shortening, value);
        assignments.push(Assignment { symbol, value });
    }
    let mut equations: Vec<MassEquation> = Vec::with_capacity(resolved.states);
    for state in 0..resolved.states {
        equations.push(match rows.remove(&state) {
            Some(row) => {
                let mut terms: Vec<(u32, ExprId)> = Vec::with_capacity(row.terms.len());
                for (rate, id) in &row.terms {
                    terms.push((shown[rate].0, finish(exprs, shortening, *id)));
                }
                terms.sort_by_key(|term| term.0);
                MassEquation {
                    terms,
                    right: finish(exprs, shortening, row.right),
                }
            }
            None => MassEquation {
                terms: vec![(state as u32, exprs.one())],
                right: finish(exprs, shortening, form.roots[state]),
            },
        });
    }
    let near = near_the_start(system);
    for (state, equation) in equations.iter_mut().enumerate() {
        let own = equation.terms.iter().find(|term| term.0 == state as u32);
        if own.is_some_and(|term| is_below_zero(exprs, &near, term.1)) {
            let mut minus = |exprs: &mut Exprs, id: ExprId| {
                let id = exprs.neg(id);
                shortening.shortest(exprs, id)
            };
            equation.terms.iter_mut().for_each(|term| term.1 = minus(exprs, term.1));
            equation.right = minus(exprs, equation.right);
        }
    }
    let mut residuals = Vec::with_capacity(form.loops.len());
    for each in &mut form.loops {
        residuals.push(each.residuals.iter().map(|id| finish(exprs, shortening, *id)).collect());
    }
    let outputs = form.roots[resolved.states..resolved.states + resolved.outputs].to_vec();
    let outputs = outputs.into_iter().map(|id| finish(exprs, shortening, id)).collect();
    let form = MassForm {
        assignments,
        equations,
        residuals,
        outputs,
    };
    let own = length - budget + names_length;
    (is_readable && own <= length).then_some((own, form))
}

/// Returns the values of the parameters, and state values near the initial ones.
fn near_the_start(system: &StateSystem) -> FxHashMap<SymbolId, f64> {
    let entries = system.parameters.iter().flat_map(|parameter| &parameter.entries);
    let mut values: FxHashMap<SymbolId, f64> = entries.map(|entry| (entry.symbol, to_f64(&entry.value))).collect();
    let states = system.states.iter();
    values.extend(states.map(|state| (state.symbol, state.start_value + 0.01)));
    values
}

/// Returns true if a mass is negative as written, for these values of symbols and a small value of others.
fn is_below_zero(exprs: &Exprs, values: &FxHashMap<SymbolId, f64>, id: ExprId) -> bool {
    let value = |symbol| Some(values.get(&symbol).copied().unwrap_or(0.01));
    exprs.evaluate_unchecked(&[id], &value)[0] < 0.0
}
