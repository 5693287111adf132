//! The stages of one text, made once when an answer first needs them.

use lgm_compilation::{Compilation, Request};
use lgm_elaborate::analysis::Analysis;
use lgm_equations::Options;
use lgm_source::cancellation::Cancellation;
use lgm_source::diagnostic::Diagnostic;
use lgm_source::{SourceId, SourceMap, Sources};
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

/// One root text as it is now, with all that it imports.
#[derive(Debug)]
pub struct Snapshot {
    compilation: Compilation,
    analysis: OnceLock<Analysis>,
    diagnostics: OnceLock<Vec<Diagnostic>>,
}

impl Snapshot {
    /// Reads a root text and what it imports. The path, if it has one, says where its imports lie.
    pub fn new(
        files: &dyn Sources,
        path: Option<PathBuf>,
        name: &str,
        text: &str,
        cancellation: Cancellation,
    ) -> Snapshot {
        let mut map = SourceMap::default();
        let root = map.add(name, text, path);
        let request = Request {
            // As `lgm check`: numbers find every singular value, in time in proportion to the model.
            equations: Options {
                symbolic: false,
                ..Options::default()
            },
            every_model: true,
            cancellation,
            ..Request::default()
        };
        Snapshot {
            compilation: Compilation::new(files, map, root, request),
            analysis: OnceLock::new(),
            diagnostics: OnceLock::new(),
        }
    }

    /// What each name stands for.
    pub(crate) fn analysis(&self) -> &Analysis {
        self.analysis.get_or_init(|| Analysis::of(self.compilation.program()))
    }

    /// Everything that was found on the way to the equations.
    pub(crate) fn diagnostics(&self) -> &[Diagnostic] {
        self.diagnostics.get_or_init(|| self.compilation.diagnostics())
    }

    /// All texts: the root, what it imports, and the standard library, whose texts have no path.
    pub fn map(&self) -> &SourceMap {
        self.compilation.map()
    }

    /// The root text.
    pub fn root(&self) -> SourceId {
        self.compilation.root()
    }

    /// The text that was read from a path.
    pub fn source_of(&self, path: &Path) -> Option<SourceId> {
        let is_it = |entry: &(SourceId, &lgm_source::Source)| entry.1.path.as_deref() == Some(path);
        self.map().iter().find(is_it).map(|entry| entry.0)
    }

    /// What the answers are made from, for those who need a stage of it.
    pub fn compilation(&self) -> &Compilation {
        &self.compilation
    }
}
