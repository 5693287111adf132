//! The block triangular form of a sparse square matrix: a pivot for each row by matching, then the strongly connected components in the
//! order in which their unknowns can be computed. Neither step is recursive, and both take nearly linear time.

use crate::linear::connected::strongly_connected;
use crate::row::{Row, Singular};

/// Rows and columns of one diagonal block, ascending.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct DiagonalBlock {
    pub(crate) rows: Vec<u32>,
    pub(crate) columns: Vec<u32>,
}

/// Returns the diagonal blocks; each depends only on unknowns of earlier blocks.
pub(crate) fn blocks<E>(matrix: &[Row<E>]) -> Result<Vec<DiagonalBlock>, Singular> {
    let column_of = matching(matrix)?;
    let mut row_of = vec![0u32; matrix.len()];
    for (row, column) in column_of.iter().enumerate() {
        row_of[*column as usize] = row as u32;
    }
    // A row leads to the rows that determine its unknowns.
    let next = |row: usize, place: usize| {
        let entry = matrix[row].get(place)?;
        Some(row_of[entry.0 as usize] as usize)
    };
    Ok(strongly_connected(matrix.len(), next)
        .into_iter()
        .map(|rows| {
            let mut rows: Vec<u32> = rows.into_iter().map(|row| row as u32).collect();
            rows.sort_unstable();
            let mut columns: Vec<u32> = rows.iter().map(|row| column_of[*row as usize]).collect();
            columns.sort_unstable();
            DiagonalBlock { rows, columns }
        })
        .collect())
}

const NONE: u32 = u32::MAX;

/// Assigns a column to each row, by augmenting paths in phases; each row is visited at most once per phase.
fn matching<E>(matrix: &[Row<E>]) -> Result<Vec<u32>, Singular> {
    let n = matrix.len();
    let mut column_of = vec![NONE; n];
    let mut row_of = vec![NONE; n];
    for (row, entries) in matrix.iter().enumerate() {
        // The diagonal is tried first: most matrices are then already matched.
        let diagonal = entries.binary_search_by_key(&(row as u32), |entry| entry.0).is_ok();
        let free = diagonal
            .then_some(row as u32)
            .filter(|column| row_of[*column as usize] == NONE)
            .or_else(|| {
                entries
                    .iter()
                    .map(|entry| entry.0)
                    .find(|column| row_of[*column as usize] == NONE)
            });
        if let Some(column) = free {
            column_of[row] = column;
            row_of[column as usize] = row as u32;
        }
    }
    let mut visited = vec![0u32; n];
    let mut phase = 0;
    loop {
        phase += 1;
        let mut found = false;
        let mut missing = None;
        for row in 0..n as u32 {
            if column_of[row as usize] != NONE {
                continue;
            }
            if augment(matrix, row, &mut column_of, &mut row_of, &mut visited, phase) {
                found = true;
            } else {
                missing = Some(row);
            }
        }
        match missing {
            None => return Ok(column_of),
            Some(row) if !found => {
                let column = row_of.iter().position(|row| *row == NONE).unwrap_or(0) as u32;
                return Err(Singular { row, column });
            }
            Some(_) => {}
        }
    }
}

/// Finds an augmenting path from a row without a column, and applies it.
fn augment<E>(
    matrix: &[Row<E>],
    start: u32,
    column_of: &mut [u32],
    row_of: &mut [u32],
    visited: &mut [u32],
    phase: u32,
) -> bool {
    // Each entry is a row and the index, in the row, of the column that the path goes through.
    let mut path: Vec<(u32, usize)> = vec![(start, 0)];
    visited[start as usize] = phase;
    loop {
        let Some((row, place)) = path.last_mut() else {
            return false;
        };
        let entries = &matrix[*row as usize];
        // Columns before the current one were dead ends; the current one counts as visited when the path returns to it.
        let next = entries[*place..].iter().position(|entry| {
            let owner = row_of[entry.0 as usize];
            owner == NONE || visited[owner as usize] != phase
        });
        let Some(offset) = next else {
            path.pop();
            continue;
        };
        *place += offset;
        let below = row_of[entries[*place].0 as usize];
        if below == NONE {
            break;
        }
        visited[below as usize] = phase;
        path.push((below, 0));
    }
    for (row, place) in path {
        let column = matrix[row as usize][place].0;
        column_of[row as usize] = column;
        row_of[column as usize] = row;
    }
    true
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pattern(rows: &[&[u32]]) -> Vec<Row<()>> {
        rows.iter()
            .map(|row| row.iter().map(|column| (*column, ())).collect())
            .collect()
    }

    #[test]
    fn a_permuted_triangle_falls_into_single_entries_in_order() {
        let matrix = pattern(&[&[0, 1, 2], &[2], &[1, 2]]);
        let found = blocks(&matrix).unwrap();
        let rows: Vec<&[u32]> = found.iter().map(|block| &block.rows[..]).collect();
        assert_eq!(rows, [&[1][..], &[2], &[0]]);
        let columns: Vec<&[u32]> = found.iter().map(|block| &block.columns[..]).collect();
        assert_eq!(columns, [&[2][..], &[1], &[0]]);
    }

    #[test]
    fn a_cycle_is_one_block() {
        let matrix = pattern(&[&[0, 1], &[1, 2], &[0, 2], &[2, 3]]);
        let found = blocks(&matrix).unwrap();
        assert_eq!(found.len(), 2);
        assert_eq!(found[0].rows, [0, 1, 2]);
        assert_eq!(found[1].rows, [3]);
    }

    #[test]
    fn augmenting_paths_undo_greedy_choices() {
        // Row 0 takes its diagonal, which row 2 needs; a path through row 1 frees it.
        let matrix = pattern(&[&[0, 1], &[1, 2], &[0]]);
        assert!(blocks(&matrix).is_ok());
        let matrix = pattern(&[&[1], &[0, 1], &[1, 2]]);
        assert!(blocks(&matrix).is_ok());
    }

    #[test]
    fn a_structurally_singular_matrix_names_a_row_and_a_column() {
        let matrix = pattern(&[&[0], &[0], &[1, 2]]);
        let fault = blocks(&matrix).unwrap_err();
        assert!(fault.row <= 1);
        assert!(fault.column == 1 || fault.column == 2);
    }

    #[test]
    fn long_paths_do_not_overflow_the_stack() {
        let n = 200_000u32;
        let mut matrix: Vec<Row<()>> = (0..n).map(|i| vec![(i, ()), (i + 1, ())]).collect();
        matrix.push(vec![(0, ())]);
        // Only one matching exists, and one path through all rows finds it; it makes the matrix triangular.
        assert_eq!(blocks(&matrix).unwrap().len(), n as usize + 1);
        matrix[n as usize].push((n, ()));
        assert_eq!(blocks(&matrix).unwrap().len(), 1);
    }
}
