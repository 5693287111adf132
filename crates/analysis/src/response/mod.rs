//! Frequency response H(jw) from numeric A..F.

mod delays;
mod double_double;
mod factor;
mod sparse_lu;

use crate::between::Structure;
use crate::values::numeric_form;
use delays::closed_delays;
use double_double::ComplexSum;
use factor::{Solution, Solver};
use lgm_model::system::{LinearForm, SparseMatrix, StateSystem};
use lgm_source::codes::Code;
use lgm_source::diagnostic::Diagnostic;
use num_complex::Complex;
pub(crate) use sparse_lu::SparseLu;

/// The frequencies, inputs and outputs of a frequency response.
#[derive(Clone, Debug, PartialEq)]
pub struct ResponseRequest {
    /// Angular frequencies in rad/s.
    pub omega: Vec<f64>,
    /// Indices of the inputs.
    pub inputs: Vec<usize>,
    /// Indices of the outputs.
    pub outputs: Vec<usize>,
}

impl ResponseRequest {
    /// Returns a request for all declared inputs and all outputs.
    pub fn all(system: &StateSystem, omega: Vec<f64>) -> ResponseRequest {
        ResponseRequest {
            omega,
            inputs: (0..system.declared_inputs().count()).collect(),
            outputs: (0..system.outputs.len()).collect(),
        }
    }
}

/// Values of H(jw).
#[derive(Clone, Debug, PartialEq)]
pub struct Response {
    /// Angular frequencies in rad/s.
    pub omega: Vec<f64>,
    /// One curve for each pair, inputs outermost.
    pub curves: Vec<Curve>,
}

/// One entry of H(jw) over the frequencies.
#[derive(Clone, Debug, PartialEq)]
pub struct Curve {
    /// Index of the input.
    pub input: usize,
    /// Index of the output.
    pub output: usize,
    /// One value per frequency; infinite if the response is unbounded.
    pub values: Vec<Complex<f64>>,
}

/// Returns the group delay `-d arg H/d omega` of one output to one input, in seconds; one value per frequency, `None` if the response is
/// zero or unbounded.
pub fn group_delay(form: &LinearForm<f64>, omega: &[f64], input: usize, output: usize) -> Vec<Option<f64>> {
    let at = |omega: &f64| {
        let point = FrequencyPoint::new(form, *omega);
        let state = point.state(input)?;
        let value = point.output(output, input, &state);
        // With x the state, d x/ds = (s I - A)^-1 (E - x).
        let (mut high, mut low) = (Vec::new(), Vec::new());
        for (at, (x, rest)) in state.high.iter().zip(&state.low).enumerate() {
            let e = form.e.get(at, input).copied().unwrap_or(0.0);
            high.push(Complex::new(e, 0.0) - x);
            low.push(-rest);
        }
        let change = point.solver.as_ref()?.solve(&high, &low)?;
        let mut sum = ComplexSum::default();
        if let Some(f) = form.f.get(output, input) {
            sum.add_product(Complex::new(*f, 0.0), Complex::new(1.0, 0.0));
        }
        for (column, factor) in &form.c.rows[output] {
            sum.add_product(Complex::new(*factor, 0.0), change.high[*column as usize]);
        }
        let delay = -(sum.value() / value).re;
        delay.is_finite().then_some(delay)
    };
    omega.iter().map(at).collect()
}

/// Computes `H(jw) = C (jw I - A)^-1 (B + jw E) + D + jw F` at each requested frequency. Delays are closed with `exp(-jw*T)`.
///
/// A nonlinear system, or a linear one without numeric matrices, is an error. A frequency at which an entry is unbounded (an undamped
/// resonance, an integrator at 0) yields infinite values and a warning.
pub fn response(system: &StateSystem, request: &ResponseRequest) -> (Option<Response>, Vec<Diagnostic>) {
    let form = match numeric_form(system, "frequency response") {
        Ok(form) => form,
        Err(fault) => return (None, vec![*fault]),
    };
    let mut curves: Vec<Curve> = request
        .inputs
        .iter()
        .flat_map(|input| request.outputs.iter().map(move |output| (*input, *output)))
        .map(|(input, output)| Curve {
            input,
            output,
            values: Vec::with_capacity(request.omega.len()),
        })
        .collect();
    let mut diagnostics = Vec::new();
    for omega in &request.omega {
        let mut unbounded = Vec::new();
        let point = FrequencyPoint::new(form, *omega);
        let closed = closed_delays(system, form, *omega);
        let per_input = request.outputs.len().max(1);
        for (chunk, input) in curves.chunks_mut(per_input).zip(&request.inputs) {
            let solution = point.state(*input);
            for curve in chunk {
                let value = match (&closed, &solution) {
                    (Some(closed), _) => closed.value(*input, curve.output),
                    (None, Some(solution)) => Some(point.output(curve.output, *input, solution)),
                    (None, None) => point.reduced_to(*input, curve.output),
                };
                if value.is_none() {
                    unbounded.push(format!(
                        "{} -> {}",
                        system.inputs[curve.input].name, system.outputs[curve.output].name
                    ));
                }
                curve
                    .values
                    .push(value.unwrap_or(Complex::new(f64::INFINITY, f64::INFINITY)));
            }
        }
        if !unbounded.is_empty() {
            diagnostics.push(
                Diagnostic::warning(
                    Code::LGM0702,
                    format!("the response at omega = {omega} rad/s is unbounded: a pole lies at this frequency"),
                )
                .note(format!("infinite for {}", unbounded.join(", ")))
                .help("choose a frequency next to it, or add damping to the model"),
            );
        }
    }
    let response = Response {
        omega: request.omega.clone(),
        curves,
    };
    (Some(response), diagnostics)
}

/// Returns the response of one output to one input at a frequency; `None` if it is unbounded.
pub(crate) fn value_at(form: &LinearForm<f64>, omega: f64, input: usize, output: usize) -> Option<Complex<f64>> {
    let point = FrequencyPoint::new(form, omega);
    match point.state(input) {
        Some(solution) => Some(point.output(output, input, &solution)),
        None => point.reduced_to(input, output),
    }
}

/// Matrices and factors at one frequency.
struct FrequencyPoint<'a> {
    form: &'a LinearForm<f64>,
    omega: f64,
    /// None if jw I - A is singular.
    solver: Option<Solver>,
}

impl<'a> FrequencyPoint<'a> {
    fn new(form: &'a LinearForm<f64>, omega: f64) -> FrequencyPoint<'a> {
        let all: Vec<u32> = (0..form.a.rows.len() as u32).collect();
        FrequencyPoint {
            form,
            omega,
            solver: Solver::new(&shifted(&form.a, omega, &all)),
        }
    }

    /// Returns `B + jw E` of one input, as the sum of two vectors because the product is rounded.
    fn right_side(&self, input: usize, states: &[u32]) -> (Vec<Complex<f64>>, Vec<Complex<f64>>) {
        states
            .iter()
            .map(|state| {
                let b = self.form.b.get(*state as usize, input).copied().unwrap_or(0.0);
                let e = self.form.e.get(*state as usize, input).copied().unwrap_or(0.0);
                let product = self.omega * e;
                let error = self.omega.mul_add(e, -product);
                (Complex::new(b, product), Complex::new(0.0, error))
            })
            .unzip()
    }

    fn state(&self, input: usize) -> Option<Solution> {
        let all: Vec<u32> = (0..self.form.a.rows.len() as u32).collect();
        let (high, low) = self.right_side(input, &all);
        self.solver.as_ref()?.solve(&high, &low)
    }

    fn output(&self, output: usize, input: usize, solution: &Solution) -> Complex<f64> {
        let mut sum = self.direct(output, input);
        for (column, value) in &self.form.c.rows[output] {
            let value = Complex::new(*value, 0.0);
            sum.add_product(value, solution.high[*column as usize]);
            sum.add_product(value, solution.low[*column as usize]);
        }
        sum.value()
    }

    /// Returns `D + jw F`.
    fn direct(&self, output: usize, input: usize) -> ComplexSum {
        let mut sum = ComplexSum::default();
        if let Some(value) = self.form.d.get(output, input) {
            sum.add_product(Complex::new(*value, 0.0), Complex::new(1.0, 0.0));
        }
        if let Some(value) = self.form.f.get(output, input) {
            sum.add_product(Complex::new(*value, 0.0), Complex::new(0.0, self.omega));
        }
        sum
    }

    /// Computes the entry only from states on paths from the input to the output: a pole elsewhere (an unobserved integrator) must not make
    /// the entry infinite.
    fn reduced_to(&self, input: usize, output: usize) -> Option<Complex<f64>> {
        let count = self.form.a.rows.len();
        let excited = (0..count).filter(|state| {
            let nonzero = |matrix: &SparseMatrix<f64>| matrix.get(*state, input).is_some_and(|value| *value != 0.0);
            nonzero(&self.form.b) || (nonzero(&self.form.e) && self.omega != 0.0)
        });
        let seen = self.form.c.rows[output]
            .iter()
            .filter(|entry| entry.1 != 0.0)
            .map(|entry| entry.0 as usize);
        let states = Structure::of(self.form, &|value| *value == 0.0).between(excited, seen);
        if states.is_empty() {
            return Some(self.direct(output, input).value());
        }
        if states.len() == count {
            return None;
        }
        let solver = Solver::new(&shifted(&self.form.a, self.omega, &states))?;
        let (high, low) = self.right_side(input, &states);
        let part = solver.solve(&high, &low)?;
        let mut whole = Solution {
            high: vec![Complex::default(); count],
            low: vec![Complex::default(); count],
        };
        for (at, state) in states.iter().enumerate() {
            whole.high[*state as usize] = part.high[at];
            whole.low[*state as usize] = part.low[at];
        }
        Some(self.output(output, input, &whole))
    }
}

/// Returns `jw I - A` restricted to some states, in ascending order.
fn shifted(a: &SparseMatrix<f64>, omega: f64, states: &[u32]) -> Vec<Vec<(u32, Complex<f64>)>> {
    states
        .iter()
        .enumerate()
        .map(|(at, state)| {
            let mut row: Vec<(u32, Complex<f64>)> = a.rows[*state as usize]
                .iter()
                .filter(|(column, value)| column != state && *value != 0.0)
                .filter_map(|(column, value)| {
                    let place = states.binary_search(column).ok()?;
                    Some((place as u32, Complex::new(-value, 0.0)))
                })
                .collect();
            let own = a.get(*state as usize, *state as usize).copied().unwrap_or(0.0);
            row.push((at as u32, Complex::new(-own, omega)));
            row.sort_unstable_by_key(|entry| entry.0);
            row
        })
        .collect()
}
