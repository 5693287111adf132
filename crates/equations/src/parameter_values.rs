//! The values of parameters that a model gives.

use lgm_algebra::Sampled;
use lgm_algebra::expr::{ExprId, Exprs, SymbolId, to_f64};
use lgm_model::{Model, Parameter};
use num_rational::BigRational;
use rustc_hash::FxHashMap;

/// Returns the values of all parameter entries; constants such as `2*pi/3` are evaluated to 384 bits.
pub(crate) fn parameter_values(model: &Model) -> FxHashMap<SymbolId, BigRational> {
    let entries = || model.parameters.iter().flat_map(|parameter| &parameter.entries);
    let rounded = entries().map(|entry| (entry.symbol, entry.value.clone()));
    let mut values: FxHashMap<SymbolId, BigRational> = rounded.collect();
    let exact = entries().filter_map(|entry| Some((entry.symbol, entry.exact?)));
    let exact: Vec<(SymbolId, ExprId)> = exact.collect();
    if exact.is_empty() {
        return values;
    }
    settle(&model.exprs, &exact, &mut values);
    let derived = entries().filter_map(|entry| Some((entry.symbol, entry.derived?)));
    settle(&model.exprs, &derived.collect::<Vec<_>>(), &mut values);
    values
}

/// Computes values from expressions, which may depend on each other in any order of declaration. Each pass settles at least one more.
pub(crate) fn settle(exprs: &Exprs, derived: &[(SymbolId, ExprId)], values: &mut FxHashMap<SymbolId, BigRational>) {
    for _ in 0..derived.len() {
        let mut changed = false;
        for (symbol, id) in derived {
            if let Ok(list) = exprs.evaluate_exact(&[*id], &|symbol| values.get(&symbol).cloned())
                && values.get(symbol) != Some(&list[0])
            {
                values.insert(*symbol, list[0].clone());
                changed = true;
            }
        }
        if !changed {
            break;
        }
    }
}

/// Returns the point of the prime field at which parameters have their values; constants such as `2*pi/3` are evaluated exactly.
pub(crate) fn sampled(model: &Model, seed: u64) -> Sampled {
    sampled_at(&model.exprs, &model.parameters, seed)
}

/// Does the same for parameters in an arena.
pub(crate) fn sampled_at(exprs: &Exprs, parameters: &[Parameter], seed: u64) -> Sampled {
    let entries = parameters.iter().flat_map(|parameter| &parameter.entries);
    let entries = entries.map(|entry| (entry.symbol, &entry.value, entry.derived.or(entry.exact)));
    Sampled::at_numbers(seed, exprs, entries)
}

/// Returns the same values as doubles.
pub(crate) fn parameter_numbers(model: &Model) -> FxHashMap<SymbolId, f64> {
    let entries = model.parameters.iter().flat_map(|parameter| &parameter.entries);
    entries.map(|entry| (entry.symbol, to_f64(&entry.value))).collect()
}
