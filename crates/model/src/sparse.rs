//! Sparse matrices.

/// A sparse matrix by rows; columns ascend within a row.
#[derive(Clone, Debug, PartialEq)]
pub struct SparseMatrix<T> {
    /// Number of columns; the number of rows is the length of `rows`.
    pub columns: usize,
    /// Nonzero entries of each row, with their columns.
    pub rows: Vec<Vec<(u32, T)>>,
}

impl<T: Clone> SparseMatrix<T> {
    /// Returns a matrix of zeros.
    pub fn zeros(rows: usize, columns: usize) -> SparseMatrix<T> {
        SparseMatrix {
            columns,
            rows: vec![Vec::new(); rows],
        }
    }

    /// Returns the entry in a row and a column, both from 0; none if it is zero.
    pub fn get(&self, row: usize, column: usize) -> Option<&T> {
        let row = &self.rows[row];
        row.binary_search_by_key(&(column as u32), |entry| entry.0)
            .ok()
            .map(|at| &row[at].1)
    }

    /// Returns the number of stored entries.
    pub fn stored(&self) -> usize {
        self.rows.iter().map(Vec::len).sum()
    }

    /// Returns the same pattern with other values.
    pub fn map<U>(&self, mut change: impl FnMut(&T) -> U) -> SparseMatrix<U> {
        SparseMatrix {
            columns: self.columns,
            rows: self
                .rows
                .iter()
                .map(|row| row.iter().map(|(column, value)| (*column, change(value))).collect())
                .collect(),
        }
    }
}
