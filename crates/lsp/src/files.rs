//! Files as imports see them: open texts first, then the disk, and nothing outside of the folders that are open in the editor.

use crate::documents::World;
use crate::uri::resolve;
use lgm_source::Sources;
use std::cell::RefCell;
use std::fs::{self, File};
use std::io::{self, ErrorKind, Read};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// No text is longer than this, as on the command line.
const LONGEST_TEXT: u64 = 64 << 20;

/// A file that was asked for, links resolved, with its text if it is open.
pub(crate) type ReadFile = (PathBuf, Option<Arc<str>>);

/// The files that one root text may read; keeps a list of those that it did.
#[derive(Debug)]
pub(crate) struct Files<'a> {
    world: &'a World,
    /// Folders, links resolved, below which files may be read.
    allowed: Vec<PathBuf>,
    reads: RefCell<Vec<ReadFile>>,
}

impl Files<'_> {
    /// What the text at a path may read: what lies in the folders of the editor, or in its own if none is open.
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

    /// What was read.
    pub(crate) fn into_reads(self) -> Vec<ReadFile> {
        self.reads.into_inner()
    }
}

impl Sources for Files<'_> {
    fn read(&self, path: &Path) -> Result<String, String> {
        let path = resolve(path);
        if !self.allowed.iter().any(|folder| path.starts_with(folder)) {
            return Err("lies outside of the folders that are open in the editor".to_string());
        }
        let text = self.world.opened(&path).map(|entry| entry.1.text.clone());
        self.reads.borrow_mut().push((path.clone(), text.clone()));
        match text {
            Some(text) => Ok(text.to_string()),
            None => from_disk(&path),
        }
    }

    fn resolve(&self, path: &Path) -> PathBuf {
        resolve(path)
    }
}

fn from_disk(path: &Path) -> Result<String, String> {
    let place = fs::metadata(path).map_err(|error| sentence(&error))?;
    if place.is_dir() {
        return Err("is a folder, not a file".to_string());
    }
    // A pipe could keep the server waiting for ever, and a device never end.
    if !place.is_file() {
        return Err("is a device, a pipe or a socket, not a file".to_string());
    }
    let mut bytes = Vec::new();
    let file = File::open(path).map_err(|error| sentence(&error))?;
    file.take(LONGEST_TEXT + 1)
        .read_to_end(&mut bytes)
        .map_err(|error| sentence(&error))?;
    if bytes.len() as u64 > LONGEST_TEXT {
        return Err("more than 64 MiB of text".to_string());
    }
    String::from_utf8(bytes).map_err(|error| {
        let at = error.utf8_error().valid_up_to();
        let line = error.as_bytes()[..at].iter().filter(|byte| **byte == b'\n').count() + 1;
        format!("not UTF-8 at byte {at}, in line {line}")
    })
}

/// What went wrong, without the number that the system gives it.
fn sentence(error: &io::Error) -> String {
    match error.kind() {
        ErrorKind::NotFound => "no such file".to_string(),
        ErrorKind::PermissionDenied => "permission denied".to_string(),
        _ => error.to_string(),
    }
}
