//! Sparse Gaussian elimination by columns, over any field.
//!
//! Elimination is forward only: a row is not touched again after its use as a pivot. The result is an ordered list of
//! assignments, and chains and trees cost nothing beyond their own size.

pub use lgm_algebra::Row;

use lgm_algebra::Field;
use rustc_hash::FxHashMap;
use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap};

/// Rows with more columns than this are stored as trees while they change.
const WIDE: usize = 128;

/// An elimination in progress.
#[derive(Clone, Debug)]
pub struct Elimination<E> {
    /// All rows; those in `pivots` are final. Wide rows that are not final are empty here.
    pub rows: Vec<Row<E>>,
    /// Rows of more than [`WIDE`] columns that are not yet pivots: the balance at a hub changes once for each of its
    /// branches, and would otherwise be copied each time.
    wide: FxHashMap<u32, BTreeMap<u32, E>>,
    active: Vec<bool>,
    /// For each column, the rows that contain it or once did; pruned on access.
    holders: Vec<Vec<u32>>,
    /// The chosen pivots in order, as row and column.
    pub pivots: Vec<(u32, u32)>,
}

impl<E: Clone + std::fmt::Debug> Elimination<E> {
    /// Creates an elimination of rows with the given number of columns.
    pub fn new(rows: Vec<Row<E>>, columns: usize) -> Elimination<E> {
        let mut holders = vec![Vec::new(); columns];
        for (index, row) in rows.iter().enumerate() {
            for (column, _) in row {
                holders[*column as usize].push(index as u32);
            }
        }
        let mut elimination = Elimination {
            active: vec![true; rows.len()],
            rows,
            wide: FxHashMap::default(),
            holders,
            pivots: Vec::new(),
        };
        for row in 0..elimination.rows.len() as u32 {
            elimination.widen(row);
        }
        elimination
    }

    /// Moves a row with many columns to the wide ones.
    fn widen(&mut self, row: u32) {
        if self.rows[row as usize].len() > WIDE {
            let entries = std::mem::take(&mut self.rows[row as usize]);
            self.wide.insert(row, entries.into_iter().collect());
        }
    }

    /// Returns true if an active row contains a column.
    pub fn holds(&self, row: u32, column: u32) -> bool {
        self.entry(row, column).is_some()
    }

    /// Returns true if an active row has an entry in a column that may vanish later.
    pub fn may_vanish<F: Field<Element = E>>(&self, field: &F, row: u32, column: u32) -> bool {
        self.entry(row, column).is_some_and(|value| field.may_vanish(value))
    }

    /// Returns the entry of an active row in a column.
    pub(crate) fn entry(&self, row: u32, column: u32) -> Option<&E> {
        let plain = &self.rows[row as usize];
        match find(plain, column) {
            Some(at) => Some(&plain[at].1),
            None => self.wide.get(&row)?.get(&column),
        }
    }

    /// Returns the number of entries of an active row.
    fn length(&self, row: u32) -> usize {
        match self.rows[row as usize].len() {
            0 => self.wide.get(&row).map_or(0, BTreeMap::len),
            length => length,
        }
    }

    /// Returns the active rows that contain a column.
    fn candidates(&mut self, column: u32) -> &[u32] {
        let mut holders = std::mem::take(&mut self.holders[column as usize]);
        holders.sort_unstable();
        holders.dedup();
        holders.retain(|row| self.active[*row as usize] && self.entry(*row, column).is_some());
        self.holders[column as usize] = holders;
        &self.holders[column as usize]
    }

    /// Returns the cost of eliminating the column: the number of visited entries in the other rows; `None` if no active row contains it.
    pub fn cost<F: Field<Element = E>>(&mut self, field: &F, column: u32) -> Option<usize> {
        let row = self.best_row(field, column)?;
        let length = self.length(row);
        let others: usize = self.holders[column as usize]
            .iter()
            .filter(|other| **other != row)
            .map(|other| self.length(*other).min(WIDE) + length)
            .sum();
        Some(others)
    }

    /// Returns the row of the best pivot. Ties go to the last row, because its other columns are mostly eliminated
    /// last. At a hub, where many variables are equal, each elimination moves the hub variable's terms to another row,
    /// and choosing the first row would select that row again.
    fn best_row<F: Field<Element = E>>(&mut self, field: &F, column: u32) -> Option<u32> {
        self.candidates(column);
        self.holders[column as usize].iter().rev().copied().min_by(|a, b| {
            let key = |row: u32| {
                let value = self.entry(row, column);
                let value = value.expect("invariant: a candidate row holds the column");
                (field.pivot_cost(value), self.length(row))
            };
            let (a, b) = (key(*a), key(*b));
            a.0.total_cmp(&b.0).then(a.1.cmp(&b.1))
        })
    }

    /// Eliminates a column from all active rows but one, which becomes its pivot row; returns `None` if no active row contains it.
    pub fn pivot<F: Field<Element = E>>(&mut self, field: &mut F, column: u32) -> Option<u32> {
        let row = self.best_row(field, column)?;
        self.pivot_on(field, row, column);
        Some(row)
    }

    /// Eliminates a column with a given pivot row.
    pub fn pivot_on<F: Field<Element = E>>(&mut self, field: &mut F, row: u32, column: u32) {
        self.candidates(column);
        let others: Vec<u32> = self.holders[column as usize]
            .iter()
            .copied()
            .filter(|other| *other != row)
            .collect();
        let pivot_row = match self.wide.remove(&row) {
            Some(entries) => entries.into_iter().collect(),
            None => std::mem::take(&mut self.rows[row as usize]),
        };
        let at = find(&pivot_row, column).expect("invariant: the pivot row holds the column");
        for other in others {
            if let Some(target) = self.wide.get_mut(&other) {
                let own = target
                    .remove(&column)
                    .expect("invariant: a candidate row holds the column");
                let quotient = field.div(&own, &pivot_row[at].1);
                let factor = field.neg(&quotient);
                for (column, value) in pivot_row.iter().filter(|entry| entry.0 != column) {
                    let product = field.mul(&factor, value);
                    let before = target.get(column);
                    let sum = before.map_or_else(|| product.clone(), |before| field.add(before, &product));
                    if field.is_zero(&sum) {
                        target.remove(column);
                    } else if target.insert(*column, sum).is_none() {
                        self.holders[*column as usize].push(other);
                    }
                }
                continue;
            }
            let target = std::mem::take(&mut self.rows[other as usize]);
            let place = find(&target, column).expect("invariant: a candidate row holds the column");
            let quotient = field.div(&target[place].1, &pivot_row[at].1);
            let factor = field.neg(&quotient);
            let holders = &mut self.holders;
            let merged = add_scaled(field, &target, &pivot_row, &factor, Some(column), |new| {
                holders[new as usize].push(other);
            });
            self.rows[other as usize] = merged;
            self.widen(other);
        }
        self.rows[row as usize] = pivot_row;
        self.active[row as usize] = false;
        self.holders[column as usize].clear();
        self.pivots.push((row, column));
    }

    /// Eliminates many columns, those contained in the fewest rows first; returns the columns that no row determines.
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
}

/// Returns the index of a column's entry in a row.
pub fn find<E>(row: &Row<E>, column: u32) -> Option<usize> {
    row.binary_search_by_key(&column, |entry| entry.0).ok()
}

/// Returns `a + factor * b`, without the column `skip`; `fresh` is called for columns that `a` does not contain.
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
        // Wider than a column index, so that the end of a row is not a column: `u32::MAX` marks undetermined variables.
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

/// A sum of rows that copies no long part of itself for each short row that is added: even in a sum of a million terms,
/// each is copied about twenty times.
#[derive(Clone, Debug)]
pub struct RowSum<E> {
    /// Its parts, longer ones first; those of at most [`WIDE`] columns are one part.
    parts: Vec<Row<E>>,
}

impl<E> Default for RowSum<E> {
    /// Returns the empty sum.
    fn default() -> RowSum<E> {
        RowSum { parts: Vec::new() }
    }
}

impl<E: Clone + std::fmt::Debug> RowSum<E> {
    /// Adds `factor * row`.
    pub fn add<F: Field<Element = E>>(&mut self, field: &mut F, row: &[(u32, E)], factor: &E) {
        let last = match self.parts.pop_if(|last| last.len() <= WIDE.max(row.len())) {
            Some(last) => add_scaled(field, &last, row, factor, None, |_| {}),
            None => add_scaled(field, &[], row, factor, None, |_| {}),
        };
        self.parts.push(last);
        while let [.., longer, last] = &self.parts[..]
            && longer.len() <= last.len()
        {
            self.join(field);
        }
    }

    /// Returns the total as a row.
    pub fn total<F: Field<Element = E>>(mut self, field: &mut F) -> Row<E> {
        while self.parts.len() > 1 {
            self.join(field);
        }
        self.parts.pop().unwrap_or_default()
    }

    /// Merges the last two parts.
    fn join<F: Field<Element = E>>(&mut self, field: &mut F) {
        if let (Some(last), Some(longer)) = (self.parts.pop(), self.parts.pop()) {
            let one = field.one();
            self.parts.push(add_scaled(field, &longer, &last, &one, None, |_| {}));
        }
    }
}

/// Returns `factor * row`, for a nonzero factor.
pub fn scaled<F: Field>(field: &mut F, row: &[(u32, F::Element)], factor: &F::Element) -> Row<F::Element> {
    row.iter()
        .map(|(column, value)| (*column, field.mul(factor, value)))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use lgm_algebra::Doubles;

    #[test]
    fn a_sum_of_many_rows_is_the_same_in_parts() {
        let mut sum = RowSum::default();
        let mut expected = vec![0.0; 1000];
        for k in 0..5000_u32 {
            let columns = [(7 * k) % 499, 500 + (13 * k) % 499];
            let row: Vec<(u32, f64)> = columns.iter().map(|column| (*column, f64::from(k % 5))).collect();
            sum.add(&mut Doubles, &row, &2.0);
            for column in columns {
                expected[column as usize] += 2.0 * f64::from(k % 5);
            }
        }
        let mut found = vec![0.0; 1000];
        for (column, value) in sum.total(&mut Doubles) {
            found[column as usize] = value;
        }
        assert_eq!(found, expected);
    }

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
