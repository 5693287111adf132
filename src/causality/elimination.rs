//! Sparse Gaussian elimination by columns, over any field.
//!
//! Rows are eliminated forwards only: a row that has been used as a pivot is never touched again, so what remains is an
//! ordered list of assignments, and chains and trees cost nothing beyond their own size.

use crate::algebra::Field;
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// A sparse row, its columns ascending.
pub type Row<E> = Vec<(u32, E)>;

/// An elimination under way.
#[derive(Clone, Debug)]
pub struct Elimination<E> {
    /// All rows; those in `pivots` are final.
    pub rows: Vec<Row<E>>,
    active: Vec<bool>,
    /// Rows that hold a column, or held it once: pruned when looked at.
    holders: Vec<Vec<u32>>,
    /// Chosen pivots in order, row and column.
    pub pivots: Vec<(u32, u32)>,
}

impl<E: Clone + std::fmt::Debug> Elimination<E> {
    /// Starts on rows with the given number of columns.
    pub fn new(rows: Vec<Row<E>>, columns: usize) -> Elimination<E> {
        let mut holders = vec![Vec::new(); columns];
        for (index, row) in rows.iter().enumerate() {
            for (column, _) in row {
                holders[*column as usize].push(index as u32);
            }
        }
        Elimination {
            active: vec![true; rows.len()],
            rows,
            holders,
            pivots: Vec::new(),
        }
    }

    /// The active rows that hold a column.
    fn candidates(&mut self, column: u32) -> &[u32] {
        let (rows, active) = (&self.rows, &self.active);
        let holders = &mut self.holders[column as usize];
        holders.sort_unstable();
        holders.dedup();
        holders.retain(|row| active[*row as usize] && find(&rows[*row as usize], column).is_some());
        holders
    }

    /// How many active rows hold a column.
    pub fn count(&mut self, column: u32) -> usize {
        self.candidates(column).len()
    }

    /// What eliminating the column would cost: entries to be visited in the other rows, or none if no active row holds it.
    pub fn cost<F: Field<Element = E>>(&mut self, field: &F, column: u32) -> Option<usize> {
        let row = self.best_row(field, column)?;
        let length = self.rows[row as usize].len();
        let rows = &self.rows;
        let others: usize = self.holders[column as usize]
            .iter()
            .filter(|other| **other != row)
            .map(|other| rows[*other as usize].len() + length)
            .sum();
        Some(others)
    }

    fn best_row<F: Field<Element = E>>(&mut self, field: &F, column: u32) -> Option<u32> {
        self.candidates(column);
        self.holders[column as usize].iter().copied().min_by(|a, b| {
            let key = |row: u32| {
                let row = &self.rows[row as usize];
                let at = find(row, column).expect("invariant: a candidate row holds the column");
                (field.pivot_cost(&row[at].1), row.len())
            };
            let (a, b) = (key(*a), key(*b));
            a.0.total_cmp(&b.0).then(a.1.cmp(&b.1))
        })
    }

    /// Eliminates a column from all active rows but one, which becomes its pivot row; none if no active row holds it.
    pub fn pivot<F: Field<Element = E>>(&mut self, field: &mut F, column: u32) -> Option<u32> {
        let row = self.best_row(field, column)?;
        self.pivot_on(field, row, column);
        Some(row)
    }

    /// Eliminates a column with a given row.
    pub fn pivot_on<F: Field<Element = E>>(&mut self, field: &mut F, row: u32, column: u32) {
        self.candidates(column);
        let others: Vec<u32> = self.holders[column as usize]
            .iter()
            .copied()
            .filter(|other| *other != row)
            .collect();
        let pivot_row = std::mem::take(&mut self.rows[row as usize]);
        let at = find(&pivot_row, column).expect("invariant: the pivot row holds the column");
        for other in others {
            let target = std::mem::take(&mut self.rows[other as usize]);
            let place = find(&target, column).expect("invariant: a candidate row holds the column");
            let quotient = field.div(&target[place].1, &pivot_row[at].1);
            let factor = field.neg(&quotient);
            let holders = &mut self.holders;
            let merged = add_scaled(field, &target, &pivot_row, &factor, Some(column), |new| {
                holders[new as usize].push(other);
            });
            self.rows[other as usize] = merged;
        }
        self.rows[row as usize] = pivot_row;
        self.active[row as usize] = false;
        self.holders[column as usize].clear();
        self.pivots.push((row, column));
    }

    /// Eliminates many columns, those with the fewest holders first; returns the columns that no row determines.
    pub fn pivot_all<F: Field<Element = E>>(
        &mut self,
        field: &mut F,
        columns: impl IntoIterator<Item = u32>,
    ) -> Vec<u32> {
        let mut queue: BinaryHeap<Reverse<(usize, u32)>> = BinaryHeap::new();
        for column in columns {
            let cost = self.cost(field, column).unwrap_or(0);
            queue.push(Reverse((cost, column)));
        }
        let mut free = Vec::new();
        while let Some(Reverse((cost, column))) = queue.pop() {
            match self.cost(field, column) {
                None => free.push(column),
                Some(now) if now > 2 * cost + 8 => queue.push(Reverse((now, column))),
                Some(_) => {
                    self.pivot(field, column);
                }
            }
        }
        free
    }

    /// Rows that are neither pivots nor empty.
    pub fn remaining(&self) -> impl Iterator<Item = u32> + '_ {
        (0..self.rows.len() as u32).filter(|row| self.active[*row as usize] && !self.rows[*row as usize].is_empty())
    }
}

/// Where a row holds a column.
pub fn find<E>(row: &Row<E>, column: u32) -> Option<usize> {
    row.binary_search_by_key(&column, |entry| entry.0).ok()
}

/// `a + factor * b`, without the column `skip`; `fresh` hears of columns that `a` did not hold.
pub fn add_scaled<F: Field>(
    field: &mut F,
    a: &[(u32, F::Element)],
    b: &[(u32, F::Element)],
    factor: &F::Element,
    skip: Option<u32>,
    mut fresh: impl FnMut(u32),
) -> Row<F::Element> {
    let mut out = Vec::with_capacity(a.len() + b.len());
    let (mut i, mut j) = (0, 0);
    while i < a.len() || j < b.len() {
        // Wider than a column, so that the end of a row is no column: `u32::MAX` marks what is undetermined.
        let left = a.get(i).map_or(u64::MAX, |entry| u64::from(entry.0));
        let right = b.get(j).map_or(u64::MAX, |entry| u64::from(entry.0));
        let least = left.min(right);
        let column = least as u32;
        if skip == Some(column) {
            i += usize::from(left == least);
            j += usize::from(right == least);
            continue;
        }
        if left < right {
            out.push(a[i].clone());
            i += 1;
        } else if right < left {
            let value = field.mul(factor, &b[j].1);
            if !field.is_zero(&value) {
                fresh(column);
                out.push((column, value));
            }
            j += 1;
        } else {
            let scaled = field.mul(factor, &b[j].1);
            let value = field.add(&a[i].1, &scaled);
            if !field.is_zero(&value) {
                out.push((column, value));
            }
            i += 1;
            j += 1;
        }
    }
    out
}

/// `factor * row`, for a nonzero factor.
pub fn scaled<F: Field>(field: &mut F, row: &[(u32, F::Element)], factor: &F::Element) -> Row<F::Element> {
    row.iter()
        .map(|(column, value)| (*column, field.mul(factor, value)))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::algebra::Doubles;

    #[test]
    fn the_mark_of_an_undetermined_row_is_added_like_any_column() {
        let mark = u32::MAX;
        let plain = [(2, 1.0)];
        let marked = [(2, 1.0), (mark, 1.0)];
        let sum = |a: &[(u32, f64)], b: &[(u32, f64)]| add_scaled(&mut Doubles, a, b, &2.0, None, |_| {});
        assert_eq!(sum(&plain, &marked), [(2, 3.0), (mark, 2.0)]);
        assert_eq!(sum(&marked, &plain), [(2, 3.0), (mark, 1.0)]);
        assert_eq!(sum(&[], &marked), [(2, 2.0), (mark, 2.0)]);
    }
}
