//! Models in the folders that are open in the editor, whether they are open themselves or not.

use std::fs;
use std::path::{Path, PathBuf};

/// Folders with more entries than this, all in all, are not searched.
const MOST_ENTRIES: usize = 50_000;

/// The models below folders, sorted; none if there are too many files to look through. Hidden folders, those of packages and of builds,
/// and links are passed over.
pub(crate) fn models(folders: &[PathBuf]) -> Option<Vec<PathBuf>> {
    let mut found = Vec::new();
    let mut open: Vec<PathBuf> = folders.to_vec();
    let mut seen = 0;
    while let Some(folder) = open.pop() {
        // A folder that cannot be read holds nothing that could be changed.
        let Ok(entries) = fs::read_dir(&folder) else { continue };
        for entry in entries.flatten() {
            seen += 1;
            if seen > MOST_ENTRIES {
                return None;
            }
            let name = entry.file_name();
            let name = name.to_string_lossy();
            match entry.file_type() {
                Ok(kind) if kind.is_dir() && !is_passed_over(&name) => open.push(entry.path()),
                Ok(kind) if kind.is_file() && name.ends_with(".lgm") => found.push(entry.path()),
                _ => {}
            }
        }
    }
    found.sort();
    found.dedup();
    Some(found)
}

fn is_passed_over(name: &str) -> bool {
    name.starts_with('.') || matches!(name, "node_modules" | "target")
}

/// What a quoted import may go on with: models and folders in the folder that its beginning names, folders with a slash at the end.
/// Nothing outside of the folders that are open.
pub(crate) fn importable(own: &Path, begun: &str, allowed: &[PathBuf]) -> Vec<String> {
    let folder = match begun.rfind('/') {
        Some(at) => own.join(&begun[..at]),
        None => own.to_path_buf(),
    };
    let folder = lgm_files::resolve(&folder);
    if !allowed.iter().any(|open| folder.starts_with(open)) {
        return Vec::new();
    }
    let Ok(entries) = fs::read_dir(&folder) else {
        return Vec::new();
    };
    let mut names: Vec<String> = entries
        .flatten()
        .take(MOST_ENTRIES)
        .filter_map(|entry| {
            let name = entry.file_name().into_string().ok()?;
            let kind = entry.file_type().ok()?;
            match kind.is_dir() {
                true => (!is_passed_over(&name)).then(|| format!("{name}/")),
                false => name.ends_with(".lgm").then_some(name),
            }
        })
        .collect();
    names.sort();
    names
}
