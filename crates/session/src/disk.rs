//! Model texts on disk.

use lgm_source::codes::Code;
use lgm_source::diagnostic::Diagnostic;
use lgm_source::{SourceId, SourceMap, Sources, Span};
use std::fs;
use std::path::{Path, PathBuf};

/// The file system of this machine.
#[derive(Clone, Debug, Default)]
pub struct Disk {
    /// Folders that are searched for imports.
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

/// Reads a model file.
///
/// # Errors
///
/// If the file cannot be read or is not UTF-8. Its text is added to the map anyway, so that the diagnostic can point into it.
pub fn read_model(file: &Path, map: &mut SourceMap) -> Result<SourceId, Diagnostic> {
    let read = lgm_files::read_named(file);
    add_model(file, read, (file.display().to_string(), Some(file.to_path_buf())), map)
}

/// Adds the bytes of a model under a name and a path. `read` may be the reason why they could not be read.
///
/// # Errors
///
/// As for [`read_model`].
pub fn add_model(
    file: &Path,
    read: Result<Vec<u8>, String>,
    (name, path): (String, Option<PathBuf>),
    map: &mut SourceMap,
) -> Result<SourceId, Diagnostic> {
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
            // The replacement starts at the same offset as the bytes, because all text before it is UTF-8.
            let place = Span::new(source, at, at + char::REPLACEMENT_CHARACTER.len_utf8());
            Err(Diagnostic::error(Code::LGM0007, "this is not UTF-8 text")
                .label(place, format!("byte {byte:#04x} does not start a character here"))
                .help("save the file with the encoding UTF-8"))
        }
    }
}

/// Returns the help message for an unreadable FILE.
fn unreadable_help(file: &Path) -> String {
    let near = || {
        let wanted = file.file_name()?.to_str()?;
        let folder = file.parent().filter(|folder| !folder.as_os_str().is_empty());
        let entries = fs::read_dir(folder.unwrap_or(Path::new("."))).ok()?;
        // In very large folders the search stops early.
        let names = entries
            .take(1000)
            .filter_map(|entry| entry.ok()?.file_name().into_string().ok());
        let names: Vec<String> = names.filter(|name| name.ends_with(".lgm") && name != wanted).collect();
        lgm_source::nearest::suggestion(wanted, names.iter().map(String::as_str)).map(str::to_string)
    };
    match near() {
        Some(name) => format!("did you mean `{}`?", file.with_file_name(name).display()),
        None => "name a text file with a model, or `-` for standard input".to_string(),
    }
}
