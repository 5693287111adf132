//! The parts of a document before layout.

use super::Row;
use lgm_model::system::SparseMatrix;

/// The types of a document format.
pub(crate) trait Format {
    /// A part that does not grow.
    type Fixed: PartialEq;
    /// The layout of rows.
    type Style: Copy + PartialEq;
    /// The data of a row in addition to its cells.
    type Of;
    /// The value of an entry of a matrix.
    type Value: Clone + PartialEq;
}

/// A part of a document.
pub(crate) enum Piece<F: Format> {
    /// Items printed unchanged.
    Fixed(F::Fixed),
    /// Titled rows of cells.
    Rows(String, F::Style, Vec<Row<F::Of>>),
    /// The entries of a matrix.
    Entries(Entries<F::Value>),
}

/// The nonzero entries of a matrix.
#[derive(Debug)]
pub(crate) struct Entries<V> {
    pub(crate) name: String,
    pub(crate) rows: usize,
    pub(crate) columns: usize,
    /// The number of entries.
    pub(crate) count: usize,
    /// The entries, counted from 1 as in the language; none if there are too many to read.
    pub(crate) list: Option<Vec<(usize, usize, V)>>,
}

impl<V> Entries<V> {
    /// Returns the entries of a matrix; only their number if there are more than `most`.
    pub(crate) fn of<T: Copy>(
        name: &str,
        matrix: &SparseMatrix<T>,
        most: usize,
        entry: &dyn Fn(T) -> V,
        is_zero: &dyn Fn(T) -> bool,
    ) -> Entries<V> {
        let all = || {
            let rows = matrix.rows.iter().enumerate();
            let all = rows.flat_map(|(row, entries)| entries.iter().map(move |(column, value)| (row, *column, *value)));
            all.filter(|(_, _, value)| !is_zero(*value))
        };
        let count = all().count();
        let shown = |(row, column, value): (usize, u32, T)| (row + 1, column as usize + 1, entry(value));
        Entries {
            name: name.to_string(),
            rows: matrix.rows.len(),
            columns: matrix.columns,
            count,
            list: (count <= most).then(|| all().map(shown).collect()),
        }
    }
}
