//! Poles that are exactly 0: rigid motions and conserved quantities, which round-off would move away from 0.
//!
//! Rows of A that are dependent over a prime field are dependent for the exact values. Their states follow from the others and from
//! conserved quantities, and are eliminated, each with a pole at 0. The remaining matrix has all other poles.

use crate::eigen::multiple::with_multiple_poles;
use crate::eigen::poles::{balance, diagonal_blocks, eigenvalues, poles};
use crate::prime::{add_multiple, of_system, transposed};
use crate::state_space::StateSpace;
use crate::values::dense;
use lgm_algebra::{Field, PrimeField};
use lgm_model::system::{SparseMatrix, StateSystem};
use nalgebra::DMatrix;
use num_complex::Complex;

/// The maximum number of states; more take too long.
const MOST: usize = 400;

/// Returns all poles. Poles that are 0 or multiple for the exact parameter values are so in the result. `None` if an iteration does not
/// converge.
pub(crate) fn poles_with_zeros(system: &StateSystem, a: &SparseMatrix<f64>) -> Option<Vec<Complex<f64>>> {
    if a.rows.len() > MOST || !a.rows.iter().flatten().all(|entry| entry.1.is_finite()) {
        return poles(a);
    }
    let Some(form) = &system.matrices.numeric else {
        return poles(a);
    };
    let [exact, ..] = of_system(system, form, 0);
    // A similar matrix has the same poles; entries of equal magnitude give better pivots.
    let mut numbers = dense(a);
    balance(&mut numbers);
    let mut all = Vec::with_capacity(exact.len());
    for block in diagonal_blocks(exact.len(), |row, column| exact[row][column] != 0) {
        let mut numbers = numbers.select_rows(&block).select_columns(&block);
        let part = |row: &usize| block.iter().map(|column| exact[*row][*column]).collect();
        let mut exact: Vec<Vec<u64>> = block.iter().map(part).collect();
        while let Some((fewer, rest)) = eliminated(&numbers, &exact, exact.len()) {
            all.extend(vec![Complex::default(); exact.len() - rest.len()]);
            (numbers, exact) = (fewer, rest);
        }
        all.extend(with_multiple_poles(eigenvalues(numbers)?, &exact));
    }
    Some(all)
}

/// Returns the state space without conserved states that no input reaches, and without unobserved states that nothing else depends on.
/// Their poles are 0 and in no transfer function. Also returns the number of remaining poles that are exactly 0.
pub(crate) fn without_conserved(system: &StateSystem, space: StateSpace) -> (StateSpace, usize) {
    let (mut states, inputs, outputs) = (space.a.nrows(), space.b.ncols(), space.c.nrows());
    let Some(form) = system.matrices.numeric.as_ref().filter(|_| states <= MOST) else {
        return (space, 0);
    };
    let exact = of_system(system, form, inputs);
    // The columns of the states and inputs, over the rows of the states and outputs.
    let mut numbers = DMatrix::zeros(states + outputs, states + inputs);
    numbers.view_mut((0, 0), (states, states)).copy_from(&space.a);
    numbers.view_mut((0, states), (states, inputs)).copy_from(&space.b);
    numbers.view_mut((states, 0), (outputs, states)).copy_from(&space.c);
    let joined = |row: usize| match row < states {
        true => exact[0][row]
            .iter()
            .chain(exact[1][row].iter().take(inputs))
            .copied()
            .collect(),
        false => {
            let shown = exact[2][row - states].iter().copied();
            shown.chain(std::iter::repeat_n(0, inputs)).collect()
        }
    };
    let mut entries: Vec<Vec<u64>> = (0..states + outputs).map(joined).collect();
    loop {
        let before = states;
        if let Some((fewer, rest)) = eliminated(&numbers, &entries, states) {
            states -= entries.len() - rest.len();
            (numbers, entries) = (fewer, rest);
        }
        if let Some((fewer, rest)) = eliminated(&numbers.transpose(), &transposed(&entries, numbers.ncols()), states) {
            let rest = transposed(&rest, fewer.ncols());
            states -= entries.len() - rest.len();
            (numbers, entries) = (fewer.transpose(), rest);
        }
        if states == before || states == 0 {
            break;
        }
    }
    let space = StateSpace {
        a: numbers.view((0, 0), (states, states)).into_owned(),
        b: numbers.view((0, states), (states, inputs)).into_owned(),
        c: numbers.view((states, 0), (outputs, states)).into_owned(),
        d: space.d,
    };
    let mut left = space.a.clone();
    let mut exact: Vec<Vec<u64>> = entries[..states].iter().map(|row| row[..states].to_vec()).collect();
    let mut zeros = 0;
    while let Some((fewer, rest)) = eliminated(&left, &exact, exact.len()) {
        zeros += exact.len() - rest.len();
        (left, exact) = (fewer, rest);
    }
    (space, zeros)
}

/// Returns the matrix without the states whose rows are combinations of others; `None` if no such rows exist. The rows and columns of the
/// states come first.
fn eliminated(numbers: &DMatrix<f64>, exact: &[Vec<u64>], states: usize) -> Option<(DMatrix<f64>, Vec<Vec<u64>>)> {
    let (pivots, combinations, multiples) = echelon(&numbers.rows(0, states).into_owned(), &exact[..states]);
    let free: Vec<usize> = (0..states).filter(|row| !pivots.contains(row)).collect();
    if free.is_empty() {
        return None;
    }
    let is_kept = |at: &usize| !free.contains(at);
    let rows: Vec<usize> = (0..numbers.nrows()).filter(is_kept).collect();
    let columns: Vec<usize> = (0..numbers.ncols()).filter(is_kept).collect();
    // Row i is -sum of c_j times the pivot rows, and so is its state up to a constant.
    let mut field = PrimeField;
    let mut fewer = DMatrix::zeros(rows.len(), columns.len());
    let mut rest = vec![vec![0; columns.len()]; rows.len()];
    for (row, own) in rows.iter().enumerate() {
        for (column, other) in columns.iter().enumerate() {
            fewer[(row, column)] = numbers[(*own, *other)];
            rest[row][column] = exact[*own][*other];
            for state in free.iter().filter(|_| *other < states) {
                fewer[(row, column)] -= numbers[(*own, *state)] * combinations[(*state, *other)];
                let product = field.mul(&exact[*own][*state], &multiples[*state][*other]);
                let negative = field.neg(&product);
                rest[row][column] = field.add(&rest[row][column], &negative);
            }
        }
    }
    Some((fewer, rest))
}

/// Returns the pivot rows and, for each other row, the multiples of pivot rows that cancel it when added: in doubles and over the prime
/// field.
fn echelon(numbers: &DMatrix<f64>, exact: &[Vec<u64>]) -> (Vec<usize>, DMatrix<f64>, Vec<Vec<u64>>) {
    let (size, columns) = numbers.shape();
    let mut field = PrimeField;
    let (mut work, mut entries) = (numbers.clone(), exact.to_vec());
    let mut own = DMatrix::identity(size, size);
    let unit = |row: usize| (0..size).map(|k| u64::from(k == row)).collect();
    let mut multiples: Vec<Vec<u64>> = (0..size).map(unit).collect();
    let mut pivots: Vec<usize> = Vec::new();
    for column in 0..columns {
        let open = (0..size).filter(|row| !pivots.contains(row) && entries[*row][column] != 0);
        let Some(pivot) = open.max_by(|a, b| work[(*a, column)].abs().total_cmp(&work[(*b, column)].abs())) else {
            continue;
        };
        pivots.push(pivot);
        let inverse = field.invert(&entries[pivot][column]);
        let (source, source_multiples) = (entries[pivot].clone(), multiples[pivot].clone());
        for row in 0..size {
            if pivots.contains(&row) || entries[row][column] == 0 {
                continue;
            }
            let factor = work[(row, column)] / work[(pivot, column)];
            let share = field.mul(&entries[row][column], &inverse);
            let share = field.neg(&share);
            add_multiple(&mut entries[row], share, &source);
            add_multiple(&mut multiples[row], share, &source_multiples);
            // An entry that vanishes exactly is set to zero in doubles too.
            for at in 0..columns {
                work[(row, at)] = match entries[row][at] {
                    0 => 0.0,
                    _ => work[(row, at)] - factor * work[(pivot, at)],
                };
            }
            for at in 0..size {
                own[(row, at)] = match multiples[row][at] {
                    0 => 0.0,
                    _ => own[(row, at)] - factor * own[(pivot, at)],
                };
            }
        }
    }
    (pivots, own, multiples)
}

#[cfg(test)]
mod tests {
    use super::*;
    use num_rational::BigRational;

    fn exact(numbers: &DMatrix<f64>) -> Vec<Vec<u64>> {
        let entry = |value: f64| PrimeField.reduce(&BigRational::from_float(value).unwrap_or_default());
        let row = |row: usize| numbers.row(row).iter().map(|value| entry(*value)).collect();
        (0..numbers.nrows()).map(row).collect()
    }

    fn zeros_and_poles(numbers: DMatrix<f64>) -> (usize, Vec<Complex<f64>>) {
        let (mut rest, mut left, mut zeros) = (exact(&numbers), numbers, 0);
        while let Some((fewer, smaller)) = eliminated(&left, &rest, rest.len()) {
            zeros += rest.len() - smaller.len();
            (left, rest) = (fewer, smaller);
        }
        (zeros, eigenvalues(left).unwrap_or_default())
    }

    #[test]
    fn rigid_motions_and_their_displacements_are_counted() {
        // Two masses 1 and 2 on a spring of 6, the displacement of the first, and a slow uncoupled lag: v1, v2, f, x1, y.
        let numbers = DMatrix::from_row_slice(
            5,
            5,
            &[
                0.0, 0.0, -1.0, 0.0, 0.0, //
                0.0, 0.0, 0.5, 0.0, 0.0, //
                6.0, -6.0, 0.0, 0.0, 0.0, //
                1.0, 0.0, 0.0, 0.0, 0.0, //
                0.0, 0.0, 0.0, 0.0, -1e-12,
            ],
        );
        let (zeros, poles) = zeros_and_poles(numbers);
        assert_eq!(zeros, 2);
        assert_eq!(poles.len(), 3);
        assert!(poles.iter().any(|pole| (pole.re + 1e-12).abs() < 1e-22), "{poles:?}");
        assert!(poles.iter().any(|pole| (pole.im - 3.0).abs() < 1e-12), "{poles:?}");
    }

    #[test]
    fn a_chain_of_integrators_is_all_zeros() {
        let numbers = DMatrix::from_row_slice(3, 3, &[0.0, 1.0, 2.0, 0.0, 0.0, 3.0, 0.0, 0.0, 0.0]);
        assert_eq!(zeros_and_poles(numbers), (3, Vec::new()));
    }
}
