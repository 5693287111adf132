//! Sparse linear systems over any field, block by block, with pivots chosen for low fill-in.

use super::blocks::blocks;
use super::sparse::{Sharing, divide_row, eliminate, subtract_all};
use crate::field::{BlockSolution, Field};
use crate::row::{Row, Singular};
use std::collections::BTreeSet;

/// Solves `A X = B` for a square sparse A; the rows of X belong to the columns of A.
///
/// The matrix is first permuted to block triangular form, so that a million small blocks take linear time; each block goes to
/// [`Field::solve_block`].
pub fn solve<F: Field>(
    field: &mut F,
    matrix: Vec<Row<F::Element>>,
    right: Vec<Row<F::Element>>,
) -> Result<Vec<Row<F::Element>>, Singular> {
    blockwise(field, matrix, right, None)
}

/// Like [`solve`], but shares long rows of the solution; blocks are eliminated in the field's own operations.
///
/// If the limit of sharing is exceeded, the result is invalid.
pub fn solve_sharing<F: Field>(
    field: &mut F,
    matrix: Vec<Row<F::Element>>,
    right: Vec<Row<F::Element>>,
    sharing: &mut Sharing<F::Element>,
) -> Result<Vec<Row<F::Element>>, Singular> {
    blockwise(field, matrix, right, Some(sharing))
}

fn blockwise<F: Field>(
    field: &mut F,
    matrix: Vec<Row<F::Element>>,
    mut right: Vec<Row<F::Element>>,
    mut sharing: Option<&mut Sharing<F::Element>>,
) -> Result<Vec<Row<F::Element>>, Singular> {
    assert_eq!(matrix.len(), right.len(), "a right side for each row was promised");
    let matrix: Vec<Row<F::Element>> = matrix
        .into_iter()
        .map(|row| row.into_iter().filter(|entry| !field.is_zero(&entry.1)).collect())
        .collect();
    let mut solution: Vec<Row<F::Element>> = vec![Vec::new(); matrix.len()];
    let mut local = vec![u32::MAX; matrix.len()];
    for block in blocks(&matrix)? {
        if field.exhausted() || sharing.as_ref().is_some_and(|sharing| sharing.is_exceeded()) {
            return Ok(solution);
        }
        for (index, column) in block.columns.iter().enumerate() {
            local[*column as usize] = index as u32;
        }
        let mut inner = Vec::with_capacity(block.rows.len());
        let mut sides = Vec::with_capacity(block.rows.len());
        for row in &block.rows {
            let mut side = std::mem::take(&mut right[*row as usize]);
            side.retain(|entry| !field.is_zero(&entry.1));
            let entries = &matrix[*row as usize];
            let is_known = |entry: &&(u32, F::Element)| local[entry.0 as usize] == u32::MAX;
            let known = entries.iter().filter(is_known);
            let parts = known.map(|(column, value)| (value, &solution[*column as usize]));
            sides.push(subtract_all(field, side, parts));
            let own = entries.iter().filter(|entry| !is_known(entry));
            let mut own: Vec<_> = own
                .map(|(column, value)| (local[*column as usize], value.clone()))
                .collect();
            own.sort_unstable_by_key(|entry| entry.0);
            inner.push(own);
        }
        let singular = |fault: Singular| Singular {
            row: block.rows[fault.row as usize],
            column: block.columns[fault.column as usize],
        };
        let found = if block.rows.len() == 1 {
            let row = divide_row(field, &sides[0], &inner[0][0].1);
            vec![match &mut sharing {
                Some(sharing) => sharing.keep(field, row),
                None => row,
            }]
        } else if let Some(sharing) = &mut sharing {
            eliminate(field, inner, sides, sharing).map_err(singular)?
        } else {
            let solution = match field.solve_block(inner, sides) {
                BlockSolution::Solved(solution) => solution,
                BlockSolution::ByElimination(inner, sides) => eliminate(field, inner, sides, &mut Sharing::nothing()),
            };
            solution.map_err(singular)?
        };
        for (column, values) in block.columns.iter().zip(found) {
            solution[*column as usize] = values;
            local[*column as usize] = u32::MAX;
        }
    }
    Ok(solution)
}

/// The row operations of elimination; columns from the matrix size on belong to the right-hand sides.
pub(crate) trait Rows {
    type Element: Clone;

    /// Returns the cost of a pivot; lower is better.
    fn cost(&self, pivot: &Self::Element) -> f64;
    /// Returns the target row with its entry in the pivot's column eliminated.
    fn combine(&mut self, target: Row<Self::Element>, source: &Row<Self::Element>, column: u32) -> Row<Self::Element>;
    /// Returns true to stop.
    fn exhausted(&self) -> bool;
}

/// Eliminates below pivots. Returns the rows and columns of the pivots in order; each row contains, besides its own column, only columns of
/// later pivots. Rows beyond the matrix size are not pivots: all columns of the matrix are eliminated from them. Stops early if the work
/// limit is exhausted.
pub(crate) fn eliminate_rows<R: Rows>(
    operations: &mut R,
    size: usize,
    rows: &mut [Row<R::Element>],
) -> Result<Vec<(u32, u32)>, Singular> {
    let mut active = Active::new(size, rows);
    let mut order = Vec::with_capacity(size);
    while order.len() < size && !operations.exhausted() {
        let (pivot_row, pivot_column) = active.choose(operations, rows)?;
        order.push((pivot_row, pivot_column));
        active.remove(pivot_row, pivot_column, &rows[pivot_row as usize]);
        let source = std::mem::take(&mut rows[pivot_row as usize]);
        for target in std::mem::take(&mut active.rows_of[pivot_column as usize]) {
            let row = &mut rows[target as usize];
            let there = row.binary_search_by_key(&pivot_column, |entry| entry.0).is_ok();
            if active.row_done[target as usize] || !there {
                continue;
            }
            let before = std::mem::take(row);
            let pattern: Vec<u32> = before.iter().map(|entry| entry.0).collect();
            *row = operations.combine(before, &source, pivot_column);
            active.update(target, &pattern, row);
            if operations.exhausted() {
                break;
            }
        }
        rows[pivot_row as usize] = source;
    }
    Ok(order)
}

/// The rows and columns without a pivot, by entry count.
struct Active {
    size: usize,
    row_done: Vec<bool>,
    column_done: Vec<bool>,
    column_count: Vec<u32>,
    /// Rows that have, or once had, an entry in the column.
    rows_of: Vec<Vec<u32>>,
    by_row_count: BTreeSet<(u32, u32)>,
    by_column_count: BTreeSet<(u32, u32)>,
}

/// The number of shortest rows and columns searched for a pivot.
const SEARCHED: usize = 4;

impl Active {
    fn new<E>(size: usize, rows: &[Row<E>]) -> Active {
        let mut rows_of = vec![Vec::new(); size];
        for (row, entries) in rows.iter().enumerate() {
            for (column, _) in entries.iter().take_while(|entry| (entry.0 as usize) < size) {
                rows_of[*column as usize].push(row as u32);
            }
        }
        let column_count: Vec<u32> = rows_of.iter().map(|list| list.len() as u32).collect();
        Active {
            size,
            row_done: vec![false; rows.len()],
            column_done: vec![false; size],
            by_row_count: (0..size).map(|row| (rows[row].len() as u32, row as u32)).collect(),
            by_column_count: (0..size).map(|column| (column_count[column], column as u32)).collect(),
            column_count,
            rows_of,
        }
    }

    fn in_matrix<'a, E>(&self, row: &'a Row<E>) -> impl Iterator<Item = &'a (u32, E)> + use<'a, E> {
        let size = self.size;
        row.iter().take_while(move |entry| (entry.0 as usize) < size)
    }

    /// Returns the pivot with the least fill-in (Markowitz), then the least cost, among the shortest rows and columns; a pivot of infinite
    /// cost only if no other exists.
    fn choose<R: Rows>(&mut self, operations: &R, rows: &[Row<R::Element>]) -> Result<(u32, u32), Singular> {
        let mut best: Option<(bool, u64, f64, u32, u32)> = None;
        let mut consider = |row: u32, column: u32, value: &R::Element| {
            let length = rows[row as usize].len() as u64 - 1;
            let fill = length * (u64::from(self.column_count[column as usize]) - 1);
            let cost = operations.cost(value);
            // An entry of infinite cost vanishes at the values used later; every row has another entry, or the matrix is singular at these
            // values.
            let last_resort = cost == f64::INFINITY;
            let better = best.is_none_or(|(resort, least, lowest, ..)| {
                (last_resort, fill) < (resort, least) || ((last_resort, fill) == (resort, least) && cost < lowest)
            });
            if better {
                best = Some((last_resort, fill, cost, row, column));
            }
        };
        for (_, row) in self.by_row_count.iter().take(SEARCHED) {
            let mut any = false;
            for (column, value) in self.in_matrix(&rows[*row as usize]) {
                any = true;
                consider(*row, *column, value);
            }
            if !any {
                // Reports a column without remaining rows, or else any remaining column.
                let column = self.by_column_count.first().map_or(0, |entry| entry.1);
                return Err(Singular { row: *row, column });
            }
        }
        for (_, column) in self.by_column_count.iter().take(SEARCHED) {
            let list = &self.rows_of[*column as usize];
            let is_free = |row: &&u32| (**row as usize) < self.size && !self.row_done[**row as usize];
            for row in list.iter().filter(is_free) {
                let entries = &rows[*row as usize];
                if let Ok(place) = entries.binary_search_by_key(column, |entry| entry.0) {
                    consider(*row, *column, &entries[place].1);
                }
            }
        }
        let (.., row, column) = best.expect("invariant: a row that is not empty has a pivot");
        Ok((row, column))
    }

    fn remove<E>(&mut self, row: u32, column: u32, entries: &Row<E>) {
        self.row_done[row as usize] = true;
        self.column_done[column as usize] = true;
        self.by_row_count.remove(&(entries.len() as u32, row));
        let size = self.size;
        for (other, _) in entries.iter().take_while(|entry| (entry.0 as usize) < size) {
            self.recount(*other, -1);
        }
        self.by_column_count
            .remove(&(self.column_count[column as usize], column));
    }

    fn recount(&mut self, column: u32, change: i32) {
        let count = &mut self.column_count[column as usize];
        let old = *count;
        *count = count.wrapping_add_signed(change);
        let new = *count;
        if self.by_column_count.remove(&(old, column)) {
            self.by_column_count.insert((new, column));
        }
    }

    /// Records fill-in and cancellation in a row whose entry in the pivot's column was removed.
    fn update<E>(&mut self, row: u32, before: &[u32], after: &Row<E>) {
        if (row as usize) < self.size {
            self.by_row_count.remove(&(before.len() as u32, row));
            self.by_row_count.insert((after.len() as u32, row));
        }
        let inside = |column: u32| (column as usize) < self.size;
        let (mut i, mut j) = (0, 0);
        let mut changes: Vec<(u32, i32)> = Vec::new();
        loop {
            let old = before.get(i).copied().filter(|column| inside(*column));
            let new = after.get(j).map(|entry| entry.0).filter(|column| inside(*column));
            match (old, new) {
                (None, None) => break,
                (Some(old), Some(new)) if old == new => {
                    i += 1;
                    j += 1;
                }
                (Some(old), new) if new.is_none_or(|new| old < new) => {
                    changes.push((old, -1));
                    i += 1;
                }
                (_, Some(new)) => {
                    changes.push((new, 1));
                    j += 1;
                }
                (Some(_), None) => unreachable!("invariant: an entry without a counterpart is taken above"),
            }
        }
        for (column, change) in changes {
            if self.column_done[column as usize] {
                continue;
            }
            self.recount(column, change);
            if change > 0 && !self.rows_of[column as usize].contains(&row) {
                self.rows_of[column as usize].push(row);
            }
        }
    }
}

/// Returns the index of an existing column in a row.
pub(crate) fn entry<E>(row: &Row<E>, column: u32) -> usize {
    row.binary_search_by_key(&column, |entry| entry.0)
        .expect("invariant: the row has an entry in the pivot's column")
}

/// Returns the rows of a matrix followed by their right-hand sides, in columns from the matrix size on.
pub(crate) fn augmented<E>(matrix: Vec<Row<E>>, right: Vec<Row<E>>) -> Vec<Row<E>> {
    let size = matrix.len() as u32;
    matrix
        .into_iter()
        .zip(right)
        .map(|(mut row, side)| {
            row.extend(side.into_iter().map(|(column, value)| (column + size, value)));
            row
        })
        .collect()
}
