//! Folders of results: there under their names when they are complete, and not before.

use super::disk::sentence;
use crate::diagnostic::Diagnostic;
use crate::emit::code::CodeFile;
use std::fs;
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};

/// What the README of every package says: only such folders are replaced.
const MARK: &str = "Made by lgm ";

/// Writes files into a new folder. One that is there is replaced where `force` says so and this program made it.
///
/// The files are written into a folder beside it, which is renamed when all are there; what fails leaves nothing behind.
pub(super) fn write_folder(folder: &Path, files: &[CodeFile], force: bool) -> Result<(), Diagnostic> {
    let exists = fs::symlink_metadata(folder).is_ok();
    if exists && !force {
        let message = format!("`{}` is there already", folder.display());
        return Err(
            Diagnostic::error("LGM0928", message).help("name another folder, or replace this one with `--force`")
        );
    }
    if exists && !is_ours(folder) {
        let message = format!("`{}` is no folder that `lgm emit` has made", folder.display());
        return Err(Diagnostic::error("LGM0928", message)
            .help("nothing else is replaced, so that nothing is lost; name another folder or delete this one"));
    }
    replace(folder, files, exists).map_err(|error| {
        let reason = match error.kind() {
            ErrorKind::NotFound => "no such folder to make it in".to_string(),
            _ => sentence(&error),
        };
        Diagnostic::error("LGM0908", format!("cannot write `{}`: {reason}", folder.display()))
            .help("write the result to a place where you may write")
    })
}

fn is_ours(folder: &Path) -> bool {
    fs::read_to_string(folder.join("README.md")).is_ok_and(|text| text.contains(MARK))
}

fn replace(folder: &Path, files: &[CodeFile], exists: bool) -> io::Result<()> {
    let new = make_beside(folder, "part")?;
    let written = fill(&new, files).and_then(|()| match exists {
        false => fs::rename(&new, folder),
        true => {
            let old = make_beside(folder, "old")?;
            // Over the empty folder of that name, in one step.
            fs::rename(folder, &old)?;
            fs::rename(&new, folder).inspect_err(|_| {
                // What was there comes back.
                let _ = fs::rename(&old, folder);
            })?;
            // The result is there; what cannot be removed is only left over.
            let _ = fs::remove_dir_all(&old);
            Ok(())
        }
    });
    if written.is_err() {
        let _ = fs::remove_dir_all(&new);
    }
    written
}

fn fill(folder: &Path, files: &[CodeFile]) -> io::Result<()> {
    for file in files {
        let path = folder.join(&file.path);
        if let Some(parent) = path.parent() {
            fs::create_dir_all(parent)?;
        }
        fs::write(path, &file.contents)?;
    }
    Ok(())
}

/// A new folder in the same place, under a name that nothing else has.
fn make_beside(folder: &Path, ending: &str) -> io::Result<PathBuf> {
    // `a/..` and the like have no name of their own.
    let name = folder.file_name().ok_or(ErrorKind::InvalidInput)?.to_string_lossy();
    let mut attempt = 0;
    loop {
        let path = folder.with_file_name(format!(".{name}.{}-{attempt}.{ending}", std::process::id()));
        match fs::create_dir(&path) {
            Err(error) if error.kind() == ErrorKind::AlreadyExists && attempt < 100 => attempt += 1,
            made => return made.map(|()| path),
        }
    }
}
