//! Reading models and writing results.

use crate::cli::interrupt;
use lgm_source::codes::Code;
use lgm_source::diagnostic::Diagnostic;
use lgm_source::{SourceId, SourceMap, Sources, Span};
use std::fs::{self, File, OpenOptions};
use std::io::{self, BufWriter, ErrorKind, Write};
use std::path::{Path, PathBuf};

/// The files of this machine.
#[derive(Clone, Debug, Default)]
pub(in crate::cli) struct Disk {
    /// Folders named by `--include`.
    pub include: Vec<PathBuf>,
}

impl Sources for Disk {
    fn read(&self, path: &Path) -> Result<String, String> {
        lgm_files::read_text(path)
    }

    fn resolve(&self, path: &Path) -> PathBuf {
        lgm_files::resolve(path)
    }

    fn included(&self) -> &[PathBuf] {
        &self.include
    }
}

/// What the user names is read whatever it is: a pipe of the shell is a file to a person.
pub(in crate::cli) fn read_named(path: &Path) -> Result<String, String> {
    lgm_files::as_text(lgm_files::read_named(path)?)
}

/// Reads FILE, `-` being standard input.
///
/// A file that is not UTF-8 is in the map all the same, so that the diagnostic can show where.
pub(in crate::cli) fn read_root(file: &Path, map: &mut SourceMap) -> Result<SourceId, Diagnostic> {
    let (read, name, path) = match file == Path::new("-") {
        true => (
            lgm_files::read_bytes(io::stdin().lock()),
            "standard input".to_string(),
            None,
        ),
        false => (
            lgm_files::read_named(file),
            file.display().to_string(),
            Some(file.to_path_buf()),
        ),
    };
    let bytes = read.map_err(|reason| {
        let help = unreadable_help(file);
        Diagnostic::error(Code::LGM0909, format!("cannot read `{}`: {reason}", file.display())).help(help)
    })?;
    match String::from_utf8(bytes) {
        Ok(text) => Ok(map.add(name, text, path)),
        Err(fault) => {
            let at = fault.utf8_error().valid_up_to();
            let byte = fault.as_bytes()[at];
            let shown = String::from_utf8_lossy(fault.as_bytes()).into_owned();
            let source = map.add(name, shown, path);
            // What stands in for the bytes begins where they began, since all before it is UTF-8.
            let place = Span::new(source, at, at + char::REPLACEMENT_CHARACTER.len_utf8());
            Err(Diagnostic::error(Code::LGM0007, "this is not text in UTF-8")
                .label(place, format!("byte {byte:#04x} begins no character here"))
                .help("save the file as UTF-8; an editor calls this its encoding"))
        }
    }
}

/// What to do about a FILE that cannot be read.
fn unreadable_help(file: &Path) -> String {
    let near = || {
        let wanted = file.file_name()?.to_str()?;
        let folder = file.parent().filter(|folder| !folder.as_os_str().is_empty());
        let entries = fs::read_dir(folder.unwrap_or(Path::new("."))).ok()?;
        // Very full folders are not searched to their end.
        let names = entries
            .take(1000)
            .filter_map(|entry| entry.ok()?.file_name().into_string().ok());
        let names: Vec<String> = names.filter(|name| name.ends_with(".lgm") && name != wanted).collect();
        lgm_source::nearest::suggestion(wanted, names.iter().map(String::as_str)).map(str::to_string)
    };
    match near() {
        Some(name) => format!("did you mean `{}`?", file.with_file_name(name).display()),
        None => "name a text file that holds a model, or `-` for standard input".to_string(),
    }
}

/// Why a result was not written.
#[derive(Debug)]
pub(in crate::cli) enum WriteFault {
    /// The reader of standard output has had enough, which is no fault.
    NobodyListens,
    /// Anything else.
    Failed(Diagnostic),
}

/// Writes a result to a file, or to standard output where none is given.
///
/// A file appears under its name only when it is complete: it is written beside its place and then renamed.
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
                // What is left in the buffer must not be tried again when the stream is dropped.
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
            ErrorKind::NotFound => "make the folder first, or write the result into one that exists",
            ErrorKind::IsADirectory => "name a file inside this folder",
            ErrorKind::StorageFull => "make room on the disk, or write the result to another one",
            _ => "write the result to a place where you may write",
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
        // A device or a pipe cannot be replaced by a file of its name.
        let mut stream = BufWriter::new(OpenOptions::new().write(true).open(path)?);
        return write(&mut stream).and_then(|()| stream.flush());
    }
    // Through a link, so that the file it points at is replaced and not the link.
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

/// A new file in the same folder, under a name that nothing else has.
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
