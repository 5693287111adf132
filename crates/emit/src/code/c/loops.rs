//! Algebraic loops in C: the positions of the entries of their matrices.

use crate::code::c::text::integers;
use lgm_kernels::SparseKernel;

/// The positions of the entries of a sparse matrix.
pub(in crate::code) struct Pattern {
    pub(in crate::code) rows: Vec<usize>,
    pub(in crate::code) columns: Vec<usize>,
}

impl Pattern {
    pub(in crate::code) fn of(kernel: &SparseKernel) -> Pattern {
        Pattern {
            rows: kernel.row_starts.clone(),
            columns: kernel.columns_of.clone(),
        }
    }

    /// Creates a pattern from the rows and columns of entries, sorted by row.
    pub(in crate::code) fn of_entries(count: usize, entries: impl Iterator<Item = (usize, usize)>) -> Pattern {
        let (mut rows, mut columns) = (vec![0; count + 1], Vec::new());
        for (row, column) in entries {
            rows[row + 1] += 1;
            columns.push(column);
        }
        for row in 0..count {
            rows[row + 1] += rows[row];
        }
        Pattern { rows, columns }
    }

    /// Returns the number of entries, at least one because C has no empty arrays.
    pub(super) fn room(&self) -> usize {
        self.columns.len().max(1)
    }

    /// Prints the two tables of the pattern.
    pub(super) fn tables(&self, name: &str) -> String {
        format!(
            "static const int {name}_rows[{}] = {{{}}};\nstatic const int {name}_columns[{}] = {{{}}};\n",
            self.rows.len(),
            integers(&self.rows),
            self.room(),
            integers(&self.columns)
        )
    }
}
