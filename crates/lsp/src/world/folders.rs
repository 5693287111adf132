//! Models in the folders that are open in the editor, both open and closed ones.

use std::path::{Path, PathBuf};
use walkdir::{DirEntry, WalkDir};

/// Folders with more entries than this in total are not searched.
const MOST_ENTRIES: usize = 50_000;

/// Returns the models below folders, sorted; none if there are too many files to search. Hidden folders, package and build folders, and
/// links are skipped.
pub(crate) fn models(folders: &[PathBuf]) -> Option<Vec<PathBuf>> {
    let mut found = Vec::new();
    let mut seen = 0;
    for folder in folders {
        let below = WalkDir::new(folder).min_depth(1).into_iter();
        // An unreadable file needs no change.
        for entry in below.filter_entry(is_looked_at).flatten() {
            seen += 1;
            if seen > MOST_ENTRIES {
                return None;
            }
            if entry.file_type().is_file() && is_model(&entry) {
                found.push(entry.into_path());
            }
        }
    }
    found.sort();
    found.dedup();
    Some(found)
}

fn is_looked_at(entry: &DirEntry) -> bool {
    !entry.file_type().is_dir() || !is_passed_over(&entry.file_name().to_string_lossy())
}

fn is_model(entry: &DirEntry) -> bool {
    entry.file_name().to_string_lossy().ends_with(".lgm")
}

fn is_passed_over(name: &str) -> bool {
    name.starts_with('.') || matches!(name, "node_modules" | "target")
}

/// Returns the completions of a quoted path: files with the extension, and folders with a trailing slash, in the folder of its beginning.
/// Paths outside of the open folders are excluded.
pub(crate) fn readable(own: &Path, begun: &str, ending: &str, allowed: &[PathBuf]) -> Vec<String> {
    let folder = match begun.rfind('/') {
        Some(at) => own.join(&begun[..at]),
        None => own.to_path_buf(),
    };
    let folder = lgm_files::resolve(&folder);
    if !allowed.iter().any(|open| folder.starts_with(open)) {
        return Vec::new();
    }
    // Like reading, the list follows links and then checks their targets.
    let entries = WalkDir::new(&folder).min_depth(1).max_depth(1).follow_links(true);
    let mut names: Vec<String> = entries
        .into_iter()
        .filter_entry(is_looked_at)
        .flatten()
        .take(MOST_ENTRIES)
        .filter_map(|entry| {
            let name = entry.file_name().to_str()?;
            match entry.file_type().is_dir() {
                true => Some(format!("{name}/")),
                false => name.ends_with(ending).then(|| name.to_string()),
            }
        })
        .collect();
    names.sort();
    names
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    #[test]
    fn models_lie_in_folders_that_are_not_passed_over() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = |name: &str| folder.path().join(name);
        for name in [
            "a.lgm",
            "sub/b.lgm",
            ".hidden/c.lgm",
            "target/d.lgm",
            "sub/e.txt",
            "f.lgm/g.lgm",
        ] {
            fs::create_dir_all(path(name).parent().expect("a parent")).expect("a folder");
            fs::write(path(name), "").expect("a file");
        }
        let open = [folder.path().to_path_buf()];
        // A folder that is open is examined twice, and listed once.
        let twice = [open[0].clone(), path("sub")];
        let found = models(&twice).expect("few files");
        assert_eq!(found, [path("a.lgm"), path("f.lgm/g.lgm"), path("sub/b.lgm")]);
        assert_eq!(readable(folder.path(), "", ".lgm", &open), ["a.lgm", "f.lgm/", "sub/"]);
        assert_eq!(readable(folder.path(), "sub/", ".lgm", &open), ["b.lgm"]);
        assert_eq!(readable(folder.path(), "sub/", ".txt", &open), ["e.txt"]);
        assert!(readable(folder.path(), "../", ".lgm", &open).is_empty());
        // The folder that is open may have any name.
        assert_eq!(models(&[path(".hidden")]), Some(vec![path(".hidden/c.lgm")]));
    }

    #[cfg(unix)]
    #[test]
    fn links_are_no_models_of_a_folder_and_can_be_imported() {
        let folder = tempfile::tempdir().expect("a folder");
        fs::write(folder.path().join("a.lgm"), "").expect("a file");
        std::os::unix::fs::symlink("a.lgm", folder.path().join("b.lgm")).expect("a link");
        std::os::unix::fs::symlink(".", folder.path().join("round")).expect("a link");
        let open = [folder.path().to_path_buf()];
        assert_eq!(models(&open), Some(vec![folder.path().join("a.lgm")]));
        assert_eq!(readable(folder.path(), "", ".lgm", &open), ["a.lgm", "b.lgm"]);
    }
}
