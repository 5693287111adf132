//! Frequency response H(jw) from A..F in numbers.

use super::double_double::ComplexSum;
use super::factor::{Solution, Solver};
use lgm_model::system::{LinearForm, SparseMatrix, StateSystem};
use lgm_source::codes::Code;
use lgm_source::diagnostic::Diagnostic;
use num_complex::Complex;

/// What is asked for.
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
    /// All declared inputs to all outputs.
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
    /// One value a frequency; infinite where the response is unbounded.
    pub values: Vec<Complex<f64>>,
}

/// `H(jw) = C (jw I - A)^-1 (B + jw E) + D + jw F` at each frequency asked for.
///
/// A linear system without numbers, or a nonlinear one, has no response: that is an error. A frequency at which
/// an entry is unbounded (an undamped resonance, an integrator at 0) gives infinite values and a warning.
pub fn response(system: &StateSystem, request: &ResponseRequest) -> (Option<Response>, Vec<Diagnostic>) {
    let Some(form) = system.numeric.as_ref().filter(|_| system.linear) else {
        let fault = Diagnostic::error(
            Code::LGM0701,
            format!(
                "`{}` has no frequency response: it has no matrices A..F in numbers",
                system.model
            ),
        );
        let fault = if system.linear {
            fault
                .note("the system is too large for explicit matrices")
                .help("run it with `lgm simulate`, or ask for the response of a part of it")
        } else {
            fault
                .note("its equations are not linear with constant coefficients")
                .help("linearise it: `--equilibrium`, or `--at` with the values of states and inputs; or run it with `lgm simulate`")
        };
        return (None, vec![fault]);
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
        let per_input = request.outputs.len().max(1);
        for (chunk, input) in curves.chunks_mut(per_input).zip(&request.inputs) {
            let solution = point.state(*input);
            for curve in chunk {
                let value = match &solution {
                    Some(solution) => Some(point.output(curve.output, *input, solution)),
                    None => point.reduced_to(*input, curve.output),
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
                .help("ask for a frequency beside it, or give the model some damping"),
            );
        }
    }
    let response = Response {
        omega: request.omega.clone(),
        curves,
    };
    (Some(response), diagnostics)
}

/// Everything at one frequency.
struct FrequencyPoint<'a> {
    form: &'a LinearForm<f64>,
    omega: f64,
    /// None where jw I - A is singular.
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

    /// `B + jw E` of one input, as the sum of two vectors (the product is rounded).
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

    /// `D + jw F`
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

    /// The same entry from those states alone that the input reaches and that reach the output: a pole elsewhere
    /// (an integrator that nobody looks at) must not make this entry infinite.
    fn reduced_to(&self, input: usize, output: usize) -> Option<Complex<f64>> {
        let count = self.form.a.rows.len();
        let mut influenced_by = vec![Vec::new(); count];
        let mut influences = vec![Vec::new(); count];
        for (row, entries) in self.form.a.rows.iter().enumerate() {
            for (column, value) in entries {
                if *value != 0.0 {
                    influenced_by[row].push(*column);
                    influences[*column as usize].push(row as u32);
                }
            }
        }
        let excited = (0..count).filter(|state| {
            let nonzero = |matrix: &SparseMatrix<f64>| matrix.get(*state, input).is_some_and(|value| *value != 0.0);
            nonzero(&self.form.b) || (nonzero(&self.form.e) && self.omega != 0.0)
        });
        let seen = self.form.c.rows[output]
            .iter()
            .filter(|entry| entry.1 != 0.0)
            .map(|entry| entry.0 as usize);
        let reached = reach(excited, &influences);
        let observed = reach(seen, &influenced_by);
        let states: Vec<u32> = (0..count as u32)
            .filter(|state| reached[*state as usize] && observed[*state as usize])
            .collect();
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

/// All states that can be reached from some along the arrows.
fn reach(from: impl Iterator<Item = usize>, arrows: &[Vec<u32>]) -> Vec<bool> {
    let mut reached = vec![false; arrows.len()];
    let mut open: Vec<usize> = from.collect();
    while let Some(state) = open.pop() {
        if !std::mem::replace(&mut reached[state], true) {
            open.extend(arrows[state].iter().map(|next| *next as usize));
        }
    }
    reached
}

/// `jw I - A` over some of the states, in ascending order.
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
