//! Zeros, poles and gain.

use super::functions::{TransferFunction, exact_transfers};
use super::multiple::with_multiple_roots;
use super::zeros::Single;
use crate::between::states_between;
use crate::eigen::poles::{balance, eigenvalues};
use crate::response::value_at;
use lgm_algebra::expr::to_f64;
use lgm_model::system::{LinearForm, StateSystem};
use nalgebra::{DMatrix, DVector, RowDVector};
use num_complex::Complex;
use num_rational::BigRational;
use num_traits::Zero;

/// The maximum number of states between an input and an output; more take too long.
pub const MOST_STATES: usize = 500;

/// Zeros and poles within this relative distance cancel if no exact count is available.
const NEAR: f64 = 1e-10;

/// The largest accepted relative difference between values from zeros and poles and values from the equations.
const AGREED: f64 = 1e-6;

/// Values below this are not compared, because their sums leave the range of doubles.
const LEAST_VALUE: f64 = 1e-200;

/// Real or imaginary parts below this fraction of a root are zero.
const PART_NOISE: f64 = 1e-14;

/// `H(s) = gain*prod(s - zeros)/prod(s - poles)`, without cancelling factors.
#[derive(Clone, Debug, PartialEq)]
pub struct Factored {
    /// Index of the input.
    pub input: usize,
    /// Index of the output.
    pub output: usize,
    /// Zeros in 1/s; conjugates are adjacent, the upper one first.
    pub zeros: Vec<Complex<f64>>,
    /// Poles in 1/s, in the same order.
    pub poles: Vec<Complex<f64>>,
    /// The constant factor; 0 for a transfer function that is zero.
    pub gain: f64,
    /// H(0); none at a pole.
    pub static_gain: Option<f64>,
}

impl Factored {
    /// Returns the number of poles minus the number of zeros.
    pub fn relative_degree(&self) -> i32 {
        self.poles.len() as i32 - self.zeros.len() as i32
    }

    /// Computes the value at a frequency in rad/s from logarithms, because products of many factors leave the range of doubles.
    fn value(&self, omega: f64) -> Complex<f64> {
        let s = Complex::new(0.0, omega);
        let sum = |roots: &[Complex<f64>]| roots.iter().map(|root| (s - root).ln()).sum::<Complex<f64>>();
        (sum(&self.zeros) - sum(&self.poles)).exp() * self.gain
    }

    /// Returns true if zeros, poles and gain reproduce the values of the transfer function from its equations, at frequencies over the
    /// range of the poles.
    fn has_values_of(&self, form: &LinearForm<f64>) -> bool {
        let most = self.poles.iter().map(|pole| pole.norm()).fold(0.0, f64::max);
        let sizes = self.poles.iter().map(|pole| pole.norm());
        let mut sizes: Vec<f64> = sizes.filter(|size| *size > AT_ZERO * most).collect();
        sizes.sort_by(f64::total_cmp);
        let (Some(least), Some(most)) = (sizes.first(), sizes.last()) else {
            return true;
        };
        let middle = sizes[sizes.len() / 2];
        // The factors avoid poles and zeros on the axis.
        [0.137 * least, 1.137 * least, 1.137 * middle, 1.137 * most, 7.37 * most]
            .into_iter()
            .all(|omega| match value_at(form, omega, self.input, self.output) {
                Some(value) if value.norm() > LEAST_VALUE => {
                    (self.value(omega) - value).norm() <= AGREED * value.norm()
                }
                _ => true,
            })
    }

    /// Returns the coefficients of numerator and denominator; `None` if they leave the range of doubles.
    pub(super) fn multiplied_out(&self) -> Option<TransferFunction<f64>> {
        let product = |roots: &[Complex<f64>], factor: f64| -> Option<Vec<f64>> {
            let mut list = vec![Complex::new(factor, 0.0)];
            for root in roots {
                list.push(Complex::default());
                for at in (1..list.len()).rev() {
                    let before = list[at - 1];
                    list[at] -= before * root;
                }
            }
            let real: Vec<f64> = list.iter().map(|value| value.re).collect();
            real.iter().all(|value| value.is_finite()).then_some(real)
        };
        let is_zero = self.gain == 0.0;
        Some(TransferFunction {
            input: self.input,
            output: self.output,
            numerator: if is_zero {
                vec![0.0]
            } else {
                product(&self.zeros, self.gain)?
            },
            denominator: product(&self.poles, 1.0)?,
        })
    }
}

/// Returns zeros, poles and gain from each of the inputs to each of the outputs, inputs outermost. `None` without numeric matrices, with
/// more than [`MOST_STATES`] states, or if eigenvalues cannot be found. Also `None` if the result does not reproduce the transfer function,
/// as for zeros of high multiplicity.
pub fn factored(system: &StateSystem, inputs: &[usize], outputs: &[usize]) -> Option<Vec<Factored>> {
    system.matrices.numeric.as_ref()?;
    let exact = exact_transfers(system, inputs, outputs).into_iter();
    let pairs = inputs
        .iter()
        .flat_map(|input| outputs.iter().map(move |output| (*input, *output)));
    exact
        .zip(pairs)
        .map(|(exact, (input, output))| factored_pair(system, exact.as_ref(), input, output))
        .collect()
}

/// Computes zeros, poles and gain of one pair, whose exact function may be known.
pub(super) fn factored_pair(
    system: &StateSystem,
    exact: Option<&TransferFunction<BigRational>>,
    input: usize,
    output: usize,
) -> Option<Factored> {
    let form = system.matrices.numeric.as_ref()?;
    of_pair(form, exact, input, output).filter(|found| found.has_values_of(form))
}

fn of_pair(
    form: &LinearForm<f64>,
    exact: Option<&TransferFunction<BigRational>>,
    input: usize,
    output: usize,
) -> Option<Factored> {
    let single = single(form, input, output)?;
    let mut found = Factored {
        input,
        output,
        zeros: Vec::new(),
        poles: Vec::new(),
        gain: 0.0,
        static_gain: Some(0.0),
    };
    let degree = match exact {
        Some(exact) if exact.numerator.iter().all(Zero::is_zero) => return Some(found),
        Some(exact) => {
            found.gain = to_f64(&(&exact.numerator[0] / &exact.denominator[0]));
            exact.denominator.len() as i32 - exact.numerator.len() as i32
        }
        None => {
            let Some((degree, gain)) = single.leading() else {
                return Some(found);
            };
            found.gain = gain;
            degree
        }
    };
    found.poles = eigenvalues(single.a.clone())?;
    found.zeros = single.zeros(degree)?;
    match exact {
        Some(exact) => {
            let count = (found.poles.len() + 1).saturating_sub(exact.denominator.len());
            cancel(&mut found, &|cancelled, _| cancelled < count);
            set_to_zero(&mut found.zeros, &exact.numerator);
            set_to_zero(&mut found.poles, &exact.denominator);
            found.zeros = with_multiple_roots(found.zeros, &exact.numerator)?;
            found.poles = with_multiple_roots(found.poles, &exact.denominator)?;
        }
        None => cancel(&mut found, &|_, distance| distance <= NEAR),
    }
    for root in found.zeros.iter_mut().chain(&mut found.poles) {
        *root = without_rounding(*root);
    }
    found.static_gain = match exact {
        Some(exact) => exact_static_gain(exact),
        None => value_at(form, 0.0, input, output).map(|value| value.re),
    };
    found.gain.is_finite().then_some(found)
}

/// Returns the states between an input and an output, with the derivative of the input absorbed: `x - e u` has the rate `A x + b u`.
/// Balanced by powers of two, because units spread the entries over many decades.
fn single(form: &LinearForm<f64>, input: usize, output: usize) -> Option<Single> {
    let states = states_between(form, &[input], &[output], &|value| *value == 0.0);
    let size = states.len();
    if size > MOST_STATES {
        return None;
    }
    let mut a = DMatrix::zeros(size, size);
    let (mut b, mut e, mut c) = (DVector::zeros(size), DVector::zeros(size), RowDVector::zeros(size));
    for (row, state) in states.iter().enumerate() {
        for (column, value) in &form.a.rows[*state as usize] {
            if let Ok(column) = states.binary_search(column) {
                a[(row, column)] = *value;
            }
        }
        b[row] = form.b.get(*state as usize, input).copied().unwrap_or(0.0);
        e[row] = form.e.get(*state as usize, input).copied().unwrap_or(0.0);
        c[row] = form.c.get(output, *state as usize).copied().unwrap_or(0.0);
    }
    b += &a * &e;
    let d = form.d.get(output, input).copied().unwrap_or(0.0) + (&c * &e)[0];
    let scale = balance(&mut a);
    for at in 0..size {
        b[at] /= scale[at];
        c[at] *= scale[at];
    }
    Some(Single {
        a,
        b,
        c,
        d,
        f: form.f.get(output, input).copied().unwrap_or(0.0),
    })
}

/// Roots below this fraction of the largest count as zero: round-off spreads a double root at zero by its square root.
const AT_ZERO: f64 = 1e-6;

/// Removes the nearest zeros and poles in pairs while `goes_on` returns true; it receives the number removed, and the relative distance of
/// the next pair.
fn cancel(found: &mut Factored, goes_on: &dyn Fn(usize, f64) -> bool) {
    let roots = found.zeros.iter().chain(&found.poles);
    let least = AT_ZERO * roots.map(|root| root.norm()).fold(0.0, f64::max);
    let mut gone = 0;
    loop {
        let mut nearest: Option<(f64, usize, usize)> = None;
        for (i, zero) in found.zeros.iter().enumerate() {
            for (k, pole) in found.poles.iter().enumerate() {
                let size = zero.norm().max(pole.norm()).max(least);
                let distance = if size == 0.0 { 0.0 } else { (zero - pole).norm() / size };
                if nearest.is_none_or(|best| distance < best.0) {
                    nearest = Some((distance, i, k));
                }
            }
        }
        let Some((_, zero, pole)) = nearest.filter(|best| goes_on(gone, best.0)) else {
            return;
        };
        found.zeros.remove(zero);
        found.poles.remove(pole);
        gone += 1;
    }
}

/// Sets the smallest roots to 0, one for each factor s of the polynomial; round-off had moved them.
fn set_to_zero(roots: &mut [Complex<f64>], coefficients: &[BigRational]) {
    let count = coefficients.iter().rev().take_while(|value| value.is_zero()).count();
    let mut order: Vec<usize> = (0..roots.len()).collect();
    order.sort_by(|a, b| roots[*a].norm().total_cmp(&roots[*b].norm()));
    for at in order.into_iter().take(count) {
        roots[at] = Complex::default();
    }
}

/// Removes the real or imaginary part if it is round-off relative to the other part.
fn without_rounding(root: Complex<f64>) -> Complex<f64> {
    let least = PART_NOISE * root.norm();
    let part = |part: f64| if part.abs() <= least { 0.0 } else { part };
    Complex::new(part(root.re), part(root.im))
}

fn exact_static_gain(exact: &TransferFunction<BigRational>) -> Option<f64> {
    let (above, below) = (exact.numerator.last()?, exact.denominator.last()?);
    let value = (!below.is_zero()).then(|| to_f64(&(above / below)))?;
    value.is_finite().then_some(value)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_root_beside_an_axis_by_rounding_is_on_it() {
        assert_eq!(without_rounding(Complex::new(3e-14, 63.2)), Complex::new(0.0, 63.2));
        assert_eq!(without_rounding(Complex::new(-5.0, -1e-15)), Complex::new(-5.0, 0.0));
        assert_eq!(without_rounding(Complex::new(-1e-9, 1.0)), Complex::new(-1e-9, 1.0));
    }
}
