//! The parts of the text of a system, before they are laid out.

use super::tables::section;
use lgm_model::system::SparseMatrix;
use std::fmt::{self, Write};

/// Parts of a text in their order.
#[derive(Debug, Default)]
pub(crate) struct Pieces(Vec<Piece>);

/// A part of a text.
#[derive(Debug)]
pub(crate) enum Piece {
    /// Lines as they are.
    Text(String),
    /// Titled rows of cells.
    Rows(String, Style, Vec<Vec<String>>),
    /// The entries of a matrix.
    Entries(Entries),
}

/// The layout of rows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Style {
    /// Cells of one column are equally wide.
    Table,
    /// The cells of a row are words of a line.
    Lines,
}

/// The entries of a matrix that are not zero.
#[derive(Debug)]
pub(crate) struct Entries {
    pub(crate) name: String,
    pub(crate) rows: usize,
    pub(crate) columns: usize,
    /// The number of entries.
    pub(crate) count: usize,
    /// The entries, counted from 1 as in the language; none if there are too many to be read.
    pub(crate) list: Option<Vec<(usize, usize, String)>>,
}

impl Pieces {
    pub(crate) fn into_list(self) -> Vec<Piece> {
        self.0
    }

    pub(crate) fn push_str(&mut self, text: &str) {
        match self.0.last_mut() {
            Some(Piece::Text(last)) => last.push_str(text),
            _ => self.0.push(Piece::Text(text.to_string())),
        }
    }

    pub(crate) fn push(&mut self, letter: char) {
        self.push_str(letter.encode_utf8(&mut [0; 4]));
    }

    pub(crate) fn section(&mut self, title: &str, rows: Vec<Vec<String>>) {
        self.0.push(Piece::Rows(title.to_string(), Style::Table, rows));
    }

    pub(crate) fn lines(&mut self, title: &str, rows: Vec<Vec<String>>) {
        self.0.push(Piece::Rows(title.to_string(), Style::Lines, rows));
    }

    pub(crate) fn entries(&mut self, entries: Entries) {
        self.0.push(Piece::Entries(entries));
    }

    /// The text.
    pub(crate) fn text(self) -> String {
        let mut out = String::new();
        self.0.into_iter().for_each(|piece| piece.write(&mut out));
        out
    }
}

impl Write for Pieces {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        self.push_str(text);
        Ok(())
    }
}

impl Piece {
    /// Lays the part out.
    pub(crate) fn write(self, out: &mut String) {
        match self {
            Piece::Text(text) => out.push_str(&text),
            Piece::Rows(title, Style::Table, rows) => section(&title, rows, out),
            Piece::Rows(title, Style::Lines, rows) => {
                section(&title, rows.into_iter().map(|row| vec![row.join(" ")]).collect(), out);
            }
            Piece::Entries(entries) => entries.write(out),
        }
    }
}

impl Entries {
    /// The entries of a matrix; only their number if there are more than `most`.
    pub(crate) fn of<T: Copy>(
        name: &str,
        matrix: &SparseMatrix<T>,
        most: usize,
        entry: &dyn Fn(T) -> String,
        is_zero: &dyn Fn(T) -> bool,
    ) -> Entries {
        let all = || {
            let rows = matrix.rows.iter().enumerate();
            let all = rows.flat_map(|(row, entries)| entries.iter().map(move |(column, value)| (row, *column, *value)));
            all.filter(|(_, _, value)| !is_zero(*value))
        };
        let count = all().count();
        let shown = |(row, column, value): (usize, u32, T)| (row + 1, column as usize + 1, entry(value));
        Entries {
            name: name.to_string(),
            rows: matrix.rows.len(),
            columns: matrix.columns,
            count,
            list: (count <= most).then(|| all().map(shown).collect()),
        }
    }

    /// `A[1,3] = ...` for every entry, or their number.
    fn write(self, out: &mut String) {
        let Entries {
            name,
            rows,
            columns,
            count,
            list,
        } = self;
        out.push_str(&format!("{name} is {rows} by {columns}"));
        match list {
            _ if count == 0 => out.push_str(", all zero\n"),
            None => out.push_str(&format!(
                ", with {count} entries that are not zero: `--sparse` lists them\n"
            )),
            Some(list) => {
                out.push_str(", zero but for\n");
                for (row, column, value) in list {
                    out.push_str(&format!("  {name}[{row},{column}] = {value}\n"));
                }
            }
        }
    }
}
