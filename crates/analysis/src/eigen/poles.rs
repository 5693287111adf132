//! Poles: the eigenvalues of A.

use crate::eigen::rounding::without_rounding;
use crate::values::dense;
use lgm_algebra::strongly_connected;
use lgm_model::system::SparseMatrix;
use nalgebra::{DMatrix, DVector};
use num_complex::Complex;

/// Real parts below this fraction of a pole are round-off.
const UNDAMPED: f64 = 1e-14;

/// Returns the eigenvalues of a real matrix, sorted by real part and then by the magnitude of the imaginary part. Conjugate pairs are exact
/// conjugates, the upper one first. `None` if the iteration does not converge.
pub fn poles(a: &SparseMatrix<f64>) -> Option<Vec<Complex<f64>>> {
    eigenvalues(dense(a))
}

/// Returns the eigenvalues of a dense matrix.
pub(crate) fn eigenvalues(dense: DMatrix<f64>) -> Option<Vec<Complex<f64>>> {
    if !dense.iter().all(|value| value.is_finite()) {
        return None;
    }
    let mut list = Vec::with_capacity(dense.nrows());
    for block in diagonal_blocks(dense.nrows(), |row, column| dense[(row, column)] != 0.0) {
        list.extend(of_block(dense.select_rows(&block).select_columns(&block))?);
    }
    list.sort_by(|a, b| {
        a.re.total_cmp(&b.re)
            .then(a.im.abs().total_cmp(&b.im.abs()))
            .then(b.im.total_cmp(&a.im))
    });
    Some(list)
}

/// Returns the rows of each diagonal block of a square matrix in block-triangular form: the entries of a row lead to its column. Stages
/// without feedback to earlier stages are such blocks, and round-off in one block moves no pole of another.
pub(crate) fn diagonal_blocks(size: usize, is_entry: impl Fn(usize, usize) -> bool) -> Vec<Vec<usize>> {
    let edges: Vec<Vec<usize>> = (0..size)
        .map(|row| (0..size).filter(|column| is_entry(row, *column)).collect())
        .collect();
    let mut blocks = strongly_connected(size, |row, place| edges[row].get(place).copied());
    blocks.iter_mut().for_each(|block| block.sort_unstable());
    blocks
}

/// Returns the eigenvalues of a block; only pairs are adjacent.
fn of_block(mut block: DMatrix<f64>) -> Option<Vec<Complex<f64>>> {
    let size = block.nrows();
    match size {
        1 => return Some(vec![Complex::new(block[(0, 0)], 0.0)]),
        2 => {
            let [a, b, c, d] = [(0, 0), (0, 1), (1, 0), (1, 1)].map(|place| block[place]);
            return Some(eigenvalues_of_pair(a, b, c, d).to_vec());
        }
        _ => {}
    }
    // Units spread the entries over many decades; balancing is a similarity transformation by powers of two, so it is exact.
    balance(&mut block);
    let triangular = triangular(block)?;
    let mut list = Vec::with_capacity(size);
    let mut at = 0;
    while at < size {
        if at + 1 < size && triangular[(at + 1, at)] != 0.0 {
            list.extend(eigenvalues_of_pair(
                triangular[(at, at)],
                triangular[(at, at + 1)],
                triangular[(at + 1, at)],
                triangular[(at + 1, at + 1)],
            ));
            at += 2;
        } else {
            list.push(Complex::new(triangular[(at, at)], 0.0));
            at += 1;
        }
    }
    // Damping at the level of round-off is set to zero.
    Some(list.into_iter().map(|pole| without_rounding(pole, UNDAMPED)).collect())
}

/// Computes the Schur form. The iteration does not converge for matrices that it maps to themselves; it is repeated for similar ones.
fn triangular(block: DMatrix<f64>) -> Option<DMatrix<f64>> {
    let size = block.nrows();
    let form = |matrix: DMatrix<f64>| Some(nalgebra::Schur::try_new(matrix, f64::EPSILON, 300 * size)?.unpack().1);
    (0..3).find_map(|attempt| match attempt {
        0 => form(block.clone()),
        _ => {
            // A reflection is its own inverse, and orthogonal.
            let vector = DVector::from_fn(size, |row, _| 1.0 / (row + attempt) as f64).normalize();
            let reflection = DMatrix::identity(size, size) - 2.0 * &vector * vector.transpose();
            form(&reflection * &block * &reflection)
        }
    })
}

/// Returns the eigenvalues of `[[a, b], [c, d]]`; the smaller real one is computed from the product, which does not cancel.
fn eigenvalues_of_pair(a: f64, b: f64, c: f64, d: f64) -> [Complex<f64>; 2] {
    let mean = 0.5 * (a + d);
    let half_difference = 0.5 * (a - d);
    let discriminant = half_difference * half_difference + b * c;
    if discriminant < 0.0 {
        let imaginary = (-discriminant).sqrt();
        return [Complex::new(mean, imaginary), Complex::new(mean, -imaginary)];
    }
    let far = mean + discriminant.sqrt().copysign(mean);
    let near = if far == 0.0 { 0.0 } else { (a * d - b * c) / far };
    [Complex::new(far, 0.0), Complex::new(near, 0.0)]
}

/// Scales columns by powers of two, and rows by the reciprocals, until their sizes agree within a factor of two. Returns the scales of the
/// columns.
pub(crate) fn balance(matrix: &mut DMatrix<f64>) -> Vec<f64> {
    let size = matrix.nrows();
    let mut scales = vec![1.0; size];
    // Each sweep lowers the norm; the limit keeps a pathological matrix from looping.
    for _ in 0..100 {
        let mut changed = false;
        for (k, own) in scales.iter_mut().enumerate() {
            let off = |vector: &mut dyn Iterator<Item = (usize, f64)>| -> f64 {
                vector.filter(|entry| entry.0 != k).map(|entry| entry.1.abs()).sum()
            };
            let column = off(&mut matrix.column(k).iter().copied().enumerate());
            let row = off(&mut matrix.row(k).iter().copied().enumerate());
            if column == 0.0 || row == 0.0 {
                continue;
            }
            let exponent = (0.5 * (row / column).log2()).round();
            if exponent == 0.0 || !exponent.is_finite() {
                continue;
            }
            let scale = exponent.exp2();
            if (column * scale + row / scale) < 0.95 * (column + row) {
                matrix.column_mut(k).scale_mut(scale);
                matrix.row_mut(k).scale_mut(1.0 / scale);
                *own *= scale;
                changed = true;
            }
        }
        if !changed {
            break;
        }
    }
    scales
}

#[cfg(test)]
mod tests {
    use super::*;

    fn matrix(rows: &[&[f64]]) -> SparseMatrix<f64> {
        SparseMatrix {
            columns: rows.len(),
            rows: rows
                .iter()
                .map(|row| {
                    row.iter()
                        .enumerate()
                        .filter(|entry| *entry.1 != 0.0)
                        .map(|(column, value)| (column as u32, *value))
                        .collect()
                })
                .collect(),
        }
    }

    #[test]
    fn an_oscillator_has_a_conjugate_pair() {
        let found = poles(&matrix(&[&[-0.2, -0.5], &[50.0, 0.0]])).unwrap();
        let imaginary = (25.0f64 - 0.01).sqrt();
        assert!((found[0] - Complex::new(-0.1, imaginary)).norm() < 1e-13);
        assert_eq!(found[1], found[0].conj());
    }

    #[test]
    fn poles_are_sorted_and_complete() {
        // A companion matrix of (s + 1)(s + 2)(s + 3)(s^2 + 4).
        let coefficients = [24.0, 44.0, 30.0, 15.0, 6.0];
        let mut a = SparseMatrix::zeros(5, 5);
        for row in 0..4 {
            a.rows[row].push((row as u32 + 1, 1.0));
        }
        a.rows[4] = coefficients.iter().enumerate().map(|(k, c)| (k as u32, -c)).collect();
        let found = poles(&a).unwrap();
        let expected = [
            Complex::new(-3.0, 0.0),
            Complex::new(-2.0, 0.0),
            Complex::new(-1.0, 0.0),
            Complex::new(0.0, 2.0),
            Complex::new(0.0, -2.0),
        ];
        for (found, expected) in found.iter().zip(expected) {
            assert!((found - expected).norm() < 1e-10, "{found} is not {expected}");
        }
    }

    #[test]
    fn a_small_real_pole_beside_a_large_one_keeps_its_digits() {
        // s^2 + 1e9 s + 1: the poles are close to -1e9 and -1e-9.
        let found = poles(&matrix(&[&[0.0, 1.0], &[-1.0, -1e9]])).unwrap();
        assert!((found[1].re + 1e-9).abs() < 1e-18, "{}", found[1]);
    }

    #[test]
    fn badly_scaled_units_do_not_matter() {
        // An oscillator of 5 rad/s, its force counted in units of 1e-12 N.
        let found = poles(&matrix(&[&[0.0, -0.5e-12], &[50e12, 0.0]])).unwrap();
        assert!((found[0].im - 5.0).abs() < 1e-13);
        assert_eq!(poles(&matrix(&[])), Some(Vec::new()));
    }
}
