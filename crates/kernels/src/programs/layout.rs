//! The positions of symbols' values in a kernel's arguments.

use crate::programs::operation::Space;
use lgm_algebra::expr::{ExprId, SymbolId};
use lgm_model::system::StateSystem;

/// The positions of symbols' values in [`Arguments`](crate::Arguments).
#[derive(Clone, Debug, Default)]
pub struct Layout {
    /// Indexed by symbol number.
    meanings: Vec<Meaning>,
}

/// The meaning of a symbol for a kernel.
#[derive(Clone, Copy, Debug, Default)]
enum Meaning {
    /// A symbol of another system.
    #[default]
    Unknown,
    /// A position in an argument.
    Place(Space, u32),
    /// The expression that the symbol represents.
    Value(ExprId),
}

impl Layout {
    /// Creates the layout that all kernels of a system share.
    pub fn new(system: &StateSystem) -> Layout {
        let mut layout = Layout {
            meanings: vec![Meaning::Unknown; system.exprs.symbol_count()],
        };
        layout.place(Space::Time, std::iter::once(system.time));
        let entries = system.parameters.iter().flat_map(|parameter| &parameter.entries);
        layout.place(Space::Parameters, entries.map(|entry| entry.symbol));
        layout.place(Space::States, system.states.iter().map(|state| state.symbol));
        layout.place(Space::Inputs, system.inputs.iter().map(|input| input.symbol));
        layout.place(Space::Rates, system.input_rates.iter().copied());
        let unknowns = system.equations.loops.iter().flat_map(|entry| &entry.unknowns);
        layout.place(Space::Unknowns, unknowns.copied());
        for assignment in &system.equations.assignments {
            layout.set(assignment.symbol, Meaning::Value(assignment.value));
        }
        layout
    }

    /// Replaces some inputs by the given expressions.
    pub fn with_values(mut self, values: impl Iterator<Item = (SymbolId, ExprId)>) -> Layout {
        for (symbol, value) in values {
            self.set(symbol, Meaning::Value(value));
        }
        self
    }

    /// Adds parameters after the existing ones, as the positions of other symbols.
    pub fn with_parameters(mut self, symbols: impl Iterator<Item = SymbolId>) -> Layout {
        let count = self.parameters();
        for (at, symbol) in symbols.enumerate() {
            self.set(symbol, Meaning::Place(Space::Parameters, (count + at) as u32));
        }
        self
    }

    /// Adds symbols whose values are passed in this space.
    pub fn placing(mut self, space: Space, symbols: impl Iterator<Item = SymbolId>) -> Layout {
        self.place(space, symbols);
        self
    }

    fn place(&mut self, space: Space, symbols: impl Iterator<Item = SymbolId>) {
        for (index, symbol) in symbols.enumerate() {
            self.set(symbol, Meaning::Place(space, index as u32));
        }
    }

    fn set(&mut self, symbol: SymbolId, meaning: Meaning) {
        let at = symbol.0 as usize;
        if at >= self.meanings.len() {
            self.meanings.resize(at + 1, Meaning::Unknown);
        }
        self.meanings[at] = meaning;
    }

    fn meaning(&self, symbol: SymbolId) -> Meaning {
        self.meanings.get(symbol.0 as usize).copied().unwrap_or_default()
    }

    /// Returns the position of a symbol's value; `None` for assignments and for symbols of other systems.
    pub fn place_of(&self, symbol: SymbolId) -> Option<(Space, u32)> {
        match self.meaning(symbol) {
            Meaning::Place(space, index) => Some((space, index)),
            _ => None,
        }
    }

    /// Returns the number of parameter entries.
    pub(crate) fn parameters(&self) -> usize {
        let last = self.meanings.iter().filter_map(|meaning| match meaning {
            Meaning::Place(Space::Parameters, index) => Some(*index as usize + 1),
            _ => None,
        });
        last.max().unwrap_or(0)
    }

    /// Returns the expression that an assigned symbol represents.
    pub fn value_of(&self, symbol: SymbolId) -> Option<ExprId> {
        match self.meaning(symbol) {
            Meaning::Value(value) => Some(value),
            _ => None,
        }
    }
}
