//! Comparison of the compiler's matrices with the reference.

use super::eliminate::{System, tidy};
use super::network::Network;
use super::scalar::{Complex, Scalar};
use super::tableau::response;

/// `x' = A x + B u + E u'`, `y = C x + D u + F u'`, dense.
#[derive(Clone, Debug)]
#[allow(missing_docs)]
pub struct Linear {
    pub a: Vec<Vec<f64>>,
    pub b: Vec<Vec<f64>>,
    pub c: Vec<Vec<f64>>,
    pub d: Vec<Vec<f64>>,
    pub e: Vec<Vec<f64>>,
    pub f: Vec<Vec<f64>>,
}

/// The frequencies at which networks are compared.
pub const FREQUENCIES: [f64; 4] = [0.0371, 0.83, 17.9, 411.0];

/// `(sI - A)^-1 [sides]`, solved in double-double arithmetic.
fn resolvent(linear: &Linear, s: Complex, sides: &[Vec<Complex>]) -> Option<Vec<Vec<Complex>>> {
    let n = linear.a.len();
    let rows = (0..n)
        .map(|i| {
            let mut row = vec![(i, s)];
            row.extend((0..n).map(|k| (k, Complex::new(-linear.a[i][k], 0.0))));
            row.extend(sides.iter().enumerate().map(|(k, side)| (n + k, side[i])));
            tidy(row)
        })
        .collect();
    System {
        rows,
        unknowns: n,
        right_sides: sides.len(),
    }
    .solve()
}

/// `u + s v`
fn direct(u: f64, s: Complex, v: f64) -> Complex {
    Complex::new(u, 0.0).add(s.mul(Complex::new(v, 0.0)))
}

/// Values, `[output][input]`, each with the possible effect of rounding the matrix entries to doubles.
pub type Bounded = (Vec<Vec<Complex>>, Vec<Vec<f64>>);

/// The frequency response of the matrices.
pub fn matrix_response(linear: &Linear, inputs: usize, omega: f64) -> Option<Bounded> {
    let s = Complex::new(0.0, omega);
    let n = linear.a.len();
    let sides: Vec<Vec<Complex>> = (0..inputs)
        .map(|input| {
            (0..n)
                .map(|i| direct(linear.b[i][input], s, linear.e[i][input]))
                .collect()
        })
        .collect();
    let states = resolvent(linear, s, &sides)?;
    let units: Vec<Vec<Complex>> = (0..n)
        .map(|k| {
            (0..n)
                .map(|i| if i == k { Complex::one() } else { Complex::zero() })
                .collect()
        })
        .collect();
    let inverse = resolvent(linear, s, &units)?;
    let mut values = Vec::new();
    let mut bounds = Vec::new();
    for (row, through) in linear.c.iter().zip(linear.d.iter().zip(&linear.f)) {
        let sensitivity: Vec<f64> = (0..n)
            .map(|i| {
                let terms = (0..n).map(|k| Complex::new(row[k], 0.0).mul(inverse[i][k]));
                terms.fold(Complex::zero(), Complex::add).size()
            })
            .collect();
        let mut value_row = Vec::new();
        let mut bound_row = Vec::new();
        for (input, state) in states.iter().enumerate() {
            let mut value = direct(through.0[input], s, through.1[input]);
            let mut bound = through.0[input].abs() + omega * through.1[input].abs();
            for i in 0..n {
                value = value.add(Complex::new(row[i], 0.0).mul(state[i]));
                bound += row[i].abs() * state[i].size();
                let own: f64 = (0..n).map(|k| linear.a[i][k].abs() * state[k].size()).sum();
                bound += sensitivity[i] * (own + linear.b[i][input].abs() + omega * linear.e[i][input].abs());
            }
            value_row.push(value);
            bound_row.push(bound * f64::EPSILON);
        }
        values.push(value_row);
        bounds.push(bound_row);
    }
    Some((values, bounds))
}

/// The agreement of two responses.
#[derive(Clone, Copy, Debug, Default)]
pub struct Agreement {
    /// Largest error relative to the larger of the value and the scale.
    pub worst: f64,
    /// Number of values that agree only within the round-off of the matrix entries.
    pub rounded: usize,
}

/// Compares matrices with the reference at all [`FREQUENCIES`], and describes any difference.
///
/// The scale of an output is its largest value over all inputs at that frequency. A difference above 1e-8 is allowed
/// only if rounding each entry of A..F once to a double can explain it (four units in the last place).
pub fn agree(network: &Network, linear: &Linear) -> Result<Agreement, String> {
    let mut agreement = Agreement::default();
    for omega in FREQUENCIES {
        let expected = response(network, omega).ok_or("the reference has no solution at a frequency")?;
        let (found, bounds) =
            matrix_response(linear, network.inputs, omega).ok_or(format!("jw is an eigenvalue of A at w = {omega}"))?;
        for (output, (expected, found)) in expected.iter().zip(&found).enumerate() {
            let scale = expected.iter().map(|value| value.size()).fold(1e-12, f64::max);
            for (input, (expected, found)) in expected.iter().zip(found).enumerate() {
                let error = expected.sub(*found).size();
                let relative = error / scale;
                if relative.is_nan() || relative > 1e-8 {
                    if error <= 4.0 * bounds[output][input] {
                        agreement.rounded += 1;
                        continue;
                    }
                    return Err(format!(
                        "y{} from u{} at w = {omega}: expected {:e} {:+e}j, the matrices give {:e} {:+e}j",
                        output + 1,
                        input + 1,
                        expected.re.to_double(),
                        expected.im.to_double(),
                        found.re.to_double(),
                        found.im.to_double(),
                    ));
                }
                agreement.worst = agreement.worst.max(relative);
            }
        }
    }
    Ok(agreement)
}
