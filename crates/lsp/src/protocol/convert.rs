//! Conversion of locations between the compiler and the protocol.

use crate::held::{self, Hunk};
use crate::uri;
use crate::world::documents::World;
use gen_lsp_types::{
    DocumentChange, Edit as AnyEdit, Location, MarkupContent, MarkupKind, OptionalVersionedTextDocumentIdentifier,
    Position, Range, TextDocumentEdit, TextDocumentIdentifier, TextEdit, Uri, WorkspaceEdit,
};
use lgm_ide::{Edit, Snapshot};
use lgm_source::{Encoding, SourceId, Span};
use std::collections::BTreeMap;

/// The texts of one snapshot from the editor's perspective.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Places<'a> {
    /// The open texts.
    pub world: &'a World,
    /// The URI of the root text.
    pub uri: &'a str,
    /// The snapshot.
    pub snapshot: &'a Snapshot,
    /// The differences of its root text from the one in the editor.
    pub hunks: &'a [Hunk],
}

impl<'a> Places<'a> {
    /// Returns the texts of a snapshot of the editor's current contents.
    pub(crate) fn of(world: &'a World, uri: &'a str, snapshot: &'a Snapshot) -> Places<'a> {
        let hunks = &[];
        Places {
            world,
            uri,
            snapshot,
            hunks,
        }
    }

    pub(crate) fn position(&self, source: SourceId, offset: u32) -> Position {
        let is_root = source == self.snapshot.root();
        let source = self.snapshot.map().get(source);
        let (line, character) = source.position(offset, self.world.encoding);
        // A replaced line maps to the beginning of its hunk.
        let hunk = || self.hunks.iter().find(|hunk| hunk.old.contains(&line));
        match is_root {
            true => Position {
                line: held::now(self.hunks, line)
                    .or_else(|| hunk().map(|hunk| hunk.new.start))
                    .unwrap_or(line),
                character,
            },
            false => Position { line, character },
        }
    }

    /// Returns true if a line of the editor is also in the root text.
    pub(crate) fn has_line(&self, line: u32) -> bool {
        held::before(self.hunks, line).is_some()
    }

    /// Returns true if a location is on a replaced line.
    pub(crate) fn is_replaced(&self, span: Span) -> bool {
        let line = |at| self.snapshot.map().get(span.source).position(at, Encoding::Utf8).0;
        span.source == self.snapshot.root()
            && !self.hunks.is_empty()
            && (line(span.start)..=line(span.end)).any(|line| held::now(self.hunks, line).is_none())
    }

    pub(crate) fn range(&self, span: Span) -> Range {
        Range {
            start: self.position(span.source, span.start),
            end: self.position(span.source, span.end),
        }
    }

    /// Returns the byte of the root text at a position.
    pub(crate) fn offset(&self, at: Position) -> u32 {
        let root = self.snapshot.map().get(self.snapshot.root());
        // Replacing lines map to the beginning of the replaced lines.
        let hunk = || self.hunks.iter().find(|hunk| hunk.new.contains(&at.line));
        match (held::before(self.hunks, at.line), hunk()) {
            (Some(line), _) => root.offset((line, at.character), self.world.encoding),
            (None, Some(hunk)) => root.offset((hunk.old.start, 0), self.world.encoding),
            (None, None) => root.text.len() as u32,
        }
    }

    /// Returns the part of the root text in a range.
    pub(crate) fn span(&self, range: Range) -> Span {
        let (start, end) = (self.offset(range.start), self.offset(range.end));
        let source = self.snapshot.root();
        Span {
            source,
            start: start.min(end),
            end: start.max(end),
        }
    }

    /// Returns true if a text belongs to the standard library, which has no file.
    pub(crate) fn is_library(&self, source: SourceId) -> bool {
        source != self.snapshot.root() && self.snapshot.map().get(source).path.is_none()
    }

    /// Returns the URI of a text in the editor.
    pub(crate) fn uri_of(&self, source: SourceId) -> String {
        if source == self.snapshot.root() {
            return self.uri.to_string();
        }
        let source = self.snapshot.map().get(source);
        match &source.path {
            None => format!("{}{}", uri::LIBRARY, source.name),
            Some(path) => match self.world.opened(&lgm_files::resolve(path)) {
                Some((open, _)) => open.to_string(),
                None => uri::of_path(path),
            },
        }
    }

    /// Returns the text with a URI, if the snapshot has read the text.
    pub(crate) fn source_of(&self, uri: &str) -> Option<SourceId> {
        if uri == self.uri {
            return Some(self.snapshot.root());
        }
        let mut sources = self.snapshot.map().iter().map(|entry| entry.0);
        sources.find(|source| !self.is_library(*source) && self.uri_of(*source) == uri)
    }

    pub(crate) fn location(&self, span: Span) -> Location {
        Location {
            uri: Uri(self.uri_of(span.source)),
            range: self.range(span),
        }
    }

    /// Returns changes in the form of the protocol, each with the URI of its text; an error if a text belongs to the standard library.
    pub(crate) fn edits(&self, edits: &[Edit]) -> Result<Vec<(String, TextEdit)>, String> {
        let one = |edit: &Edit| {
            if self.is_library(edit.span.source) {
                let name = &self.snapshot.map().get(edit.span.source).name;
                return Err(format!(
                    "this would change `{name}`, which belongs to the standard library"
                ));
            }
            if self.is_replaced(edit.span) {
                return Err("this would change an incomplete line".to_string());
            }
            let new_text = edit.text.clone();
            let range = self.range(edit.span);
            Ok((self.uri_of(edit.span.source), TextEdit { range, new_text }))
        };
        edits.iter().map(one).collect()
    }
}

/// Combines changes of several texts; with versions if the editor supports them, so that no change applies to a modified text.
pub(crate) fn workspace_edit(world: &World, edits: Vec<(String, TextEdit)>, versioned: bool) -> WorkspaceEdit {
    let mut by_text: BTreeMap<String, Vec<TextEdit>> = BTreeMap::new();
    for (uri, edit) in edits {
        by_text.entry(uri).or_default().push(edit);
    }
    if !versioned {
        return WorkspaceEdit {
            changes: Some(by_text.into_iter().map(|(uri, edits)| (Uri(uri), edits)).collect()),
            ..WorkspaceEdit::default()
        };
    }
    let of_text = |(uri, edits): (String, Vec<TextEdit>)| {
        let version = world.documents.get(&uri).map(|document| document.version);
        DocumentChange::TextDocumentEdit(TextDocumentEdit {
            text_document: OptionalVersionedTextDocumentIdentifier {
                version,
                text_document_identifier: TextDocumentIdentifier { uri: Uri(uri) },
            },
            edits: edits.into_iter().map(AnyEdit::TextEdit).collect(),
        })
    };
    WorkspaceEdit {
        document_changes: Some(by_text.into_iter().map(of_text).collect()),
        ..WorkspaceEdit::default()
    }
}

pub(crate) fn markdown(value: String) -> MarkupContent {
    MarkupContent {
        kind: MarkupKind::Markdown,
        value,
    }
}
