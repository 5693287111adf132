//! Columns of text.

/// Formats rows of cells as lines, each column as wide as its widest cell; all cells are left-aligned, including numbers.
pub(super) fn lines(rows: &[Vec<String>]) -> Vec<String> {
    let columns = rows.iter().map(Vec::len).max().unwrap_or(0);
    let length = |text: &str| text.chars().count();
    let width = |column: usize| {
        let cells = rows.iter().filter_map(|row| row.get(column));
        cells.map(|cell| length(cell)).max().unwrap_or(0)
    };
    let widths: Vec<usize> = (0..columns).map(width).collect();
    let line = |row: &Vec<String>| {
        let mut text = String::from(" ");
        for (cell, width) in row.iter().zip(&widths) {
            // An empty column takes no space.
            if *width > 0 {
                text.push(' ');
                text.push_str(cell);
                text.extend(std::iter::repeat_n(' ', width + 1 - length(cell)));
            }
        }
        text.trim_end().to_string()
    };
    rows.iter().map(line).collect()
}
