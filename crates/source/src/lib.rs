//! Source texts, their positions, and the trait through which all files are read.
//!
//! No stage of the compiler accesses the disk: the command line and the language server pass in an implementation of
//! [`Sources`], tests pass in another.

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
    /// The text that contains the range.
    pub source: SourceId,
    /// First byte.
    pub start: u32,
    /// One past the last byte.
    pub end: u32,
}

impl Span {
    /// Returns the range `start..end` of `source`.
    pub fn new(source: SourceId, start: usize, end: usize) -> Span {
        Span {
            source,
            start: start as u32,
            end: end as u32,
        }
    }

    /// Returns the smallest span that covers both; returns `self` if `other` is in another source.
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
    /// The path or title shown to the user.
    pub name: String,
    /// The text itself.
    pub text: Arc<str>,
    /// Its file; `None` for the standard library and for texts given directly.
    pub path: Option<PathBuf>,
    /// The first byte of each line, found when a position is first requested.
    lines: OnceLock<Lines>,
}

/// The lines of a text.
#[derive(Clone, Debug)]
struct Lines {
    starts: Vec<usize>,
    /// True if every character is one byte, so that columns need no counting.
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

    /// Returns the bytes of the line that holds an offset, without its line break.
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

    /// Returns the text with this id.
    pub fn get(&self, id: SourceId) -> &Source {
        &self.sources[id.0 as usize]
    }

    /// Returns the text that a span covers.
    pub fn slice(&self, span: Span) -> &str {
        let text = &self.get(span.source).text;
        text.get(span.start as usize..span.end as usize).unwrap_or("")
    }

    /// Returns all texts with their ids, in the order they were added.
    pub fn iter(&self) -> impl Iterator<Item = (SourceId, &Source)> {
        self.sources
            .iter()
            .enumerate()
            .map(|(index, source)| (SourceId(index as u32), source))
    }

    /// Returns the one-based line and column (in characters) of a byte offset.
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

/// The encoding of columns: bytes of UTF-8, or units of UTF-16 or UTF-32.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Encoding {
    /// Bytes.
    Utf8,
    /// Units of 16 bits, the default of editors.
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
    /// Returns line and column of a byte, both from 0. An offset beyond the end means the end; an offset within a character, its beginning.
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

    /// Returns the byte at a line and a column, both from 0. A column beyond the line means the end of the line, before the line break; a
    /// line beyond the text means the end of the text.
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

/// The only interface through which the compiler reads files.
pub trait Sources {
    /// Reads a whole text. `Err` contains a message for the user ("no such file", "not UTF-8 at byte 12").
    fn read(&self, path: &Path) -> Result<String, String>;

    /// Returns the path with all links resolved, by default the path itself.
    fn resolve(&self, path: &Path) -> PathBuf {
        path.to_path_buf()
    }

    /// Returns the folders for imports in addition to the model's folder.
    fn included(&self) -> &[PathBuf] {
        &[]
    }
}

/// No files: every import of a path fails. For self-contained texts.
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
