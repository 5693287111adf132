//! Zeros, poles and gain.

use super::functions::{TransferFunction, exact_transfers};
use super::multiple::with_multiple_roots;
use super::zeros::Single;
use crate::between::states_between;
use crate::modes::poles::{balance, eigenvalues};
use crate::response::value_at;
use lgm_algebra::expr::to_f64;
use lgm_model::system::{LinearForm, StateSystem};
use nalgebra::{DMatrix, DVector, RowDVector};
use num_complex::Complex;
use num_rational::BigRational;
use num_traits::Zero;

/// More states than this between an input and an output take too long.
pub const MOST_STATES: usize = 500;

/// Zeros and poles that are nearer to each other than this, beside their size, are one where no exact values say how many are.
const NEAR: f64 = 1e-10;

/// Values from zeros and poles may differ by this share from those of the equations.
const AGREED: f64 = 1e-6;

/// Values below this are not compared: they are sums that leave the range of doubles.
const LEAST_VALUE: f64 = 1e-200;

/// Parts of a root that are smaller than this beside its size are zero.
const ROUNDING: f64 = 1e-14;

/// `H(s) = gain*prod(s - zeros)/prod(s - poles)`; what cancels is left out.
#[derive(Clone, Debug, PartialEq)]
pub struct Factored {
    /// Index of the input.
    pub input: usize,
    /// Index of the output.
    pub output: usize,
    /// Zeros in 1/s; conjugates are next to each other, the one above the real axis first.
    pub zeros: Vec<Complex<f64>>,
    /// Poles in 1/s, likewise.
    pub poles: Vec<Complex<f64>>,
    /// The factor in front; 0 for a transfer function that is zero.
    pub gain: f64,
    /// H(0); none if there is a pole.
    pub static_gain: Option<f64>,
}

impl Factored {
    /// By how many the poles outnumber the zeros.
    pub fn relative_degree(&self) -> i32 {
        self.poles.len() as i32 - self.zeros.len() as i32
    }

    /// The value at a frequency in rad/s, from logarithms: products of many factors leave the range of doubles.
    fn value(&self, omega: f64) -> Complex<f64> {
        let s = Complex::new(0.0, omega);
        let sum = |roots: &[Complex<f64>]| roots.iter().map(|root| (s - root).ln()).sum::<Complex<f64>>();
        (sum(&self.zeros) - sum(&self.poles)).exp() * self.gain
    }

    /// Returns true if zeros, poles and gain give the values of the transfer function that its equations give, at frequencies over the
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
        // Factors keep away from poles and zeros on the axis.
        [0.137 * least, 1.137 * least, 1.137 * middle, 1.137 * most, 7.37 * most]
            .into_iter()
            .all(|omega| match value_at(form, omega, self.input, self.output) {
                Some(value) if value.norm() > LEAST_VALUE => {
                    (self.value(omega) - value).norm() <= AGREED * value.norm()
                }
                _ => true,
            })
    }

    /// The coefficients of numerator and denominator; none if they leave the range of doubles.
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

/// Zeros, poles and gain from each of the inputs to each of the outputs, inputs outermost. None if there are no matrices in numbers,
/// more than [`MOST_STATES`] states, or eigenvalues that cannot be found; or if they do not give the values of the transfer function, as
/// zeros that lie many times at one place do not.
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

/// The same of one pair, of which the exact function may be known.
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

/// The states between an input and an output, with the derivative of the input taken into them: `x - e u` has the rate
/// `A x + b u`. Balanced by powers of two, since units spread the entries over many decades.
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

/// Roots below this share of the largest one are zero as far as rounding can tell: a multiple root at zero, as that of a rigid
/// motion, is spread as far as the root of the rounding.
const AT_ZERO: f64 = 1e-6;

/// Takes away zeros and poles two by two, the nearest first, as long as it is asked for: how many are gone, and how far the next ones
/// are from each other beside their size.
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

/// As many roots, the smallest, as the polynomial has factors s are 0, which rounding has moved away.
fn set_to_zero(roots: &mut [Complex<f64>], coefficients: &[BigRational]) {
    let count = coefficients.iter().rev().take_while(|value| value.is_zero()).count();
    let mut order: Vec<usize> = (0..roots.len()).collect();
    order.sort_by(|a, b| roots[*a].norm().total_cmp(&roots[*b].norm()));
    for at in order.into_iter().take(count) {
        roots[at] = Complex::default();
    }
}

/// A root without the part that is rounding beside the other one.
fn without_rounding(root: Complex<f64>) -> Complex<f64> {
    let least = ROUNDING * root.norm();
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
