//! The check of equations between vectors, entry by entry.

use super::super::check::{Checked, Points};
use super::algebra::{Factor, Sum};
use super::lift::{Lift, NamedMatrix};
use lgm_algebra::expr::{ExprId, SymbolId};
use rustc_hash::FxHashMap;

/// A value, and the magnitude of its terms.
type Sized = (f64, f64);

/// Compares the two sides of an equation at all points.
pub(super) fn holds(points: &Points, lift: &Lift<'_>, left: &Sum, right: &Sum) -> Checked {
    points.judge(|values| {
        let (a, b) = (summed(lift, left, values), summed(lift, right, values));
        let length = a.len().max(b.len());
        let entry = |list: &Vec<Sized>, at: usize| list.get(at).copied().unwrap_or((0.0, 0.0));
        (0..length).map(|at| [entry(&a, at), entry(&b, at)]).collect()
    })
}

fn summed(lift: &Lift<'_>, sum: &Sum, values: &FxHashMap<SymbolId, f64>) -> Vec<Sized> {
    let mut found: Vec<Sized> = Vec::new();
    for term in sum {
        let number = |id: ExprId| {
            lift.table
                .exprs
                .evaluate_unchecked(&[id], &|symbol| values.get(&symbol).copied())[0]
        };
        let entries = lift.entries.get(&term.vector).cloned().unwrap_or(vec![term.vector]);
        let value = |symbol: &SymbolId| values.get(symbol).copied().unwrap_or(f64::NAN);
        let mut vector: Vec<Sized> = entries
            .iter()
            .map(|symbol| (value(symbol), value(symbol).abs()))
            .collect();
        for factor in term.product.factors.iter().rev() {
            vector = times(&lift.matrices[factor.matrix], *factor, &vector, &number);
        }
        let scalar = number(term.product.scalar);
        found.resize(found.len().max(vector.len()), (0.0, 0.0));
        for (sum, own) in found.iter_mut().zip(&vector) {
            *sum = (sum.0 + scalar * own.0, sum.1 + (scalar * own.1).abs());
        }
    }
    found
}

fn times(matrix: &NamedMatrix, factor: Factor, vector: &[Sized], number: &dyn Fn(ExprId) -> f64) -> Vec<Sized> {
    let entries = if factor.rate { &matrix.rates } else { &matrix.entries };
    let (rows, columns) = match factor.transposed {
        true => (matrix.columns, matrix.rows),
        false => (matrix.rows, matrix.columns),
    };
    let entry = |row: usize, column: usize| match factor.transposed {
        true => number(entries[column * matrix.columns + row]),
        false => number(entries[row * matrix.columns + column]),
    };
    let mut dense: Vec<Vec<f64>> = (0..rows)
        .map(|row| (0..columns).map(|column| entry(row, column)).collect())
        .collect();
    if factor.inverse {
        dense = inverse(dense);
    }
    let row = |row: &Vec<f64>| {
        let terms = row.iter().zip(vector).filter(|entry| *entry.0 != 0.0);
        terms.fold((0.0, 0.0), |sum, (factor, own)| {
            (sum.0 + factor * own.0, sum.1 + factor.abs() * own.1)
        })
    };
    dense.iter().map(row).collect()
}

/// Returns the inverse of a matrix by Gauss's elimination with pivoting; a singular matrix has entries that are not finite.
fn inverse(mut rows: Vec<Vec<f64>>) -> Vec<Vec<f64>> {
    let count = rows.len();
    for (at, row) in rows.iter_mut().enumerate() {
        row.extend((0..count).map(|column| f64::from(u8::from(column == at))));
    }
    for column in 0..count {
        let size = |row: &usize| rows[*row][column].abs();
        let pivot = (column..count)
            .max_by(|a, b| size(a).total_cmp(&size(b)))
            .unwrap_or(column);
        rows.swap(column, pivot);
        let scale = rows[column][column];
        rows[column].iter_mut().for_each(|value| *value /= scale);
        let above = rows[column].clone();
        for (at, row) in rows.iter_mut().enumerate() {
            let factor = row[column];
            if at != column {
                row.iter_mut()
                    .zip(&above)
                    .for_each(|(value, above)| *value -= factor * above);
            }
        }
    }
    rows.into_iter().map(|row| row[count..].to_vec()).collect()
}
