//! Zeros from one input to one output, as eigenvalues.
//!
//! The zeros of `[A - s I, b; c, d]` are also the zeros of a smaller system with nonzero feedthrough. In coordinates in which the output is
//! a state, that state is zero, and its equation is the new output. The excess of poles over zeros of the transfer function is the number
//! of steps. The zeros then are the eigenvalues of `A - b c/d`: infinite zeros have been removed, and cannot be mistaken for large ones.

use crate::eigen::poles::eigenvalues;
use nalgebra::{DMatrix, DVector, RowDVector};
use num_complex::Complex;

/// `x' = A x + b u`, `y = c x + d u + f u'`.
#[derive(Clone, Debug)]
pub(super) struct Single {
    pub(super) a: DMatrix<f64>,
    pub(super) b: DVector<f64>,
    pub(super) c: RowDVector<f64>,
    pub(super) d: f64,
    pub(super) f: f64,
}

/// A sum of products below this fraction of the products is round-off.
const CANCELLED_SUM: f64 = 1e-12;

impl Single {
    /// Returns the number of poles minus the number of zeros, and the factor of the highest power: the first of f, d, c b, c A b, .. that
    /// is nonzero beyond round-off. `None` if all of them are zero.
    pub(super) fn leading(&self) -> Option<(i32, f64)> {
        for (degree, value) in [(-1, self.f), (0, self.d)] {
            if value != 0.0 {
                return Some((degree, value));
            }
        }
        let (mut vector, mut sizes) = (self.b.clone(), self.b.abs());
        let matrix_sizes = self.a.abs();
        for degree in 1..=self.a.nrows() {
            let value = (&self.c * &vector)[0];
            let size = (self.c.abs() * &sizes)[0];
            if value.abs() > CANCELLED_SUM * size {
                return value.is_finite().then_some((degree as i32, value));
            }
            vector = &self.a * vector;
            sizes = &matrix_sizes * sizes;
            // Powers of A leave the range of doubles sooner than their products with c.
            let scale = sizes.amax();
            if scale == 0.0 || !scale.is_finite() {
                return None;
            }
        }
        None
    }

    /// Returns the zeros of a nonzero transfer function with a given excess of poles. `None` if no iteration converges.
    pub(super) fn zeros(&self, degree: i32) -> Option<Vec<Complex<f64>>> {
        let size = self.a.nrows();
        if degree < 0 {
            // f u' = -(c x + d u) for y = 0.
            let mut whole = DMatrix::zeros(size + 1, size + 1);
            whole.view_mut((0, 0), (size, size)).copy_from(&self.a);
            whole.view_mut((0, size), (size, 1)).copy_from(&self.b);
            whole
                .view_mut((size, 0), (1, size))
                .copy_from(&(&self.c * (-1.0 / self.f)));
            whole[(size, size)] = -self.d / self.f;
            return eigenvalues(whole);
        }
        let mut rest = self.clone();
        for _ in 0..degree {
            rest = rest.without_the_state_of_the_output()?;
        }
        let closed = &rest.a - &rest.b * &rest.c * (1.0 / rest.d);
        eigenvalues(closed)
    }

    /// Returns the system for y = 0: its last coordinate, along c, is zero, and the rate of that coordinate is the new output.
    fn without_the_state_of_the_output(self) -> Option<Single> {
        let last = self.a.nrows().checked_sub(1)?;
        // The reflection that maps c to the last axis.
        let norm = self.c.norm();
        let mut axis = self.c.transpose() * (1.0 / norm);
        axis[last] += if axis[last] < 0.0 { -1.0 } else { 1.0 };
        let axis = axis.normalize();
        let turn_left = |matrix: &mut DMatrix<f64>| {
            let part = axis.transpose() * &*matrix;
            *matrix -= &axis * part * 2.0;
        };
        let mut a = self.a;
        turn_left(&mut a);
        a = a.transpose();
        turn_left(&mut a);
        a = a.transpose();
        let mut b = DMatrix::from_column_slice(last + 1, 1, self.b.as_slice());
        turn_left(&mut b);
        Some(Single {
            b: DVector::from_column_slice(&b.as_slice()[..last]),
            c: a.view((last, 0), (1, last)).into_owned().row(0).into_owned(),
            d: b[last],
            f: 0.0,
            a: a.view((0, 0), (last, last)).into_owned(),
        })
    }
}
