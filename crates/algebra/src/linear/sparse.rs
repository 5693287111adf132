//! Gaussian elimination of one sparse block.
//!
//! Only the matrix is eliminated. Right-hand sides are assembled afterwards, from the recorded multipliers. A row that is subtracted from
//! many others (the balance at a hub) is therefore not copied for each of them. The work is proportional to the number of entries that
//! arise, times a logarithm.

use crate::Field;
use crate::row::{Row, Singular};
use rustc_hash::FxHashMap;
use std::collections::BTreeSet;

/// Columns from this number on are shared rows; all others are below.
pub const SHARED: u32 = 1 << 30;

/// Rows that get their own column instead of being expanded at each use.
///
/// Equations around a hub without storage are short while the hub's variable is one of them; expanded in each equation, their length grows
/// with the square of the number of branches.
#[derive(Clone, Debug)]
pub struct Sharing<E> {
    /// The shared rows, over other columns and the columns of earlier shared rows; the k-th has the column `SHARED + k`.
    pub rows: Vec<Row<E>>,
    /// Rows with more entries than this are shared.
    longest: usize,
    /// The remaining number of entries that may be expanded.
    budget: usize,
}

impl<E: Clone> Sharing<E> {
    /// Shares no rows.
    pub fn nothing() -> Sharing<E> {
        Sharing::up_to(usize::MAX)
    }

    /// Shares no rows, and limits the total number of entries.
    pub fn up_to(budget: usize) -> Sharing<E> {
        Sharing {
            rows: Vec::new(),
            longest: usize::MAX,
            budget,
        }
    }

    /// Shares rows with more entries than this.
    pub fn beyond(longest: usize) -> Sharing<E> {
        Sharing {
            longest,
            ..Sharing::nothing()
        }
    }

    /// Returns true if no row is shared and no entries are counted.
    pub fn is_idle(&self) -> bool {
        self.longest == usize::MAX && self.budget == usize::MAX
    }

    /// Returns true if the entry limit was exceeded; from then on operations are fast, and rows are invalid.
    pub fn is_exceeded(&self) -> bool {
        self.budget == 0
    }

    /// Counts a new row.
    pub fn count(&mut self, row: &Row<E>) {
        if self.budget < usize::MAX {
            self.budget = self.budget.saturating_sub(row.len());
        }
    }

    /// Returns the shared rows, renumbered: unused rows are dropped, and rows with a single use are expanded there. `users` are all rows
    /// that may contain shared columns.
    pub fn finish<F: Field<Element = E>>(self, field: &mut F, users: &mut [&mut Vec<Row<E>>]) -> Vec<Row<E>>
    where
        E: std::fmt::Debug,
    {
        let mut uses = vec![0u32; self.rows.len()];
        let mut note = |row: &Row<E>| {
            for (column, _) in row.iter().rev().take_while(|entry| entry.0 >= SHARED) {
                uses[(column - SHARED) as usize] += 1;
            }
        };
        users.iter().flat_map(|rows| rows.iter()).for_each(&mut note);
        // A row's users come after it, so its own uses count only if it is used itself.
        for index in (0..self.rows.len()).rev() {
            if uses[index] > 0 {
                for (column, _) in self.rows[index].iter().rev().take_while(|entry| entry.0 >= SHARED) {
                    uses[(column - SHARED) as usize] += 1;
                }
            }
        }
        let mut kept: Vec<Row<E>> = Vec::new();
        // The replacement of each shared column: its new column, or its row.
        let mut place: Vec<Row<E>> = Vec::with_capacity(self.rows.len());
        for (row, uses) in self.rows.into_iter().zip(uses) {
            let row = replace_shared(field, row, &place);
            place.push(match uses {
                0 => Row::new(),
                1 => row,
                _ => {
                    kept.push(row);
                    vec![(SHARED + kept.len() as u32 - 1, field.one())]
                }
            });
        }
        for row in users.iter_mut().flat_map(|rows| rows.iter_mut()) {
            *row = replace_shared(field, std::mem::take(row), &place);
        }
        kept
    }

    /// Prepares a row for use in other rows: a short row is returned unchanged, a long one is replaced by its new shared column.
    pub fn keep<F: Field<Element = E>>(&mut self, field: &F, row: Row<E>) -> Row<E> {
        self.count(&row);
        if row.len() <= self.longest {
            return row;
        }
        self.rows.push(row);
        vec![(SHARED + self.rows.len() as u32 - 1, field.one())]
    }
}

/// Returns the row with its shared columns replaced.
fn replace_shared<F: Field>(field: &mut F, mut row: Row<F::Element>, place: &[Row<F::Element>]) -> Row<F::Element> {
    let first = row.partition_point(|entry| entry.0 < SHARED);
    if first == row.len() {
        return row;
    }
    let shared: Row<F::Element> = row
        .split_off(first)
        .into_iter()
        .map(|(column, value)| (column, field.neg(&value)))
        .collect();
    let parts = shared
        .iter()
        .map(|(column, value)| (value, &place[(column - SHARED) as usize]));
    subtract_all(field, row, parts)
}

/// Solves one block; the rows of the solution belong to the columns of the matrix.
pub fn eliminate<F: Field>(
    field: &mut F,
    matrix: Vec<Row<F::Element>>,
    right: Vec<Row<F::Element>>,
    sharing: &mut Sharing<F::Element>,
) -> Result<Vec<Row<F::Element>>, Singular> {
    let size = matrix.len();
    let mut work = Elimination::new(field, matrix);
    let mut order = Vec::with_capacity(size);
    while order.len() < size && !field.exhausted() {
        let pivot = work.choose(field)?;
        work.pivot(field, pivot, order.len() as u32);
        order.push(pivot);
    }
    let mut solution: Vec<Row<F::Element>> = vec![Vec::new(); size];
    if field.exhausted() {
        return Ok(solution);
    }
    let mut uses = vec![0u32; size];
    for (step, _) in work.lines.iter().flat_map(|line| &line.subtracted) {
        uses[*step as usize] += 1;
    }
    let mut right = right;
    let mut sides: Vec<Row<F::Element>> = Vec::with_capacity(size);
    for (step, (row, _)) in order.iter().enumerate() {
        let subtracted = std::mem::take(&mut work.lines[*row as usize].subtracted);
        let parts = subtracted.iter().map(|(step, factor)| (factor, &sides[*step as usize]));
        let side = subtract_all(field, std::mem::take(&mut right[*row as usize]), parts);
        let side = if uses[step] > 0 {
            sharing.keep(field, side)
        } else {
            side
        };
        if field.exhausted() || sharing.is_exceeded() {
            return Ok(solution);
        }
        sides.push(side);
    }
    for ((row, column), side) in order.into_iter().zip(sides).rev() {
        let mut entries = std::mem::take(&mut work.lines[row as usize].entries);
        entries.sort_unstable_by_key(|entry| entry.0);
        let others = entries.iter().filter(|entry| entry.0 != column);
        let parts = others.map(|(other, value)| (value, &solution[*other as usize]));
        let side = subtract_all(field, side, parts);
        let at = entries
            .binary_search_by_key(&column, |entry| entry.0)
            .expect("invariant: a pivot row holds its pivot");
        let row = divide_row(field, &side, &entries[at].1);
        solution[column as usize] = sharing.keep(field, row);
        if field.exhausted() || sharing.is_exceeded() {
            return Ok(solution);
        }
    }
    Ok(solution)
}

/// Computes `row / divisor`.
pub(crate) fn divide_row<F: Field>(field: &mut F, row: &Row<F::Element>, divisor: &F::Element) -> Row<F::Element> {
    row.iter()
        .map(|(column, value)| (*column, field.div(value, divisor)))
        .collect()
}

/// Computes `target - sum of factor*source`, entry by entry in the order of the sources; cancelled entries are dropped.
pub(crate) fn subtract_all<'a, F: Field>(
    field: &mut F,
    target: Row<F::Element>,
    parts: impl Iterator<Item = (&'a F::Element, &'a Row<F::Element>)>,
) -> Row<F::Element>
where
    F::Element: 'a,
{
    let mut parts = parts.filter(|part| !part.1.is_empty()).peekable();
    if parts.peek().is_none() {
        return target;
    }
    let mut sum = target;
    // A short sum keeps its columns in ascending order; a long one uses a hash table, and is sorted at the end.
    let mut places: Option<FxHashMap<u32, u32>> = None;
    for (factor, source) in parts {
        if places.is_none() && sum.len() + source.len() > WIDE {
            places = Some(sum.iter().zip(0..).map(|(entry, place)| (entry.0, place)).collect());
        }
        for (column, value) in source {
            let product = field.mul(factor, value);
            let place = match &places {
                None => sum.iter().position(|entry| entry.0 == *column),
                Some(places) => places.get(column).map(|place| *place as usize),
            };
            match place {
                None => {
                    if let Some(places) = &mut places {
                        places.insert(*column, sum.len() as u32);
                    }
                    sum.push((*column, field.neg(&product)));
                }
                Some(place) => {
                    let before = &sum[place].1;
                    let after = field.sub(before, &product);
                    let is_rounding = cancelled(field, before, &after);
                    sum[place].1 = if is_rounding { field.zero() } else { after };
                }
            }
        }
    }
    sum.retain(|entry| !field.is_zero(&entry.1));
    sum.sort_unstable_by_key(|entry| entry.0);
    sum
}

/// Returns true if a difference is only round-off and counts as 0; never true in an exact field.
pub(crate) fn cancelled<F: Field>(field: &F, before: &F::Element, after: &F::Element) -> bool {
    match (field.magnitude(before), field.magnitude(after)) {
        (Some(before), Some(after)) => after <= 4.0 * f64::EPSILON * before,
        _ => false,
    }
}

/// Rows with more entries than this use a hash table.
const WIDE: usize = 32;

/// A row of the matrix under elimination.
struct Line<E> {
    /// Columns and values, unordered.
    entries: Vec<(u32, E)>,
    /// The index of each column in a wide row; empty until the row is wide.
    places: FxHashMap<u32, u32>,
    /// An upper bound of the largest magnitude: removed entries may still count.
    largest: f64,
    /// True if `largest` is exact.
    is_exact: bool,
    /// The steps whose rows were subtracted, with their multipliers.
    subtracted: Vec<(u32, E)>,
    done: bool,
}

impl<E> Line<E> {
    fn place(&self, column: u32) -> Option<usize> {
        if self.places.is_empty() {
            self.entries.iter().position(|entry| entry.0 == column)
        } else {
            self.places.get(&column).map(|place| *place as usize)
        }
    }

    fn push(&mut self, column: u32, value: E) {
        let place = self.entries.len();
        self.entries.push((column, value));
        if !self.places.is_empty() {
            self.places.insert(column, place as u32);
        } else if place >= WIDE {
            let columns = self.entries.iter().enumerate();
            self.places = columns.map(|(place, entry)| (entry.0, place as u32)).collect();
        }
    }

    fn remove(&mut self, place: usize) -> E {
        let (column, value) = self.entries.swap_remove(place);
        if !self.places.is_empty() {
            self.places.remove(&column);
            if let Some((moved, _)) = self.entries.get(place) {
                self.places.insert(*moved, place as u32);
            }
        }
        value
    }
}

/// A matrix under elimination: the rows and columns without a pivot, by entry count.
struct Elimination<E> {
    lines: Vec<Line<E>>,
    column_done: Vec<bool>,
    column_count: Vec<u32>,
    /// Rows that have, or once had, an entry in the column.
    rows_of: Vec<Vec<u32>>,
    /// Ordered by count; ties are in pseudo-random order, because taking the rows of a grid one after the other fills a front as wide as
    /// the grid.
    by_row_count: BTreeSet<(u32, u32, u32)>,
    by_column_count: BTreeSet<(u32, u32, u32)>,
}

/// Returns the rank of a row or column in an order by count.
fn rank(count: u32, index: u32) -> (u32, u32, u32) {
    (count, index.wrapping_mul(0x9E37_79B1), index)
}

/// The number of shortest rows and columns searched for a pivot.
const SEARCHED: usize = 4;

/// The smallest acceptable pivot, relative to the largest entry of its row (threshold pivoting; 0.1 is customary).
const THRESHOLD: f64 = 0.1;

impl<E: Clone> Elimination<E> {
    fn new<F: Field<Element = E>>(field: &F, matrix: Vec<Row<E>>) -> Elimination<E> {
        let size = matrix.len();
        let mut rows_of = vec![Vec::new(); size];
        let mut lines = Vec::with_capacity(size);
        for (row, entries) in matrix.into_iter().enumerate() {
            let mut line = Line {
                entries: Vec::with_capacity(entries.len()),
                places: FxHashMap::default(),
                largest: 0.0,
                is_exact: true,
                subtracted: Vec::new(),
                done: false,
            };
            for (column, value) in entries {
                rows_of[column as usize].push(row as u32);
                line.largest = line.largest.max(field.magnitude(&value).unwrap_or(0.0));
                line.push(column, value);
            }
            lines.push(line);
        }
        let column_count: Vec<u32> = rows_of.iter().map(|list| list.len() as u32).collect();
        Elimination {
            by_row_count: (0..)
                .zip(&lines)
                .map(|(row, line)| rank(line.entries.len() as u32, row))
                .collect(),
            by_column_count: column_count
                .iter()
                .zip(0..)
                .map(|(count, column)| rank(*count, column))
                .collect(),
            lines,
            column_done: vec![false; size],
            column_count,
            rows_of,
        }
    }

    /// Returns the pivot with the least fill-in (Markowitz), then the least cost, among the shortest rows and columns; a pivot of infinite
    /// cost only if no other exists.
    fn choose<F: Field<Element = E>>(&mut self, field: &F) -> Result<(u32, u32), Singular> {
        let mut best: Option<Candidate> = None;
        let rows: Vec<u32> = self.by_row_count.iter().take(SEARCHED).map(|entry| entry.2).collect();
        for row in rows {
            if self.lines[row as usize].entries.is_empty() {
                // Reports a column without remaining rows, or else any remaining column.
                let column = self.by_column_count.first().map_or(0, |entry| entry.2);
                return Err(Singular { row, column });
            }
            for place in 0..self.lines[row as usize].entries.len() {
                self.consider(field, row, place, &mut best);
            }
        }
        let columns: Vec<u32> = self
            .by_column_count
            .iter()
            .take(SEARCHED)
            .map(|entry| entry.2)
            .collect();
        for column in columns {
            for index in 0..self.rows_of[column as usize].len() {
                let row = self.rows_of[column as usize][index];
                let line = &self.lines[row as usize];
                if let Some(place) = line.place(column).filter(|_| !line.done) {
                    self.consider(field, row, place, &mut best);
                }
            }
        }
        if let Some(best) = best {
            return Ok((best.row, best.column));
        }
        // Doubles overflowed: NaN entries have no largest one, so no unknown can be solved for.
        let row = self.by_row_count.first().expect("invariant: a row is left").2;
        let column = self.lines[row as usize].entries[0].0;
        Err(Singular { row, column })
    }

    /// Makes an entry the pivot candidate if it is better than the best so far.
    fn consider<F: Field<Element = E>>(&mut self, field: &F, row: u32, place: usize, best: &mut Option<Candidate>) {
        let line = &self.lines[row as usize];
        let (column, value) = &line.entries[place];
        let column = *column;
        let length = line.entries.len() as u64 - 1;
        let fill = length * (u64::from(self.column_count[column as usize]) - 1);
        let cost = field.pivot_cost(value);
        // An entry of infinite cost vanishes at the values used later; every row has another entry, or the matrix is singular at these
        // values.
        let last_resort = cost == f64::INFINITY;
        let better = best.as_ref().is_none_or(|best| {
            let (now, known) = ((last_resort, fill), (best.last_resort, best.fill));
            now < known || (now == known && cost < best.cost)
        });
        // Checked last, because finding the largest entry of a long row may be slow.
        if better && self.is_large(field, row, place) {
            *best = Some(Candidate {
                row,
                column,
                last_resort,
                fill,
                cost,
            });
        }
    }

    /// Returns true if an entry is large enough for a pivot.
    fn is_large<F: Field<Element = E>>(&mut self, field: &F, row: u32, place: usize) -> bool {
        let line = &mut self.lines[row as usize];
        let Some(size) = field.magnitude(&line.entries[place].1) else {
            return true;
        };
        if size < THRESHOLD * line.largest && !line.is_exact {
            let sizes = line.entries.iter().filter_map(|entry| field.magnitude(&entry.1));
            line.largest = sizes.fold(0.0, f64::max);
            line.is_exact = true;
        }
        size >= THRESHOLD * line.largest
    }

    /// Eliminates a column from all rows except the pivot's.
    fn pivot<F: Field<Element = E>>(&mut self, field: &mut F, (row, column): (u32, u32), step: u32) {
        let entries = std::mem::take(&mut self.lines[row as usize].entries);
        self.lines[row as usize].done = true;
        self.lines[row as usize].places = FxHashMap::default();
        self.by_row_count.remove(&rank(entries.len() as u32, row));
        for (other, _) in &entries {
            self.recount(*other, -1);
        }
        self.by_column_count
            .remove(&rank(self.column_count[column as usize], column));
        self.column_done[column as usize] = true;
        let at = entries
            .iter()
            .position(|entry| entry.0 == column)
            .expect("invariant: a pivot row holds its pivot");
        // If division is expensive, one inverse serves all rows.
        let mut inverse = None;
        for target in std::mem::take(&mut self.rows_of[column as usize]) {
            let line = &mut self.lines[target as usize];
            let Some(place) = line.place(column).filter(|_| !line.done) else {
                continue;
            };
            let length = line.entries.len() as u32;
            let own = line.remove(place);
            let pivot = &entries[at].1;
            let factor = if field.magnitude(pivot).is_some() {
                field.div(&own, pivot)
            } else {
                let inverse = inverse.get_or_insert_with(|| field.invert(pivot));
                field.mul(&own, inverse)
            };
            for (other, value) in entries.iter().filter(|entry| entry.0 != column) {
                self.subtract(field, target, *other, &factor, value);
            }
            let line = &mut self.lines[target as usize];
            line.is_exact = false;
            line.subtracted.push((step, factor));
            let now = line.entries.len() as u32;
            self.by_row_count.remove(&rank(length, target));
            self.by_row_count.insert(rank(now, target));
            if field.exhausted() {
                break;
            }
        }
        self.lines[row as usize].entries = entries;
    }

    /// Subtracts `factor*value` from an entry of a row.
    fn subtract<F: Field<Element = E>>(&mut self, field: &mut F, target: u32, column: u32, factor: &E, value: &E) {
        let product = field.mul(factor, value);
        let line = &mut self.lines[target as usize];
        match line.place(column) {
            None => {
                if field.is_zero(&product) {
                    return;
                }
                let value = field.neg(&product);
                line.largest = line.largest.max(field.magnitude(&value).unwrap_or(0.0));
                line.push(column, value);
                self.rows_of[column as usize].push(target);
                self.recount(column, 1);
            }
            Some(place) => {
                let before = &line.entries[place].1;
                let after = field.sub(before, &product);
                if field.is_zero(&after) || cancelled(field, before, &after) {
                    line.remove(place);
                    self.recount(column, -1);
                } else {
                    line.largest = line.largest.max(field.magnitude(&after).unwrap_or(0.0));
                    line.entries[place].1 = after;
                }
            }
        }
    }

    fn recount(&mut self, column: u32, change: i32) {
        let count = &mut self.column_count[column as usize];
        let old = *count;
        *count = count.wrapping_add_signed(change);
        let new = *count;
        if !self.column_done[column as usize] && self.by_column_count.remove(&rank(old, column)) {
            self.by_column_count.insert(rank(new, column));
        }
    }
}

/// The best pivot so far.
struct Candidate {
    row: u32,
    column: u32,
    last_resort: bool,
    fill: u64,
    cost: f64,
}
