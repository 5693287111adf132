//! The page on linear analysis shows the printed output, and the examples in each command's help run.

use crate::support::command::{ends_with, lgm, out};
use std::path::Path;

fn words(line: &str) -> Vec<String> {
    // Quoted words may contain spaces.
    let parts = line.split('"').enumerate();
    parts
        .flat_map(|(at, part)| match at % 2 {
            0 => part.split_whitespace().map(str::to_string).collect(),
            _ => vec![part.to_string()],
        })
        .collect()
}

fn run(folder: &Path, line: &str) -> String {
    let words = words(line);
    let words: Vec<&str> = words.iter().skip(1).map(String::as_str).collect();
    let output = lgm(folder, &words);
    ends_with(&output, 0);
    out(&output)
}

/// A folder with the examples, and the tables named in the help.
fn folder() -> tempfile::TempDir {
    let scratch = tempfile::tempdir().unwrap();
    let examples = Path::new(env!("CARGO_MANIFEST_DIR")).join("examples");
    copied(&examples, &scratch.path().join("examples"));
    let rows = (0..40).map(|k| {
        let time = 0.05 * f64::from(k);
        format!("{time},{}", 0.02 * (1.0 - (-0.1 * time).exp() * (5.0 * time).cos()))
    });
    let table = format!("time,y\n{}\n", rows.collect::<Vec<_>>().join("\n"));
    std::fs::write(scratch.path().join("measured.csv"), table).unwrap();
    scratch
}

fn copied(from: &Path, to: &Path) {
    std::fs::create_dir_all(to).unwrap();
    for entry in std::fs::read_dir(from).unwrap() {
        let path = entry.unwrap().path();
        let target = to.join(path.file_name().unwrap());
        match path.is_dir() {
            true => copied(&path, &target),
            false => drop(std::fs::copy(&path, &target).unwrap()),
        }
    }
}

#[test]
fn examples_of_the_help_run() {
    let scratch = folder();
    for command in [
        "transfer",
        "response",
        "modes",
        "second-order",
        "thevenin",
        "convert",
        "approximate",
        "trim",
        "fit",
        "structure",
    ] {
        let help = run(scratch.path(), &format!("lgm {command} --help"));
        let (_, examples) = help.split_once("Example").unwrap();
        // A backslash continues a long line.
        let examples = examples.replace("\\\n", " ");
        let lines = examples.lines().map(str::trim).filter(|line| line.starts_with("lgm "));
        let lines: Vec<&str> = lines.collect();
        assert!(!lines.is_empty(), "{help}");
        for line in lines {
            run(scratch.path(), line);
        }
    }
}
