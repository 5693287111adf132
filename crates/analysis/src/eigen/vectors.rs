//! Right and left eigenvectors, by inverse iteration with joint subspaces for poles that are close together.

use crate::eigen::rounding::{Vector, clean, units};
use crate::response::SparseLu;
use lgm_model::system::SparseMatrix;
use nalgebra::DMatrix;
use num_complex::Complex;

/// Poles within this relative distance share one invariant subspace.
const TOGETHER: f64 = 1e-5;

/// The relative shift of inverse iteration: small enough for fast convergence, large enough for a regular matrix.
const AWAY: f64 = 1e-7;

/// Steps of the iteration; each gains about five digits.
const STEPS: usize = 6;

/// Right vectors of a subspace as columns, and left ones.
pub(crate) type Subspace = (DMatrix<Complex<f64>>, DMatrix<Complex<f64>>);

/// The vectors of one pole.
#[derive(Clone, Debug)]
pub(crate) struct Vectors {
    /// `A v = pole v`
    pub(crate) right: Vector,
    /// The subspace of all poles close to this one: right vectors as columns, and left ones.
    pub(crate) together: Option<Subspace>,
    /// The column of this pole.
    pub(crate) column: usize,
}

/// Returns the vectors of the given poles, which are some or all poles of A. Poles that doubles cannot separate share a basis of their
/// subspace. `None` if the iteration breaks down.
pub(crate) fn vectors(a: &SparseMatrix<f64>, poles: &[Complex<f64>]) -> Option<Vec<Vectors>> {
    let scale = a.rows.iter().flatten().map(|entry| entry.1.abs()).fold(0.0, f64::max);
    let largest = poles.iter().map(|pole| pole.norm()).fold(0.0, f64::max);
    let units = units(a);
    let mut found: Vec<Option<Vectors>> = vec![None; poles.len()];
    for first in 0..poles.len() {
        if found[first].is_some() {
            continue;
        }
        let near = |at: &usize| (poles[*at] - poles[first]).norm() <= TOGETHER * poles[first].norm() + 1e-14 * largest;
        let members: Vec<usize> = (0..poles.len()).filter(|at| found[*at].is_none() && near(at)).collect();
        let size = poles[first].norm().max(1e-6 * largest).max(f64::MIN_POSITIVE);
        let size = if largest == 0.0 { scale.max(1.0) } else { size };
        let shift = poles[first] + Complex::new(0.6, 0.8) * (AWAY * size);
        let right = subspace(a, shift, members.len(), false)?;
        let left = subspace(a, shift, members.len(), true)?;
        // The right vectors within the subspace.
        let small = right.adjoint() * times(a, &right);
        let inside = eigenvectors(small, &members.iter().map(|at| poles[*at]).collect::<Vec<_>>())?;
        let mut right = right * inside;
        let mut left = left;
        clean(&mut right, &|at| units[at]);
        clean(&mut left, &|at| 1.0 / units[at]);
        for (column, at) in members.iter().enumerate() {
            found[*at] = Some(Vectors {
                right: right.column(column).into_owned(),
                together: Some((right.clone(), left.clone())),
                column,
            });
        }
    }
    found.into_iter().collect()
}

/// Returns right vectors of a full matrix, and left vectors that span the left subspace of the same poles, one for each pole.
pub(crate) fn vectors_of(a: &DMatrix<f64>, poles: &[Complex<f64>]) -> Option<(Vec<Vector>, Vec<Vector>)> {
    let row = |row: usize| {
        let entries = a.row(row);
        let entries = entries.iter().enumerate().filter(|entry| *entry.1 != 0.0);
        entries.map(|(column, value)| (column as u32, *value)).collect()
    };
    let sparse = SparseMatrix {
        columns: a.ncols(),
        rows: (0..a.nrows()).map(row).collect(),
    };
    let found = vectors(&sparse, poles)?;
    let left = |each: &Vectors| {
        each.together
            .as_ref()
            .map(|pair| pair.1.column(each.column).into_owned())
    };
    let left: Option<Vec<Vector>> = found.iter().map(left).collect();
    Some((found.into_iter().map(|each| each.right).collect(), left?))
}

/// `A X`
pub(crate) fn times(a: &SparseMatrix<f64>, x: &DMatrix<Complex<f64>>) -> DMatrix<Complex<f64>> {
    let mut product = DMatrix::zeros(a.rows.len(), x.ncols());
    for (row, entries) in a.rows.iter().enumerate() {
        for column in 0..x.ncols() {
            product[(row, column)] = entries.iter().map(|(k, value)| x[(*k as usize, column)] * *value).sum();
        }
    }
    product
}

/// Returns an orthonormal basis of the subspace that `A - shift`, or its transpose, enlarges least.
fn subspace(
    a: &SparseMatrix<f64>,
    shift: Complex<f64>,
    width: usize,
    transposed: bool,
) -> Option<DMatrix<Complex<f64>>> {
    let size = a.rows.len();
    let mut rows: Vec<Vec<(u32, Complex<f64>)>> = vec![Vec::new(); size];
    for (row, entries) in a.rows.iter().enumerate() {
        for (column, value) in entries {
            let (row, column) = if transposed {
                (*column, row as u32)
            } else {
                (row as u32, *column)
            };
            rows[row as usize].push((column, Complex::new(*value, 0.0)));
        }
    }
    // Left vectors belong to the conjugate pole of the transpose.
    let shift = if transposed { shift.conj() } else { shift };
    for (at, row) in rows.iter_mut().enumerate() {
        match row.iter_mut().find(|entry| entry.0 as usize == at) {
            Some(entry) => entry.1 -= shift,
            None => row.push((at as u32, -shift)),
        }
    }
    let factors = SparseLu::factorise(&rows)?;
    // Any initial basis that is not orthogonal to the result is suitable, such as quasi-random numbers.
    let mut basis = DMatrix::from_fn(size, width, |row, column| {
        let turn = ((row * width + column + 1) as f64 * 0.618_033_988_749_894_9).fract();
        Complex::new(0.5 + turn, 1.0 - turn)
    });
    for _ in 0..STEPS {
        for column in 0..width {
            let solved = factors.solve(basis.column(column).as_slice());
            let largest = solved.iter().map(|value| value.norm()).fold(0.0, f64::max);
            if !(largest.is_finite() && largest > 0.0) {
                return None;
            }
            let solved = Vector::from_vec(solved) / Complex::new(largest, 0.0);
            basis.set_column(column, &solved);
        }
        basis = basis.qr().q();
    }
    Some(basis)
}

/// Returns the eigenvectors of a small matrix in the order of the given eigenvalues. Vectors that round-off cannot distinguish are replaced
/// by basis vectors.
fn eigenvectors(small: DMatrix<Complex<f64>>, poles: &[Complex<f64>]) -> Option<DMatrix<Complex<f64>>> {
    let size = small.nrows();
    if size == 1 {
        return Some(DMatrix::identity(1, 1));
    }
    let spread = (0..size).map(|at| (poles[at] - poles[0]).norm()).fold(0.0, f64::max);
    let defect = (&small - DMatrix::identity(size, size) * poles[0]).norm();
    if defect <= 1e-9 * poles[0].norm().max(spread) {
        return Some(DMatrix::identity(size, size));
    }
    let (turn, triangle) = nalgebra::Schur::try_new(small, f64::EPSILON, 1000)?.unpack();
    let mut order: Vec<usize> = Vec::new();
    for pole in poles {
        let free = (0..size).filter(|at| !order.contains(at));
        let nearest = free.min_by(|a, b| {
            let distance = |at: &usize| (triangle[(*at, *at)] - pole).norm();
            distance(a).total_cmp(&distance(b))
        })?;
        order.push(nearest);
    }
    let mut inside = DMatrix::zeros(size, size);
    for (column, at) in order.into_iter().enumerate() {
        let mut vector = Vector::zeros(size);
        vector[at] = Complex::new(1.0, 0.0);
        for row in (0..at).rev() {
            let sum: Complex<f64> = (row + 1..=at).map(|k| triangle[(row, k)] * vector[k]).sum();
            let mut gap = triangle[(at, at)] - triangle[(row, row)];
            let least = 1e-14 * triangle.norm();
            if gap.norm() < least {
                gap = Complex::new(least.max(f64::MIN_POSITIVE), 0.0);
            }
            vector[row] = sum / gap;
        }
        let turned = &turn * vector;
        let norm = turned.norm();
        inside.set_column(column, &(turned / Complex::new(norm, 0.0)));
    }
    Some(inside)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_vector_of_an_integral_has_no_rounding_in_it() {
        // Two inertias, a spring and a damper, and the angle of the second one: 1, 3, 50, 2.
        let rows = vec![
            vec![(2, -1.0)],
            vec![(1, -2.0 / 3.0), (2, 1.0 / 3.0)],
            vec![(0, 50.0), (1, -50.0)],
            vec![(1, 1.0)],
        ];
        let a = SparseMatrix { columns: 4, rows };
        let found = vectors(&a, &[Complex::default()]).unwrap_or_default();
        let right = &found[0].right;
        assert!(right.iter().take(3).all(|value| value.norm() == 0.0), "{right}");
        assert!(right[3].norm() > 0.0);
    }
}
