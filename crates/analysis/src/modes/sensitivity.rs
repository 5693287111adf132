//! Derivatives of poles with respect to parameters.

use crate::eigen::rounding::ROUNDING;
use crate::eigen::vectors::{Vectors, times};
use crate::values::parameter_values;
use lgm_algebra::expr::{ExprId, Exprs, SymbolId};
use lgm_model::system::{SparseMatrix, StateSystem};
use nalgebra::DMatrix;
use num_complex::Complex;
use rustc_hash::FxHashMap;

/// Computes dA/dp for the values of the parameters, including parameters that depend on p. `None` if A is not available in terms
/// of the parameters.
pub(super) fn derivative_of_a(system: &StateSystem, parameter: SymbolId) -> Option<SparseMatrix<f64>> {
    let form = system.matrices.symbolic.as_ref()?;
    let mut exprs = system.exprs.clone();
    let derived = derived_values(system, &mut exprs);
    let values = parameter_values(system);
    let mut rows = Vec::with_capacity(form.a.rows.len());
    for row in &form.a.rows {
        let mut found = Vec::new();
        for (column, id) in row {
            let entry = exprs.substitute(&[*id], |symbol| derived.get(&symbol).copied())[0];
            let derivative = exprs.differentiate(entry, parameter)?;
            let value = exprs.evaluate_unchecked(&[derivative], &|symbol| values.get(&symbol).copied())[0];
            if value != 0.0 {
                found.push((*column, value));
            }
        }
        rows.push(found);
    }
    Some(SparseMatrix {
        columns: form.a.columns,
        rows,
    })
}

/// Returns the values of dependent parameters in terms of independent ones.
fn derived_values(system: &StateSystem, exprs: &mut Exprs) -> FxHashMap<SymbolId, ExprId> {
    let mut known: FxHashMap<SymbolId, ExprId> = FxHashMap::default();
    for entry in system.parameters.iter().flat_map(|parameter| &parameter.entries) {
        if let Some(derived) = entry.derived {
            let value = exprs.substitute(&[derived], |symbol| known.get(&symbol).copied())[0];
            known.insert(entry.symbol, value);
        }
    }
    known
}

/// Returns the derivatives of poles that share a subspace, given dA: for a multiple pole, the eigenvalues of dA within the subspace. `None`
/// for a pole with too few eigenvectors, because a small change moves it by a root of that change.
pub(super) fn derivatives(
    vectors: &[Vectors],
    poles: &[Complex<f64>],
    derivative: &SparseMatrix<f64>,
) -> Vec<Option<Complex<f64>>> {
    let one = |at: usize| -> Option<Complex<f64>> {
        let Vectors { together, column, .. } = &vectors[at];
        let (right, left) = together.as_ref()?;
        let inner = left.adjoint() * right;
        let change = left.adjoint() * times(derivative, right);
        let inverse = inner.clone().try_inverse()?;
        // For a defective pole, left and right subspaces are nearly orthogonal.
        if !(inverse.norm() * inner.norm()).is_finite() || inverse.norm() * inner.norm() > 1e10 {
            return None;
        }
        let projected = &inverse * change;
        let is_multiple = (0..poles.len()).any(|other| {
            let is_together = vectors[other].together.as_ref().is_some_and(|pair| pair.0 == *right);
            other != at && is_together && (poles[other] - poles[at]).norm() <= 1e-9 * poles[at].norm()
        });
        // Cancelling terms leave round-off.
        let size = |matrix: &DMatrix<Complex<f64>>| matrix.map(|value| Complex::new(value.norm(), 0.0));
        let absolute = SparseMatrix {
            columns: derivative.columns,
            rows: derivative
                .rows
                .iter()
                .map(|row| row.iter().map(|entry| (entry.0, entry.1.abs())).collect())
                .collect(),
        };
        let terms = size(&inverse) * size(left).transpose() * times(&absolute, &size(right));
        let least = ROUNDING * terms[(*column, *column)].re;
        let part = |part: f64| if part.abs() <= least { 0.0 } else { part };
        let cleaned = |value: Complex<f64>| Complex::new(part(value.re), part(value.im));
        if !is_multiple {
            return Some(cleaned(projected[(*column, *column)]));
        }
        let eigenvalues = projected.schur().eigenvalues()?;
        eigenvalues.get(*column).copied().map(cleaned)
    };
    (0..poles.len()).map(one).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::eigen::vectors::vectors;

    #[test]
    fn parts_that_are_zero_are_exactly_zero() {
        // An oscillator with mass m = 2, b = 0 and k = 8: pole 2j. Its rate with k has no real part, that with b no imaginary one.
        let rows = |list: [[f64; 2]; 2]| SparseMatrix {
            columns: 2,
            rows: list.map(|row| vec![(0, row[0]), (1, row[1])]).to_vec(),
        };
        let pole = [Complex::new(0.0, 2.0)];
        let found = vectors(&rows([[0.0, -0.5], [8.0, 0.0]]), &pole).unwrap_or_default();
        let of_k = derivatives(&found, &pole, &rows([[0.0, 0.0], [1.0, 0.0]]))[0].unwrap_or_default();
        let of_b = derivatives(&found, &pole, &rows([[-0.5, 0.0], [0.0, 0.0]]))[0].unwrap_or_default();
        assert_eq!((of_k.re, of_b.im), (0.0, 0.0));
        assert!(
            (of_k.im - 0.125).abs() < 1e-12 && (of_b.re + 0.25).abs() < 1e-12,
            "{of_k} {of_b}"
        );
    }
}
