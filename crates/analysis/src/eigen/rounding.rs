//! Round-off in vectors, in units in which the entries of A have similar magnitudes.

use lgm_model::system::SparseMatrix;
use nalgebra::{DMatrix, DVector};
use num_complex::Complex;

/// A complex vector.
pub(crate) type Vector = DVector<Complex<f64>>;

/// Entries of a vector below this fraction of its largest entry are round-off.
pub(crate) const ROUNDING: f64 = 1e-13;

/// Sweeps of the balancing of units.
const SWEEPS: usize = 40;

/// Returns units of the states in which the rows and columns of A have similar magnitudes.
pub(crate) fn units(a: &SparseMatrix<f64>) -> Vec<f64> {
    let size = a.rows.len();
    let mut units = vec![1.0_f64; size];
    let (mut rows, mut columns) = (vec![0.0; size], vec![0.0; size]);
    for _ in 0..SWEEPS {
        rows.fill(0.0);
        columns.fill(0.0);
        for (row, entries) in a.rows.iter().enumerate() {
            for (column, value) in entries.iter().filter(|entry| entry.0 as usize != row) {
                let scaled = value.abs() * units[*column as usize] / units[row];
                rows[row] += scaled;
                columns[*column as usize] += scaled;
            }
        }
        for (at, unit) in units.iter_mut().enumerate() {
            // Half of the distance, because all units change simultaneously.
            let factor = (rows[at] / columns[at]).sqrt().sqrt();
            if factor.is_finite() && factor > 0.0 {
                *unit *= factor;
            }
        }
    }
    // For a state that no rate depends on, such as an integral, the unit is its rate times the time scale of the system.
    let largest = (0..size).filter(|at| columns[*at] > 0.0).map(|at| rows[at]);
    let largest = largest.fold(0.0, f64::max);
    for at in 0..size {
        if columns[at] == 0.0 && rows[at] > 0.0 && largest > 0.0 {
            units[at] *= rows[at] / largest;
        }
    }
    units
}

/// Sets entries to zero that are round-off relative to the largest entry of their column, in the given units.
pub(crate) fn clean(columns: &mut DMatrix<Complex<f64>>, unit: &dyn Fn(usize) -> f64) {
    for mut column in columns.column_iter_mut() {
        let sizes: Vec<f64> = column
            .iter()
            .enumerate()
            .map(|(at, value)| value.norm() / unit(at))
            .collect();
        let largest = sizes.iter().copied().fold(0.0, f64::max);
        for (value, size) in column.iter_mut().zip(sizes) {
            if size <= ROUNDING * largest {
                *value = Complex::default();
            }
        }
    }
}

/// Removes the real or imaginary part if it is round-off relative to the other part.
pub(crate) fn without_rounding(value: Complex<f64>, share: f64) -> Complex<f64> {
    let least = share * value.norm();
    let part = |part: f64| if part.abs() <= least { 0.0 } else { part };
    Complex::new(part(value.re), part(value.im))
}

/// Removes such parts from all entries.
pub(crate) fn parts_without_rounding(vector: &Vector) -> Vector {
    vector.map(|value| without_rounding(value, ROUNDING))
}
