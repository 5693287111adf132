//! Sparse Gaussian elimination with pivots that keep rows short and are not small.

use super::scalar::Scalar;

/// A sparse row: columns with their entries, ascending, no entry exactly 0.
pub type Row<T> = Vec<(usize, T)>;

/// Rows of `P x = Q`; the columns of Q are numbered after those of P.
#[derive(Clone, Debug)]
pub struct System<T> {
    /// The equations.
    pub rows: Vec<Row<T>>,
    /// Number of unknowns.
    pub unknowns: usize,
    /// Number of right sides.
    pub right_sides: usize,
}

/// The result of elimination.
pub struct Elimination<T> {
    /// Rows in the order in which they gave pivots, each with its pivot column.
    pivots: Vec<(usize, Row<T>)>,
    /// The determinant; 0 if the rank is not full.
    pub determinant: T,
    /// The number of pivots.
    pub rank: usize,
    /// True if a row without unknowns but with a right side remains: no solution.
    pub inconsistent: bool,
    unknowns: usize,
    right_sides: usize,
}

/// `target - factor * pivot`, both ascending; the entry in `drop` cancels and is omitted.
fn subtract<T: Scalar>(target: &Row<T>, factor: T, pivot: &Row<T>, drop: usize) -> Row<T> {
    let mut out = Vec::with_capacity(target.len() + pivot.len());
    let (mut i, mut j) = (0, 0);
    while i < target.len() || j < pivot.len() {
        let left = target.get(i).map_or(usize::MAX, |entry| entry.0);
        let right = pivot.get(j).map_or(usize::MAX, |entry| entry.0);
        let column = left.min(right);
        let mut value = T::zero();
        if left == column {
            value = target[i].1;
            i += 1;
        }
        if right == column {
            value = value.sub(factor.mul(pivot[j].1));
            j += 1;
        }
        if column != drop && !value.is_zero() {
            out.push((column, value));
        }
    }
    out
}

/// Sums entries of the same column and drops zeros.
pub fn tidy<T: Scalar>(mut row: Row<T>) -> Row<T> {
    row.sort_by_key(|entry| entry.0);
    let mut out: Row<T> = Vec::with_capacity(row.len());
    for (column, value) in row {
        match out.last_mut() {
            Some(last) if last.0 == column => last.1 = last.1.add(value),
            _ => out.push((column, value)),
        }
    }
    out.retain(|entry| !entry.1.is_zero());
    out
}

/// The sign of a permutation: true if it is odd.
fn is_odd(permutation: &[usize]) -> bool {
    let mut seen = vec![false; permutation.len()];
    let mut odd = false;
    for start in 0..permutation.len() {
        let mut at = start;
        let mut length = 0;
        while !seen[at] {
            seen[at] = true;
            at = permutation[at];
            length += 1;
        }
        odd ^= length > 0 && length % 2 == 0;
    }
    odd
}

impl<T: Scalar> System<T> {
    /// Eliminates: Markowitz's count selects among the entries that are not small within their row.
    pub fn eliminate(&self) -> Elimination<T> {
        let n = self.unknowns;
        let mut active: Vec<(usize, Row<T>)> = self.rows.iter().cloned().enumerate().collect();
        let mut pivots = Vec::new();
        let mut order = Vec::new();
        let mut determinant = T::one();
        loop {
            let mut counts = vec![0usize; n];
            for (_, row) in &active {
                for entry in row.iter().filter(|entry| entry.0 < n) {
                    counts[entry.0] += 1;
                }
            }
            let mut best: Option<(usize, f64, usize, usize)> = None;
            for (index, (_, row)) in active.iter().enumerate() {
                let length = row.iter().filter(|entry| entry.0 < n).count();
                let largest = row
                    .iter()
                    .filter(|entry| entry.0 < n)
                    .map(|entry| entry.1.size())
                    .fold(0.0, f64::max);
                for (column, value) in row.iter().filter(|entry| entry.0 < n) {
                    let size = value.size() / largest;
                    if size < 0.1 {
                        continue;
                    }
                    let cost = (length - 1) * (counts[*column] - 1);
                    if best.is_none_or(|(least, weight, ..)| cost < least || (cost == least && size > weight)) {
                        best = Some((cost, size, index, *column));
                    }
                }
            }
            let Some((_, _, index, column)) = best else { break };
            let (number, pivot_row) = active.swap_remove(index);
            let pivot = entry(&pivot_row, column).expect("the pivot was found in this row");
            determinant = determinant.mul(pivot);
            for (_, row) in &mut active {
                if let Some(value) = entry(row, column) {
                    *row = subtract(row, value.div(pivot), &pivot_row, column);
                }
            }
            order.push((number, column));
            pivots.push((column, pivot_row));
        }
        let rank = pivots.len();
        if rank < n || n < self.rows.len() {
            determinant = T::zero();
        } else {
            let mut permutation = vec![0; n];
            for (row, column) in order {
                permutation[row] = column;
            }
            if is_odd(&permutation) {
                determinant = determinant.neg();
            }
        }
        Elimination {
            pivots,
            determinant,
            rank,
            inconsistent: active.iter().any(|(_, row)| !row.is_empty()),
            unknowns: n,
            right_sides: self.right_sides,
        }
    }

    /// The solution, one vector of unknowns for each right side, improved by iterative refinement; none if singular.
    pub fn solve(&self) -> Option<Vec<Vec<T>>> {
        let mut solution = self.eliminate().substitute()?;
        for _ in 0..2 {
            let mut rest = self.clone();
            for row in &mut rest.rows {
                let (factors, sides): (Row<T>, Row<T>) = row.iter().partition(|entry| entry.0 < self.unknowns);
                *row = factors.clone();
                for (side, values) in solution.iter().enumerate() {
                    let column = self.unknowns + side;
                    let given = entry(&sides, column).unwrap_or(T::zero());
                    let left = factors.iter().map(|(column, factor)| factor.mul(values[*column]));
                    row.push((column, left.fold(given, T::sub)));
                }
                *row = tidy(std::mem::take(row));
            }
            let correction = rest.eliminate().substitute()?;
            for (whole, part) in solution.iter_mut().zip(correction) {
                for (value, change) in whole.iter_mut().zip(part) {
                    *value = value.add(change);
                }
            }
        }
        Some(solution)
    }

    /// The rank of P.
    pub fn rank(&self) -> usize {
        self.eliminate().rank
    }
}

/// The entry of a row in a column.
pub fn entry<T: Scalar>(row: &Row<T>, column: usize) -> Option<T> {
    row.binary_search_by_key(&column, |entry| entry.0)
        .ok()
        .map(|at| row[at].1)
}

impl<T: Scalar> Elimination<T> {
    /// Back substitution; none if an unknown has no pivot.
    pub fn substitute(&self) -> Option<Vec<Vec<T>>> {
        if self.rank < self.unknowns || self.inconsistent {
            return None;
        }
        let mut solution = vec![vec![T::zero(); self.unknowns]; self.right_sides];
        for (column, row) in self.pivots.iter().rev() {
            let pivot = entry(row, *column)?;
            for (side, values) in solution.iter_mut().enumerate() {
                let mut value = entry(row, self.unknowns + side).unwrap_or(T::zero());
                for (other, factor) in row.iter().filter(|entry| entry.0 < self.unknowns && entry.0 != *column) {
                    value = value.sub(factor.mul(values[*other]));
                }
                values[*column] = value.div(pivot);
            }
        }
        Some(solution)
    }
}
