//! The structure of the code: allowed dependencies of the crates, no cycles among the files of a crate, limits on the
//! length of files and functions, and no unwrapping of anything a user can cause.
//!
//! The compiler itself enforces that data flows one way between the crates.

mod circles;
mod functions;

use circles::{ModulePath, circles, circles_of_folders};
use functions::functions;
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The crates from text to equations: no solver, no machine code, no command line, no archive, no terminal, no files, no threads.
const PURE: [&str; 15] = [
    "source",
    "syntax",
    "algebra",
    "numerics",
    "readable",
    "model",
    "elaborate",
    "equations",
    "analysis",
    "explain",
    "draw",
    "compilation",
    "ide",
    "import",
    "runtime",
];

/// Forbidden dependencies of the pure crates, including indirect ones.
const FOREIGN: [&str; 9] = [
    "ariadne",
    "clap",
    "ctrlc",
    "diffsol",
    "cranelift-jit",
    "cranelift-codegen",
    "parquet",
    "terminal_size",
    "zip",
];

/// Forbidden strings in the sources of the pure crates.
const OUTSIDE: [&str; 7] = [
    "std::fs",
    "std::net",
    "std::process",
    "std::thread",
    "std::env",
    "std::time::Instant",
    "thread_local!",
];

/// The maximum number of lines of a file.
const LINES: usize = 600;

/// The maximum number of lines of a function.
const FUNCTION_LINES: usize = 100;

/// Pairs of files that belong together and may refer to each other.
const PAIRS: [[&str; 3]; 0] = [];

/// All Rust files below a folder, sorted.
fn rust_files(folder: &Path, found: &mut Vec<PathBuf>) {
    let mut entries: Vec<PathBuf> = fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .collect();
    entries.sort();
    for path in entries {
        if path.is_dir() {
            rust_files(&path, found);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            found.push(path);
        }
    }
}

fn files_of(folder: &str) -> Vec<PathBuf> {
    let mut found = Vec::new();
    rust_files(&Path::new(env!("CARGO_MANIFEST_DIR")).join(folder), &mut found);
    assert!(!found.is_empty(), "no Rust files in {folder}");
    found
}

/// Path inside the package, with slashes.
fn shown(path: &Path) -> String {
    let inside = path.strip_prefix(env!("CARGO_MANIFEST_DIR")).unwrap();
    inside.to_string_lossy().replace('\\', "/")
}

/// Code lines with their numbers from 1, without comments and test modules.
fn code_lines(text: &str) -> Vec<(usize, String)> {
    let lines: Vec<&str> = text.lines().collect();
    let mut code = Vec::new();
    for (index, line) in lines.iter().enumerate() {
        let opens_tests = line.trim() == "#[cfg(test)]"
            && lines.get(index + 1).is_some_and(|next| {
                let next = next.trim_start();
                (next.starts_with("mod ") || next.starts_with("pub mod ")) && next.ends_with('{')
            });
        if opens_tests {
            break;
        }
        if !line.trim_start().starts_with("//") {
            code.push((index + 1, line.to_string()));
        }
    }
    code
}

/// Returns true if the file contains only tests.
fn is_test_file(path: &Path) -> bool {
    let shown = shown(path);
    shown.ends_with("/tests.rs") || shown.ends_with("_tests.rs") || shown.contains("/tests/")
}

/// The source folders: the package's own, and one for each crate.
fn source_folders() -> Vec<String> {
    let crates = fs::read_dir(Path::new(env!("CARGO_MANIFEST_DIR")).join("crates")).unwrap();
    let names = crates.map(|entry| entry.unwrap().file_name().to_string_lossy().into_owned());
    let mut folders: Vec<String> = names.map(|name| format!("crates/{name}/src")).collect();
    folders.push("src".to_string());
    folders.sort();
    folders
}

/// All files of the compiler.
fn sources() -> Vec<PathBuf> {
    source_folders().iter().flat_map(|folder| files_of(folder)).collect()
}

/// Names of the packages on which a crate depends, directly or indirectly.
fn dependencies(name: &str) -> Vec<String> {
    let package = format!("lgm-{name}");
    let tree = Command::new(env!("CARGO"))
        .args([
            "tree",
            "--offline",
            "--edges",
            "normal",
            "--prefix",
            "none",
            "--package",
            &package,
        ])
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .output()
        .unwrap();
    assert!(tree.status.success(), "{}", String::from_utf8_lossy(&tree.stderr));
    let listed = String::from_utf8(tree.stdout).unwrap();
    let packages: Vec<String> = listed
        .lines()
        .filter_map(|line| Some(line.split(' ').next()?.to_string()))
        .collect();
    assert!(packages.contains(&package), "{listed}");
    packages
}

#[test]
fn pure_crates_depend_on_nothing_of_the_world() {
    for name in PURE {
        let packages = dependencies(name);
        let foreign: Vec<_> = packages
            .iter()
            .filter(|package| FOREIGN.contains(&package.as_str()))
            .collect();
        assert!(foreign.is_empty(), "{name} depends on {foreign:?}");
    }
}

#[test]
fn sessions_need_no_command_line() {
    let packages = dependencies("session");
    let faces = ["ariadne", "clap", "ctrlc", "lgm-lsp", "lsp-server", "terminal_size"];
    let found: Vec<_> = packages.iter().filter(|package| faces.contains(&&***package)).collect();
    assert!(found.is_empty(), "{found:?}");
}

#[test]
fn code_is_emitted_without_runs() {
    let packages = dependencies("emit");
    assert!(
        !packages.iter().any(|package| package == "lgm-simulate"),
        "{packages:?}"
    );
}

#[test]
fn pure_crates_hold_no_files_threads_or_clocks() {
    let mut faults = Vec::new();
    for path in PURE.iter().flat_map(|name| files_of(&format!("crates/{name}/src"))) {
        if is_test_file(&path) {
            continue;
        }
        for (line, text) in code_lines(&fs::read_to_string(&path).unwrap()) {
            for word in OUTSIDE.iter().filter(|word| text.contains(**word)) {
                faults.push(format!("{}:{line}: {word}", shown(&path)));
            }
        }
    }
    assert!(
        faults.is_empty(),
        "the command line alone meets the world:\n{}",
        faults.join("\n")
    );
}

/// A crate that is not compiled for its own tests has none.
#[test]
fn every_test_in_a_crate_runs() {
    let mut without = 0;
    for folder in source_folders().iter().filter(|folder| folder.starts_with("crates/")) {
        let manifest = Path::new(env!("CARGO_MANIFEST_DIR")).join(folder).join("../Cargo.toml");
        let manifest = fs::read_to_string(manifest).unwrap();
        if manifest.lines().any(|line| line == "test = false") {
            without += 1;
            for file in files_of(folder) {
                let text = fs::read_to_string(&file).unwrap();
                assert!(!text.contains("#[test]"), "{} has tests that never run", shown(&file));
            }
        }
    }
    assert!(without > 2, "crates without tests of their own are looked at");
}

#[test]
fn no_file_is_too_long() {
    let mut faults = Vec::new();
    for path in sources().into_iter().chain(files_of("tests")) {
        let lines = fs::read_to_string(&path).unwrap().lines().count();
        if lines > LINES {
            faults.push(format!("{} has {lines} lines", shown(&path)));
        }
    }
    assert!(faults.is_empty(), "files above {LINES} lines:\n{}", faults.join("\n"));
}

#[test]
fn no_function_is_too_long() {
    let mut faults = Vec::new();
    for path in sources().into_iter().filter(|path| !is_test_file(path)) {
        for (line, name, lines) in functions(&fs::read_to_string(&path).unwrap()) {
            if lines > FUNCTION_LINES {
                faults.push(format!("{}:{line}: `{name}` has {lines} lines", shown(&path)));
            }
        }
    }
    assert!(
        faults.is_empty(),
        "functions above {FUNCTION_LINES} lines:\n{}",
        faults.join("\n")
    );
}

/// The module of a file in its source folder.
fn module_path(folder: &Path, file: &Path) -> ModulePath {
    let inside = file.strip_prefix(folder).unwrap().with_extension("");
    let mut path: ModulePath = inside.iter().map(|part| part.to_string_lossy().into_owned()).collect();
    if path
        .last()
        .is_some_and(|last| matches!(last.as_str(), "mod" | "lib" | "main"))
    {
        path.pop();
    }
    path
}

/// The texts of a source folder by their modules, without tests.
fn modules(folder: &str) -> BTreeMap<ModulePath, String> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join(folder);
    let files = files_of(folder).into_iter().filter(|path| !is_test_file(path));
    let mut texts: BTreeMap<ModulePath, String> = BTreeMap::new();
    for file in files {
        // The program's `main.rs` next to a `lib.rs` is a separate crate.
        let text = fs::read_to_string(&file).unwrap();
        let both = texts.entry(module_path(&root, &file)).or_default();
        both.push_str(&text);
    }
    texts
}

#[test]
fn no_files_go_round_in_a_circle() {
    let mut faults = Vec::new();
    for folder in source_folders() {
        for circle in circles(&modules(&folder)) {
            let names: Vec<String> = circle
                .iter()
                .map(|path| path.join("::"))
                .map(|name| if name.is_empty() { "lib".to_string() } else { name })
                .collect();
            let is_pair = |pair: &[&str; 3]| names.len() == 2 && pair[0] == folder && names == pair[1..];
            if !PAIRS.iter().any(is_pair) {
                faults.push(format!("{folder}: {}", names.join(", ")));
            }
        }
    }
    assert!(
        faults.is_empty(),
        "what these files share belongs into a file below them:\n{}",
        faults.join("\n")
    );
}

#[test]
fn no_folders_go_round_in_a_circle() {
    let mut faults = Vec::new();
    for folder in source_folders() {
        for circle in circles_of_folders(&modules(&folder)) {
            let names: Vec<String> = circle.iter().map(|path| path.join("::")).collect();
            faults.push(format!("{folder}: {}", names.join(", ")));
        }
    }
    assert!(
        faults.is_empty(),
        "what these folders share belongs into a folder below them:\n{}",
        faults.join("\n")
    );
}

#[test]
fn nothing_is_unwrapped_outside_tests() {
    let mut faults = Vec::new();
    for path in sources().into_iter().filter(|path| !is_test_file(path)) {
        for (line, text) in code_lines(&fs::read_to_string(&path).unwrap()) {
            if text.contains(".unwrap()") {
                faults.push(format!("{}:{line}: {}", shown(&path), text.trim()));
            }
        }
    }
    assert!(
        faults.is_empty(),
        "say which invariant holds instead:\n{}",
        faults.join("\n")
    );
}
