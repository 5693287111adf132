//! Folders and archives of results, which appear under their final names only when they are complete.

use super::disk::{WriteFault, write_result};
use crate::cli::interrupt;
use lgm_emit::code::{CodeFile, archive};
use lgm_files::sentence;
use lgm_source::codes::Code;
use lgm_source::diagnostic::Diagnostic;
use std::fs::{self, File};
use std::io::{self, ErrorKind, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};

/// Marker in the README of every package: only folders with this marker are replaced.
const MARK: &str = "Made by lgm ";

/// Writes files as one archive. An existing archive is replaced if `force` is set and lgm created it.
pub(in crate::cli) fn write_archive(path: &Path, files: &[CodeFile], force: bool) -> Result<(), Diagnostic> {
    if fs::symlink_metadata(path).is_ok() {
        refuse(path, force, is_our_archive(path), "archive")?;
    }
    // The mark is at the end of the archive, where it can be found without reading the rest.
    let bytes = archive(files, &format!("{MARK}{}", env!("CARGO_PKG_VERSION")));
    match write_result(Some(path), &mut |out| out.write_all(&bytes)) {
        Ok(()) | Err(WriteFault::NobodyListens) => Ok(()),
        Err(WriteFault::Failed(diagnostic)) => Err(diagnostic),
    }
}

/// Refuses to replace existing files, unless replacement was requested and lgm created them.
fn refuse(path: &Path, force: bool, is_ours: bool, what: &str) -> Result<(), Diagnostic> {
    let shown = path.display();
    if !force {
        let message = format!("`{shown}` already exists");
        return Err(Diagnostic::error(Code::LGM0928, message)
            .help(format!("name another {what}, or replace this one with `--force`")));
    }
    if !is_ours {
        let message = format!("`{shown}` is not a {what} created by lgm");
        return Err(Diagnostic::error(Code::LGM0928, message).help(format!(
            "lgm overwrites only files that it created; choose another {what} or delete this one"
        )));
    }
    Ok(())
}

/// Writes files into a new folder. An existing folder is replaced if `force` is set and lgm created it.
///
/// The files are written into an adjacent folder, which is renamed when it is complete. If an error occurs, no partial results remain.
pub(in crate::cli) fn write_folder(folder: &Path, files: &[CodeFile], force: bool) -> Result<(), Diagnostic> {
    let exists = fs::symlink_metadata(folder).is_ok();
    if exists {
        refuse(folder, force, is_ours(folder), "folder")?;
    }
    replace(folder, files, exists).map_err(|error| {
        let reason = match error.kind() {
            ErrorKind::NotFound => "the folder to create it in does not exist".to_string(),
            _ => sentence(&error),
        };
        Diagnostic::error(Code::LGM0908, format!("cannot write `{}`: {reason}", folder.display()))
            .help("write the result to a folder with write permission")
    })
}

fn is_ours(folder: &Path) -> bool {
    let pages = ["README.md", "documentation/index.html"];
    let says_so = |page| fs::read_to_string(folder.join(page)).is_ok_and(|text| text.contains(MARK));
    pages.into_iter().any(says_so)
}

/// Returns true if the comment at the end of an archive shows that lgm created it.
fn is_our_archive(path: &Path) -> bool {
    let read = || -> io::Result<Vec<u8>> {
        let mut file = File::open(path)?;
        let length = file.metadata()?.len();
        let mut end = Vec::new();
        file.seek(SeekFrom::Start(length.saturating_sub(64)))?;
        file.read_to_end(&mut end)?;
        Ok(end)
    };
    read().is_ok_and(|end| end.windows(MARK.len()).any(|part| part == MARK.as_bytes()))
}

fn replace(folder: &Path, files: &[CodeFile], exists: bool) -> io::Result<()> {
    let new = make_beside(folder, "part")?;
    let written = fill(&new, files).and_then(|()| match exists {
        false => fs::rename(&new, folder),
        true => {
            let old = make_beside(folder, "old")?;
            // An interruption never removes existing files.
            interrupt::finished(&old);
            // The rename replaces the empty folder with that name in one step.
            fs::rename(folder, &old)?;
            fs::rename(&new, folder).inspect_err(|_| {
                // The old files are restored.
                let _ = fs::rename(&old, folder);
            })?;
            // The new folder is in place, so a failed removal is harmless.
            let _ = fs::remove_dir_all(&old);
            Ok(())
        }
    });
    if written.is_err() {
        let _ = fs::remove_dir_all(&new);
    }
    interrupt::finished(&new);
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

/// Creates a new folder in the same parent folder, under an unused name.
fn make_beside(folder: &Path, ending: &str) -> io::Result<PathBuf> {
    // `a/..` and similar paths have no file name.
    let name = folder.file_name().ok_or(ErrorKind::InvalidInput)?.to_string_lossy();
    let mut attempt = 0;
    loop {
        let path = folder.with_file_name(format!(".{name}.{}-{attempt}.{ending}", std::process::id()));
        match interrupt::create(&path, || fs::create_dir(&path)) {
            Err(error) if error.kind() == ErrorKind::AlreadyExists && attempt < 100 => attempt += 1,
            made => return made.map(|()| path),
        }
    }
}
