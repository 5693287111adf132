//! The inputs and input rates in equations.

use lgm_algebra::expr::SymbolId;
use lgm_model::system::State;
use rustc_hash::{FxHashMap, FxHashSet};
use std::sync::Arc;

/// The inputs on which the equations of a model depend.
#[derive(Clone, Debug)]
pub(crate) struct Dependence {
    /// The dependencies of each state's rate.
    pub(crate) states: Vec<(State, Read)>,
    /// The dependencies of each output, by name.
    pub(crate) outputs: Vec<(Arc<str>, Read)>,
    pub(crate) is_linear: bool,
}

/// The inputs in an equation, by index in the model.
#[derive(Clone, Debug, Default)]
pub(crate) struct Read {
    pub(crate) values: FxHashSet<usize>,
    pub(crate) rates: FxHashSet<usize>,
}

impl Read {
    /// Returns the inputs and rates in a set of symbols.
    pub(crate) fn among(
        symbols: impl IntoIterator<Item = SymbolId>,
        places: &(FxHashMap<SymbolId, usize>, FxHashMap<SymbolId, usize>),
    ) -> Read {
        let mut read = Read::default();
        for symbol in symbols {
            read.values.extend(places.0.get(&symbol));
            read.rates.extend(places.1.get(&symbol));
        }
        read
    }
}
