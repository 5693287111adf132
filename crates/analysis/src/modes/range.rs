//! Bounds of the poles of a sparse matrix: Bendixson's theorem with Gershgorin's discs.
//!
//! In any coordinates, the eigenvalues of the symmetric part of A bound the real parts of the poles, and the skew part bounds their
//! imaginary parts. The bounds are tight if the stored energy is a sum of squares: the skew part then exchanges energy, and the symmetric
//! part dissipates it.

use lgm_model::system::SparseMatrix;
use num_complex::Complex;

/// Bounds of the real parts and of the magnitude of the imaginary parts.
#[derive(Clone, Copy, Debug)]
pub(super) struct Range {
    least: f64,
    largest: f64,
    imaginary: f64,
}

impl Range {
    /// Computes the bounds for a matrix.
    pub(super) fn of(a: &SparseMatrix<f64>) -> Range {
        let size = a.rows.len();
        let scales = energies(a);
        // The sum of the off-diagonal magnitudes in each row of the symmetric and of the skew part.
        let (mut symmetric, mut skew, mut diagonal) = (vec![0.0; size], vec![0.0; size], vec![0.0; size]);
        for (row, entries) in a.rows.iter().enumerate() {
            for (column, value) in entries {
                let column = *column as usize;
                if row == column {
                    diagonal[row] = *value;
                    continue;
                }
                let here = value * scales[row] / scales[column];
                let there = a.get(column, row).copied().unwrap_or(0.0) * scales[column] / scales[row];
                // An entry without a transposed partner counts in the partner's row as well.
                let (half_sum, half_difference) = (0.5 * (here + there).abs(), 0.5 * (here - there).abs());
                symmetric[row] += half_sum;
                skew[row] += half_difference;
                if there == 0.0 {
                    symmetric[column] += half_sum;
                    skew[column] += half_difference;
                }
            }
        }
        let rows = || diagonal.iter().zip(&symmetric);
        Range {
            least: rows().map(|(value, sum)| value - sum).fold(f64::INFINITY, f64::min),
            largest: rows().map(|(value, sum)| value + sum).fold(f64::NEG_INFINITY, f64::max),
            imaginary: skew.into_iter().fold(0.0, f64::max),
        }
    }

    /// Returns false if no pole is within a distance of a point.
    pub(super) fn may_hold(&self, place: Complex<f64>, within: f64) -> bool {
        // Allows for round-off of the sums.
        let within = within + 1e-9 * place.norm();
        let is_outside = place.re + within < self.least || place.re - within > self.largest;
        !is_outside && place.im.abs() - within <= self.imaginary * (1.0 + 1e-9)
    }
}

/// Returns coordinate factors that make transposed pairs of entries equal in magnitude, along a spanning forest.
fn energies(a: &SparseMatrix<f64>) -> Vec<f64> {
    let size = a.rows.len();
    let mut scales = vec![0.0; size];
    let mut open = Vec::new();
    for first in 0..size {
        if scales[first] != 0.0 {
            continue;
        }
        scales[first] = 1.0;
        open.push(first);
        while let Some(row) = open.pop() {
            for (column, value) in &a.rows[row] {
                let column = *column as usize;
                let Some(there) = a.get(column, row).filter(|there| **there != 0.0 && *value != 0.0) else {
                    continue;
                };
                if scales[column] == 0.0 {
                    let ratio = (value / there).abs().sqrt();
                    // The products of entries over many decades would leave the range of doubles.
                    scales[column] = (scales[row] * ratio).clamp(1e-150, 1e150);
                    open.push(column);
                }
            }
        }
    }
    scales
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn poles_of_a_damped_chain_are_near_the_axis() {
        // Masses 1 with dampers 0.02, and springs of 100 between them: v and F by turns.
        let count = 40;
        let rows = (0..2 * count).map(|at| {
            let mut row = Vec::new();
            match at % 2 {
                0 => {
                    row.push((at as u32, -0.02));
                    row.push((at as u32 + 1, 1.0));
                    if at > 0 {
                        row.push((at as u32 - 1, -1.0));
                    }
                }
                _ => {
                    row.push((at as u32 - 1, -100.0));
                    if at + 1 < 2 * count {
                        row.push((at as u32 + 1, 100.0));
                    }
                }
            }
            row.sort_by_key(|entry| entry.0);
            row
        });
        let range = Range::of(&SparseMatrix {
            columns: 2 * count,
            rows: rows.collect(),
        });
        assert!(
            (range.least + 0.02).abs() < 1e-12 && range.largest.abs() < 1e-12,
            "{range:?}"
        );
        assert!((range.imaginary - 20.0).abs() < 1e-9, "{range:?}");
        assert!(range.may_hold(Complex::new(-0.01, 7.0), 0.0));
        assert!(!range.may_hold(Complex::new(-0.5, 7.0), 0.1));
    }
}
