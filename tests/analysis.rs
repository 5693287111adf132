//! Linear analysis from the command line, compared with closed forms, the records of known answers, python-control and
//! SciPy.

mod convert;
mod documents;
mod joined;
mod large;
mod lg2ss;
mod modes;
mod ordinary;
mod reduce;
mod reduced;
mod response;
mod responses;
mod second_order;
mod starts_in_texts;
mod stepwise;
mod terminals;
mod transfer;

use crate::support;
use serde_json::Value;
use std::path::{Path, PathBuf};
use std::process::Command;
use support::command::{ends_with, err, lgm, out};

/// Writes a model into a folder.
fn written(folder: &Path, name: &str, text: &str) -> PathBuf {
    let file = folder.join(name);
    std::fs::write(&file, text).unwrap();
    file
}

/// Runs `lgm COMMAND FILE ..` and parses its JSON.
fn json(arguments: &[&str]) -> Value {
    let package = Path::new(env!("CARGO_MANIFEST_DIR"));
    let output = lgm(package, &[arguments, &["--format", "json"]].concat());
    ends_with(&output, 0);
    serde_json::from_str(&out(&output)).unwrap()
}

/// Standard output and standard error of a command that must succeed.
#[track_caller]
fn printed(folder: &Path, arguments: &[&str]) -> (String, String) {
    let output = lgm(folder, arguments);
    ends_with(&output, 0);
    (out(&output), err(&output))
}

fn number(value: &Value) -> f64 {
    value.as_f64().unwrap_or_else(|| panic!("{value} is not a number"))
}

#[track_caller]
fn near(found: f64, expected: f64, allowed: f64) {
    let error = (found - expected).abs();
    assert!(
        error <= allowed * expected.abs().max(1e-300),
        "{found} is not {expected}"
    );
}

#[test]
fn random_systems_agree_with_python_control_and_scipy() {
    let Some(python) = support::emitted::python("numpy, scipy, control") else {
        return;
    };
    let scratch = tempfile::tempdir().unwrap();
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/analysis/random_systems.py");
    let output = Command::new(python)
        .arg(script)
        .arg(env!("CARGO_BIN_EXE_lgm"))
        .arg(scratch.path())
        .arg(support::cases::many(12).to_string())
        .output()
        .unwrap();
    assert!(
        output.status.success(),
        "{}\n{}",
        String::from_utf8_lossy(&output.stdout),
        String::from_utf8_lossy(&output.stderr)
    );
}
