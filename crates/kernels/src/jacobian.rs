//! The nonzero partial derivatives of a system, and their expressions.

use super::{Kernel, SparseKernel};
use lgm_algebra::expr::{ExprId, Exprs, Gradient, SymbolId};
use lgm_model::system::{SparseMatrix, StateSystem};

/// The entries of a sparse matrix as expressions.
#[derive(Clone, Debug, Default)]
pub(crate) struct Entries {
    columns: usize,
    row_starts: Vec<usize>,
    columns_of: Vec<usize>,
    values: Vec<ExprId>,
}

impl Entries {
    /// Creates a matrix without entries.
    pub(crate) fn empty(rows: usize, columns: usize) -> Entries {
        Entries {
            columns,
            row_starts: vec![0; rows + 1],
            ..Entries::default()
        }
    }

    fn new(columns: usize) -> Entries {
        Entries {
            columns,
            row_starts: vec![0],
            ..Entries::default()
        }
    }

    fn end_row(&mut self) {
        self.row_starts.push(self.values.len());
    }

    pub(crate) fn compile(self, make: impl Fn(&[ExprId]) -> Kernel) -> SparseKernel {
        SparseKernel {
            rows: self.row_starts.len() - 1,
            columns: self.columns,
            row_starts: self.row_starts,
            columns_of: self.columns_of,
            values: make(&self.values),
        }
    }
}

/// Converts the entries of an existing matrix.
pub(crate) fn pattern(matrix: &SparseMatrix<ExprId>) -> Entries {
    let mut entries = Entries::new(matrix.columns);
    for row in &matrix.rows {
        for (column, value) in row {
            entries.columns_of.push(*column as usize);
            entries.values.push(*value);
        }
        entries.end_row();
    }
    entries
}

/// Partial derivatives of a list of expressions.
pub(crate) struct Partials {
    pub(crate) by_states: Entries,
    pub(crate) by_unknowns: Entries,
}

/// The reason why differentiation always succeeds.
const KNOWN: &str = "invariant: `int` and `der` are gone from the equations";

/// Prepares differentiation with respect to these symbols, through the assignments.
fn gradient(exprs: &mut Exprs, system: &StateSystem, columns: &[SymbolId]) -> Gradient {
    let mut gradient = Gradient::new(exprs, columns);
    for assignment in &system.equations.assignments {
        gradient
            .define(exprs, assignment.symbol, assignment.value)
            .expect(KNOWN);
    }
    gradient
}

fn unknowns_of(system: &StateSystem) -> impl Iterator<Item = SymbolId> {
    system.equations.unknowns()
}

fn residuals_of(system: &StateSystem) -> impl Iterator<Item = ExprId> {
    system.equations.residuals()
}

/// Returns the symbols of all values that a caller can change: states, inputs, rates of inputs and unknowns, in this order.
pub(crate) fn everything(system: &StateSystem) -> Vec<SymbolId> {
    let mut columns: Vec<SymbolId> = system.states.iter().map(|state| state.symbol).collect();
    columns.extend(system.inputs.iter().map(|input| input.symbol));
    columns.extend(&system.input_rates);
    columns.extend(unknowns_of(system));
    columns
}

/// Differentiates right-hand sides, outputs and residuals, each with respect to [`everything`].
pub(crate) fn by_everything(exprs: &mut Exprs, system: &StateSystem) -> [Entries; 3] {
    let columns = everything(system);
    let mut gradient = gradient(exprs, system, &columns);
    let mut rows = |roots: &mut dyn Iterator<Item = ExprId>| {
        let mut entries = Entries::new(columns.len());
        for root in roots {
            for (column, value) in gradient.row(exprs, root).expect(KNOWN).iter() {
                entries.columns_of.push(*column as usize);
                entries.values.push(*value);
            }
            entries.end_row();
        }
        entries
    };
    [
        rows(&mut system.equations.derivatives.iter().copied()),
        rows(&mut system.equations.output_values.iter().copied()),
        rows(&mut residuals_of(system)),
    ]
}

/// Differentiates the right-hand sides and the residuals of a system with respect to states and unknowns, through the assignments.
pub(crate) fn derive(exprs: &mut Exprs, system: &StateSystem) -> (Partials, Partials) {
    let mut columns: Vec<SymbolId> = system.states.iter().map(|state| state.symbol).collect();
    let states = columns.len();
    columns.extend(unknowns_of(system));
    let unknowns = columns.len() - states;
    let mut gradient = gradient(exprs, system, &columns);
    let mut partials = |roots: &mut dyn Iterator<Item = ExprId>| {
        let mut found = Partials {
            by_states: Entries::new(states),
            by_unknowns: Entries::new(unknowns),
        };
        for root in roots {
            let row = gradient.row(exprs, root).expect(KNOWN);
            for (column, value) in row.iter() {
                let column = *column as usize;
                let (entries, column) = match column < states {
                    true => (&mut found.by_states, column),
                    false => (&mut found.by_unknowns, column - states),
                };
                entries.columns_of.push(column);
                entries.values.push(*value);
            }
            found.by_states.end_row();
            found.by_unknowns.end_row();
        }
        found
    };
    let derivatives = partials(&mut system.equations.derivatives.iter().copied());
    let residuals = partials(&mut residuals_of(system));
    (derivatives, residuals)
}

/// Returns signals as functions of time and parameters, followed by their rates; inputs without a signal have no value.
pub(crate) fn signals(exprs: &mut Exprs, signals: &[Option<ExprId>], time: SymbolId) -> Vec<ExprId> {
    // An input without a signal is 0/0, so that it cannot be mistaken for 0.
    let (zero, minus_one) = (exprs.zero(), exprs.integer(-1));
    let infinite = exprs.power(zero, minus_one);
    let nothing = exprs.sub(infinite, infinite);
    let mut roots: Vec<ExprId> = signals.iter().map(|signal| signal.unwrap_or(nothing)).collect();
    for signal in signals {
        let rate = match signal {
            Some(signal) => exprs.differentiate(*signal, time).expect(KNOWN),
            None => nothing,
        };
        roots.push(rate);
    }
    roots
}
