//! Accurate solution of a complex linear system: scaling, factorisation, iterative refinement.

use super::double_double::ComplexSum;
use super::sparse_lu::SparseLu;
use nalgebra::{DMatrix, DVector, Dyn};
use num_complex::Complex;

/// Up to this size a dense factorisation is at least as fast and pivots better.
const DENSE_SIZE: usize = 200;

enum Factors {
    Dense(nalgebra::LU<Complex<f64>, Dyn, Dyn>),
    Sparse(SparseLu),
}

/// A factorised square matrix that solves to nearly full precision.
///
/// Physical units spread entries over many decades, so rows and columns are first scaled by powers of two, which is exact. Residuals are
/// formed in twice the working precision and the solution is kept as an unevaluated sum of two vectors; if the refinement does not
/// converge, the matrix is singular in double precision.
pub(super) struct Solver {
    rows: Vec<Vec<(u32, Complex<f64>)>>,
    row_scale: Vec<f64>,
    column_scale: Vec<f64>,
    factors: Factors,
}

/// A solution as an unevaluated sum: `high + low`.
pub(super) struct Solution {
    /// The solution, rounded.
    pub(super) high: Vec<Complex<f64>>,
    /// The low-order digits.
    pub(super) low: Vec<Complex<f64>>,
}

impl Solver {
    /// Factorises the matrix; returns `None` if it is singular.
    pub(super) fn new(matrix: &[Vec<(u32, Complex<f64>)>]) -> Option<Solver> {
        let (row_scale, column_scale) = scales(matrix);
        let rows: Vec<Vec<(u32, Complex<f64>)>> = matrix
            .iter()
            .zip(&row_scale)
            .map(|(row, scale)| {
                row.iter()
                    .map(|(column, value)| (*column, value * *scale * column_scale[*column as usize]))
                    .collect()
            })
            .collect();
        let size = rows.len();
        let factors = if size <= DENSE_SIZE {
            let mut dense = DMatrix::zeros(size, size);
            for (row, entries) in rows.iter().enumerate() {
                for (column, value) in entries {
                    dense[(row, *column as usize)] = *value;
                }
            }
            let factors = dense.lu();
            if !factors.is_invertible() {
                return None;
            }
            Factors::Dense(factors)
        } else {
            Factors::Sparse(SparseLu::factorise(&rows)?)
        };
        Some(Solver {
            rows,
            row_scale,
            column_scale,
            factors,
        })
    }

    fn solve_once(&self, right_side: &[Complex<f64>]) -> Option<Vec<Complex<f64>>> {
        match &self.factors {
            // The library's triangular matrices have at least one row.
            _ if right_side.is_empty() => Some(Vec::new()),
            Factors::Sparse(factors) => Some(factors.solve(right_side)),
            Factors::Dense(factors) => factors
                .solve(&DVector::from_column_slice(right_side))
                .map(|solution| solution.as_slice().to_vec()),
        }
    }

    /// Solves for a right-hand side given as the sum of two vectors; `None` if the refinement does not converge.
    pub(super) fn solve(&self, high: &[Complex<f64>], low: &[Complex<f64>]) -> Option<Solution> {
        let scaled = |side: &[Complex<f64>]| -> Vec<Complex<f64>> {
            side.iter()
                .zip(&self.row_scale)
                .map(|(value, scale)| value * *scale)
                .collect()
        };
        let (right_high, right_low) = (scaled(high), scaled(low));
        let mut solution = Solution {
            high: self.solve_once(&right_high)?,
            low: vec![Complex::default(); high.len()],
        };
        let mut last_change = f64::INFINITY;
        // The number of digits gained per step depends on the condition number; ten steps are far more than needed.
        for _ in 0..10 {
            let change = self.solve_once(&self.residual(&right_high, &right_low, &solution))?;
            let size_of_change = largest(&change);
            let size = largest(&solution.high);
            if !size_of_change.is_finite() || !size.is_finite() {
                return None;
            }
            if size_of_change >= 0.5 * last_change {
                // The refinement has converged, or the factors are useless.
                if last_change > 1e-8 * size {
                    return None;
                }
                break;
            }
            for ((high, low), change) in solution.high.iter_mut().zip(&mut solution.low).zip(&change) {
                let correction = *low + change;
                let sum = *high + correction;
                *low = correction - (sum - *high);
                *high = sum;
            }
            last_change = size_of_change;
            if size_of_change <= 1e-24 * size {
                break;
            }
        }
        for (place, scale) in self.column_scale.iter().enumerate() {
            solution.high[place] *= *scale;
            solution.low[place] *= *scale;
        }
        Some(solution)
    }

    fn residual(&self, high: &[Complex<f64>], low: &[Complex<f64>], solution: &Solution) -> Vec<Complex<f64>> {
        let one = Complex::new(1.0, 0.0);
        self.rows
            .iter()
            .enumerate()
            .map(|(row, entries)| {
                let mut sum = ComplexSum::default();
                sum.add_product(high[row], one);
                sum.add_product(low[row], one);
                for (column, value) in entries {
                    sum.add_product(-value, solution.high[*column as usize]);
                    sum.add_product(-value, solution.low[*column as usize]);
                }
                sum.value()
            })
            .collect()
    }
}

fn largest(vector: &[Complex<f64>]) -> f64 {
    vector
        .iter()
        .map(|value| value.norm())
        .fold(0.0, |a, b| if a > b { a } else { b })
}

/// Returns powers of two that scale the largest entry of every row and column to nearly 1.
fn scales(matrix: &[Vec<(u32, Complex<f64>)>]) -> (Vec<f64>, Vec<f64>) {
    let mut row_exponent = vec![0i32; matrix.len()];
    let mut column_exponent = vec![0i32; matrix.len()];
    // Exponents of the entries; scaling their logarithms cannot overflow.
    let exponents: Vec<Vec<(usize, i32)>> = matrix
        .iter()
        .map(|row| {
            row.iter()
                .filter(|(_, value)| value.norm() > 0.0)
                .map(|(column, value)| (*column as usize, value.norm().log2().round() as i32))
                .collect()
        })
        .collect();
    for _ in 0..8 {
        let mut column_largest = vec![i32::MIN; matrix.len()];
        for (row, entries) in exponents.iter().enumerate() {
            let row_largest = entries
                .iter()
                .map(|(column, exponent)| exponent + row_exponent[row] + column_exponent[*column])
                .max();
            for (column, exponent) in entries {
                let exponent = exponent + row_exponent[row] + column_exponent[*column];
                column_largest[*column] = column_largest[*column].max(exponent);
            }
            // The row takes half of the scaling and leaves the other half to the columns (Ruiz's iteration).
            row_exponent[row] -= row_largest.map_or(0, |exponent| exponent.div_euclid(2));
        }
        for (column, exponent) in column_largest.into_iter().enumerate() {
            if exponent != i32::MIN {
                column_exponent[column] -= exponent.div_euclid(2);
            }
        }
    }
    let powers = |exponents: Vec<i32>| {
        exponents
            .into_iter()
            .map(|exponent| 2f64.powi(exponent.clamp(-500, 500)))
            .collect()
    };
    (powers(row_exponent), powers(column_exponent))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn solves_a_badly_scaled_system_to_full_precision() {
        // A Hilbert matrix of order 8 (condition 1e10) with rows and columns scaled over 40 decades.
        let size = 8;
        let scale = |k: usize| 10f64.powi(5 * k as i32 - 20);
        let matrix: Vec<Vec<(u32, Complex<f64>)>> = (0..size)
            .map(|row| {
                (0..size)
                    .map(|column| {
                        let value = scale(row) * scale(size - 1 - column) / (row + column + 1) as f64;
                        (column as u32, Complex::new(value, 0.0))
                    })
                    .collect()
            })
            .collect();
        let solver = Solver::new(&matrix).expect("the matrix is regular");
        let right: Vec<Complex<f64>> = (0..size).map(|k| Complex::new(scale(k), 0.0)).collect();
        let zero = vec![Complex::default(); size];
        let solution = solver.solve(&right, &zero).expect("refinement converges");
        for (row, entries) in matrix.iter().enumerate() {
            let mut sum = ComplexSum::default();
            let mut magnitude = 0.0;
            for (column, value) in entries {
                sum.add_product(*value, solution.high[*column as usize]);
                sum.add_product(*value, solution.low[*column as usize]);
                magnitude += (value * solution.high[*column as usize]).norm();
            }
            assert!((sum.value() - right[row]).norm() <= 1e-24 * magnitude);
        }
    }

    #[test]
    fn finds_that_a_matrix_is_singular() {
        let entry = |value: f64| Complex::new(value, 0.0);
        // Rank 2, but round-off leaves a pivot of about 1e-17.
        let rows = [[0.1, 0.2, 0.3], [0.4, 0.5, 0.6], [0.7, 0.8, 0.9]];
        let matrix: Vec<Vec<(u32, Complex<f64>)>> = rows
            .iter()
            .map(|row| (0..3).map(|column| (column as u32, entry(row[column]))).collect())
            .collect();
        let right = [entry(1.0), entry(0.0), entry(0.0)];
        let solved = Solver::new(&matrix).and_then(|solver| solver.solve(&right, &[Complex::default(); 3]));
        assert!(solved.is_none_or(|solution| largest(&solution.high) > 1e14));
    }
}
