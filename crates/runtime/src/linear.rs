//! Dense linear equations.

use super::array::Array;
use super::real::Real;

/// Factorises a dense matrix in place, with partial pivoting over scaled rows; returns false if it is singular.
pub fn factorise<M, W, P>(a: &mut M, pivots: &mut P) -> bool
where
    M: Array<Item = W>,
    W: Array<Item: Real>,
    P: Array<Item = usize>,
{
    let zero = W::Item::c(0.0);
    for step in 0..W::LENGTH {
        let share = |row: &W| {
            let scale = row.entries().fold(zero, |most, entry| most.maximum(entry.abs()));
            if scale > zero {
                row[step].abs() / scale
            } else {
                zero
            }
        };
        let (mut best, mut most) = (step, zero);
        for (row, entries) in a.entries().enumerate().skip(step) {
            if share(entries) > most {
                (best, most) = (row, share(entries));
            }
        }
        if most.is_nan() || most <= W::Item::c(40.0 * W::Item::EPSILON) {
            return false;
        }
        a.as_mut().swap(step, best);
        pivots[step] = best;
        let (done, left) = a.as_mut().split_at_mut(step + 1);
        let pivot = &done[step];
        for row in left {
            let factor = row[step] / pivot[step];
            row[step] = factor;
            for column in step + 1..W::LENGTH {
                row[column] = row[column] - factor * pivot[column];
            }
        }
    }
    true
}

/// Replaces the right-hand side by the solution.
pub fn solve_factors<M, W, P>(a: &M, pivots: &P, right: &mut W)
where
    M: Array<Item = W>,
    W: Array<Item: Real>,
    P: Array<Item = usize>,
{
    for (step, pivot) in pivots.entries().enumerate() {
        right.as_mut().swap(step, *pivot);
    }
    for row in 0..W::LENGTH {
        for column in 0..row {
            right[row] = right[row] - a[row][column] * right[column];
        }
    }
    for row in (0..W::LENGTH).rev() {
        for column in row + 1..W::LENGTH {
            right[row] = right[row] - a[row][column] * right[column];
        }
        right[row] = right[row] / a[row][row];
    }
}
