//! Sparse LU factorisation of a complex matrix: columns ordered by entry count, rows by threshold pivoting.

use num_complex::Complex;
use rustc_hash::FxHashMap;
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// The smallest acceptable pivot, relative to the largest entry of its column (threshold pivoting; 0.1 is customary).
const THRESHOLD: f64 = 0.1;

/// One step of the elimination.
#[derive(Clone, Debug)]
struct Step {
    row: u32,
    column: u32,
    pivot: Complex<f64>,
    /// Rows below, with the multiple of the pivot row that was subtracted from each.
    below: Vec<(u32, Complex<f64>)>,
    /// The rest of the pivot row.
    right: Vec<(u32, Complex<f64>)>,
}

/// The factors of a square matrix.
#[derive(Clone, Debug)]
pub(crate) struct SparseLu {
    steps: Vec<Step>,
}

impl SparseLu {
    /// Factorises the matrix; `None` if it is singular, that is, if a column has no pivot left.
    ///
    /// Rows are hash tables. Eliminating many other rows from one row (a mass with thousands of springs) then costs only the added entries
    /// each time, not the row's length.
    pub(crate) fn factorise(matrix: &[Vec<(u32, Complex<f64>)>]) -> Option<SparseLu> {
        let size = matrix.len();
        let mut rows: Vec<FxHashMap<u32, Complex<f64>>> =
            matrix.iter().map(|row| row.iter().copied().collect()).collect();
        let mut rows_of_column: Vec<Vec<u32>> = vec![Vec::new(); size];
        for (row, entries) in matrix.iter().enumerate() {
            for (column, _) in entries {
                rows_of_column[*column as usize].push(row as u32);
            }
        }
        let mut count: Vec<usize> = rows_of_column.iter().map(Vec::len).collect();
        // Counts change continually; an outdated heap entry is skipped when it comes up.
        let mut heap: BinaryHeap<Reverse<(usize, u32)>> = (0..size as u32)
            .map(|column| Reverse((count[column as usize], column)))
            .collect();
        let mut row_done = vec![false; size];
        let mut column_done = vec![false; size];
        let mut steps = Vec::with_capacity(size);
        while let Some(Reverse((stated, column))) = heap.pop() {
            let place = column as usize;
            if column_done[place] || stated != count[place] {
                continue;
            }
            let entries: Vec<(u32, Complex<f64>)> = rows_of_column[place]
                .iter()
                .filter(|row| !row_done[**row as usize])
                .map(|row| (*row, rows[*row as usize][&column]))
                .collect();
            let largest = entries.iter().map(|entry| entry.1.norm()).fold(0.0, f64::max);
            let (row, pivot) = entries
                .iter()
                .filter(|entry| largest > 0.0 && entry.1.norm() >= THRESHOLD * largest)
                .min_by_key(|entry| (rows[entry.0 as usize].len(), entry.0))
                .copied()?;
            row_done[row as usize] = true;
            column_done[place] = true;
            let mut right: Vec<(u32, Complex<f64>)> = std::mem::take(&mut rows[row as usize])
                .into_iter()
                .filter(|entry| entry.0 != column)
                .collect();
            right.sort_unstable_by_key(|entry| entry.0);
            for (other, _) in &right {
                count[*other as usize] -= 1;
            }
            let mut below = Vec::with_capacity(entries.len().saturating_sub(1));
            for (target, value) in entries.into_iter().filter(|entry| entry.0 != row) {
                let factor = value / pivot;
                below.push((target, factor));
                let target_row = &mut rows[target as usize];
                target_row.remove(&column);
                for (other, upper) in &right {
                    let change = factor * upper;
                    match target_row.entry(*other) {
                        std::collections::hash_map::Entry::Occupied(mut there) => *there.get_mut() -= change,
                        std::collections::hash_map::Entry::Vacant(free) => {
                            free.insert(-change);
                            rows_of_column[*other as usize].push(target);
                            count[*other as usize] += 1;
                        }
                    }
                }
            }
            heap.extend(right.iter().map(|(other, _)| Reverse((count[*other as usize], *other))));
            rows_of_column[place] = Vec::new();
            steps.push(Step {
                row,
                column,
                pivot,
                below,
                right,
            });
        }
        (steps.len() == size).then_some(SparseLu { steps })
    }

    /// The number of rows.
    pub(crate) fn size(&self) -> usize {
        self.steps.len()
    }

    /// Solves for one right-hand side.
    pub(crate) fn solve(&self, right_side: &[Complex<f64>]) -> Vec<Complex<f64>> {
        let mut rest = right_side.to_vec();
        for step in &self.steps {
            let value = rest[step.row as usize];
            for (row, factor) in &step.below {
                rest[*row as usize] -= factor * value;
            }
        }
        let mut solution = vec![Complex::default(); rest.len()];
        for step in self.steps.iter().rev() {
            let mut value = rest[step.row as usize];
            for (column, upper) in &step.right {
                value -= upper * solution[*column as usize];
            }
            solution[step.column as usize] = value / step.pivot;
        }
        solution
    }

    /// Solves with the transposed matrix.
    pub(crate) fn solve_transposed(&self, right_side: &[Complex<f64>]) -> Vec<Complex<f64>> {
        let mut rest = right_side.to_vec();
        let mut solution = vec![Complex::default(); rest.len()];
        for step in &self.steps {
            let value = rest[step.column as usize] / step.pivot;
            for (column, upper) in &step.right {
                rest[*column as usize] -= upper * value;
            }
            solution[step.row as usize] = value;
        }
        for step in self.steps.iter().rev() {
            let mut value = solution[step.row as usize];
            for (row, factor) in &step.below {
                value -= factor * solution[*row as usize];
            }
            solution[step.row as usize] = value;
        }
        solution
    }

    /// Returns the number of stored entries of both factors.
    #[cfg(test)]
    fn stored(&self) -> usize {
        self.steps
            .iter()
            .map(|step| 1 + step.below.len() + step.right.len())
            .sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entry(re: f64, im: f64) -> Complex<f64> {
        Complex::new(re, im)
    }

    #[test]
    fn solves_a_star_without_filling_it() {
        // The first row and column are full; eliminating the hub first would fill the whole matrix.
        let size = 400;
        let mut matrix = vec![(0..size as u32).map(|k| (k, entry(1.0, 0.5))).collect::<Vec<_>>()];
        matrix[0][0].1 = entry(0.0, 3.0);
        for k in 1..size as u32 {
            matrix.push(vec![(0, entry(-1.0, 0.0)), (k, entry(2.0, f64::from(k)))]);
        }
        let expected: Vec<Complex<f64>> = (0..size).map(|k| entry(k as f64, 1.0)).collect();
        let right_side: Vec<Complex<f64>> = matrix
            .iter()
            .map(|row| {
                row.iter()
                    .map(|(column, value)| value * expected[*column as usize])
                    .sum()
            })
            .collect();
        let factors = SparseLu::factorise(&matrix).expect("the matrix is regular");
        for (found, right) in factors.solve(&right_side).iter().zip(&expected) {
            assert!((found - right).norm() < 1e-9, "{found} is not {right}");
        }
        assert!(factors.stored() < 4 * size, "{} entries", factors.stored());
    }

    #[test]
    fn needs_row_exchanges() {
        let matrix = vec![
            vec![(1, entry(2.0, 0.0))],
            vec![(0, entry(0.0, 1.0)), (1, entry(1.0, 0.0))],
        ];
        let factors = SparseLu::factorise(&matrix).expect("the matrix is regular");
        assert_eq!(
            factors.solve(&[entry(4.0, 0.0), entry(2.0, 3.0)]),
            [entry(3.0, 0.0), entry(2.0, 0.0)]
        );
    }

    #[test]
    fn solves_with_the_transposed_matrix() {
        let size = 60;
        let value = |row: u32, column: u32| entry(f64::from((7 * row + 3 * column) % 11) - 4.0, f64::from(row % 3));
        let is_there = |row: u32, column: u32| row == column || (row * 5 + column * 3).is_multiple_of(13);
        let matrix: Vec<Vec<(u32, Complex<f64>)>> = (0..size)
            .map(|row| {
                let columns = (0..size).filter(|column| is_there(row, *column));
                columns
                    .map(|column| {
                        (
                            column,
                            value(row, column) + entry(if row == column { 40.0 } else { 0.0 }, 0.0),
                        )
                    })
                    .collect()
            })
            .collect();
        let expected: Vec<Complex<f64>> = (0..size).map(|k| entry(f64::from(k), 1.0)).collect();
        let mut right_side = vec![entry(0.0, 0.0); size as usize];
        for (row, entries) in matrix.iter().enumerate() {
            for (column, value) in entries {
                right_side[*column as usize] += value * expected[row];
            }
        }
        let factors = SparseLu::factorise(&matrix).expect("the matrix is regular");
        for (found, right) in factors.solve_transposed(&right_side).iter().zip(&expected) {
            assert!((found - right).norm() < 1e-9, "{found} is not {right}");
        }
    }

    #[test]
    fn finds_a_singular_matrix() {
        let one = entry(1.0, 0.0);
        assert!(SparseLu::factorise(&[vec![(0, one), (1, one)], vec![(0, one), (1, one)]]).is_none());
        assert!(SparseLu::factorise(&[vec![(0, one)], vec![]]).is_none());
    }
}
