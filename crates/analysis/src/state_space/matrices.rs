//! Dense state-space matrices, with derivatives of inputs absorbed into the states.

use crate::values::dense;
use lgm_model::system::LinearForm;
use nalgebra::DMatrix;

/// A full matrix of doubles.
pub type Matrix = DMatrix<f64>;

/// `z' = A z + B u`, `y = C z + D u + F u'` with `z = x - E u`: the same inputs and outputs as the system with E.
#[derive(Clone, Debug, PartialEq)]
pub struct StateSpace {
    /// n-by-n.
    pub a: DMatrix<f64>,
    /// n-by-m.
    pub b: DMatrix<f64>,
    /// p-by-n.
    pub c: DMatrix<f64>,
    /// p-by-m.
    pub d: DMatrix<f64>,
}

impl StateSpace {
    /// Returns the transfer functions at an angular frequency in rad/s, p-by-m; `None` at a pole.
    pub fn at(&self, omega: f64) -> Option<DMatrix<nalgebra::Complex<f64>>> {
        let complex = |matrix: &DMatrix<f64>| matrix.map(|entry| nalgebra::Complex::new(entry, 0.0));
        let direct = complex(&self.d);
        if self.a.nrows() == 0 {
            return Some(direct);
        }
        let mut shifted = complex(&-&self.a);
        for at in 0..self.a.nrows() {
            shifted[(at, at)].im += omega;
        }
        let states = shifted.lu().solve(&complex(&self.b))?;
        Some(complex(&self.c) * states + direct)
    }

    /// Returns a range of frequencies in rad/s that covers all poles.
    pub fn shown_range(&self) -> (f64, f64) {
        let poles = crate::eigen::poles::eigenvalues(self.a.clone()).unwrap_or_default();
        crate::margins::range_about(poles.into_iter().map(|pole| pole.norm()))
    }

    /// Returns the matrices of a linear form for its first inputs, without F.
    pub(crate) fn of(form: &LinearForm<f64>, inputs: usize) -> StateSpace {
        let (a, e, c) = (dense(&form.a), dense(&form.e), dense(&form.c));
        let b = dense(&form.b) + &a * &e;
        let d = dense(&form.d) + &c * &e;
        StateSpace {
            b: b.columns(0, inputs).into_owned(),
            d: d.columns(0, inputs).into_owned(),
            a,
            c,
        }
    }
}

/// Returns F for the first inputs; `None` if it is zero.
pub(crate) fn rate_matrix(form: &LinearForm<f64>, inputs: usize) -> Option<DMatrix<f64>> {
    let f = dense(&form.f).columns(0, inputs).into_owned();
    f.iter().any(|value| *value != 0.0).then_some(f)
}

/// Solves `A X + X A' + Q = 0` for X, with Q symmetric and A stable; `None` if an iteration does not converge.
///
/// Bartels and Stewart: with A triangular, the columns are computed from the last to the first.
pub(crate) fn lyapunov(a: &DMatrix<f64>, q: &DMatrix<f64>) -> Option<DMatrix<f64>> {
    let size = a.nrows();
    if size == 0 {
        return Some(DMatrix::zeros(0, 0));
    }
    let complex = |matrix: &DMatrix<f64>| matrix.map(|entry| nalgebra::Complex::new(entry, 0.0));
    let (turn, triangle) = nalgebra::Schur::try_new(complex(a), f64::EPSILON, 1000 * size)?.unpack();
    let right = turn.adjoint() * complex(q) * &turn;
    let mut solution = DMatrix::zeros(size, size);
    for column in (0..size).rev() {
        let mut side = -right.column(column).into_owned();
        for later in column + 1..size {
            let factor = triangle[(column, later)].conj();
            side -= solution.column(later) * factor;
        }
        let own = triangle[(column, column)].conj();
        for row in (0..size).rev() {
            let mut value = side[row];
            for known in row + 1..size {
                value -= triangle[(row, known)] * solution[(known, column)];
            }
            let pivot = triangle[(row, row)] + own;
            if pivot.norm() == 0.0 {
                return None;
            }
            solution[(row, column)] = value / pivot;
        }
    }
    let full = &turn * solution * turn.adjoint();
    let real = full.map(|entry| entry.re);
    let symmetric = (&real + real.transpose()) * 0.5;
    symmetric.iter().all(|value| value.is_finite()).then_some(symmetric)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lyapunov_equations_are_satisfied() {
        let a = DMatrix::from_row_slice(3, 3, &[-1.0, 2.0, 0.5, -3.0, -0.5, 0.0, 0.0, 1.0, -4.0]);
        let b = DMatrix::from_row_slice(3, 1, &[1.0, 0.0, 2.0]);
        let q = &b * b.transpose();
        let x = lyapunov(&a, &q).unwrap_or_else(|| DMatrix::zeros(3, 3));
        let residual = &a * &x + &x * a.transpose() + q;
        assert!(residual.norm() < 1e-12, "{residual}");
    }
}
