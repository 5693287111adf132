//! Linear systems in which each equation belongs to one unknown.

use super::sparse::{divide_row, subtract_all};
use crate::Field;
use crate::row::Row;

/// Solves `A X = B` with pivots only on the diagonal, the shortest rows first; `None` if a required diagonal entry vanishes.
///
/// A mass matrix is symmetric and positive definite, and stays so when its rows are eliminated in any order: no pivot on its diagonal
/// vanishes at any configuration. A pivot off the diagonal may vanish, as `cos(q1 - q2)` does, though it is nonzero in general. Pivots
/// chosen only for low fill-in are therefore unsafe for expressions that are evaluated at later configurations.
pub fn solve_on_diagonal<F: Field>(
    field: &mut F,
    mut rows: Vec<Row<F::Element>>,
    mut right: Vec<Row<F::Element>>,
) -> Option<Vec<Row<F::Element>>> {
    let size = rows.len();
    let place = |row: &Row<F::Element>, column: usize| row.binary_search_by_key(&(column as u32), |entry| entry.0).ok();
    let mut left: Vec<usize> = (0..size).collect();
    let mut pivots: Vec<(usize, F::Element)> = Vec::with_capacity(size);
    while !left.is_empty() && !field.exhausted() {
        let fit = left.iter().enumerate().filter_map(|(at, row)| {
            let value = &rows[*row][place(&rows[*row], *row)?].1;
            (!field.is_zero(value) && field.pivot_cost(value).is_finite()).then_some((rows[*row].len(), at))
        });
        let (_, at) = fit.min()?;
        let own = left.swap_remove(at);
        // The rest of the row belongs to unknowns that are computed before this one.
        let position = place(&rows[own], own)?;
        let (_, pivot) = rows[own].remove(position);
        let (source, source_right) = (std::mem::take(&mut rows[own]), std::mem::take(&mut right[own]));
        for other in &left {
            let Some(position) = place(&rows[*other], own) else {
                continue;
            };
            let (_, entry) = rows[*other].remove(position);
            let factor = field.div(&entry, &pivot);
            let target = std::mem::take(&mut rows[*other]);
            rows[*other] = subtract_all(field, target, std::iter::once((&factor, &source)));
            let target = std::mem::take(&mut right[*other]);
            right[*other] = subtract_all(field, target, std::iter::once((&factor, &source_right)));
        }
        (rows[own], right[own]) = (source, source_right);
        pivots.push((own, pivot));
    }
    let mut solution: Vec<Row<F::Element>> = vec![Vec::new(); size];
    for (own, pivot) in pivots.into_iter().rev() {
        let side = std::mem::take(&mut right[own]);
        let known = rows[own]
            .iter()
            .map(|(column, value)| (value, &solution[*column as usize]));
        let sum = subtract_all(field, side, known);
        solution[own] = divide_row(field, &sum, &pivot);
    }
    Some(solution)
}

#[cfg(test)]
mod tests {
    use super::solve_on_diagonal;
    use crate::{Doubles, Row};

    fn rows(matrix: &[[f64; 3]]) -> Vec<Row<f64>> {
        let row = |row: &[f64; 3]| (0..).zip(*row).filter(|entry| entry.1 != 0.0).collect();
        matrix.iter().map(row).collect()
    }

    #[test]
    fn a_symmetric_matrix_is_solved() {
        let matrix = [[4.0, 1.0, 0.0], [1.0, 3.0, -1.0], [0.0, -1.0, 2.0]];
        let right = vec![vec![(0, 6.0)], vec![(0, 4.0)], vec![(0, 4.0)]];
        let found = solve_on_diagonal(&mut Doubles, rows(&matrix), right).unwrap();
        for (found, wanted) in found.iter().zip([1.0, 2.0, 3.0]) {
            assert!((found[0].1 - wanted).abs() < 1e-15, "{found:?}");
        }
    }

    #[test]
    fn a_vanishing_diagonal_is_left_to_others() {
        let matrix = [[0.0, 1.0, 0.0], [1.0, 0.0, 0.0], [0.0, 0.0, 1.0]];
        assert!(solve_on_diagonal(&mut Doubles, rows(&matrix), vec![Vec::new(); 3]).is_none());
    }
}
