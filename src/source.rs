//! Source texts, positions in them, and the one trait through which files are read.
//!
//! No other room touches the disk: the command line hands in an implementation of [`Sources`],
//! tests and the language server hand in another.

use std::path::{Path, PathBuf};
use std::sync::Arc;

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
        let text = &self.get(id).text;
        let mut offset = (offset as usize).min(text.len());
        while !text.is_char_boundary(offset) {
            offset -= 1;
        }
        let before = &text[..offset];
        let line = before.bytes().filter(|byte| *byte == b'\n').count() + 1;
        let start = before.rfind('\n').map_or(0, |at| at + 1);
        (line, before[start..].chars().count() + 1)
    }
}

/// The only way in which the compiler reads files.
pub trait Sources {
    /// Reads a whole text. `Err` holds a sentence for the user ("no such file", "not UTF-8 at byte 12").
    fn read(&self, path: &Path) -> Result<String, String>;
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
