//! Writes rows as text, and breaks long rows: after commas, then before `and`, `or` and arrows, then before `+` and `-`, as far outside of
//! brackets as possible.

use super::rows::Row;
use super::words::{Kind, Matrix, Word};
use crate::format::limits::{COLUMNS, INDENT};

/// A broken row continues at the column after a bracket, unless this column is larger than this value.
const DEEPEST_BRACKET: usize = 50;

/// Returns the text of all rows.
pub(super) fn write(words: &[Word<'_>], rows: &[Row]) -> String {
    let mut page = Page {
        text: String::new(),
        column: 0,
    };
    for row in rows {
        if row.blank {
            page.text.push('\n');
        }
        page.blanks(row.indent);
        match row.broken {
            true => Broken::new(&words[row.first..row.last], row.first, row.indent).write(&mut page),
            false => {
                for (index, word) in words[row.first..row.last].iter().enumerate() {
                    page.word(word, if index == 0 { 0 } else { word.gap });
                }
            }
        }
        let mut below = None;
        for (index, word) in words[row.last..row.trail].iter().enumerate() {
            match below {
                Some(column) => {
                    page.new_line(column);
                    page.word(word, 0);
                }
                None if index == 0 => page.word(word, row.comment_gap),
                None => page.word(word, 1),
            }
            if word.kind == Kind::LineComment && below.is_none() {
                below = Some(page.column - word.width());
            }
        }
        page.new_line(0);
    }
    page.text
}

struct Page {
    text: String,
    column: usize,
}

impl Page {
    fn blanks(&mut self, count: usize) {
        self.text.extend(std::iter::repeat_n(' ', count));
        self.column += count;
    }

    fn new_line(&mut self, indent: usize) {
        self.text.push('\n');
        self.column = 0;
        self.blanks(indent);
    }

    fn word(&mut self, word: &Word<'_>, gap: usize) {
        self.blanks(gap);
        match word.kind {
            Kind::LongComment => {
                self.text.push_str(&word.text.replace("\r\n", "\n"));
                self.column = word.width();
            }
            _ => {
                self.text.push_str(word.text);
                self.column += word.width();
            }
        }
    }
}

/// A row over several lines.
struct Broken<'a, 't> {
    words: &'a [Word<'t>],
    /// The number of the first word in the text.
    first: usize,
    indent: usize,
    /// The end of each word if all are on one line.
    ends: Vec<usize>,
    /// For each word at which a line may begin, the next such word on its level or a lower one, or the end.
    next: Vec<usize>,
    /// For each word, the number of words so far that must start a line, including the word itself.
    forced: Vec<usize>,
}

/// A bracket that is open while a row is written.
struct Open {
    /// The start column of its lines.
    column: usize,
    /// True if each of its entries begins a line.
    rows: bool,
    /// The number of brackets around its entries.
    level: u32,
}

impl<'a, 't> Broken<'a, 't> {
    fn new(words: &'a [Word<'t>], first: usize, indent: usize) -> Broken<'a, 't> {
        let mut end = 0;
        let ends = words
            .iter()
            .map(|word| {
                // A comment that ends a line does not reduce the space on the next line.
                end += if word.ends_line() { 0 } else { word.gap + word.width() };
                end
            })
            .collect();
        let mut broken = Broken {
            words,
            first,
            indent,
            ends,
            next: vec![words.len(); words.len()],
            forced: Vec::new(),
        };
        let mut forced = 0;
        for index in 0..words.len() {
            forced += usize::from(broken.is_forced(index));
            broken.forced.push(forced);
        }
        let mut waiting: Vec<(u32, usize)> = Vec::new();
        for index in (0..words.len()).rev() {
            let level = match broken.is_forced(index) {
                true => Some(0),
                false => words[index].split,
            };
            if let Some(level) = level {
                while waiting.last().is_some_and(|(other, _)| *other > level) {
                    waiting.pop();
                }
                broken.next[index] = waiting.last().map_or(words.len(), |(_, next)| *next);
                waiting.push((level, index));
            }
        }
        broken
    }

    /// Returns true if a word must begin a line.
    fn is_forced(&self, index: usize) -> bool {
        let own_line = self.words[index].kind == Kind::LineComment && self.words[index].breaks > 0;
        index > 0 && (own_line || self.words[index - 1].ends_line())
    }

    /// Returns the number of columns from one word's gap to another word's end.
    fn width(&self, first: usize, last: usize) -> usize {
        let before = first.checked_sub(1).map_or(0, |before| self.ends[before]);
        self.ends[last] - before
    }

    fn write(&self, page: &mut Page) {
        let mut open: Vec<Open> = Vec::new();
        for (index, word) in self.words.iter().enumerate() {
            let begins = index > 0 && self.begins_line(index, page.column, open.last());
            if begins {
                let column = open.last().map_or(self.indent + 2 * INDENT, |open| open.column);
                page.new_line(column);
            }
            page.word(word, if begins || index == 0 { 0 } else { word.gap });
            let partner = word.partner.wrapping_sub(self.first);
            if partner > index && partner < self.words.len() {
                let level = open.len() as u32 + 1;
                open.push(Open {
                    column: match page.column <= DEEPEST_BRACKET {
                        true => page.column,
                        false => self.indent + 2 * INDENT,
                    },
                    rows: self.takes_rows(index, partner, page.column, level),
                    level,
                });
            } else if partner < index {
                open.pop();
            }
        }
    }

    fn begins_line(&self, index: usize, column: usize, open: Option<&Open>) -> bool {
        let Some(level) = self.words[index].split else {
            return self.is_forced(index);
        };
        let is_row = open.is_some_and(|open| open.rows && 4 * open.level == level);
        self.is_forced(index) || is_row || column + self.width(index, self.next[index] - 1) > COLUMNS
    }

    /// Returns true if the rows of a matrix are on separate lines: if the author wrote them so, or if they do not fit on this line with the
    /// adjacent tokens. The opening bracket is a word that ends at the given column.
    fn takes_rows(&self, index: usize, partner: usize, column: usize, level: u32) -> bool {
        match self.words[index].matrix {
            None | Some(Matrix::Single) => false,
            Some(Matrix::Rows) => true,
            // A comment within ends a line.
            Some(Matrix::Flat) if self.forced[partner] > self.forced[index] => true,
            Some(Matrix::Flat) => {
                let after = (partner..self.words.len()).find(|next| {
                    let splits = self.words[*next].split.is_some_and(|other| other <= 4 * level);
                    splits || self.is_forced(*next)
                });
                column + self.width(index + 1, after.unwrap_or(self.words.len()) - 1) > COLUMNS
            }
        }
    }
}
