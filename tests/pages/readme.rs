//! The README's example is what the tool prints.

use std::fs;
use std::process::Command;

/// The text of the first block of a language.
fn block<'t>(text: &'t str, language: &str) -> &'t str {
    let (_, after) = text.split_once(&format!("```{language}\n")).unwrap();
    after.split_once("```").unwrap().0
}

#[test]
fn the_example_prints_what_the_readme_says() {
    let readme = fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/README.md")).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("lever.lgm");
    fs::write(&file, block(&readme, "lgm")).unwrap();
    let output = Command::new(env!("CARGO_BIN_EXE_lgm"))
        .arg("equations")
        .arg(&file)
        .output()
        .unwrap();
    assert!(output.status.success());
    let printed = String::from_utf8(output.stdout).unwrap();
    let reported = block(&readme, "text");
    assert!(
        printed.contains(reported),
        "the README says\n{reported}\nand the tool prints\n{printed}"
    );
}
