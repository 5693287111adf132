//! Source texts, positions in them, and the one trait through which files are read.
//!
//! No stage of the compiler touches the disk: the command line and the language server hand in an implementation of [`Sources`],
//! tests hand in another.

pub mod cancellation;
pub mod codes;
pub mod csv;
pub mod diagnostic;
pub mod nearest;
pub mod stack;
pub mod words;

use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

/// Identifies one text in a [`SourceMap`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct SourceId(pub u32);

/// A half-open byte range of one source text.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Span {
    /// The text that the range lies in.
    pub source: SourceId,
    /// First byte.
    pub start: u32,
    /// One past the last byte.
    pub end: u32,
}

impl Span {
    /// The range `start..end` of `source`.
    pub fn new(source: SourceId, start: usize, end: usize) -> Span {
        Span {
            source,
            start: start as u32,
            end: end as u32,
        }
    }

    /// The smallest span that covers both; `other` must lie in the same source, otherwise `self`.
    pub fn to(self, other: Span) -> Span {
        if self.source != other.source {
            return self;
        }
        Span {
            source: self.source,
            start: self.start.min(other.start),
            end: self.end.max(other.end),
        }
    }
}

/// One text with the name that diagnostics show for it.
#[derive(Clone, Debug)]
pub struct Source {
    /// Path or title as the user knows it.
    pub name: String,
    /// The text itself.
    pub text: Arc<str>,
    /// Where it was read from; `None` for the standard library and for texts given directly.
    pub path: Option<PathBuf>,
    /// The first byte of each line, found when a position is first asked for.
    lines: OnceLock<Lines>,
}

/// The lines of a text.
#[derive(Clone, Debug)]
struct Lines {
    starts: Vec<usize>,
    /// A letter is a byte then, and columns need no counting.
    is_ascii: bool,
}

impl Source {
    fn lines(&self) -> &Lines {
        self.lines.get_or_init(|| {
            let breaks = self.text.bytes().enumerate().filter(|entry| entry.1 == b'\n');
            Lines {
                starts: std::iter::once(0).chain(breaks.map(|entry| entry.0 + 1)).collect(),
                is_ascii: self.text.is_ascii(),
            }
        })
    }

    /// The bytes of the line that holds an offset, without its line break.
    pub fn line_at(&self, offset: u32) -> std::ops::Range<usize> {
        let starts = &self.lines().starts;
        let line = starts.partition_point(|start| *start <= offset as usize) - 1;
        let end = starts.get(line + 1).map_or(self.text.len(), |next| next - 1);
        starts[line]..end
    }
}

/// All texts of one compilation. Append-only, so that a [`Span`] stays valid.
#[derive(Clone, Debug, Default)]
pub struct SourceMap {
    sources: Vec<Source>,
}

impl SourceMap {
    /// Adds a text and returns its id.
    pub fn add(&mut self, name: impl Into<String>, text: impl Into<Arc<str>>, path: Option<PathBuf>) -> SourceId {
        let id = SourceId(self.sources.len() as u32);
        self.sources.push(Source {
            name: name.into(),
            text: text.into(),
            path,
            lines: OnceLock::new(),
        });
        id
    }

    /// The text behind an id.
    pub fn get(&self, id: SourceId) -> &Source {
        &self.sources[id.0 as usize]
    }

    /// The words that a span covers.
    pub fn slice(&self, span: Span) -> &str {
        let text = &self.get(span.source).text;
        text.get(span.start as usize..span.end as usize).unwrap_or("")
    }

    /// All texts with their ids, in the order they were added.
    pub fn iter(&self) -> impl Iterator<Item = (SourceId, &Source)> {
        self.sources
            .iter()
            .enumerate()
            .map(|(index, source)| (SourceId(index as u32), source))
    }

    /// One-based line and column (in characters) of a byte offset.
    pub fn line_column(&self, id: SourceId, offset: u32) -> (usize, usize) {
        let source = self.get(id);
        let text = &source.text;
        let mut offset = (offset as usize).min(text.len());
        while !text.is_char_boundary(offset) {
            offset -= 1;
        }
        let lines = source.lines();
        let line = lines.starts.partition_point(|start| *start <= offset);
        let before = &text[lines.starts[line - 1]..offset];
        let column = match lines.is_ascii {
            true => before.len(),
            false => before.chars().count(),
        };
        (line, column + 1)
    }
}

/// How columns are counted: in bytes of UTF-8, or in units of UTF-16 or UTF-32.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Encoding {
    /// Bytes.
    Utf8,
    /// Units of 16 bits, what editors count in unless they say otherwise.
    #[default]
    Utf16,
    /// Characters.
    Utf32,
}

impl Encoding {
    fn length(self, character: char) -> usize {
        match self {
            Encoding::Utf8 => character.len_utf8(),
            Encoding::Utf16 => character.len_utf16(),
            Encoding::Utf32 => 1,
        }
    }
}

impl Source {
    /// Line and column of a byte, both from 0. Beyond the end it is the end; within a character, its beginning.
    pub fn position(&self, offset: u32, encoding: Encoding) -> (u32, u32) {
        let mut offset = (offset as usize).min(self.text.len());
        while !self.text.is_char_boundary(offset) {
            offset -= 1;
        }
        let lines = self.lines();
        let line = lines.starts.partition_point(|start| *start <= offset) - 1;
        let before = &self.text[lines.starts[line]..offset];
        let column = match lines.is_ascii {
            true => before.len(),
            false => before.chars().map(|character| encoding.length(character)).sum(),
        };
        (line as u32, column as u32)
    }

    /// The byte at a line and a column, both from 0. A column beyond the line is its end, before the line break; a line beyond the
    /// text is the end of the text.
    pub fn offset(&self, (line, column): (u32, u32), encoding: Encoding) -> u32 {
        let Some(start) = self.lines().starts.get(line as usize) else {
            return self.text.len() as u32;
        };
        let whole = self.line_at(*start as u32);
        let words = self.text[whole.clone()].trim_end_matches('\r');
        let (mut at, mut counted) = (whole.start, 0);
        for character in words.chars() {
            counted += encoding.length(character);
            if counted > column as usize {
                break;
            }
            at += character.len_utf8();
        }
        at as u32
    }
}

/// The only way in which the compiler reads files.
pub trait Sources {
    /// Reads a whole text. `Err` holds a sentence for the user ("no such file", "not UTF-8 at byte 12").
    fn read(&self, path: &Path) -> Result<String, String>;

    /// The path with all links resolved; the path itself where there is nothing to resolve.
    fn resolve(&self, path: &Path) -> PathBuf {
        path.to_path_buf()
    }

    /// Folders beside the model's own from which files may be imported.
    fn included(&self) -> &[PathBuf] {
        &[]
    }
}

/// No files at all: every import of a path fails. For texts that stand alone.
#[derive(Clone, Copy, Debug, Default)]
pub struct NoFiles;

impl Sources for NoFiles {
    fn read(&self, path: &Path) -> Result<String, String> {
        Err(format!(
            "no file can be read here, so `{}` cannot be imported",
            path.display()
        ))
    }
}
