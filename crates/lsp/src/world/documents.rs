//! The open texts of an editor, with their contents there.

use crate::uri;
use crate::world::settings::Settings;
use gen_lsp_types::TextDocumentContentChangeEvent as Change;
use lgm_source::{Encoding, SourceMap};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// One open text.
#[derive(Clone, Debug)]
pub(crate) struct Document {
    /// Its path, if it is a file.
    pub path: Option<PathBuf>,
    /// Its path with links resolved.
    pub resolved: Option<PathBuf>,
    /// Its version number, as counted by the editor.
    pub version: i32,
    /// The text.
    pub text: Arc<str>,
    /// True if it is unchanged since it was opened or saved.
    pub is_saved: bool,
}

/// Everything that an answer depends on. Immutable: an edit creates a new one, which shares unchanged parts.
#[derive(Clone, Debug, Default)]
pub(crate) struct World {
    /// Open texts by their URIs.
    pub documents: BTreeMap<String, Document>,
    /// The folders that are open in the editor, links resolved.
    pub folders: Vec<PathBuf>,
    /// True if the editor shows the related locations of a diagnostic.
    pub shows_related: bool,
    /// The column encoding of the editor.
    pub encoding: Encoding,
    /// The number of times that files may have changed on disk.
    pub disk: u64,
    /// The settings of the user.
    pub settings: Settings,
    /// Folders of shared parts, links resolved, which every model may import from.
    pub includes: Vec<PathBuf>,
}

impl World {
    /// Returns the URI and the text of an open file, by its path with links resolved.
    pub(crate) fn opened(&self, resolved: &Path) -> Option<(&str, &Document)> {
        let is_it = |entry: &(&String, &Document)| entry.1.resolved.as_deref() == Some(resolved);
        let found = self.documents.iter().find(is_it)?;
        Some((found.0, found.1))
    }

    /// Applies the folders of the setting `include`; without it they stay unchanged. If they change, every text is read again.
    pub(crate) fn include(&mut self, given: &serde_json::Value) {
        let Some(list) = given.get("include").and_then(serde_json::Value::as_array) else {
            return;
        };
        let folders = list.iter().filter_map(serde_json::Value::as_str);
        let folders: Vec<PathBuf> = folders.map(|folder| lgm_files::resolve(Path::new(folder))).collect();
        if folders != self.includes {
            self.includes = folders;
            self.disk += 1;
        }
    }

    /// Opens a text.
    pub(crate) fn open(&mut self, uri: &str, version: i32, text: String) {
        let path = uri::to_path(uri);
        let document = Document {
            resolved: path.as_deref().map(lgm_files::resolve),
            path,
            version,
            text: text.into(),
            is_saved: true,
        };
        self.documents.insert(uri.to_string(), document);
    }

    /// Records that an open text was saved.
    pub(crate) fn save(&mut self, uri: &str) {
        if let Some(document) = self.documents.get_mut(uri) {
            document.is_saved = true;
        }
    }

    /// Changes an open text; returns false if there is none.
    pub(crate) fn change(&mut self, uri: &str, version: i32, changes: Vec<Change>) -> bool {
        let Some(document) = self.documents.get_mut(uri) else {
            return false;
        };
        document.version = version;
        document.is_saved = false;
        for change in changes {
            document.text = changed(&document.text, change, self.encoding);
        }
        true
    }
}

/// Returns the text after one change.
fn changed(text: &Arc<str>, change: Change, encoding: Encoding) -> Arc<str> {
    match change {
        Change::TextDocumentContentChangeWholeDocument(whole) => whole.text.into(),
        Change::TextDocumentContentChangePartial(part) => {
            let mut map = SourceMap::default();
            let source = map.add("", text.clone(), None);
            let source = map.get(source);
            let offset = |at: gen_lsp_types::Position| source.offset((at.line, at.character), encoding) as usize;
            let (start, end) = (offset(part.range.start), offset(part.range.end));
            [&text[..start.min(end)], &part.text, &text[end.max(start)..]]
                .concat()
                .into()
        }
    }
}
