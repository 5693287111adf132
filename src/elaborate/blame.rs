//! Values at fault: how a number is told, where the parameters stand that it comes from, and what a singular matrix
//! leaves out.

use super::model::Parameter;
use crate::diagnostic::{Diagnostic, Label};
use crate::expr::{self, ExprId, Exprs, to_f64};
use num_rational::BigRational;
use num_traits::{One, Zero};

/// More parameters than this are not labelled in one diagnostic.
const LABELS: usize = 6;

/// Labels the values of the parameters that expressions depend on.
pub(crate) fn label_parameters(
    parameters: &[Parameter],
    exprs: &Exprs,
    mut diagnostic: Diagnostic,
    roots: &[ExprId],
) -> Diagnostic {
    let symbols = exprs.symbols_of(roots);
    let mut labelled = 0;
    for parameter in parameters {
        for entry in &parameter.entries {
            let here = |label: &Label| label.span == parameter.value_span;
            let known = symbols.binary_search(&entry.symbol).is_ok();
            if !known || labelled == LABELS || diagnostic.labels.iter().any(here) {
                continue;
            }
            labelled += 1;
            let name = &exprs.symbol_info(entry.symbol).name;
            let words = format!("`{name}` is {} here", shown(&entry.value));
            diagnostic = diagnostic.label(parameter.value_span, words);
        }
    }
    diagnostic
}

/// A number as a person reads it: exact where that is short, otherwise rounded.
pub(crate) fn shown(value: &BigRational) -> String {
    let rounded = to_f64(value);
    let in_range = rounded.is_finite() && (rounded != 0.0 || value.is_zero());
    if !in_range {
        return expr::print::number(value);
    }
    let exact = expr::print::number(value);
    match exact.len() <= 12 {
        true => exact,
        false if (1e-4..1e9).contains(&rounded.abs()) => format!("{rounded}"),
        false => format!("{rounded:e}"),
    }
}

/// A vector that a square matrix, given row by row, sends to zero; none where it is regular. Its entries are whole numbers where
/// the matrix is rational and small.
pub(super) fn null_vector(numbers: &[BigRational], n: usize) -> Option<Vec<BigRational>> {
    let mut rows: Vec<Vec<BigRational>> = numbers.chunks(n).map(<[BigRational]>::to_vec).collect();
    let mut pivots: Vec<usize> = Vec::new();
    let mut free = None;
    for column in 0..n {
        let at = pivots.len();
        let Some(found) = (at..n).find(|row| !rows[*row][column].is_zero()) else {
            free = free.or(Some(column));
            continue;
        };
        rows.swap(at, found);
        let pivot = rows[at].clone();
        for (index, row) in rows.iter_mut().enumerate() {
            if index != at && !row[column].is_zero() {
                let factor = &row[column] / &pivot[column];
                for (entry, other) in row.iter_mut().zip(&pivot) {
                    *entry -= &factor * other;
                }
            }
        }
        pivots.push(column);
    }
    let free = free?;
    let mut vector = vec![BigRational::zero(); n];
    vector[free] = BigRational::one();
    for (row, column) in pivots.iter().enumerate() {
        vector[*column] = -(&rows[row][free] / &rows[row][*column]);
    }
    // Whole numbers read better.
    let common = vector.iter().fold(num_bigint::BigInt::one(), |common, entry| {
        num_integer::Integer::lcm(&common, entry.denom())
    });
    let common = BigRational::from_integer(common);
    Some(vector.into_iter().map(|entry| entry * &common).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn numbers(list: &[i64]) -> Vec<BigRational> {
        list.iter()
            .map(|value| BigRational::from_integer((*value).into()))
            .collect()
    }

    #[test]
    fn what_a_singular_matrix_sends_to_zero() {
        assert_eq!(null_vector(&numbers(&[1, 2, 2, 4]), 2), Some(numbers(&[-2, 1])));
        assert_eq!(
            null_vector(&numbers(&[2, 1, 3, 1, 1, 2, 3, 2, 5]), 3),
            Some(numbers(&[-1, -1, 1]))
        );
        assert_eq!(null_vector(&numbers(&[2, 3, 4, 6]), 2), Some(numbers(&[-3, 2])));
        assert_eq!(null_vector(&numbers(&[0]), 1), Some(numbers(&[1])));
        assert_eq!(null_vector(&numbers(&[2, 1, 1, 2]), 2), None);
    }

    #[test]
    fn numbers_are_told_in_few_digits() {
        let half = BigRational::new(1.into(), 2.into());
        assert_eq!(shown(&half), "0.5");
        assert_eq!(shown(&BigRational::new(1.into(), 3.into())), "1/3");
        let pi = BigRational::from_float(std::f64::consts::PI).unwrap();
        assert_eq!(shown(&pi), "3.141592653589793");
        let tiny = BigRational::from_float(1.5e-17).unwrap();
        assert_eq!(shown(&tiny), "1.5e-17");
    }
}
