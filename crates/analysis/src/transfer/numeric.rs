//! Transfer functions with numeric coefficients.

use super::functions::{TransferFunction, exact_transfers};
use super::zpk::factored_pair;
use lgm_algebra::expr::to_f64;
use lgm_model::system::StateSystem;
use num_rational::BigRational;

/// Returns the numeric transfer functions. If the values of the parameters are known exactly, each coefficient is rounded once, and the
/// highest coefficient of the denominator is 1. Otherwise coefficients are multiplied out from zeros and poles. `None` if numbers leave the
/// range of doubles, or if zeros and poles are not found or do not reproduce the values of the function.
pub fn numeric_transfer(
    system: &StateSystem,
    inputs: &[usize],
    outputs: &[usize],
) -> Option<Vec<TransferFunction<f64>>> {
    let pairs = inputs
        .iter()
        .flat_map(|input| outputs.iter().map(move |output| (*input, *output)));
    let exact = exact_transfers(system, inputs, outputs).into_iter();
    let functions = exact.zip(pairs).map(|(exact, (input, output))| match exact {
        Some(exact) => rounded(exact),
        None => factored_pair(system, None, input, output)?.multiplied_out(),
    });
    functions.collect()
}

/// Divides by the highest coefficient of the denominator and rounds.
fn rounded(exact: TransferFunction<BigRational>) -> Option<TransferFunction<f64>> {
    let leading = exact.denominator.first()?.clone();
    let numbers = |list: &[BigRational]| -> Option<Vec<f64>> {
        let values: Vec<f64> = list.iter().map(|value| to_f64(&(value / &leading))).collect();
        values.iter().all(|value| value.is_finite()).then_some(values)
    };
    Some(TransferFunction {
        input: exact.input,
        output: exact.output,
        numerator: numbers(&exact.numerator)?,
        denominator: numbers(&exact.denominator)?,
    })
}
