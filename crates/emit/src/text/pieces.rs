//! The parts of the text of a system, and the layout of these parts.

use super::tables::section;
use crate::repeating::{Entries, Format, Piece, Range, Row};
use std::fmt::{self, Write};

/// The plain text format.
pub(crate) struct Plain;

impl Format for Plain {
    type Fixed = String;
    type Style = Style;
    type Of = ();
    type Value = String;
}

/// The layout of rows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Style {
    /// All cells of a column have the same width.
    Table,
    /// The cells of a row are the words of a line.
    Lines,
}

/// The parts of a text in order.
#[derive(Default)]
pub(crate) struct Pieces(Vec<Piece<Plain>>);

impl Pieces {
    pub(crate) fn into_list(self) -> Vec<Piece<Plain>> {
        self.0
    }

    pub(crate) fn push_str(&mut self, text: &str) {
        match self.0.last_mut() {
            Some(Piece::Fixed(last)) => last.push_str(text),
            _ => self.0.push(Piece::Fixed(text.to_string())),
        }
    }

    pub(crate) fn push(&mut self, letter: char) {
        self.push_str(letter.encode_utf8(&mut [0; 4]));
    }

    pub(crate) fn section(&mut self, title: &str, rows: Vec<Row<()>>) {
        self.0.push(Piece::Rows(title.to_string(), Style::Table, rows));
    }

    pub(crate) fn lines(&mut self, title: &str, rows: Vec<Row<()>>) {
        self.0.push(Piece::Rows(title.to_string(), Style::Lines, rows));
    }

    pub(crate) fn entries(&mut self, entries: Entries<String>) {
        self.0.push(Piece::Entries(entries));
    }
}

impl Write for Pieces {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        self.push_str(text);
        Ok(())
    }
}

/// Lays out the parts.
pub(crate) fn written(pieces: Vec<Piece<Plain>>) -> String {
    let mut out = String::new();
    for piece in pieces {
        match piece {
            Piece::Fixed(text) => out.push_str(&text),
            Piece::Rows(title, Style::Table, rows) => section(&title, rows.into_iter().map(cells).collect(), &mut out),
            Piece::Rows(title, Style::Lines, rows) => {
                let lines = rows.into_iter().map(|row| vec![cells(row).join(" ")]);
                section(&title, lines.collect(), &mut out);
            }
            Piece::Entries(entries) => write_entries(entries, &mut out),
        }
    }
    out
}

/// Returns the cells of a row, with the ranges of its indices at the end.
fn cells(row: Row<()>) -> Vec<String> {
    let Row { mut cells, ranges, .. } = row;
    if let Some(last) = cells.last_mut().filter(|_| !ranges.is_empty()) {
        let ranges: Vec<String> = ranges.iter().map(Range::to_string).collect();
        *last = format!("{}   for {}", last.trim_end(), ranges.join(", "));
    }
    cells
}

/// Prints `A[1,3] = ...` for every entry, or only the number of entries.
fn write_entries(entries: Entries<String>, out: &mut String) {
    let Entries {
        name,
        rows,
        columns,
        count,
        list,
    } = entries;
    out.push_str(&format!("{name} is {rows} by {columns}"));
    match list {
        _ if count == 0 => out.push_str(", all zero\n"),
        None => out.push_str(&format!(", with {count} nonzero entries: `--sparse` lists them\n")),
        Some(list) => {
            out.push_str(", zero but for\n");
            for (row, column, value) in list {
                out.push_str(&format!("  {name}[{row},{column}] = {value}\n"));
            }
        }
    }
}
