//! Where the numbers of symbols are found in a kernel's arguments.

use crate::programs::operation::Space;
use lgm_algebra::expr::{ExprId, SymbolId};
use lgm_model::system::StateSystem;

/// Where the numbers of symbols are found in [`Arguments`](super::Arguments).
#[derive(Clone, Debug, Default)]
pub struct Layout {
    /// By the number of the symbol.
    meanings: Vec<Meaning>,
}

/// What a symbol is to a kernel.
#[derive(Clone, Copy, Debug, Default)]
enum Meaning {
    /// A symbol of another system.
    #[default]
    Unknown,
    /// A number of an argument.
    Place(Space, u32),
    /// An expression that it stands for.
    Value(ExprId),
}

impl Layout {
    /// The layout that all kernels of a system have.
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

    /// The same with further symbols, whose numbers are handed over in this space.
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

    /// Where a symbol's number is; none for assignments and for symbols of other systems.
    pub fn place_of(&self, symbol: SymbolId) -> Option<(Space, u32)> {
        match self.meaning(symbol) {
            Meaning::Place(space, index) => Some((space, index)),
            _ => None,
        }
    }

    /// How many entries of parameters there are.
    pub(crate) fn parameters(&self) -> usize {
        let last = self.meanings.iter().filter_map(|meaning| match meaning {
            Meaning::Place(Space::Parameters, index) => Some(*index as usize + 1),
            _ => None,
        });
        last.max().unwrap_or(0)
    }

    /// The expression that a symbol stands for, where it is assigned.
    pub fn value_of(&self, symbol: SymbolId) -> Option<ExprId> {
        match self.meaning(symbol) {
            Meaning::Value(value) => Some(value),
            _ => None,
        }
    }
}
