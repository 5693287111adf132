//! The values of parameters that a model gives.

use lgm_algebra::expr::SymbolId;
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
