//! Linear systems whose entries pass through zero while the solution stays continuous.
//!
//! Elimination divides by its pivots. If a pivot passes through zero along a motion, an expression that contains it has no value, although
//! the solution does. Unknowns whose pivots never vanish are eliminated. The rest is solved block by block with Cramer's rule, which
//! divides only by the determinant of each block; if that is zero, no solution exists.

use super::solve::{entry, solve};
use super::sparse::{Sharing, divide_row, eliminate, subtract_all};
use crate::Field;
use crate::row::{Row, Singular};

/// The largest block solved by its minors, whose number is two to the power of its size.
const LARGEST: usize = 6;

/// Solves one block: entries that cannot vanish are eliminated, and the rest, which may split into blocks, is solved by minors.
pub(crate) fn solve_away_from_zero<F: Field>(
    field: &mut F,
    mut matrix: Vec<Row<F::Element>>,
    mut right: Vec<Row<F::Element>>,
) -> Result<Vec<Row<F::Element>>, Singular> {
    let size = matrix.len();
    let mut is_left = vec![true; size];
    let mut pivots: Vec<(usize, u32)> = Vec::new();
    while let Some((row, column)) = safest(field, &matrix, &is_left) {
        is_left[row] = false;
        let (source, side) = (matrix[row].clone(), right[row].clone());
        let pivot = &source[entry(&source, column)].1;
        for other in (0..size).filter(|other| is_left[*other]) {
            let Ok(place) = matrix[other].binary_search_by_key(&column, |entry| entry.0) else {
                continue;
            };
            let factor = field.div(&matrix[other][place].1, pivot);
            let target = std::mem::take(&mut matrix[other]);
            let mut target = subtract_all(field, target, std::iter::once((&factor, &source)));
            target.retain(|entry| entry.0 != column);
            matrix[other] = target;
            let target = std::mem::take(&mut right[other]);
            right[other] = subtract_all(field, target, std::iter::once((&factor, &side)));
        }
        pivots.push((row, column));
    }
    if pivots.is_empty() {
        return by_minors(field, matrix, right);
    }
    let mut solution = solve_rest(field, &mut matrix, &mut right, &is_left, &pivots)?;
    for (row, column) in pivots.into_iter().rev() {
        let entries = &matrix[row];
        let others = entries.iter().filter(|entry| entry.0 != column);
        let parts = others.map(|(other, value)| (value, &solution[*other as usize]));
        let side = subtract_all(field, std::mem::take(&mut right[row]), parts);
        solution[column as usize] = divide_row(field, &side, &entries[entry(entries, column)].1);
    }
    Ok(solution)
}

/// Returns the entry with the least fill-in (Markowitz), then the least cost, among those that cannot vanish.
fn safest<F: Field>(field: &F, matrix: &[Row<F::Element>], is_left: &[bool]) -> Option<(usize, u32)> {
    let rows = || (0..matrix.len()).filter(|row| is_left[*row]);
    let mut counts = vec![0_u64; matrix.len()];
    for (column, _) in rows().flat_map(|row| &matrix[row]) {
        counts[*column as usize] += 1;
    }
    let mut best: Option<(u64, f64, usize, u32)> = None;
    for row in rows() {
        let length = matrix[row].len() as u64;
        for (column, value) in &matrix[row] {
            let fill = (length - 1) * (counts[*column as usize] - 1);
            if best.is_some_and(|best| fill > best.0) || field.may_vanish(value) {
                continue;
            }
            let cost = field.pivot_cost(value);
            if cost.is_finite() && best.is_none_or(|best| (fill, cost) < (best.0, best.1)) {
                best = Some((fill, cost, row, *column));
            }
        }
    }
    best.map(|(.., row, column)| (row, column))
}

/// Solves the rows and columns without a pivot; the solution has empty rows for the others.
fn solve_rest<F: Field>(
    field: &mut F,
    matrix: &mut [Row<F::Element>],
    right: &mut [Row<F::Element>],
    is_left: &[bool],
    pivots: &[(usize, u32)],
) -> Result<Vec<Row<F::Element>>, Singular> {
    let size = matrix.len();
    let mut is_found = vec![false; size];
    for (_, column) in pivots {
        is_found[*column as usize] = true;
    }
    let columns: Vec<u32> = (0..size as u32).filter(|column| !is_found[*column as usize]).collect();
    let rows: Vec<usize> = (0..size).filter(|row| is_left[*row]).collect();
    let local = |row: Row<F::Element>| -> Row<F::Element> {
        let place = |column: u32| columns.partition_point(|other| *other < column) as u32;
        row.into_iter().map(|(column, value)| (place(column), value)).collect()
    };
    let inner = rows
        .iter()
        .map(|row| local(std::mem::take(&mut matrix[*row])))
        .collect();
    let sides = rows.iter().map(|row| std::mem::take(&mut right[*row])).collect();
    let found = solve(field, inner, sides).map_err(|fault| Singular {
        row: rows[fault.row as usize] as u32,
        column: columns[fault.column as usize],
    })?;
    let mut solution: Vec<Row<F::Element>> = vec![Vec::new(); size];
    for (column, values) in columns.into_iter().zip(found) {
        solution[column as usize] = values;
    }
    Ok(solution)
}

/// Applies Cramer's rule, or elimination if the block is too large.
fn by_minors<F: Field>(
    field: &mut F,
    matrix: Vec<Row<F::Element>>,
    right: Vec<Row<F::Element>>,
) -> Result<Vec<Row<F::Element>>, Singular> {
    let size = matrix.len();
    if size > LARGEST {
        return eliminate(field, matrix, right, &mut Sharing::nothing());
    }
    let above = minors(field, &matrix, 0..size);
    let below = minors(field, &matrix, (0..size).rev());
    let determinant = above[above.len() - 1].clone();
    if field.is_zero(&determinant) {
        return Err(Singular { row: 0, column: 0 });
    }
    let full = (1_usize << size) - 1;
    let mut solution = Vec::with_capacity(size);
    for column in 0..size {
        let mut cofactors: Vec<F::Element> = Vec::with_capacity(size);
        for row in 0..size {
            // Expands along the rows above and below, which divide the other columns between them (Laplace).
            let mut sum = field.zero();
            for upper in (0..=full).filter(|set| set.count_ones() as usize == row && set >> column & 1 == 0) {
                let lower = full & !upper & !(1 << column);
                if field.is_zero(&above[upper]) || field.is_zero(&below[lower]) {
                    continue;
                }
                let product = field.mul(&above[upper], &below[lower]);
                let is_odd = (inversions(upper, lower) + row + column) % 2 == 1;
                sum = match is_odd {
                    true => field.sub(&sum, &product),
                    false => field.add(&sum, &product),
                };
            }
            // Minors of the rows below were assembled from the last row upwards.
            let reversed = (size - 1 - row) * (size - 1 - row).saturating_sub(1) / 2;
            cofactors.push(if reversed % 2 == 1 { field.neg(&sum) } else { sum });
        }
        let minus: Vec<F::Element> = cofactors.iter().map(|value| field.neg(value)).collect();
        let sum = subtract_all(field, Vec::new(), minus.iter().zip(&right));
        solution.push(divide_row(field, &sum, &determinant));
    }
    Ok(solution)
}

/// Returns the number of inversions between the two halves of a column.
fn inversions(upper: usize, lower: usize) -> usize {
    let places = |set: usize| (0..usize::BITS).filter(move |place| set >> place & 1 == 1);
    places(upper)
        .map(|place| (lower & ((1 << place) - 1)).count_ones() as usize)
        .sum()
}

/// Returns the minors of the first rows in the given order, by the sets of columns; a minor has equal numbers of rows and columns.
fn minors<F: Field>(field: &mut F, matrix: &[Row<F::Element>], order: impl Iterator<Item = usize>) -> Vec<F::Element> {
    let size = matrix.len();
    let mut found = vec![field.zero(); 1 << size];
    found[0] = field.one();
    for (count, row) in order.enumerate() {
        for set in (0..1_usize << size).filter(|set| set.count_ones() as usize == count + 1) {
            let mut sum = field.zero();
            for (column, value) in matrix[row].iter().filter(|entry| set >> entry.0 & 1 == 1) {
                let rest = &found[set & !(1 << column)];
                if field.is_zero(rest) {
                    continue;
                }
                let product = field.mul(rest, value);
                // The new row is the last one, so the columns after its own add inversions.
                let behind = (set >> column).count_ones() - 1;
                sum = match behind % 2 {
                    1 => field.sub(&sum, &product),
                    _ => field.add(&sum, &product),
                };
            }
            found[set] = sum;
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::{by_minors, solve_away_from_zero};
    use crate::{Field, PrimeField, Row, solve};

    /// Numbers modulo the prime; small ones count as entries that may vanish.
    struct Cautious;

    impl Field for Cautious {
        type Element = u64;
        fn zero(&self) -> u64 {
            0
        }
        fn one(&self) -> u64 {
            1
        }
        fn is_zero(&self, a: &u64) -> bool {
            *a == 0
        }
        fn add(&mut self, a: &u64, b: &u64) -> u64 {
            PrimeField.add(a, b)
        }
        fn mul(&mut self, a: &u64, b: &u64) -> u64 {
            PrimeField.mul(a, b)
        }
        fn neg(&mut self, a: &u64) -> u64 {
            PrimeField.neg(a)
        }
        fn invert(&mut self, a: &u64) -> u64 {
            PrimeField.invert(a)
        }
        fn pivot_cost(&self, a: &u64) -> f64 {
            PrimeField.pivot_cost(a)
        }
        fn may_vanish(&self, a: &u64) -> bool {
            !a.is_multiple_of(3)
        }
    }

    fn rows(size: usize, columns: usize, seed: u64, gaps: u64) -> Vec<Row<u64>> {
        let value = |row: usize, column: usize| PrimeField.sample((row * 100 + column) as u64, seed);
        let row = |row: usize| {
            (0..columns)
                .map(|column| (column as u32, value(row, column)))
                .filter(|entry| gaps == 0 || entry.1 % gaps != 0)
                .collect()
        };
        (0..size).map(row).collect()
    }

    #[test]
    fn minors_solve_what_elimination_solves() {
        for size in 1..=6 {
            for (seed, gaps) in [(1, 0), (2, 0), (3, 4), (4, 3), (5, 5)] {
                let (matrix, right) = (rows(size, size, seed, gaps), rows(size, 2, seed + 100, 0));
                let expected = solve(&mut PrimeField, matrix.clone(), right.clone());
                let minors = by_minors(&mut PrimeField, matrix.clone(), right.clone());
                assert_eq!(minors.ok(), expected.clone().ok(), "{size} {seed}");
                let found = solve_away_from_zero(&mut Cautious, matrix, right);
                assert_eq!(found.ok(), expected.ok(), "{size} {seed}");
            }
        }
    }
}
