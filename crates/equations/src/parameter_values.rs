//! The values of parameters that a model gives.

use lgm_algebra::expr::{SymbolId, to_f64};
use lgm_model::Model;
use num_rational::BigRational;
use rustc_hash::FxHashMap;

/// The values of all parameter entries.
pub(crate) fn parameter_values(model: &Model) -> FxHashMap<SymbolId, BigRational> {
    model
        .parameters
        .iter()
        .flat_map(|parameter| &parameter.entries)
        .map(|entry| (entry.symbol, entry.value.clone()))
        .collect()
}

/// The same in doubles.
pub(crate) fn parameter_numbers(model: &Model) -> FxHashMap<SymbolId, f64> {
    let entries = model.parameters.iter().flat_map(|parameter| &parameter.entries);
    entries.map(|entry| (entry.symbol, to_f64(&entry.value))).collect()
}
