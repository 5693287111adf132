//! Every example is a valid text, and its equations are right.

use crate::support;

use lgm::rendering::render;
use lgm::source::SourceMap;
use std::path::{Path, PathBuf};
use support::program;

/// All `.lgm` files below `examples/`, sorted.
fn examples() -> Vec<PathBuf> {
    let mut folders = vec![Path::new(env!("CARGO_MANIFEST_DIR")).join("examples")];
    let mut found = Vec::new();
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|extension| extension == "lgm") {
                found.push(path);
            }
        }
    }
    found.sort();
    assert!(!found.is_empty());
    found
}

#[test]
fn every_example_parses() {
    let mut faults = String::new();
    for path in examples() {
        let mut map = SourceMap::default();
        let text = std::fs::read_to_string(&path).unwrap();
        let source = map.add(path.display().to_string(), text.as_str(), Some(path));
        let (_, diagnostics) = lgm::syntax::parse(source, &text);
        faults += &render(&map, &diagnostics, false);
    }
    assert!(faults.is_empty(), "{faults}");
}

/// Every example in a separate folder compiles, and its equations satisfy every law of its graph and the power balance.
/// Those of `examples/` itself are verified when they are printed.
#[test]
fn every_example_is_verified() {
    for path in examples() {
        if path.parent().is_some_and(|folder| folder.ends_with("examples")) {
            continue;
        }
        let path = path.display().to_string();
        let output = program::run(&["check".to_owned(), path.clone(), "--verify".to_owned()]);
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(output.status.success(), "{path}\n{said}");
    }
}
