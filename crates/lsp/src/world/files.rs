//! Files for imports: open texts have priority over the disk, and no file outside of the folders open in the editor is read.

use crate::world::documents::World;
use lgm_files::resolve;
use lgm_source::Sources;
use std::cell::RefCell;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// A file that was requested, links resolved, with its text if it is open.
pub(crate) type ReadFile = (PathBuf, Option<Arc<str>>);

/// The files that one root text may read, with a list of the files read so far.
#[derive(Debug)]
pub(crate) struct Files<'a> {
    world: &'a World,
    /// The folders below which files may be read, links resolved.
    allowed: Vec<PathBuf>,
    reads: RefCell<Vec<ReadFile>>,
}

impl Files<'_> {
    /// Returns the files that the text at a path may import: those in the folders of the editor or, if none is open, in its own folder.
    pub(crate) fn new<'a>(world: &'a World, path: Option<&Path>) -> Files<'a> {
        let own = path.and_then(Path::parent).map(resolve);
        let allowed = match world.folders.is_empty() {
            true => own.into_iter().collect(),
            false => world.folders.clone(),
        };
        Files {
            world,
            allowed,
            reads: RefCell::default(),
        }
    }

    /// Returns the folders below which files may be read, links resolved.
    pub(crate) fn allowed(&self) -> &[PathBuf] {
        &self.allowed
    }

    /// Returns the list of files read.
    pub(crate) fn into_reads(self) -> Vec<ReadFile> {
        self.reads.into_inner()
    }
}

impl Sources for Files<'_> {
    fn read(&self, path: &Path) -> Result<String, String> {
        let path = resolve(path);
        let mut open = self.allowed.iter().chain(&self.world.includes);
        if !open.any(|folder| path.starts_with(folder)) {
            return Err("is outside the folders that are open in the editor".to_string());
        }
        let text = self.world.opened(&path).map(|entry| entry.1.text.clone());
        self.reads.borrow_mut().push((path.clone(), text.clone()));
        match text {
            Some(text) => Ok(text.to_string()),
            None => lgm_files::read_text(&path),
        }
    }

    fn included(&self) -> &[PathBuf] {
        &self.world.includes
    }

    fn resolve(&self, path: &Path) -> PathBuf {
        resolve(path)
    }
}
