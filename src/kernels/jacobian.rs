//! Which partial derivatives of a system are not zero, and their expressions.

use super::{Kernel, SparseKernel};
use crate::equations::{SparseMatrix, StateSystem};
use crate::expr::{ExprId, Exprs, Gradient, SymbolId};

/// The entries of a sparse matrix as expressions.
#[derive(Clone, Debug, Default)]
pub(crate) struct Entries {
    columns: usize,
    row_starts: Vec<usize>,
    columns_of: Vec<usize>,
    values: Vec<ExprId>,
}

impl Entries {
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

/// The entries of a matrix that is there already.
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
    /// One an expression.
    pub(crate) by_time: Vec<ExprId>,
}

/// Everything that differentiation gives.
pub(crate) struct Derived {
    pub(crate) derivatives: Partials,
    pub(crate) outputs: Partials,
    pub(crate) residuals: Partials,
    /// Default signals of the inputs, then their rates.
    pub(crate) inputs: Vec<ExprId>,
}

/// Differentiates the equations of a system with respect to states, unknowns and time, through the assignments.
pub(crate) fn derive(exprs: &mut Exprs, system: &StateSystem) -> Derived {
    let mut columns: Vec<SymbolId> = system.states.iter().map(|state| state.symbol).collect();
    let states = columns.len();
    columns.extend(system.loops.iter().flat_map(|entry| &entry.unknowns));
    let unknowns = columns.len() - states;
    columns.push(system.time);
    let mut gradient = Gradient::new(exprs, &columns, system.time);
    let known = "invariant: `int` and `der` are gone from the equations";
    for assignment in &system.assignments {
        gradient
            .define(exprs, assignment.symbol, assignment.value)
            .expect(known);
    }
    let mut partials = |exprs: &mut Exprs, roots: &mut dyn Iterator<Item = ExprId>| {
        let mut found = Partials {
            by_states: Entries::new(states),
            by_unknowns: Entries::new(unknowns),
            by_time: Vec::new(),
        };
        for root in roots {
            let row = gradient.row(exprs, root).expect(known);
            let mut by_time = exprs.zero();
            for (column, value) in row.iter() {
                let column = *column as usize;
                let (entries, column) = if column < states {
                    (&mut found.by_states, column)
                } else if column < states + unknowns {
                    (&mut found.by_unknowns, column - states)
                } else {
                    by_time = *value;
                    continue;
                };
                entries.columns_of.push(column);
                entries.values.push(*value);
            }
            found.by_states.end_row();
            found.by_unknowns.end_row();
            found.by_time.push(by_time);
        }
        found
    };
    let residuals = system.loops.iter().flat_map(|entry| &entry.residuals);
    let derivatives = partials(exprs, &mut system.derivatives.iter().copied());
    let outputs = partials(exprs, &mut system.output_values.iter().copied());
    let residuals = partials(exprs, &mut residuals.copied());
    // An input without a signal is 0/0, so that nobody takes it for 0.
    let (zero, minus_one) = (exprs.zero(), exprs.integer(-1));
    let infinite = exprs.power(zero, minus_one);
    let nothing = exprs.sub(infinite, infinite);
    let mut inputs: Vec<ExprId> = system
        .inputs
        .iter()
        .map(|input| input.signal.unwrap_or(nothing))
        .collect();
    for input in &system.inputs {
        let rate = match input.signal {
            Some(signal) => exprs.differentiate(signal, system.time, system.time).expect(known),
            None => nothing,
        };
        inputs.push(rate);
    }
    Derived {
        derivatives,
        outputs,
        residuals,
        inputs,
    }
}
