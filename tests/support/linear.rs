//! Numeric A..F: frequency response, poles, changes of state, and comparisons that report differences.

use nalgebra::DMatrix;
use num_complex::Complex64;

/// `x' = A x + B u + E u'`, `y = C x + D u + F u'`, with the names of its variables.
#[derive(Clone, Debug)]
pub struct Linear {
    pub states: Vec<String>,
    pub inputs: Vec<String>,
    pub outputs: Vec<String>,
    pub a: DMatrix<f64>,
    pub b: DMatrix<f64>,
    pub c: DMatrix<f64>,
    pub d: DMatrix<f64>,
    pub e: DMatrix<f64>,
    pub f: DMatrix<f64>,
}

impl Linear {
    /// The matrix of responses at the angular frequency `omega`, outputs by inputs.
    pub fn response(&self, omega: f64) -> DMatrix<Complex64> {
        let s = Complex64::new(0.0, omega);
        let complex = |matrix: &DMatrix<f64>| matrix.map(|value| Complex64::new(value, 0.0));
        let direct = complex(&self.d) + complex(&self.f) * s;
        if self.states.is_empty() {
            return direct;
        }
        let right = complex(&self.b) + complex(&self.e) * s;
        let left = DMatrix::identity(self.a.nrows(), self.a.ncols()) * s - complex(&self.a);
        let states = left.lu().solve(&right).expect("no pole lies at this frequency");
        complex(&self.c) * states + direct
    }

    /// The eigenvalues of A.
    pub fn poles(&self) -> Vec<Complex64> {
        if self.states.is_empty() {
            return Vec::new();
        }
        self.a.complex_eigenvalues().iter().copied().collect()
    }

    /// The same system in terms of the states `scale * state`, in the given order: one `(index, scale)` for each new
    /// state.
    pub fn over(&self, states: &[(usize, f64)]) -> Linear {
        let n = self.a.nrows();
        let mut change = DMatrix::zeros(states.len(), n);
        let mut back = DMatrix::zeros(n, states.len());
        for (new, (old, scale)) in states.iter().enumerate() {
            change[(new, *old)] = *scale;
            back[(*old, new)] = 1.0 / scale;
        }
        Linear {
            states: states.iter().map(|(old, _)| self.states[*old].clone()).collect(),
            inputs: self.inputs.clone(),
            outputs: self.outputs.clone(),
            a: &change * &self.a * &back,
            b: &change * &self.b,
            c: &self.c * &back,
            d: self.d.clone(),
            e: &change * &self.e,
            f: self.f.clone(),
        }
    }

    /// All six matrices with their names.
    fn matrices(&self) -> [(&'static str, &DMatrix<f64>); 6] {
        [
            ("A", &self.a),
            ("B", &self.b),
            ("C", &self.c),
            ("D", &self.d),
            ("E", &self.e),
            ("F", &self.f),
        ]
    }
}

/// Entry by entry, relative to the entry or, if terms cancelled, to the largest of its matrix.
pub fn assert_same_matrices(what: &str, found: &Linear, expected: &Linear, tolerance: f64) {
    for ((name, found), (_, expected)) in found.matrices().into_iter().zip(expected.matrices()) {
        assert_eq!(found.shape(), expected.shape(), "{what}: shape of {name}");
        let largest = expected.iter().fold(0.0f64, |largest, value| largest.max(value.abs()));
        for row in 0..expected.nrows() {
            for column in 0..expected.ncols() {
                let (found, expected) = (found[(row, column)], expected[(row, column)]);
                let scale = expected.abs().max(1e-6 * largest);
                assert!(
                    (found - expected).abs() <= tolerance * scale,
                    "{what}: {name}[{}, {}] is {found}, not {expected}",
                    row + 1,
                    column + 1
                );
            }
        }
    }
}

/// One response compared with another, relative to its magnitude.
pub fn assert_same_response(what: &str, found: &DMatrix<Complex64>, expected: &DMatrix<Complex64>, tolerance: f64) {
    assert_eq!(found.shape(), expected.shape(), "{what}: shape of H");
    for row in 0..expected.nrows() {
        for column in 0..expected.ncols() {
            let (found, expected) = (found[(row, column)], expected[(row, column)]);
            assert!(
                (found - expected).norm() <= tolerance * expected.norm().max(1e-12),
                "{what}: H[{}, {}] is {found}, not {expected}",
                row + 1,
                column + 1
            );
        }
    }
}

/// The same poles in any order, relative to the largest.
pub fn assert_same_poles(what: &str, found: &[Complex64], expected: &[Complex64], tolerance: f64) {
    assert_eq!(found.len(), expected.len(), "{what}: {found:?} are not {expected:?}");
    let largest = expected.iter().fold(0.0f64, |largest, pole| largest.max(pole.norm()));
    let mut left = found.to_vec();
    for pole in expected {
        let (at, distance) = left
            .iter()
            .map(|other| (other - pole).norm())
            .enumerate()
            .min_by(|one, other| one.1.total_cmp(&other.1))
            .expect("as many were found as expected");
        assert!(
            distance <= tolerance * largest,
            "{what}: no pole at {pole}, the nearest of {left:?} is {distance} away"
        );
        left.swap_remove(at);
    }
}

/// `poles` without `count` poles at the origin, which must be present.
pub fn without_zeros(what: &str, poles: &[Complex64], count: usize) -> Vec<Complex64> {
    let mut left = poles.to_vec();
    for _ in 0..count {
        let at = left.iter().position(|pole| pole.norm() < 1e-9);
        left.swap_remove(at.unwrap_or_else(|| panic!("{what}: no pole at the origin in {poles:?}")));
    }
    left
}

/// A matrix from rows of numbers.
pub fn matrix(rows: &[Vec<f64>], columns: usize) -> DMatrix<f64> {
    DMatrix::from_fn(rows.len(), columns, |row, column| rows[row][column])
}
