//! Rows of sparse matrices.

/// A sparse row: columns, ascending, with their entries.
pub type Row<E> = Vec<(u32, E)>;

/// The matrix is singular: a row and a column remain without a pivot.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Singular {
    /// The row, from 0.
    pub row: u32,
    /// The column, from 0.
    pub column: u32,
}
