//! Frequency responses of systems with delays.
//!
//! Each delay is an input v and an output w of the delay-free system, with `v = exp(-jw*T) w`. At each frequency, the states and the delayed
//! signals are the unknowns of one system of equations.

use lgm_model::system::{LinearForm, SparseMatrix, StateSystem};
use nalgebra::{DMatrix, DVector, Dyn, LU};
use num_complex::Complex;

/// The responses of a system with delays at one frequency.
pub(super) struct ClosedDelays<'a> {
    form: &'a LinearForm<f64>,
    omega: f64,
    /// The input and the output of each delay.
    places: Vec<(usize, usize)>,
    /// The factorised matrix of the states and the delayed signals.
    factors: LU<Complex<f64>, Dyn, Dyn>,
}

/// Returns the responses of a system with open delays; `None` without delays.
pub(super) fn closed_delays<'a>(
    system: &StateSystem,
    form: &'a LinearForm<f64>,
    omega: f64,
) -> Option<ClosedDelays<'a>> {
    let place = |symbol| system.inputs.iter().position(|input| input.symbol == symbol);
    let output = |name: &str| system.outputs.iter().position(|output| *output.name == *name);
    let delays = system.events.delays.iter();
    let open: Vec<(usize, usize, f64)> = delays
        .filter_map(|delay| Some((place(delay.symbol)?, output(delay.output.as_ref()?)?, delay.seconds)))
        .collect();
    if open.is_empty() {
        return None;
    }
    let states = form.a.rows.len();
    let mut matrix = DMatrix::zeros(states + open.len(), states + open.len());
    for row in 0..states {
        matrix[(row, row)] = Complex::new(0.0, omega);
        for (column, value) in &form.a.rows[row] {
            matrix[(row, *column as usize)] -= *value;
        }
        for (at, (input, ..)) in open.iter().enumerate() {
            matrix[(row, states + at)] = -at_frequency((&form.b, &form.e), omega, (row, *input));
        }
    }
    for (row, (_, output, seconds)) in open.iter().enumerate() {
        for (column, value) in &form.c.rows[*output] {
            matrix[(states + row, *column as usize)] -= *value;
        }
        for (at, (input, ..)) in open.iter().enumerate() {
            matrix[(states + row, states + at)] = -at_frequency((&form.d, &form.f), omega, (*output, *input));
        }
        matrix[(states + row, states + row)] += Complex::new(0.0, omega * seconds).exp();
    }
    Some(ClosedDelays {
        form,
        omega,
        places: open.iter().map(|(input, output, _)| (*input, *output)).collect(),
        factors: matrix.lu(),
    })
}

/// Returns an entry of `M + jw N`.
fn at_frequency(
    (constant, rate): (&SparseMatrix<f64>, &SparseMatrix<f64>),
    omega: f64,
    (row, column): (usize, usize),
) -> Complex<f64> {
    let entry = |matrix: &SparseMatrix<f64>| matrix.get(row, column).copied().unwrap_or(0.0);
    Complex::new(entry(constant), omega * entry(rate))
}

impl ClosedDelays<'_> {
    /// Returns the response of one output to one input; `None` if it is unbounded.
    pub fn value(&self, input: usize, output: usize) -> Option<Complex<f64>> {
        let form = self.form;
        let states = form.a.rows.len();
        let mut right = DVector::zeros(states + self.places.len());
        for row in 0..states {
            right[row] = at_frequency((&form.b, &form.e), self.omega, (row, input));
        }
        for (row, place) in self.places.iter().enumerate() {
            right[states + row] = at_frequency((&form.d, &form.f), self.omega, (place.1, input));
        }
        let solution = self.factors.solve(&right)?;
        let mut sum = at_frequency((&form.d, &form.f), self.omega, (output, input));
        for (column, value) in &form.c.rows[output] {
            sum += solution[*column as usize] * *value;
        }
        for (at, place) in self.places.iter().enumerate() {
            sum += at_frequency((&form.d, &form.f), self.omega, (output, place.0)) * solution[states + at];
        }
        Some(sum).filter(|sum| sum.is_finite())
    }
}
