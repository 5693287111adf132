//! Poles that are 0 exactly: rigid motions and conserved quantities, which rounding moves away from 0.

use crate::values::exact_form;
use lgm_algebra::{Field, PrimeField};
use lgm_model::system::{SparseMatrix, StateSystem};
use num_complex::Complex;
use num_rational::BigRational;

/// More states than this take too long.
const MOST: usize = 400;

/// A pole this much smaller than the largest one may be one that is 0: a block of three of them moves by the cube root of rounding.
const SUSPECT: f64 = 1e-4;

/// Sets poles to 0 that are 0 for the values of the parameters, as exact arithmetic says.
pub(super) fn set_exact_zeros(system: &StateSystem, a: &SparseMatrix<f64>, poles: &mut [Complex<f64>]) {
    let largest = poles.iter().map(|pole| pole.norm()).fold(0.0, f64::max);
    let mut order: Vec<usize> = (0..poles.len()).collect();
    order.sort_by(|a, b| poles[*a].norm().total_cmp(&poles[*b].norm()));
    let suspects = order
        .iter()
        .take_while(|at| poles[**at].norm() <= SUSPECT * largest)
        .count();
    if suspects == 0 || a.rows.len() > MOST {
        return;
    }
    for at in order.into_iter().take(count(system, a)) {
        poles[at] = Complex::default();
    }
}

/// How often 0 is an eigenvalue: the size of A less the rank of its powers, over a prime field.
fn count(system: &StateSystem, a: &SparseMatrix<f64>) -> usize {
    let size = a.rows.len();
    let mut power = match exact_form(system) {
        Some(form) => modulo_prime(&form.a, &|value: &BigRational| Some(value.clone())),
        None => modulo_prime(a, &|value: &f64| BigRational::from_float(*value)),
    };
    let mut known = rank(power.clone());
    let mut exponent = 1;
    while exponent < size && known > 0 {
        power = squared(&power);
        exponent *= 2;
        let next = rank(power.clone());
        if next == known {
            break;
        }
        known = next;
    }
    size - known
}

fn modulo_prime<T>(matrix: &SparseMatrix<T>, value: &dyn Fn(&T) -> Option<BigRational>) -> Vec<Vec<u64>> {
    let mut rows = vec![vec![0; matrix.columns]; matrix.rows.len()];
    for (row, entries) in rows.iter_mut().zip(&matrix.rows) {
        for (column, entry) in entries {
            row[*column as usize] = value(entry).map_or(0, |value| PrimeField.reduce(&value));
        }
    }
    rows
}

/// `target + factor*source` from a column on.
fn add_multiple(target: &mut [u64], factor: u64, source: &[u64]) {
    let mut field = PrimeField;
    for (target, source) in target.iter_mut().zip(source).filter(|pair| *pair.1 != 0) {
        let product = field.mul(&factor, source);
        *target = field.add(target, &product);
    }
}

fn squared(rows: &[Vec<u64>]) -> Vec<Vec<u64>> {
    let of_row = |row: &Vec<u64>| {
        let mut sum = vec![0; row.len()];
        for (factor, through) in row.iter().zip(rows).filter(|pair| *pair.0 != 0) {
            add_multiple(&mut sum, *factor, through);
        }
        sum
    };
    rows.iter().map(of_row).collect()
}

fn rank(mut rows: Vec<Vec<u64>>) -> usize {
    let mut field = PrimeField;
    let mut found = 0;
    for column in 0..rows.len() {
        let Some(pivot) = (found..rows.len()).find(|row| rows[*row][column] != 0) else {
            continue;
        };
        rows.swap(found, pivot);
        let (done, rest) = rows.split_at_mut(found + 1);
        let source = &done[found];
        let inverse = field.invert(&source[column]);
        for row in rest.iter_mut().filter(|row| row[column] != 0) {
            let factor = field.mul(&row[column], &inverse);
            add_multiple(&mut row[column..], field.neg(&factor), &source[column..]);
        }
        found += 1;
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranks_over_the_prime_field() {
        assert_eq!(rank(vec![vec![1, 2], vec![2, 4]]), 1);
        assert_eq!(rank(vec![vec![0, 1], vec![0, 0]]), 1);
        assert_eq!(rank(squared(&[vec![0, 1], vec![0, 0]])), 0);
        assert_eq!(rank(vec![vec![0, 3, 1], vec![5, 0, 2], vec![7, 7, 0]]), 3);
    }
}
