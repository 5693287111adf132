//! A null vector of a singular matrix.

use num_rational::BigRational;
use num_traits::{One, Zero};

/// Returns a null vector of a square matrix, given row by row; none if the matrix is regular. Its entries are integers if the matrix is
/// rational and small.
pub(crate) fn null_vector(numbers: &[BigRational], n: usize) -> Option<Vec<BigRational>> {
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
    // Integers are more readable.
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
}
