//! Factors of the matrices in a run: dense if small, sparse otherwise.

use faer::prelude::Solve;
use faer::sparse::{SparseColMat, Triplet};
use lgm_kernels::SparseKernel;

/// Matrices up to this size are factorised densely.
const DENSE: usize = 32;

/// A pivot below this fraction of its row is zero.
const SINGULAR: f64 = 1e-14;

/// The positions of the nonzero entries of a matrix, row by row.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Pattern<'a> {
    /// Rows and columns.
    pub size: usize,
    /// Row r holds entries `row_starts[r] .. row_starts[r + 1]`.
    pub row_starts: &'a [usize],
    /// The column of each entry.
    pub columns_of: &'a [usize],
}

impl Pattern<'_> {
    /// Returns row, column and index of every entry.
    pub fn entries(&self) -> impl Iterator<Item = (usize, usize, usize)> + '_ {
        (0..self.size).flat_map(move |row| {
            let range = self.row_starts[row]..self.row_starts[row + 1];
            range.map(move |at| (row, self.columns_of[at], at))
        })
    }
}

/// A factorised square matrix.
#[derive(Debug)]
pub(crate) enum Factor {
    /// L and U in one array, row by row, with the row of each pivot.
    Dense {
        size: usize,
        lu: Vec<f64>,
        pivots: Vec<usize>,
    },
    /// By columns, with fill-reducing order.
    Sparse(Box<faer::sparse::linalg::solvers::Lu<usize, f64>>),
}

/// The matrix has no inverse; the column without a pivot, if known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Singular(pub Option<usize>);

impl Factor {
    /// Factorises the matrix with these entries.
    pub fn new(pattern: &Pattern<'_>, values: &[f64]) -> Result<Factor, Singular> {
        if values.iter().any(|value| !value.is_finite()) {
            return Err(Singular(None));
        }
        if pattern.size > DENSE {
            return Factor::sparse(pattern, values);
        }
        let size = pattern.size;
        let mut lu = vec![0.0; size * size];
        for (row, column, at) in pattern.entries() {
            lu[row * size + column] += values[at];
        }
        Factor::dense(size, lu)
    }

    /// Factorises with partial pivoting; rows are scaled to a largest entry of one only for the choice of the pivot.
    fn dense(size: usize, mut lu: Vec<f64>) -> Result<Factor, Singular> {
        let mut pivots = Vec::with_capacity(size);
        let mut scale: Vec<f64> = lu
            .chunks_exact(size.max(1))
            .map(|row| row.iter().fold(0.0_f64, |most, value| most.max(value.abs())))
            .collect();
        for step in 0..size {
            let share = |row: usize| lu[row * size + step].abs() / scale[row].max(f64::MIN_POSITIVE);
            let best = (step..size).max_by(|a, b| share(*a).total_cmp(&share(*b)));
            let best = best.expect("invariant: a row is left at every step");
            if share(best) <= SINGULAR {
                return Err(Singular(Some(step)));
            }
            if best != step {
                for column in 0..size {
                    lu.swap(step * size + column, best * size + column);
                }
                scale.swap(step, best);
            }
            pivots.push(best);
            let pivot = lu[step * size + step];
            for row in step + 1..size {
                let factor = lu[row * size + step] / pivot;
                lu[row * size + step] = factor;
                if factor != 0.0 {
                    for column in step + 1..size {
                        lu[row * size + column] -= factor * lu[step * size + column];
                    }
                }
            }
        }
        Ok(Factor::Dense { size, lu, pivots })
    }

    fn sparse(pattern: &Pattern<'_>, values: &[f64]) -> Result<Factor, Singular> {
        let size = pattern.size;
        let triplets: Vec<Triplet<usize, usize, f64>> = pattern
            .entries()
            .map(|(row, column, at)| Triplet::new(row, column, values[at]))
            .collect();
        let matrix = SparseColMat::try_new_from_triplets(size, size, &triplets).map_err(|_| Singular(None))?;
        let factor = matrix.sp_lu().map_err(|_| Singular(None))?;
        let factor = Factor::Sparse(Box::new(factor));
        // An exactly or nearly singular matrix amplifies solutions without bound.
        let mut probe: Vec<f64> = (0..size).map(|row| 1.0 + (row % 7) as f64).collect();
        let largest = values.iter().fold(0.0_f64, |most, value| most.max(value.abs()));
        factor.solve(&mut probe);
        let worst = (0..size).max_by(|a, b| probe[*a].abs().total_cmp(&probe[*b].abs()));
        match worst {
            Some(row) if probe[row].is_finite() && probe[row].abs() * largest * SINGULAR * 1e-2 < 1.0 => Ok(factor),
            Some(row) => Err(Singular(Some(row))),
            None => Ok(factor),
        }
    }

    /// Replaces a right side by the solution.
    pub fn solve(&self, right: &mut [f64]) {
        match self {
            Factor::Dense { size, lu, pivots } => {
                for (step, pivot) in pivots.iter().enumerate() {
                    right.swap(step, *pivot);
                }
                for row in 0..*size {
                    let (before, rest) = right.split_at_mut(row);
                    for (column, value) in before.iter().enumerate() {
                        rest[0] -= lu[row * size + column] * value;
                    }
                }
                for row in (0..*size).rev() {
                    let (upper, after) = right.split_at_mut(row + 1);
                    for (offset, value) in after.iter().enumerate() {
                        upper[row] -= lu[row * size + row + 1 + offset] * value;
                    }
                    upper[row] /= lu[row * size + row];
                }
            }
            Factor::Sparse(lu) => {
                let rows = right.len();
                let right = faer::MatMut::from_column_major_slice_mut(right, rows, 1);
                lu.solve_in_place(right);
            }
        }
    }
}

/// A factorised matrix with equilibrated rows and columns, so that units of equations or unknowns do not affect pivots
/// or the test for singularity.
#[derive(Debug)]
pub(crate) struct Balanced {
    factor: Factor,
    rows: Vec<f64>,
    columns: Vec<f64>,
}

impl Balanced {
    /// Factorises a matrix from entries (row, column, value); entries at the same position add up.
    pub fn new(size: usize, mut entries: Vec<(usize, usize, f64)>) -> Result<Balanced, Singular> {
        let (mut rows, mut columns) = (vec![1.0; size], vec![1.0; size]);
        for _ in 0..2 {
            scale_to_one(&mut entries, &mut rows, |entry| entry.0);
            scale_to_one(&mut entries, &mut columns, |entry| entry.1);
        }
        entries.sort_unstable_by_key(|entry| (entry.0, entry.1));
        let mut row_starts = vec![0; size + 1];
        for entry in &entries {
            row_starts[entry.0 + 1] += 1;
        }
        for row in 0..size {
            row_starts[row + 1] += row_starts[row];
        }
        let columns_of: Vec<usize> = entries.iter().map(|entry| entry.1).collect();
        let values: Vec<f64> = entries.iter().map(|entry| entry.2).collect();
        let pattern = Pattern {
            size,
            row_starts: &row_starts,
            columns_of: &columns_of,
        };
        Ok(Balanced {
            factor: Factor::new(&pattern, &values)?,
            rows,
            columns,
        })
    }

    /// Replaces a right side by the solution.
    pub fn solve(&self, right: &mut [f64]) {
        for (right, factor) in right.iter_mut().zip(&self.rows) {
            *right *= factor;
        }
        self.factor.solve(right);
        for (right, factor) in right.iter_mut().zip(&self.columns) {
            *right *= factor;
        }
    }
}

/// Scales all rows, or all columns, to a largest entry of about one, by powers of two, which cause no round-off.
fn scale_to_one(
    entries: &mut [(usize, usize, f64)],
    factors: &mut [f64],
    place: impl Fn(&(usize, usize, f64)) -> usize,
) {
    let mut largest = vec![0.0_f64; factors.len()];
    for entry in entries.iter() {
        largest[place(entry)] = largest[place(entry)].max(entry.2.abs());
    }
    let of = |size: f64| {
        if size.is_normal() {
            (-size.log2().round()).exp2()
        } else {
            1.0
        }
    };
    for entry in entries.iter_mut() {
        entry.2 *= of(largest[place(entry)]);
    }
    for (factor, size) in factors.iter_mut().zip(&largest) {
        *factor *= of(*size);
    }
}

/// Returns the pattern of a sparse kernel.
pub(crate) fn pattern(kernel: &SparseKernel) -> Pattern<'_> {
    Pattern {
        size: kernel.rows,
        row_starts: &kernel.row_starts,
        columns_of: &kernel.columns_of,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(size: usize, entry: impl Fn(usize, usize) -> f64) -> Result<f64, Singular> {
        let (mut row_starts, mut columns_of, mut values) = (vec![0], Vec::new(), Vec::new());
        for row in 0..size {
            for column in 0..size {
                if entry(row, column) != 0.0 {
                    columns_of.push(column);
                    values.push(entry(row, column));
                }
            }
            row_starts.push(columns_of.len());
        }
        let pattern = Pattern {
            size,
            row_starts: &row_starts,
            columns_of: &columns_of,
        };
        let factor = Factor::new(&pattern, &values)?;
        let expected: Vec<f64> = (0..size).map(|row| 1.0 / (row + 1) as f64).collect();
        let mut right: Vec<f64> = (0..size)
            .map(|row| (0..size).map(|column| entry(row, column) * expected[column]).sum())
            .collect();
        factor.solve(&mut right);
        Ok(right
            .iter()
            .zip(&expected)
            .map(|(a, b)| (a - b).abs())
            .fold(0.0, f64::max))
    }

    #[test]
    fn solves_small_and_large_matrices() {
        for size in [1, 2, 5, 32, 33, 200] {
            let error = check(size, |row, column| match row.abs_diff(column) {
                // A zero diagonal, so that rows must be exchanged.
                0 => 0.0,
                1 => 2.0 + row as f64,
                2 => 0.5,
                _ if size == 1 => 0.0,
                _ => 0.0,
            });
            match size {
                1 | 5 | 33 => assert!(error.is_err() || error.is_ok_and(|error| error < 1e-8), "{size}"),
                _ => assert!(error.is_ok_and(|error| error < 1e-8), "{size}: {error:?}"),
            }
            let error = check(size, |row, column| if row == column { 1e-9 } else { 0.0 });
            assert!(error.is_ok_and(|error| error < 1e-12), "{size}");
        }
    }

    #[test]
    fn finds_singular_matrices() {
        for size in [2, 40] {
            assert!(
                check(size, |row, column| f64::from(row.max(1) == column.max(1))).is_err(),
                "{size}"
            );
            assert!(check(size, |row, column| if row == column && row > 0 { 1.0 } else { 0.0 }).is_err());
        }
    }
}
