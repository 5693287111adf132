//! Emitted Rust: compiles without a warning, pleases clippy, and has the trajectories of `lgm simulate`.
//!
//! The crates depend on `libm`, which is taken from where cargo keeps what it has fetched: building this crate has.

mod support;

use std::fs;
use std::process::Command;
use support::emitted::{Rows, cargo, emit, examples, for_each, must, simulated, stop, tight};

#[test]
fn every_example_runs_in_rust_as_it_does_here() {
    let targets = tempfile::tempdir().unwrap();
    for_each(&examples(), |file| {
        let scratch = tempfile::tempdir().unwrap();
        let folder = scratch.path().join("code");
        emit(file, "rust", &folder, &[]);
        // Two threads with a folder each, which would wait for each other in one.
        let thread = format!("{:?}", std::thread::current().id());
        let target = targets.path().join(thread.replace(['(', ')'], ""));
        must(&mut cargo(&folder, &target, &["build", "--example", "simulate"]));
        let program = target.join("debug/examples/simulate");
        let rows = Rows::read(&must(Command::new(program).args(tight(file)).args(stop(file))));
        let (difference, place) = simulated(file, &stop(file)).difference(&rows)?;
        match difference <= 1e-9 {
            true => Ok(()),
            false => Err(format!("{difference:e} of the range ({place})")),
        }
    });
}

#[test]
fn clippy_has_no_objection_and_the_documentation_runs() {
    let targets = tempfile::tempdir().unwrap();
    // A loop, corners of inputs, derived parameters, conditions on time, no inputs at all.
    for name in [
        "diode_rectifier.lgm",
        "speed_loop.lgm",
        "milling_machine.lgm",
        "pendulum.lgm",
    ] {
        let scratch = tempfile::tempdir().unwrap();
        let folder = scratch.path().join("code");
        emit(&support::program::example(name), "rust", &folder, &[]);
        must(&mut cargo(&folder, targets.path(), &["clippy", "--all-targets"]));
        must(&mut cargo(&folder, targets.path(), &["test"]));
        let sources = ["lib", "model", "equations", "real"].map(|file| folder.join(format!("src/{file}.rs")));
        for file in sources {
            let text = fs::read_to_string(file).unwrap();
            assert!(!text.contains("unsafe {") && !text.contains("std::"));
        }
    }
}
