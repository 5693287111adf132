//! Reading models and writing results.

use crate::cli::interrupt;
use lgm_session::disk::{add_model, read_model};
use lgm_source::codes::Code;
use lgm_source::diagnostic::Diagnostic;
use lgm_source::{SourceId, SourceMap};
use std::fs::{self, File, OpenOptions};
use std::io::{self, BufWriter, ErrorKind, Write};
use std::path::{Path, PathBuf};

/// Reads a named input unconditionally, because a shell pipe also acts as a file.
pub(in crate::cli) fn read_named(path: &Path) -> Result<String, String> {
    lgm_files::as_text(lgm_files::read_named(path)?)
}

/// Reads FILE; `-` is standard input.
pub(in crate::cli) fn read_root(file: &Path, map: &mut SourceMap) -> Result<SourceId, Diagnostic> {
    match file == Path::new("-") {
        true => {
            let read = lgm_files::read_bytes(io::stdin().lock());
            add_model(file, read, ("standard input".to_string(), None), map)
        }
        false => read_model(file, map),
    }
}

/// The reason why a result was not written.
#[derive(Debug)]
pub(in crate::cli) enum WriteFault {
    /// The reader closed standard output, which is not an error.
    NobodyListens,
    /// Any other error.
    Failed(Diagnostic),
}

/// Writes a result to a file, or to standard output if no file is given.
///
/// A file appears under its final name only when it is complete: it is written next to its target and then renamed.
pub(in crate::cli) fn write_result(
    out: Option<&Path>,
    write: &mut dyn FnMut(&mut dyn Write) -> io::Result<()>,
) -> Result<(), WriteFault> {
    let (name, written) = match out.filter(|path| *path != Path::new("-")) {
        Some(path) => (format!("`{}`", path.display()), write_file(path, write)),
        None => {
            let mut stream = BufWriter::with_capacity(1 << 16, io::stdout().lock());
            let written = write(&mut stream).and_then(|()| stream.flush());
            if written
                .as_ref()
                .is_err_and(|error| error.kind() == ErrorKind::BrokenPipe)
            {
                // The remaining buffer must not be written again when the stream is dropped.
                let _ = stream.into_parts();
                return Err(WriteFault::NobodyListens);
            }
            ("standard output".to_string(), written)
        }
    };
    written.map_err(|error| {
        let reason = match error.kind() {
            ErrorKind::NotFound => "no such folder".to_string(),
            _ => lgm_files::sentence(&error),
        };
        let help = match error.kind() {
            ErrorKind::NotFound => "create the folder first, or write the result to an existing one",
            ErrorKind::IsADirectory => "name a file inside this folder",
            ErrorKind::StorageFull => "free disk space, or write the result to another disk",
            _ => "write the result to a folder with write permission",
        };
        WriteFault::Failed(Diagnostic::error(Code::LGM0908, format!("cannot write {name}: {reason}")).help(help))
    })
}

fn write_file(path: &Path, write: &mut dyn FnMut(&mut dyn Write) -> io::Result<()>) -> io::Result<()> {
    let place = fs::metadata(path);
    if let Ok(place) = &place
        && !place.is_file()
    {
        if place.is_dir() {
            return Err(io::Error::from(ErrorKind::IsADirectory));
        }
        // A device or a pipe cannot be replaced by a file with its name.
        let mut stream = BufWriter::new(OpenOptions::new().write(true).open(path)?);
        return write(&mut stream).and_then(|()| stream.flush());
    }
    // Symbolic links are followed, so that the target file is replaced and not the link.
    let target = fs::canonicalize(path).unwrap_or_else(|_| path.to_path_buf());
    let (temporary, file) = create_beside(&target)?;
    let mut stream = BufWriter::new(file);
    let written = write(&mut stream)
        .and_then(|()| stream.flush())
        .and_then(|()| match place {
            Ok(place) => fs::set_permissions(&temporary, place.permissions()),
            Err(_) => Ok(()),
        })
        .and_then(|()| fs::rename(&temporary, &target));
    if written.is_err() {
        let _ = fs::remove_file(&temporary);
    }
    interrupt::finished(&temporary);
    written
}

/// Creates a new file in the same folder, under an unused name.
fn create_beside(target: &Path) -> io::Result<(PathBuf, File)> {
    let name = target.file_name().ok_or(ErrorKind::InvalidInput)?.to_string_lossy();
    let mut attempt = 0;
    loop {
        let temporary = target.with_file_name(format!(".{name}.{}-{attempt}.part", std::process::id()));
        let open = || OpenOptions::new().write(true).create_new(true).open(&temporary);
        match interrupt::create(&temporary, open) {
            Err(error) if error.kind() == ErrorKind::AlreadyExists && attempt < 100 => attempt += 1,
            opened => return opened.map(|file| (temporary, file)),
        }
    }
}

/// Writes a text to a file.
pub(in crate::cli) fn write_text(path: &Path, text: &str) -> Result<(), WriteFault> {
    write_result(Some(path), &mut |stream| stream.write_all(text.as_bytes()))
}
