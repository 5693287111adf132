//! The editor lists exactly the diagnostics that the terminal prints.

use super::client::{Client, uri};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// Code, severity, and lines and columns from 1 in characters.
pub type Listed = (String, i64, [i64; 4]);

/// The terminal's diagnostics, by file; one without a location in a file is at the start of the model.
pub fn terminal(path: &Path) -> BTreeMap<PathBuf, BTreeSet<Listed>> {
    let output = Command::new(env!("CARGO_BIN_EXE_lgm"))
        .args(["check", "--format", "json"])
        .arg(path)
        .stdin(Stdio::null())
        .output()
        .unwrap();
    let value: Value = serde_json::from_slice(&output.stdout).unwrap();
    let mut found: BTreeMap<PathBuf, BTreeSet<Listed>> = BTreeMap::from([(path.to_path_buf(), BTreeSet::new())]);
    for entry in value["diagnostics"].as_array().unwrap() {
        let severity = ["error", "warning", "information"]
            .iter()
            .position(|name| entry["severity"] == *name);
        let severity = severity.unwrap() as i64 + 1;
        let code = entry["code"].as_str().unwrap().to_string();
        let file = entry["file"]
            .as_str()
            .map(PathBuf::from)
            .filter(|file| file.is_absolute());
        let (file, place) = match file {
            Some(file) => (
                file,
                ["line", "column", "end_line", "end_column"].map(|name| entry[name].as_i64().unwrap()),
            ),
            None => (path.to_path_buf(), [1; 4]),
        };
        // An error of a component is also reported at the instance in the model.
        let labels = entry["labels"].as_array().unwrap();
        let made = labels.iter().skip(1).rfind(|label| {
            let words = label["message"].as_str().unwrap();
            Path::new(label["file"].as_str().unwrap()) == path && words.starts_with("in the instance")
        });
        if let Some(label) = made.filter(|_| severity == 1) {
            let place = ["line", "column", "end_line", "end_column"].map(|name| label[name].as_i64().unwrap());
            let own = found.entry(path.to_path_buf()).or_default();
            own.insert((code.clone(), severity, place));
        }
        found.entry(file).or_default().insert((code, severity, place));
    }
    found
}

/// The editor's diagnostics, for a client that counts characters.
pub fn listed(diagnostics: &[Value]) -> BTreeSet<Listed> {
    let one = |entry: &Value| {
        let number = |path: &str| entry.pointer(path).unwrap().as_i64().unwrap();
        let place = [
            "/range/start/line",
            "/range/start/character",
            "/range/end/line",
            "/range/end/character",
        ];
        let place = place.map(|path| number(path) + 1);
        assert!(!entry["message"].as_str().unwrap().is_empty());
        assert_eq!(entry["source"], "lgm");
        (entry["code"].as_str().unwrap().to_string(), number("/severity"), place)
    };
    // Only the editor shows hints.
    let printed = diagnostics.iter().filter(|entry| entry["severity"] != 4);
    printed.map(one).collect()
}

/// Opens each file alone, and compares; returns the number of diagnostics.
fn compare(client: &mut Client, paths: &[PathBuf]) -> usize {
    let (mut count, mut faults) = (0, String::new());
    for path in paths {
        let expected = terminal(path);
        client.open(&uri(path), &fs::read_to_string(path).unwrap());
        for (file, reported) in &expected {
            let version = (file == path).then_some(1);
            let found = listed(&client.pushed(&uri(file), version));
            if found != *reported {
                let _ = writeln!(
                    faults,
                    "{} of {}:\n{found:?}\n{reported:?}",
                    file.display(),
                    path.display()
                );
            }
            count += reported.len();
        }
        let pulled = listed(&client.pulled(&uri(path)));
        if pulled != expected[path] {
            let _ = writeln!(
                faults,
                "{} asked for:\n{pulled:?}\n{:?}",
                path.display(),
                expected[path]
            );
        }
        client.close(&uri(path));
        for file in expected.keys() {
            assert_eq!(
                client.pushed(&uri(file), None),
                Vec::<Value>::new(),
                "{}",
                file.display()
            );
        }
    }
    assert!(faults.is_empty(), "{faults}");
    count
}

fn models_below(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            models_below(&path, found);
        } else if path.extension().is_some_and(|extension| extension == "lgm") {
            found.push(path);
        }
    }
}

fn models(folder: &str) -> Vec<PathBuf> {
    let mut found = Vec::new();
    models_below(&Path::new(env!("CARGO_MANIFEST_DIR")).join(folder), &mut found);
    found.sort();
    found
}

#[test]
fn of_the_examples() {
    let paths = models("examples");
    assert!(paths.len() > 20);
    let mut client = Client::start("utf-32", None);
    compare(&mut client, &paths);
    client.end();
}

#[test]
fn of_the_models_of_tests() {
    let paths = models("tests");
    assert!(paths.len() > 20);
    let mut client = Client::start("utf-32", None);
    assert!(compare(&mut client, &paths) > 5);
    client.end();
}

/// The blocks of a page: the info string of the fence, and the text.
pub fn blocks(page: &str) -> Vec<(&str, String)> {
    let mut found = Vec::new();
    let mut lines = page.lines();
    while let Some(line) = lines.next() {
        if let Some(tag) = line.strip_prefix("```") {
            let text: Vec<&str> = lines.by_ref().take_while(|line| *line != "```").collect();
            found.push((tag, text.join("\n") + "\n"));
        }
    }
    found
}

/// Every page's faulty and fixed models, in a separate folder with their imports.
#[test]
fn of_the_pages_of_codes() {
    let folder = tempfile::tempdir().unwrap();
    let root = fs::canonicalize(folder.path()).unwrap();
    let mut paths = Vec::new();
    for entry in fs::read_dir(Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/codes")).unwrap() {
        let page = entry.unwrap().path();
        let own = root.join(page.file_stem().unwrap());
        let text = fs::read_to_string(&page).unwrap();
        for (number, (tag, text)) in blocks(&text).iter().enumerate() {
            let path = match tag.strip_prefix("lgm in ").or_else(|| tag.strip_prefix("csv in ")) {
                Some(path) => own.join(path),
                None if tag.starts_with("lgm") => {
                    paths.push(own.join(format!("model{number}.lgm")));
                    own.join(format!("model{number}.lgm"))
                }
                None => continue,
            };
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        }
    }
    paths.sort();
    let mut client = Client::start("utf-32", Some(&root));
    assert!(compare(&mut client, &paths) > 100);
    client.end();
}
