//! Tables and matrices in plain text.

use crate::{MOST_ENTRIES, MatrixOptions};
use lgm_model::system::SparseMatrix;
use std::fmt::Write;

/// The layout of the text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TextOptions {
    /// The matrices to show.
    pub matrices: MatrixOptions,
    /// True for brackets that span several lines; false for plain `[ ]`.
    pub unicode: bool,
    /// Matrices wider than this number of characters are listed entry by entry.
    pub width: usize,
    /// Matrices with more entries than this are listed only on request.
    pub most_entries: usize,
    /// One row for each state, equation and output; otherwise, rows that repeat over indices are combined into one row.
    pub flat: bool,
}

impl Default for TextOptions {
    fn default() -> TextOptions {
        TextOptions {
            matrices: MatrixOptions::default(),
            unicode: true,
            width: 120,
            most_entries: MOST_ENTRIES,
            flat: false,
        }
    }
}

/// Prints lines of cells, each column as wide as its widest cell, without trailing spaces.
pub(super) fn table(rows: &[Vec<String>], out: &mut String) {
    let columns = rows.iter().map(Vec::len).max().unwrap_or(0);
    let width = |column: usize| {
        let cells = rows.iter().filter_map(|row| row.get(column));
        cells.map(|cell| cell.chars().count()).max().unwrap_or(0)
    };
    let widths: Vec<usize> = (0..columns).map(width).collect();
    for row in rows {
        let mut line = String::from(" ");
        for (cell, width) in row.iter().zip(&widths) {
            line.push(' ');
            line.push_str(cell);
            line.push_str(&blanks(cell, *width));
        }
        out.push_str(line.trim_end());
        out.push('\n');
    }
}

/// Returns the padding of a cell. (Format widths are limited to 65535, but matrix entries can be longer.)
pub(super) fn blanks(cell: &str, width: usize) -> String {
    " ".repeat(width.saturating_sub(cell.chars().count()))
}

pub(crate) fn section(title: &str, rows: Vec<Vec<String>>, out: &mut String) {
    if !rows.is_empty() {
        let _ = write!(out, "\n{title}\n");
        table(&rows, out);
    }
}

/// Prints the matrix with aligned columns and labels; none if the result is wider than the width option.
pub(crate) fn whole_matrix<T: Copy>(
    name: &str,
    matrix: &SparseMatrix<T>,
    row_labels: &[String],
    column_labels: Option<&[String]>,
    options: &TextOptions,
    entry: &dyn Fn(T) -> String,
) -> Option<String> {
    let length = |text: &str| text.chars().count();
    // Every column takes at least two characters, so a huge matrix is rejected before it is printed.
    if 2 * matrix.columns > options.width {
        return None;
    }
    let cells: Vec<Vec<String>> = matrix
        .rows
        .iter()
        .map(|row| {
            let mut cells = vec!["0".to_string(); matrix.columns];
            for (column, value) in row {
                cells[*column as usize] = entry(*value);
            }
            cells
        })
        .collect();
    let widths: Vec<usize> = (0..matrix.columns)
        .map(|column| {
            let label = column_labels.map_or(0, |labels| length(&labels[column]));
            let cells = cells.iter().map(|row| length(&row[column]));
            cells.max().unwrap_or(0).max(label)
        })
        .collect();
    let label_width = row_labels.iter().map(|label| length(label)).max().unwrap_or(0);
    let line_width = 2 + label_width + 3 + widths.iter().sum::<usize>() + 2 * (widths.len() - 1) + 2;
    if line_width > options.width {
        return None;
    }
    let mut out = String::new();
    let title = format!("{name} =");
    match column_labels {
        None => {
            let _ = writeln!(out, "{title}");
        }
        Some(labels) => {
            let labels: Vec<String> = labels
                .iter()
                .zip(&widths)
                .map(|(label, width)| format!("{label:>width$}"))
                .collect();
            let _ = writeln!(out, "{title:<0$}{1}", label_width + 5, labels.join("  "));
        }
    }
    let last = cells.len() - 1;
    for (at, (row, label)) in cells.iter().zip(row_labels).enumerate() {
        let (open, close) = match (options.unicode, at) {
            (true, 0) if last > 0 => ('⎡', '⎤'),
            (true, _) if last > 0 && at == last => ('⎣', '⎦'),
            (true, _) if last > 0 => ('⎢', '⎥'),
            _ => ('[', ']'),
        };
        let row: Vec<String> = row
            .iter()
            .zip(&widths)
            .map(|(cell, width)| format!("{cell:>width$}"))
            .collect();
        let _ = writeln!(out, "  {label:<label_width$} {open} {} {close}", row.join("  "));
    }
    Some(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cell_may_be_longer_than_any_width_of_a_format() {
        let long = "x".repeat(70_000);
        let cells = |first: &str| vec![first.to_string(), "end".to_string()];
        let mut out = String::new();
        table(&[cells(&long), cells("short")], &mut out);
        let ends: Vec<Option<usize>> = out.lines().map(|line| line.find("end")).collect();
        assert_eq!(ends, [Some(70_003), Some(70_003)]);
    }
}
