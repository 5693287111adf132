//! Emitted Rust: compiles without a warning, pleases clippy, and has the trajectories of `lgm simulate`.
//!
//! The crates depend on `libm`, which is taken from where cargo keeps what it has fetched: building this crate has.

use crate::support;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use support::emitted::{
    RECTIFIED, RECTIFIED_ROWS, Rows, TIGHT, WAITING, WAITING_RTOL, agree, assert_rectified, assert_small,
    assert_waited, cargo, emit, examples, for_each, must, rectifier, simulated, small, stop,
};

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
        let stop = stop(file);
        let rows = Rows::read(&must(Command::new(program).args(TIGHT).args(&stop)));
        agree(file, &stop, &simulated(file, &stop), &rows, 1e-9)
    });
}

#[test]
fn no_pulse_of_a_rectifier_is_stepped_over() {
    let scratch = tempfile::tempdir().unwrap();
    let (file, folder) = (rectifier(scratch.path()), scratch.path().join("code"));
    emit(&file, "rust", &folder, &[]);
    let target = scratch.path().join("target");
    must(&mut cargo(&folder, &target, &["build", "--example", "simulate"]));
    let mut run = Command::new(target.join("debug/examples/simulate"));
    run.args(RECTIFIED_ROWS)
        .args(RECTIFIED.map(|(name, value)| format!("{name}={value}")));
    assert_rectified(&file, &RECTIFIED, &Rows::read(&must(&mut run)));
}

#[test]
fn small_charges_and_narrow_pulses_are_right() {
    let scratch = tempfile::tempdir().unwrap();
    let folder = scratch.path().join("code");
    emit(&small(scratch.path()), "rust", &folder, &[]);
    let target = scratch.path().join("target");
    must(&mut cargo(&folder, &target, &["build", "--example", "simulate"]));
    assert_small(&Rows::read(&must(&mut Command::new(
        target.join("debug/examples/simulate"),
    ))));
}

#[test]
fn an_integral_that_waits_is_released() {
    let scratch = tempfile::tempdir().unwrap();
    let (file, folder) = (scratch.path().join("waiting.lgm"), scratch.path().join("code"));
    fs::write(&file, WAITING).unwrap();
    emit(&file, "rust", &folder, &[]);
    let target = scratch.path().join("target");
    must(&mut cargo(&folder, &target, &["build", "--example", "simulate"]));
    let mut run = Command::new(target.join("debug/examples/simulate"));
    assert_waited(&Rows::read(&must(run.args(WAITING_RTOL))));
}

/// The sources of an emitted package, those of the runtime among them.
fn package_sources(folder: &Path) -> Vec<(PathBuf, String)> {
    let mut found = Vec::new();
    for inside in ["src", "src/runtime"] {
        for entry in fs::read_dir(folder.join(inside)).unwrap() {
            let path = entry.unwrap().path();
            if path.is_file() {
                found.push((path.clone(), fs::read_to_string(path).unwrap()));
            }
        }
    }
    assert!(found.len() > 10, "{found:?}");
    found
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
        for (path, text) in package_sources(&folder) {
            assert!(!text.contains("unsafe {") && !text.contains("std::"), "{path:?}");
        }
    }
}

/// A model whose names are words of Rust, or differ in case alone.
const NAMES: &str = "
/// Some `code`, a [link] and an <html> tag: ``` no example.
model crate {
  param fn [kg] = 2;
  param impl [N/m] = 50;
  param self = 1.5;
  param Self = [1, 2];
  param dyn [kg] = fn*self;
  param T = 0.25 [N.s/m];
  input u [N] = 1;
  node x, X : translational;
  p1 : ForceSource(u + Self[2]) gnd -> x;
  a : Mass(dyn) x -> gnd;
  A : Mass(fn)  X -> gnd;
  b : Spring(impl) x -> X;
  B : Damper(T)    X -> gnd;
  output match = across(a);
  output Match = across(A);
  experiment { stop = 1 [s]; points = 11; }
}
";

/// Neither parameters nor inputs; neither states.
const BARE: [&str; 2] = [
    "
model Bare {
  node a : electrical;
  c : Capacitor(1 [mF]) a -> gnd, start = 2;
  r : Resistor(100 [ohm]) a -> gnd;
  output v = across(c);
  experiment { stop = 1 [s]; points = 11; }
}
",
    "
model Divider {
  input u [V] = 2;
  node a, b : electrical;
  s : VoltageSource(u) a -> gnd;
  r : Resistor(100 [ohm]) a -> b;
  q : Resistor(50 [ohm]) b -> gnd;
  output v = across(q);
  experiment { stop = 1 [s]; points = 11; }
}
",
];

/// Conditions of all kinds within each other, loops over lanes that only fill or copy, and numbers near those with a name.
const CONDITIONS: &str = "
element Stop(k) : translational {
  through = if not (int(across) < 0.3) then k*(int(across) - 0.3)
    else if not (int(across) == 0) and int(across) > -0.2 then 0.1*int(across)
    else if int(across) <= -3.14 or not (int(across) > -9) then -1 else 6.28*int(across);
}
model Conditions {
  param rise = 0.5;
  input u [N] = if time < 0.5 then sin(3*time) else if time < 0.7 then rise else 0;
  node x[12] : translational;
  push : ForceSource(if not (across(m[1]) < 5) then 0 else u) gnd -> x[1];
  for i in 1:12 { m[i] : Mass(1) x[i] -> gnd; stop[i] : Stop(5) x[i] -> gnd; }
  for i in 1:11 { d[i] : Damper(2) x[i] -> x[i + 1]; }
  state q = int(across(m[2]));
  output y = q;
  output z = if q > 0.001 then 1 else if q < -0.001 then -1 else 0;
  experiment { stop = 1 [s]; points = 11; }
}
";

#[test]
fn words_of_the_language_are_names_all_the_same_and_small_models_leave_nothing_unused() {
    let scratch = tempfile::tempdir().unwrap();
    let target = scratch.path().join("target");
    for (at, text) in [NAMES, BARE[0], BARE[1], CONDITIONS].into_iter().enumerate() {
        let (file, folder) = (
            scratch.path().join(format!("Größe \"{at}\".lgm")),
            scratch.path().join(format!("code{at}")),
        );
        fs::write(&file, text).unwrap();
        emit(&file, "rust", &folder, &[]);
        must(&mut cargo(&folder, &target, &["clippy", "--all-targets"]));
        must(&mut cargo(&folder, &target, &["doc", "--no-deps"]));
        must(&mut cargo(&folder, &target, &["build", "--example", "simulate"]));
        let program = target.join("debug/examples/simulate");
        let settings: &[(&str, &str)] = match at {
            0 => &[
                ("fn=3", "fn=3"),
                ("Self[2]=-4", "Self=[1, -4]"),
                ("dyn=1.25", "dyn=1.25"),
            ],
            _ => &[],
        };
        let rows = Rows::read(&must(Command::new(&program).args(TIGHT)));
        let (difference, place) = simulated(&file, &[]).difference(&rows).unwrap();
        assert!(difference <= 1e-9, "{difference:e} {place}");
        for (word, setting) in settings {
            let rows = Rows::read(&must(Command::new(&program).args(TIGHT).arg(word)));
            let expected = simulated(&file, &["--set".into(), setting.to_string()]);
            let (difference, place) = expected.difference(&rows).unwrap();
            assert!(difference <= 1e-9, "{word}: {difference:e} {place}");
        }
        for (path, text) in package_sources(&folder) {
            assert!(
                !text.contains("allow(unused") && !text.contains("allow(dead_code)"),
                "{path:?}"
            );
        }
    }
}
