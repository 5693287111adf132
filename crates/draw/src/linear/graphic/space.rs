//! The across variables that the junctions of a bond graph allow, as a space over a large prime field: exact, and fast for drawable models.

/// A prime below 2^31.
const PRIME: i64 = 2_147_483_629;

/// Returns a number of the field as the integer with the smallest magnitude.
pub(super) fn small(value: i64) -> i64 {
    if value > PRIME / 2 { value - PRIME } else { value }
}

fn power(value: i64, mut exponent: i64) -> i64 {
    let (mut base, mut result) = (value, 1);
    while exponent > 0 {
        if exponent % 2 == 1 {
            result = result * base % PRIME;
        }
        base = base * base % PRIME;
        exponent /= 2;
    }
    result
}

/// Brings rows into reduced echelon form with pivots only in the first columns; returns the pivots.
pub(super) fn reduce(rows: &mut [Vec<i64>], columns: usize) -> Vec<usize> {
    let mut pivots = Vec::new();
    for column in 0..columns {
        let done = pivots.len();
        let Some(found) = (done..rows.len()).find(|row| rows[*row][column] != 0) else {
            continue;
        };
        rows.swap(done, found);
        let inverse = power(rows[done][column], PRIME - 2);
        rows[done]
            .iter_mut()
            .for_each(|value| *value = *value * inverse % PRIME);
        let pivot = rows[done].clone();
        for (at, row) in rows.iter_mut().enumerate() {
            let factor = row[column];
            if at != done && factor != 0 {
                for (value, own) in row.iter_mut().zip(&pivot) {
                    *value = (*value + (PRIME - factor) * own) % PRIME;
                }
            }
        }
        pivots.push(column);
    }
    pivots
}

/// Returns a basis of the null space of rows with entries -1, 0 and 1.
pub(super) fn kernel(rows: &[Vec<i64>], columns: usize) -> Vec<Vec<i64>> {
    let mut rows: Vec<Vec<i64>> = rows
        .iter()
        .map(|row| row.iter().map(|value| value.rem_euclid(PRIME)).collect())
        .collect();
    let pivots = reduce(&mut rows, columns);
    let free = (0..columns).filter(|column| !pivots.contains(column));
    free.map(|column| {
        let mut vector = vec![0; columns];
        vector[column] = 1;
        for (row, pivot) in rows.iter().zip(&pivots) {
            vector[*pivot] = (PRIME - row[column]) % PRIME;
        }
        vector
    })
    .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_kernel_is_taken_to_zero() {
        let rows = vec![vec![1, -1, 0, 0], vec![0, 1, 1, 1]];
        let found = kernel(&rows, 4);
        assert_eq!(found.len(), 2);
        for vector in &found {
            for row in &rows {
                let sum: i64 = row.iter().zip(vector).map(|(a, b)| a * small(*b)).sum();
                assert_eq!(sum, 0);
            }
        }
    }
}
