//! Coefficients in numbers.

use super::functions::{TransferFunction, exact_transfer};
use super::zpk::factored;
use lgm_algebra::expr::to_f64;
use lgm_model::system::StateSystem;
use num_rational::BigRational;

/// The transfer functions in numbers. Where the values of the parameters are known exactly, each coefficient is rounded once, and the
/// highest one of the denominator is 1; elsewhere coefficients are multiplied out from zeros and poles. None if numbers leave the range
/// of doubles, or if the poles cannot be found.
pub fn numeric_transfer(
    system: &StateSystem,
    inputs: &[usize],
    outputs: &[usize],
) -> Option<Vec<TransferFunction<f64>>> {
    if let Some(exact) = exact_transfer(system, inputs, outputs) {
        let functions = exact.into_iter().map(rounded);
        return functions.collect();
    }
    let functions = factored(system, inputs, outputs)?.into_iter();
    functions.map(|function| function.multiplied_out()).collect()
}

/// Divided by the highest coefficient of the denominator.
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
