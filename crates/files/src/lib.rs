//! Reads texts from local files, for all front ends that read models there: the command line and the language server.
//!
//! Errors are phrases for the user that complete the message "cannot read `FILE`: ".

use std::fs::{self, File};
use std::io::{self, ErrorKind, Read};
use std::path::{Path, PathBuf};

/// The maximum length of a model in bytes; an endless device is rejected before it fills the memory.
const LONGEST_TEXT: u64 = 64 << 20;

/// Reads a file that another text refers to.
///
/// # Errors
///
/// If the file does not exist, is not a regular file (a pipe could block its reader forever, and a device might never end), is longer than
/// 64 MiB, or is not UTF-8.
pub fn read_text(path: &Path) -> Result<String, String> {
    let place = fs::metadata(path).map_err(|error| sentence(&error))?;
    if place.is_dir() {
        return Err("is a folder, not a file".to_string());
    }
    if !place.is_file() {
        return Err("is a device, a pipe or a socket, not a file".to_string());
    }
    as_text(read_bytes(File::open(path).map_err(|error| sentence(&error))?)?)
}

/// Reads a file named by the user, including pipes of the shell.
///
/// # Errors
///
/// If the file cannot be opened, is a folder, or is longer than 64 MiB.
pub fn read_named(path: &Path) -> Result<Vec<u8>, String> {
    if path.is_dir() {
        return Err("is a folder, not a file".to_string());
    }
    read_bytes(File::open(path).map_err(|error| sentence(&error))?)
}

/// Reads to the end of the input.
///
/// # Errors
///
/// If reading fails, or does not end within 64 MiB.
pub fn read_bytes(from: impl Read) -> Result<Vec<u8>, String> {
    let mut bytes = Vec::new();
    from.take(LONGEST_TEXT + 1)
        .read_to_end(&mut bytes)
        .map_err(|error| sentence(&error))?;
    if bytes.len() as u64 > LONGEST_TEXT {
        return Err("more than 64 MiB of text".to_string());
    }
    Ok(bytes)
}

/// Converts the bytes to text.
///
/// # Errors
///
/// If the bytes are not UTF-8: the first invalid byte, and its line.
pub fn as_text(bytes: Vec<u8>) -> Result<String, String> {
    String::from_utf8(bytes).map_err(|error| {
        let at = error.utf8_error().valid_up_to();
        let line = error.as_bytes()[..at].iter().filter(|byte| **byte == b'\n').count() + 1;
        format!("not UTF-8 at byte {at}, in line {line}")
    })
}

/// Returns the path with links resolved. For a nonexistent path, the nearest existing folder is resolved.
pub fn resolve(path: &Path) -> PathBuf {
    let here = Path::new(".");
    let path = if path.as_os_str().is_empty() { here } else { path };
    let there = path.ancestors().find_map(|folder| {
        let folder = if folder.as_os_str().is_empty() { here } else { folder };
        let rest = path.strip_prefix(folder).unwrap_or(path);
        Some(fs::canonicalize(folder).ok()?.join(rest))
    });
    // Joining an empty rest leaves a slash at the end of a file.
    there.unwrap_or_else(|| path.to_path_buf()).components().collect()
}

/// Formats the error without the error number of the operating system.
pub fn sentence(error: &io::Error) -> String {
    match error.kind() {
        ErrorKind::NotFound => "no such file".to_string(),
        ErrorKind::PermissionDenied => "permission denied".to_string(),
        ErrorKind::IsADirectory => "is a folder, not a file".to_string(),
        _ => error.to_string(),
    }
}
