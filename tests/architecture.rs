//! The shape of the house: rooms import only from rooms above them, files stay small, faults are not unwrapped.

use std::fs;
use std::path::{Path, PathBuf};

/// The rooms from the top of the house to its floor. A room may use those before it, and itself.
const ROOMS: [&str; 20] = [
    "source",
    "diagnostic",
    "codes",
    "units",
    "expr",
    "algebra",
    "syntax",
    "elaborate",
    "bond",
    "causality",
    "reduce",
    "equations",
    "analysis",
    "kernels",
    "simulate",
    "emit",
    "import",
    "ide",
    "lsp",
    "cli",
];

/// No file may have more lines than this.
const LINES: usize = 650;

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

/// Code lines with their numbers from 1: comments and everything from a test module on are left out.
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

/// Whether the file holds tests only.
fn is_test_file(path: &Path) -> bool {
    let shown = shown(path);
    shown.ends_with("/tests.rs") || shown.ends_with("_tests.rs") || shown.contains("/tests/")
}

/// The rooms that follow `crate::` in the code, with line numbers; understands `crate::{a::x, b}`.
fn imported_rooms(code: &[(usize, String)]) -> Vec<(usize, String)> {
    let mut text = String::new();
    let mut line_starts = Vec::new();
    for (number, line) in code {
        line_starts.push((text.len(), *number));
        text.push_str(line);
        text.push('\n');
    }
    let line_at = |offset: usize| {
        let after = line_starts.partition_point(|start| start.0 <= offset);
        line_starts[after - 1].1
    };
    let name_at = |offset: usize| -> String {
        let rest = text[offset..].trim_start();
        let length = rest
            .find(|letter: char| !letter.is_ascii_alphanumeric() && letter != '_')
            .unwrap_or(rest.len());
        rest[..length].to_string()
    };
    let mut found = Vec::new();
    for (at, matched) in text.match_indices("crate::") {
        let before = text[..at].chars().next_back();
        if before.is_some_and(|letter| letter.is_ascii_alphanumeric() || letter == '_' || letter == '$') {
            continue;
        }
        let after = at + matched.len();
        if !text[after..].starts_with('{') {
            found.push((line_at(at), name_at(after)));
            continue;
        }
        let mut depth = 0usize;
        for (offset, letter) in text[after..].char_indices() {
            match letter {
                '{' => depth += 1,
                '}' => depth -= 1,
                _ => {}
            }
            if depth == 1 && matches!(letter, '{' | ',') {
                let name = name_at(after + offset + 1);
                if !name.is_empty() {
                    found.push((line_at(after + offset), name));
                }
            }
            if depth == 0 {
                break;
            }
        }
    }
    found
}

#[test]
fn rooms_import_only_from_rooms_above_them() {
    let mut faults = Vec::new();
    for path in files_of("src") {
        let name = shown(&path);
        let inside = name.trim_start_matches("src/");
        let room = inside.split('/').next().unwrap().trim_end_matches(".rs");
        if room == "lib" || room == "main" || is_test_file(&path) {
            continue;
        }
        let Some(own) = ROOMS.iter().position(|entry| *entry == room) else {
            faults.push(format!(
                "{name}: `{room}` is no room of the house; give it a place in ROOMS"
            ));
            continue;
        };
        let text = fs::read_to_string(&path).unwrap();
        for (line, used) in imported_rooms(&code_lines(&text)) {
            // Only the command line may call the pipeline as a whole, which lib.rs composes.
            let allowed = match ROOMS.iter().position(|entry| *entry == used) {
                Some(place) => place <= own,
                None => own >= ROOMS.len() - 3,
            };
            if !allowed {
                faults.push(format!("{name}:{line}: `{room}` may not use `crate::{used}`"));
            }
        }
    }
    assert!(faults.is_empty(), "imports must point upward:\n{}", faults.join("\n"));
}

#[test]
fn no_file_is_too_long() {
    let mut faults = Vec::new();
    for path in files_of("src").into_iter().chain(files_of("tests")) {
        let lines = fs::read_to_string(&path).unwrap().lines().count();
        if lines > LINES {
            faults.push(format!("{} has {lines} lines", shown(&path)));
        }
    }
    assert!(faults.is_empty(), "files above {LINES} lines:\n{}", faults.join("\n"));
}

#[test]
fn nothing_is_unwrapped_outside_tests() {
    let mut faults = Vec::new();
    for path in files_of("src").into_iter().filter(|path| !is_test_file(path)) {
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

#[test]
fn the_reader_of_imports_sees_what_it_should() {
    let text = "use crate::expr::{ExprId, Exprs};\n// use crate::cli::x;\nuse crate::{\n    source::Span,\n    emit::{a, b},\n};\n\
                let x = crate::units::parse();\n#[cfg(test)]\nmod tests {\n    use crate::cli::y;\n}\n";
    let found = imported_rooms(&code_lines(text));
    let rooms: Vec<&str> = found.iter().map(|entry| entry.1.as_str()).collect();
    assert_eq!(rooms, ["expr", "source", "emit", "units"]);
    assert_eq!(found[3].0, 7);
}
