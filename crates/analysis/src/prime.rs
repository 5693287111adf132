//! Matrices over a prime field, whose ranks are the ranks for the exact values of the parameters.

use crate::values::exact_form;
use lgm_algebra::{Field, PrimeField};
use lgm_model::system::{LinearForm, SparseMatrix, StateSystem};
use num_rational::BigRational;

/// A matrix by rows.
pub(crate) type Rows = Vec<Vec<u64>>;

/// Converts the first columns of a matrix.
fn rows<T>(matrix: &SparseMatrix<T>, columns: usize, value: &dyn Fn(&T) -> Option<BigRational>) -> Rows {
    let mut rows = vec![vec![0; columns]; matrix.rows.len()];
    for (row, entries) in rows.iter_mut().zip(&matrix.rows) {
        for (column, entry) in entries.iter().filter(|entry| (entry.0 as usize) < columns) {
            row[*column as usize] = value(entry).map_or(0, |value| PrimeField.reduce(&value));
        }
    }
    rows
}

/// Returns A, B and C for the exact values of the parameters, or for their doubles if the exact values are unknown; rates of inputs are
/// absorbed into B.
pub(crate) fn of_system(system: &StateSystem, form: &LinearForm<f64>, inputs: usize) -> [Rows; 3] {
    match exact_form(system) {
        Some(form) => of_form(&form, inputs, &|value: &BigRational| Some(value.clone())),
        None => of_form(form, inputs, &|value: &f64| BigRational::from_float(*value)),
    }
}

fn of_form<T>(form: &LinearForm<T>, inputs: usize, value: &dyn Fn(&T) -> Option<BigRational>) -> [Rows; 3] {
    let size = form.a.rows.len();
    let (a, b) = (rows(&form.a, size, value), rows(&form.b, inputs, value));
    let moved = product(&a, &rows(&form.e, inputs, value));
    let sum = b.iter().zip(&moved).map(|(b, moved)| {
        let entries = b.iter().zip(moved);
        entries.map(|(b, moved)| PrimeField.add(b, moved)).collect()
    });
    let sum = sum.collect();
    [a, sum, rows(&form.c, size, value)]
}

/// Returns the transpose of a matrix with `columns` columns.
pub(crate) fn transposed(rows: &Rows, columns: usize) -> Rows {
    (0..columns)
        .map(|column| rows.iter().map(|row| row[column]).collect())
        .collect()
}

/// Computes `target + factor*source`.
pub(crate) fn add_multiple(target: &mut [u64], factor: u64, source: &[u64]) {
    let mut field = PrimeField;
    for (target, source) in target.iter_mut().zip(source).filter(|pair| *pair.1 != 0) {
        let product = field.mul(&factor, source);
        *target = field.add(target, &product);
    }
}

/// Returns the product of two matrices.
pub(crate) fn product(left: &Rows, right: &Rows) -> Rows {
    let columns = right.first().map_or(0, Vec::len);
    let of_row = |row: &Vec<u64>| {
        let mut sum = vec![0; columns];
        for (factor, source) in row.iter().zip(right).filter(|pair| *pair.0 != 0) {
            add_multiple(&mut sum, *factor, source);
        }
        sum
    };
    left.iter().map(of_row).collect()
}
