//! Tables of words in the terminal.

use std::io::{self, Write};

/// Right-aligned columns with the given widths. A column is widened if a word would touch the previous word.
pub(in crate::cli) struct Table {
    widths: Vec<usize>,
    rows: Vec<Vec<String>>,
}

impl Table {
    pub(in crate::cli) fn new(widths: &[usize]) -> Table {
        Table {
            widths: widths.to_vec(),
            rows: Vec::new(),
        }
    }

    pub(in crate::cli) fn row(&mut self, words: impl IntoIterator<Item = String>) {
        let words: Vec<String> = words.into_iter().collect();
        for (width, word) in self.widths.iter_mut().zip(&words) {
            *width = (*width).max(word.chars().count() + 2);
        }
        self.rows.push(words);
    }

    pub(in crate::cli) fn write(&self, out: &mut dyn Write) -> io::Result<()> {
        for row in &self.rows {
            for (word, width) in row.iter().zip(&self.widths) {
                write!(out, "{word:>width$}")?;
            }
            writeln!(out)?;
        }
        Ok(())
    }
}
