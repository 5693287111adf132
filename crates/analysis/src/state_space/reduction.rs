//! Reduced-order models with an error bound.

use super::matrices::{StateSpace, lyapunov, rate_matrix};
use crate::eigen::poles::{balance as balance_entries, eigenvalues};
use crate::eigen::vectors::vectors_of;
use crate::state_space::zero::without_conserved;
use crate::values::numeric_form;
use lgm_model::system::StateSystem;
use lgm_source::codes::Code;
use lgm_source::diagnostic::Diagnostic;
use nalgebra::{DMatrix, SymmetricEigen};
use num_complex::Complex;

/// The method that selects the omitted states.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReductionMethod {
    /// Omits the states that are hardest to reach and to observe, in balanced coordinates.
    Balanced,
    /// Omits the poles that are farthest from 0.
    Modal,
}

/// A reduced model.
#[derive(Clone, Debug)]
pub struct Reduced {
    /// The matrices of the reduced model.
    pub space: StateSpace,
    /// The Hankel singular values of the system, descending; empty if it is not stable.
    pub hankel: Vec<f64>,
    /// A bound on the largest singular value of the error at any frequency.
    pub bound: f64,
}

/// Hankel singular values below this fraction of the largest are round-off: such states are not minimal.
const HANKEL_NOISE: f64 = 1e-13;

/// The number of times that the units of the states are rescaled.
const SCALINGS: usize = 4;

/// The maximum number of states; more take too long.
const MOST: usize = 600;

/// Computes a model with fewer states by balanced truncation, or from the poles nearest to 0. If `match_dc` is set, the static gain is
/// kept.
pub fn reduce_order(
    system: &StateSystem,
    order: usize,
    method: ReductionMethod,
    match_dc: bool,
) -> Result<Reduced, Box<Diagnostic>> {
    let form = numeric_form(system, "reduced-order model")?;
    let inputs = system.declared_inputs().count();
    let space = StateSpace::of(form, inputs);
    let size = space.a.nrows();
    if rate_matrix(form, inputs).is_some() {
        return Err(refused(
            "outputs contain rates of inputs, which the matrices A to D cannot express",
            "remove these outputs, or measure the quantities that they differentiate",
        ));
    }
    if space.b.ncols() == 0 || space.c.nrows() == 0 {
        return Err(refused(
            "the system has no input or no output to preserve",
            "declare an input and an output",
        ));
    }
    if order == 0 || order >= size.max(1) {
        return Err(refused(
            &format!("the order {order} is out of range for a system of {size} states"),
            "give an order from 1 to the number of states less one",
        ));
    }
    if size > MOST {
        let message = format!("the system has {size} states; Gramians are limited to {MOST}");
        return Err(refused(
            &message,
            "give frequencies with `--method moments --at W,W`, which supports 100,000 states",
        ));
    }
    let (space, zeros) = without_conserved(system, space);
    let space = in_even_units(space);
    if zeros > 0 {
        return beside_zeros(&space, zeros, order, method, match_dc);
    }
    reduced(&space, order, method, match_dc)
}

/// Reduces the order of a system without poles at 0.
fn reduced(
    space: &StateSpace,
    order: usize,
    method: ReductionMethod,
    match_dc: bool,
) -> Result<Reduced, Box<Diagnostic>> {
    let size = space.a.nrows();
    let poles = match size {
        0 => Vec::new(),
        _ => eigenvalues(space.a.clone()).ok_or_else(without_convergence)?,
    };
    let is_stable = poles.iter().all(|pole| pole.re < 0.0);
    if size <= order {
        // Conserved quantities were omitted before, so no more states can be omitted.
        return Ok(Reduced {
            space: space.clone(),
            hankel: hankel_values(space, is_stable),
            bound: 0.0,
        });
    }
    match method {
        ReductionMethod::Modal if order > 0 => modal(space, poles, order, match_dc, is_stable),
        _ if !is_stable => Err(refused(
            "the system is unstable: not all of its poles lie in the left half-plane",
            "add the missing damping, or keep the poles nearest to 0 with `--method modal`",
        )),
        _ => balanced(space, order, match_dc).ok_or_else(without_convergence),
    }
}

/// Keeps zero poles, which are free motions and integrals, and reduces the rest in parallel to them.
fn beside_zeros(
    space: &StateSpace,
    zeros: usize,
    order: usize,
    method: ReductionMethod,
    match_dc: bool,
) -> Result<Reduced, Box<Diagnostic>> {
    if order < zeros {
        let message = format!("{zeros} poles are 0 (free motions or integrals) and are kept");
        return Err(refused(&message, &format!("give an order of at least {zeros}")));
    }
    let (v, w) = zero_subspaces(&space.a, zeros).ok_or_else(without_convergence)?;
    let (part, rest) = divided(space, &v, &w).ok_or_else(without_convergence)?;
    let found = reduced(&rest, order - zeros, method, match_dc)?;
    let (kept, more) = (part.a.nrows(), found.space.a.nrows());
    let mut a = DMatrix::zeros(kept + more, kept + more);
    a.view_mut((0, 0), (kept, kept)).copy_from(&part.a);
    a.view_mut((kept, kept), (more, more)).copy_from(&found.space.a);
    let mut b = DMatrix::zeros(kept + more, part.b.ncols());
    b.rows_mut(0, kept).copy_from(&part.b);
    b.rows_mut(kept, more).copy_from(&found.space.b);
    let mut c = DMatrix::zeros(part.c.nrows(), kept + more);
    c.columns_mut(0, kept).copy_from(&part.c);
    c.columns_mut(kept, more).copy_from(&found.space.c);
    let d = found.space.d;
    Ok(Reduced {
        space: StateSpace { a, b, c, d },
        ..found
    })
}

/// Returns right and left bases of the motions for a given number of zero poles: the vectors that a power of A maps to 0.
fn zero_subspaces(a: &DMatrix<f64>, zeros: usize) -> Option<(DMatrix<f64>, DMatrix<f64>)> {
    let mut power = a.clone();
    for _ in 0..zeros {
        let svd = power.clone().svd(true, true);
        let (left, right) = (svd.u?, svd.v_t?);
        let mut places: Vec<usize> = (0..svd.singular_values.len()).collect();
        places.sort_by(|a, b| svd.singular_values[*a].total_cmp(&svd.singular_values[*b]));
        let of = |place: usize| svd.singular_values[place];
        let is_apart = match places.get(zeros) {
            Some(next) => of(places[zeros - 1]) <= 1e-6 * of(*next),
            None => true,
        };
        if is_apart {
            let columns: Vec<_> = places[..zeros].iter().map(|at| right.row(*at).transpose()).collect();
            let rows: Vec<_> = places[..zeros].iter().map(|at| left.column(*at).into_owned()).collect();
            return Some((DMatrix::from_columns(&columns), DMatrix::from_columns(&rows)));
        }
        power *= a;
    }
    None
}

/// Splits a system into the part in a subspace, given with its left subspace, and the rest in parallel.
fn divided(space: &StateSpace, v: &DMatrix<f64>, w: &DMatrix<f64>) -> Option<(StateSpace, StateSpace)> {
    let inverse = (w.transpose() * v).try_inverse()?;
    let left = inverse * w.transpose();
    let part = StateSpace {
        a: &left * &space.a * v,
        b: &left * &space.b,
        c: &space.c * v,
        d: space.d.clone(),
    };
    // The rest is the subspace orthogonal to the left vectors.
    let size = space.a.nrows();
    let full = joined_basis(&w.clone().qr().q());
    let basis = full.columns(w.ncols(), size - w.ncols()).into_owned();
    let rest = StateSpace {
        a: basis.transpose() * &space.a * &basis,
        b: basis.transpose() * (&space.b - v * &part.b),
        c: &space.c * &basis,
        d: space.d.clone(),
    };
    Some((part, rest))
}

/// Rescales the states so that the entries of A have similar magnitudes.
fn in_even_units(mut space: StateSpace) -> StateSpace {
    let scales = balance_entries(&mut space.a);
    for (at, scale) in scales.iter().enumerate() {
        space.b.row_mut(at).scale_mut(1.0 / scale);
        space.c.column_mut(at).scale_mut(*scale);
    }
    space
}

pub(super) fn refused(message: &str, help: &str) -> Box<Diagnostic> {
    Box::new(Diagnostic::error(Code::LGM0716, message).help(help))
}

fn without_convergence() -> Box<Diagnostic> {
    refused(
        "the coordinates of the reduced model could not be computed",
        "check `lgm modes` for multiple poles or poles out of range",
    )
}

/// Returns a factor L of a positive semidefinite symmetric matrix, `L L'`.
fn factor(matrix: DMatrix<f64>) -> DMatrix<f64> {
    let SymmetricEigen {
        eigenvectors,
        eigenvalues,
    } = matrix.symmetric_eigen();
    let roots = eigenvalues.map(|value| value.max(0.0).sqrt());
    eigenvectors * DMatrix::from_diagonal(&roots)
}

/// Returns powers of two as units of the states, in which states are about as controllable as observable, and the Gramians in these units.
/// In units that spread the entries over many decades, round-off of the largest would exceed the smallest.
pub(super) fn scaled_gramians(space: &StateSpace) -> Option<(Vec<f64>, DMatrix<f64>, DMatrix<f64>)> {
    let size = space.a.nrows();
    let mut scales = balance_entries(&mut space.a.clone());
    let mut found = None;
    for _ in 0..SCALINGS {
        let mut a = space.a.clone();
        let (mut b, mut c) = (space.b.clone(), space.c.clone());
        for (at, scale) in scales.iter().enumerate() {
            a.row_mut(at).scale_mut(1.0 / scale);
            a.column_mut(at).scale_mut(*scale);
            b.row_mut(at).scale_mut(1.0 / scale);
            c.column_mut(at).scale_mut(*scale);
        }
        let reach = lyapunov(&a, &(&b * b.transpose()))?;
        let show = lyapunov(&a.transpose(), &(c.transpose() * &c))?;
        // Entries below the round-off of the largest ones do not define a state.
        let least = |matrix: &DMatrix<f64>| f64::EPSILON * matrix.diagonal().amax();
        let of = |matrix: &DMatrix<f64>, at: usize| matrix[(at, at)].max(least(matrix));
        let steps: Vec<f64> = (0..size)
            .map(|at| (0.25 * (of(&reach, at) / of(&show, at)).log2()).round())
            .map(|exponent| if exponent.is_finite() { exponent } else { 0.0 })
            .collect();
        let is_done = steps.iter().all(|step| *step == 0.0);
        found = Some((scales.clone(), reach, show));
        if is_done {
            break;
        }
        for (scale, step) in scales.iter_mut().zip(&steps) {
            *scale *= step.exp2();
        }
    }
    found
}

/// Returns the Hankel singular values, descending, and the corresponding coordinates: `W' V = I`.
pub(super) fn balance(space: &StateSpace) -> Option<(Vec<f64>, DMatrix<f64>, DMatrix<f64>)> {
    if space.a.nrows() == 0 {
        // A system with only two states keeps both as a pair, and nothing remains.
        return Some((Vec::new(), DMatrix::zeros(0, 0), DMatrix::zeros(0, 0)));
    }
    let (scales, reach, show) = scaled_gramians(space)?;
    let (reach, show) = (factor(reach), factor(show));
    let svd = (show.transpose() * &reach).svd(true, true);
    let (left, right) = (svd.u?, svd.v_t?);
    let mut places: Vec<usize> = (0..svd.singular_values.len()).collect();
    places.sort_by(|a, b| svd.singular_values[*b].total_cmp(&svd.singular_values[*a]));
    let mut values: Vec<f64> = places.iter().map(|at| svd.singular_values[*at]).collect();
    let largest = values.first().copied().unwrap_or(0.0);
    let kept = values
        .iter()
        .take_while(|value| **value > HANKEL_NOISE * largest)
        .count();
    values[kept..].fill(0.0);
    let size = space.a.nrows();
    let (mut v, mut w) = (DMatrix::zeros(size, kept), DMatrix::zeros(size, kept));
    for (column, at) in places.iter().take(kept).enumerate() {
        let scale = 1.0 / svd.singular_values[*at].sqrt();
        v.set_column(column, &(&reach * right.row(*at).transpose() * scale));
        w.set_column(column, &(&show * left.column(*at) * scale));
    }
    for (state, scale) in scales.iter().enumerate() {
        v.row_mut(state).scale_mut(*scale);
        w.row_mut(state).scale_mut(1.0 / scale);
    }
    Some((values, v, w))
}

fn balanced(space: &StateSpace, order: usize, match_dc: bool) -> Option<Reduced> {
    let (hankel, v, w) = balance(space)?;
    let bound = 2.0 * hankel.iter().skip(order).sum::<f64>();
    let minimal = StateSpace {
        a: w.transpose() * &space.a * &v,
        b: w.transpose() * &space.b,
        c: &space.c * &v,
        d: space.d.clone(),
    };
    let order = order.min(minimal.a.nrows());
    let space = match match_dc {
        true => perturbed(&minimal, order)?,
        false => StateSpace {
            a: minimal.a.view((0, 0), (order, order)).into_owned(),
            b: minimal.b.rows(0, order).into_owned(),
            c: minimal.c.columns(0, order).into_owned(),
            d: minimal.d,
        },
    };
    Some(Reduced { space, hankel, bound })
}

/// Sets the derivatives of the last states to zero, so that the static gain is kept.
fn perturbed(space: &StateSpace, order: usize) -> Option<StateSpace> {
    let rest = space.a.nrows() - order;
    if rest == 0 {
        return Some(space.clone());
    }
    let part = |from: (usize, usize), size: (usize, usize)| space.a.view(from, size).into_owned();
    let last = part((order, order), (rest, rest)).lu();
    let states = last.solve(&part((order, 0), (rest, order)))?;
    let inputs = last.solve(&space.b.rows(order, rest).into_owned())?;
    let coupling = part((0, order), (order, rest));
    let shown = space.c.columns(order, rest).into_owned();
    Some(StateSpace {
        a: part((0, 0), (order, order)) - &coupling * &states,
        b: space.b.rows(0, order) - &coupling * &inputs,
        c: space.c.columns(0, order) - &shown * &states,
        d: &space.d - &shown * &inputs,
    })
}

/// Keeps the poles nearest to 0, without splitting pairs. The rest is a separate system in parallel, whose Hankel singular values bound the
/// error.
fn modal(
    space: &StateSpace,
    mut poles: Vec<Complex<f64>>,
    order: usize,
    match_dc: bool,
    is_stable: bool,
) -> Result<Reduced, Box<Diagnostic>> {
    poles.sort_by(|a, b| a.norm().total_cmp(&b.norm()).then(b.im.total_cmp(&a.im)));
    let is_divided = poles[order - 1].im > 0.0 && poles[order] == poles[order - 1].conj();
    let kept = &poles[..if is_divided { order + 1 } else { order }];
    let (v, w) = kept_subspaces(&space.a, kept).ok_or_else(without_convergence)?;
    let (part, rest) = divided(space, &v, &w).ok_or_else(without_convergence)?;
    let is_rest_stable = poles[kept.len()..].iter().all(|pole| pole.re < 0.0);
    // If an undamped pole is omitted, the error has no bound.
    let mut bound = match is_rest_stable {
        true => 2.0 * balance(&rest).ok_or_else(without_convergence)?.0.iter().sum::<f64>(),
        false => f64::INFINITY,
    };
    let mut reduced = part;
    if match_dc && rest.a.nrows() > 0 {
        let states = rest.a.clone().lu().solve(&rest.b).ok_or_else(without_convergence)?;
        let gain = &rest.c * states;
        bound += gain.clone().svd(false, false).singular_values.amax();
        reduced.d -= gain;
    }
    Ok(Reduced {
        space: reduced,
        hankel: hankel_values(space, is_stable),
        bound,
    })
}

/// Returns the Hankel singular values, descending; empty for an unstable system.
fn hankel_values(space: &StateSpace, is_stable: bool) -> Vec<f64> {
    match is_stable {
        true => balance(space).map_or_else(Vec::new, |found| found.0),
        false => Vec::new(),
    }
}

/// Returns real bases of the right and left subspaces of some poles.
fn kept_subspaces(a: &DMatrix<f64>, kept: &[Complex<f64>]) -> Option<(DMatrix<f64>, DMatrix<f64>)> {
    let upper: Vec<Complex<f64>> = kept.iter().copied().filter(|pole| pole.im >= 0.0).collect();
    let (right, left) = vectors_of(a, &upper)?;
    let real = |columns: Vec<nalgebra::DVector<Complex<f64>>>| {
        let mut basis: Vec<nalgebra::DVector<f64>> = Vec::new();
        for (column, pole) in columns.iter().zip(&upper) {
            basis.push(column.map(|value| value.re));
            if pole.im > 0.0 {
                basis.push(column.map(|value| value.im));
            }
        }
        DMatrix::from_columns(&basis).qr().q()
    };
    Some((real(right), real(left)))
}

/// Returns an orthonormal basis whose first vectors span the columns.
fn joined_basis(columns: &DMatrix<f64>) -> DMatrix<f64> {
    let (size, known) = (columns.nrows(), columns.ncols());
    let mut basis = columns.clone().resize_horizontally(size, 0.0);
    // Each further vector is derived from the unit vector with the smallest projection on the span so far.
    for at in known..size {
        let length = |row: usize| basis.row(row).columns(0, at).norm_squared();
        let row = (0..size).min_by(|a, b| length(*a).total_cmp(&length(*b))).unwrap_or(0);
        let mut next = nalgebra::DVector::zeros(size);
        next[row] = 1.0;
        for _ in 0..2 {
            for before in 0..at {
                let part = basis.column(before).dot(&next);
                next -= basis.column(before) * part;
            }
        }
        let norm = next.norm();
        basis.set_column(at, &(next / norm));
    }
    basis
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A hydraulic servo: pressures of 1e5 Pa and flows of 1e-5 m^3/s.
    #[test]
    fn hankel_values_do_not_depend_on_the_units_of_states() {
        let rows: [[f64; 4]; 4] = [
            [-2000.0, 0.0, -5e11, 0.0],
            [0.0, -8.0, 5e8, -1e4],
            [1e-6, -2e-5, -0.5, 0.0],
            [0.0, 0.02, 0.0, 0.0],
        ];
        let mut b = DMatrix::zeros(4, 2);
        (b[(0, 0)], b[(1, 1)]) = (1.0, -1.0);
        let mut c = DMatrix::zeros(4, 4);
        (c[(0, 3)], c[(1, 1)], c[(2, 2)], c[(3, 0)]) = (1.0, 0.02, 5e11, 1e-6);
        let space = StateSpace {
            a: DMatrix::from_row_slice(4, 4, rows.as_flattened()),
            b,
            c,
            d: DMatrix::zeros(4, 2),
        };
        let exact = [475.0625, 416.8788, 58.36057, 0.188546];
        let units = DMatrix::from_diagonal(&nalgebra::DVector::from_vec(vec![1e6, 1e-4, 1.0, 3e-3]));
        let inverse = units.clone().try_inverse().unwrap_or_default();
        let other = StateSpace {
            a: &inverse * &space.a * &units,
            b: &inverse * &space.b,
            c: &space.c * &units,
            d: space.d.clone(),
        };
        for space in [space, other] {
            let (values, v, w) = balance(&space).unwrap_or_default();
            for (value, exact) in values.iter().zip(exact) {
                assert!((value / exact - 1.0).abs() < 5e-6, "{values:?}");
            }
            assert!((w.transpose() * v - DMatrix::identity(4, 4)).norm() < 1e-6);
        }
    }
}
