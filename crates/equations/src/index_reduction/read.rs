//! The inputs, and the rates of inputs, that equations read.

use lgm_algebra::expr::SymbolId;
use lgm_model::system::State;
use rustc_hash::{FxHashMap, FxHashSet};
use std::sync::Arc;

/// The inputs on which the equations of a model depend.
#[derive(Clone, Debug)]
pub(crate) struct Dependence {
    /// Of each state what its rate reads.
    pub(crate) states: Vec<(State, Read)>,
    /// Of each output, by its name, what it reads.
    pub(crate) outputs: Vec<(Arc<str>, Read)>,
    pub(crate) is_linear: bool,
}

/// The inputs that an equation reads, by their places among those of the model.
#[derive(Clone, Debug, Default)]
pub(crate) struct Read {
    pub(crate) values: FxHashSet<usize>,
    pub(crate) rates: FxHashSet<usize>,
}

impl Read {
    /// The inputs and rates among some symbols.
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
