//! Steps of emitted programs end at relevant kinks of laws: compared with `lgm simulate` at a tight tolerance. Across a
//! kink an error test passes by accident, and the same runs had errors 5 to 70 times larger.

use crate::emit::jumps::emitted;
use crate::runs::second_integrator::{BACKLASH, CHUA, CLIPPED, SATURATED};
use crate::support;

use std::fs;
use std::path::Path;
use std::process::Command;
use support::emitted::{Rows, compile, must, python, rust_program, simulated};

/// A model, its stop time, and its tolerance relative to the range of a column: some models amplify errors.
const MODELS: [(&str, &str, f64); 4] = [
    (CHUA, "3e-3", 5e-5),
    (BACKLASH, "5", 5e-5),
    (CLIPPED, "0.1", 1e-6),
    (SATURATED, "3", 2e-6),
];

/// Runs every model for a target by means of `program`, and compares the samples.
fn assert_near(target: &str, program: impl Fn(&Path) -> Command) {
    let scratch = tempfile::tempdir().unwrap();
    for (text, stop, allowed) in MODELS {
        let folder = emitted(scratch.path(), text, target, &[]);
        let further = ["--stop", stop, "--points", "301"];
        let expected = simulated(&scratch.path().join("m.lgm"), &further.map(String::from));
        let rows = Rows::read(&must(program(&folder).args(further).args(["--rtol", "1e-6"])));
        let (difference, place) = expected.difference(&rows).unwrap();
        assert!(
            difference <= allowed,
            "{target}: {difference:e} of the range ({place})\n{text}"
        );
    }
}

#[test]
fn steps_of_emitted_c_end_at_bends() {
    assert_near("c", |folder| Command::new(compile(folder, &["-O0"])));
}

#[test]
fn steps_of_emitted_rust_end_at_bends() {
    assert_near("rust", |folder| Command::new(rust_program(folder)));
}

#[test]
fn steps_of_emitted_python_end_at_bends() {
    let Some(python) = python("numpy, scipy") else { return };
    assert_near("python", |folder| {
        let mut files = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
        let module = files.find(|path| path.extension().is_some_and(|ending| ending == "py"));
        let mut run = Command::new(&python);
        run.arg(module.expect("there is a module"));
        run
    });
}
