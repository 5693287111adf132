//! Reduced-order models whose transfer functions agree with large sparse systems at given frequencies.
//!
//! The right vectors `(jw I - A)^-k B`, and the left ones `(jw I - A)^-k' C'` transformed by the energy matrix, span the kept states
//! (rational Krylov subspaces). The projection preserves the energy of the kept states: with `V' P V = I`, A becomes `V' P A V`. If P is
//! the stored energy and the system is passive, the reduced model has no pole in the right half-plane, for any frequencies.

use super::matrices::{Matrix, StateSpace};
use super::reduction::{balance, refused};
use crate::eigen::poles::eigenvalues;
use crate::eigen::storage::{StorageOutputs, energy_matrix};
use crate::response::SparseLu;
use crate::state_space::zero::without_conserved;
use crate::values::numeric_form;
use lgm_model::system::{LinearForm, SparseMatrix, StateSystem, StateVariable};
use lgm_source::diagnostic::Diagnostic;
use nalgebra::{DMatrix, DVector};
use num_complex::Complex;

/// A request for a reduced model.
#[derive(Clone, Debug)]
pub struct MomentRequest<'a> {
    /// The number of states kept.
    pub order: usize,
    /// Angular frequencies at which the functions agree, in rad/s.
    pub omega: &'a [f64],
    /// The number of relevant outputs, which come first; the outputs of storage follow.
    pub outputs: usize,
    /// The outputs that were added for storage.
    pub storage: &'a [StorageOutputs],
    /// True if velocities and displacements, or voltages and charges, are kept separate, so that the reduced model is second-order too.
    pub keeps_second_order: bool,
}

/// A reduced model.
#[derive(Clone, Debug)]
pub struct Moments {
    /// The matrices of the reduced model.
    pub space: StateSpace,
    /// The number of states for across variables, if second-order form is kept; the other states follow.
    pub first_kind: Option<usize>,
    /// The largest error of a transfer function relative to its largest value, at the requested frequencies and at some others. In
    /// ascending order of frequency, in rad/s.
    pub errors: Vec<(f64, f64)>,
    /// A bound on the largest singular value of the error at any frequency; none if the system is too large.
    pub bound: Option<f64>,
}

/// A basis vector that keeps less than this fraction of its norm after orthogonalisation is linearly dependent.
const DEPENDENT: f64 = 1e-9;

/// The maximum number of states for an error bound.
const BOUNDED: usize = 300;

/// An error below this fraction of the largest value is round-off.
const EXACT: f64 = 1e-12;

/// The number of additional frequencies at which the error is measured.
const MEASURED: usize = 7;

type Vector = DVector<f64>;

/// Sparse matrices of the system, with E absorbed.
struct Large<'a> {
    form: &'a LinearForm<f64>,
    /// Columns of `B + A E`.
    b: Vec<Vector>,
    /// Rows of C.
    c: Vec<Vec<(u32, f64)>>,
    d: Matrix,
    /// The energy matrix.
    p: SparseMatrix<f64>,
}

fn times(matrix: &SparseMatrix<f64>, vector: &Vector) -> Vector {
    let of = |row: &Vec<(u32, f64)>| row.iter().map(|(column, value)| value * vector[*column as usize]).sum();
    Vector::from_iterator(matrix.rows.len(), matrix.rows.iter().map(of))
}

fn dot(row: &[(u32, f64)], vector: &Vector) -> f64 {
    row.iter().map(|(column, value)| value * vector[*column as usize]).sum()
}

impl<'a> Large<'a> {
    fn new(
        system: &StateSystem,
        form: &'a LinearForm<f64>,
        request: &MomentRequest<'_>,
    ) -> Result<Large<'a>, Box<Diagnostic>> {
        let (size, inputs) = (form.a.rows.len(), system.declared_inputs().count());
        let has_rates = |row: &Vec<(u32, f64)>| row.iter().any(|entry| entry.1 != 0.0 && (entry.0 as usize) < inputs);
        if form.f.rows[..request.outputs].iter().any(has_rates) {
            return Err(refused(
                "outputs contain rates of inputs, which the matrices A to D cannot express",
                "remove these outputs, or measure the quantities that they differentiate",
            ));
        }
        let column = |matrix: &SparseMatrix<f64>, input: usize| {
            let entry = |row: usize| matrix.get(row, input).copied().unwrap_or(0.0);
            Vector::from_fn(matrix.rows.len(), |row, _| entry(row))
        };
        let c: Vec<Vec<(u32, f64)>> = form.c.rows[..request.outputs].to_vec();
        let mut b = Vec::with_capacity(inputs);
        let mut d = Matrix::zeros(request.outputs, inputs);
        for input in 0..inputs {
            let rates = column(&form.e, input);
            b.push(column(&form.b, input) + times(&form.a, &rates));
            for (output, row) in c.iter().enumerate() {
                d[(output, input)] = form.d.get(output, input).copied().unwrap_or(0.0) + dot(row, &rates);
            }
        }
        let identity = || SparseMatrix {
            columns: size,
            rows: (0..size as u32).map(|at| vec![(at, 1.0)]).collect(),
        };
        let mut p = energy_matrix(form, request.storage).unwrap_or_else(identity);
        for (at, row) in p.rows.iter_mut().enumerate() {
            // A state without storage, such as the integral of an output, has no energy.
            if row.iter().all(|entry| entry.1 == 0.0) {
                *row = vec![(at as u32, 1.0)];
            }
        }
        Ok(Large { form, b, c, d, p })
    }

    /// Returns the factors of `jw I - A`.
    fn shifted(&self, omega: f64) -> Result<SparseLu, Box<Diagnostic>> {
        let rows = self.form.a.rows.iter().enumerate().map(|(at, entries)| {
            let others = entries.iter().filter(|entry| entry.0 as usize != at);
            let mut row: Vec<(u32, Complex<f64>)> = others
                .map(|(column, value)| (*column, Complex::new(-value, 0.0)))
                .collect();
            let own = self.form.a.get(at, at).copied().unwrap_or(0.0);
            row.push((at as u32, Complex::new(-own, omega)));
            row
        });
        let rows: Vec<Vec<(u32, Complex<f64>)>> = rows.collect();
        SparseLu::factorise(&rows).ok_or_else(|| {
            refused(
                &format!("a pole lies at {omega} rad/s, where the transfer functions are infinite"),
                "choose another frequency",
            )
        })
    }

    /// Returns the transfer functions at the frequency of the factors.
    fn values(&self, factors: &SparseLu) -> DMatrix<Complex<f64>> {
        let mut found = self.d.map(|value| Complex::new(value, 0.0));
        for (input, column) in self.b.iter().enumerate() {
            let state = factors.solve(complex(column).as_slice());
            for (output, row) in self.c.iter().enumerate() {
                let sum: Complex<f64> = row.iter().map(|(at, value)| state[*at as usize] * *value).sum();
                found[(output, input)] += sum;
            }
        }
        found
    }
}

fn complex(vector: &Vector) -> DVector<Complex<f64>> {
    vector.map(|value| Complex::new(value, 0.0))
}

/// Vectors that are orthonormal in the energy.
struct Basis<'a> {
    p: &'a SparseMatrix<f64>,
    /// For each state, true if it belongs to the first kind; none if the kinds are not kept separate.
    kinds: Option<Vec<bool>>,
    /// Each vector with its kind, and its product with P.
    vectors: Vec<(bool, Vector, Vector)>,
    order: usize,
}

impl Basis<'_> {
    fn is_full(&self) -> bool {
        self.vectors.len() >= self.order
    }

    /// Adds the directions of a complex vector.
    fn add(&mut self, vector: &[Complex<f64>]) {
        let largest = vector.iter().map(|value| value.norm()).fold(0.0, f64::max);
        for part in [0, 1] {
            let values = vector.iter().map(|value| if part == 0 { value.re } else { value.im });
            let real = Vector::from_iterator(vector.len(), values);
            // The imaginary part of a real value is round-off.
            if real.amax() <= DEPENDENT * largest {
                continue;
            }
            match &self.kinds {
                None => self.add_real(true, real),
                Some(kinds) => {
                    let of = |kind: bool| {
                        Vector::from_fn(real.len(), |at, _| if kinds[at] == kind { real[at] } else { 0.0 })
                    };
                    let (first, second) = (of(true), of(false));
                    for (kind, vector) in [(true, first), (false, second)] {
                        if vector.amax() > DEPENDENT * real.amax() {
                            self.add_real(kind, vector);
                        }
                    }
                }
            }
        }
    }

    fn add_real(&mut self, kind: bool, mut vector: Vector) {
        if self.is_full() {
            return;
        }
        let before = times(self.p, &vector).dot(&vector).max(0.0).sqrt();
        for _ in 0..2 {
            for (_, known, weighted) in &self.vectors {
                vector.axpy(-weighted.dot(&vector), known, 1.0);
            }
        }
        let mut weighted = times(self.p, &vector);
        let norm = weighted.dot(&vector).max(0.0).sqrt();
        if norm.is_finite() && norm > DEPENDENT * before {
            vector /= norm;
            weighted /= norm;
            self.vectors.push((kind, vector, weighted));
        }
    }
}

/// Computes a reduced-order model that matches a large one at some frequencies: the value at each of them, and as many derivatives as the
/// order allows.
pub fn match_moments(system: &StateSystem, request: &MomentRequest<'_>) -> Result<Moments, Box<Diagnostic>> {
    let form = numeric_form(system, "reduced-order model")?;
    let large = Large::new(system, form, request)?;
    let size = form.a.rows.len();
    if large.b.is_empty() || large.c.is_empty() {
        return Err(refused(
            "the system has no input or no output to preserve",
            "declare an input and an output",
        ));
    }
    if request.order == 0 || request.order >= size.max(1) {
        return Err(refused(
            &format!(
                "the order {} is out of range for a system of {size} states",
                request.order
            ),
            "give an order from 1 to the number of states less one",
        ));
    }
    let vectors = krylov(system, &large, request)?;
    let order = vectors.len();
    let a: Vec<Vector> = vectors.iter().map(|vector| times(&form.a, &vector.1)).collect();
    let space = StateSpace {
        a: Matrix::from_fn(order, order, |row, column| vectors[row].2.dot(&a[column])),
        b: Matrix::from_fn(order, large.b.len(), |row, column| vectors[row].2.dot(&large.b[column])),
        c: Matrix::from_fn(large.c.len(), order, |row, column| {
            dot(&large.c[row], &vectors[column].1)
        }),
        d: large.d.clone(),
    };
    let poles = eigenvalues(space.a.clone()).unwrap_or_default();
    let scale = poles.iter().map(|pole| pole.norm()).fold(0.0, f64::max);
    if poles.len() < order || poles.iter().any(|pole| pole.re > 1e-9 * scale) {
        return Err(refused(
            "the reduced model would be unstable: the system is active or unstable",
            "choose another order or other frequencies, or keep the slowest poles with `--method modal`",
        ));
    }
    let errors = measured(&large, &space, request.omega, &poles)?;
    let bound = if size <= BOUNDED {
        bound(system, &large, &space)
    } else {
        None
    };
    Ok(Moments {
        first_kind: request
            .keeps_second_order
            .then(|| vectors.iter().filter(|vector| vector.0).count()),
        space,
        errors,
        bound,
    })
}

/// Returns the kept vectors; vectors of the first kind come first.
fn krylov(
    system: &StateSystem,
    large: &Large<'_>,
    request: &MomentRequest<'_>,
) -> Result<Vec<(bool, Vector, Vector)>, Box<Diagnostic>> {
    let is_first = |variable: StateVariable| {
        use StateVariable::{Across, Effort, IntegralOfThrough, Q};
        matches!(variable, Across | Effort | IntegralOfThrough | Q)
    };
    let kinds = request
        .keeps_second_order
        .then(|| system.states.iter().map(|state| is_first(state.variable)).collect());
    let mut basis = Basis {
        p: &large.p,
        kinds,
        vectors: Vec::new(),
        order: request.order,
    };
    let weights: Vec<Vec<(u32, Complex<f64>)>> = large
        .p
        .rows
        .iter()
        .map(|row| {
            row.iter()
                .map(|(column, value)| (*column, Complex::new(*value, 0.0)))
                .collect()
        })
        .collect();
    let weights = SparseLu::factorise(&weights).ok_or_else(|| {
        refused(
            "a combination of states stores no energy",
            "check `lgm reduce` for states that depend on each other",
        )
    })?;
    let mut shifts = Vec::new();
    for omega in request.omega {
        let rows: Vec<Vector> = large
            .c
            .iter()
            .map(|row| dense_row(row, large.form.a.rows.len()))
            .collect();
        let right: Vec<Vec<Complex<f64>>> = large
            .b
            .iter()
            .map(|column| complex(column).as_slice().to_vec())
            .collect();
        let left: Vec<Vec<Complex<f64>>> = rows.iter().map(|row| complex(row).as_slice().to_vec()).collect();
        shifts.push((large.shifted(*omega)?, right, left));
    }
    while !basis.is_full() {
        let before = basis.vectors.len();
        for (factors, right, _) in &mut shifts {
            for vector in right.iter_mut().filter(|vector| !vector.is_empty()) {
                *vector = scaled(factors.solve(vector));
                basis.add(vector);
            }
        }
        for (factors, _, left) in &mut shifts {
            for vector in left.iter_mut() {
                *vector = scaled(factors.solve_transposed(vector));
                basis.add(&weights.solve(vector));
            }
        }
        if basis.vectors.len() == before {
            break;
        }
    }
    let mut vectors = basis.vectors;
    vectors.sort_by_key(|vector| !vector.0);
    Ok(vectors)
}

fn dense_row(row: &[(u32, f64)], size: usize) -> Vector {
    let mut dense = Vector::zeros(size);
    for (column, value) in row {
        dense[*column as usize] = *value;
    }
    dense
}

/// Scales the largest entry to 1, so that high powers remain in range.
fn scaled(mut vector: Vec<Complex<f64>>) -> Vec<Complex<f64>> {
    let largest = vector.iter().map(|value| value.norm()).fold(0.0, f64::max);
    if largest > 0.0 && largest.is_finite() {
        vector.iter_mut().for_each(|value| *value /= largest);
    }
    vector
}

/// Measures the error at the requested frequencies, and at some from below the lowest to above the highest.
///
/// Each function is compared with its own largest value, because outputs with different units are not comparable. The largest value is
/// searched for at these frequencies and at the resonances of the whole model. If the whole model is too large to compute its poles, the
/// resonances of the reduced model are used.
fn measured(
    large: &Large<'_>,
    space: &StateSpace,
    omega: &[f64],
    poles: &[Complex<f64>],
) -> Result<Vec<(f64, f64)>, Box<Diagnostic>> {
    let mut known: Vec<f64> = omega.iter().copied().filter(|omega| *omega > 0.0).collect();
    if known.is_empty() {
        let sizes = poles.iter().map(|pole| pole.norm()).filter(|size| *size > 0.0);
        known.push(sizes.fold(f64::INFINITY, f64::min).min(1e300));
    }
    let lowest = known.iter().copied().fold(f64::INFINITY, f64::min) / 3.0;
    let highest = known.iter().copied().fold(0.0, f64::max) * 3.0;
    let share = |at: usize| at as f64 / (MEASURED - 1) as f64;
    let mut measured: Vec<f64> = (0..MEASURED)
        .map(|at| lowest * (highest / lowest).powf(share(at)))
        .chain(omega.iter().copied())
        .collect();
    measured.sort_by(f64::total_cmp);
    measured.dedup();
    let mut largest: DMatrix<f64> = large.d.map(f64::abs);
    let mut note =
        |values: &DMatrix<Complex<f64>>| largest.zip_apply(values, |most, value| *most = most.max(value.norm()));
    let mut differences = Vec::with_capacity(measured.len());
    for omega in measured {
        let values = large.values(&large.shifted(omega)?);
        note(&values);
        if let Some(own) = space.at(omega) {
            differences.push((omega, (values - own).map(|value| value.norm())));
        }
    }
    let all = match large.form.a.rows.len() <= BOUNDED {
        true => eigenvalues(StateSpace::of(large.form, large.b.len()).a),
        false => None,
    };
    let resonances = all.as_deref().unwrap_or(poles).iter().filter(|pole| pole.im > 0.0);
    for pole in resonances {
        if let Ok(factors) = large.shifted(pole.norm()) {
            note(&large.values(&factors));
        }
    }
    let share = |difference: &DMatrix<f64>| {
        let shares = difference.zip_map(
            &largest,
            |value, most| if value > EXACT * most { value / most } else { 0.0 },
        );
        shares.iter().copied().fold(0.0, f64::max)
    };
    Ok(differences.iter().map(|(omega, each)| (*omega, share(each))).collect())
}

/// Returns twice the sum of the Hankel singular values of the difference.
fn bound(system: &StateSystem, large: &Large<'_>, space: &StateSpace) -> Option<f64> {
    let whole = StateSpace::of(large.form, system.declared_inputs().count());
    let (whole, zeros) = without_conserved(system, whole);
    if zeros > 0 {
        return None;
    }
    let (n, r) = (whole.a.nrows(), space.a.nrows());
    let mut difference = StateSpace {
        a: DMatrix::zeros(n + r, n + r),
        b: DMatrix::zeros(n + r, space.b.ncols()),
        c: DMatrix::zeros(space.c.nrows(), n + r),
        d: DMatrix::zeros(space.d.nrows(), space.d.ncols()),
    };
    difference.a.view_mut((0, 0), (n, n)).copy_from(&whole.a);
    difference.a.view_mut((n, n), (r, r)).copy_from(&space.a);
    difference.b.rows_mut(0, n).copy_from(&whole.b);
    difference.b.rows_mut(n, r).copy_from(&space.b);
    difference
        .c
        .columns_mut(0, n)
        .copy_from(&whole.c.rows(0, space.c.nrows()));
    difference.c.columns_mut(n, r).copy_from(&(-&space.c));
    let poles = eigenvalues(difference.a.clone())?;
    // Avoids deciding by round-off on which side of the axis a pole is.
    let scale = poles.iter().map(|pole| pole.norm()).fold(0.0, f64::max);
    if poles.iter().any(|pole| pole.re >= -1e-13 * scale) {
        return None;
    }
    let (values, ..) = balance(&difference)?;
    let sum = 2.0 * values.iter().sum::<f64>();
    sum.is_finite().then_some(sum)
}
