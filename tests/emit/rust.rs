//! Emitted Rust: compiles without warnings, passes clippy, and has the trajectories of `lgm simulate`.
//!
//! The crates depend on `libm` from cargo's local registry, which building this crate has filled.

use crate::support;

use lgm_emit::code::{CodeOptions, Target};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use support::cases::is_campaign;
use support::emitted::{
    RECTIFIED, RECTIFIED_ROWS, Rows, TIGHT, WAITING, WAITING_RTOL, agree, assert_rectified, assert_small,
    assert_waited, build_together, cargo, emit, examples, for_each, gather, must, rectifier, rust_example,
    rust_program, session_of, simulated, small, stop, write_code,
};

#[test]
fn every_example_runs_in_rust_as_it_does_here() {
    // Half of the examples, and all of them in a campaign.
    let share = if is_campaign() { 1 } else { 2 };
    let files: Vec<PathBuf> = examples().into_iter().step_by(share).collect();
    let scratch = tempfile::tempdir().unwrap();
    let folders: Vec<PathBuf> = (0..files.len())
        .map(|at| scratch.path().join(format!("{at}")))
        .collect();
    for (file, folder) in files.iter().zip(&folders) {
        write_code(&session_of(file), Target::Rust, &CodeOptions::default(), folder).unwrap();
    }
    let programs = build_together(scratch.path(), &folders);
    for_each(&files, |file| {
        let at = files.iter().position(|other| other == file).unwrap();
        let stop = stop(file);
        let rows = Rows::read(&must(Command::new(&programs[at]).args(TIGHT).args(&stop)));
        agree(file, &stop, &simulated(file, &stop), &rows, 1e-9)
    });
}

#[test]
fn no_pulse_of_a_rectifier_is_stepped_over() {
    let scratch = tempfile::tempdir().unwrap();
    let (file, folder) = (rectifier(scratch.path()), scratch.path().join("code"));
    emit(&file, "rust", &folder, &[]);
    let mut run = Command::new(rust_program(&folder));
    run.args(RECTIFIED_ROWS)
        .args(RECTIFIED.map(|(name, value)| format!("{name}={value}")));
    assert_rectified(&file, &RECTIFIED, &Rows::read(&must(&mut run)));
}

#[test]
fn small_charges_and_narrow_pulses_are_right() {
    let scratch = tempfile::tempdir().unwrap();
    let folder = scratch.path().join("code");
    emit(&small(scratch.path()), "rust", &folder, &[]);
    assert_small(&Rows::read(&must(&mut Command::new(rust_program(&folder)))));
}

#[test]
fn an_integral_that_waits_is_released() {
    let scratch = tempfile::tempdir().unwrap();
    let (file, folder) = (scratch.path().join("waiting.lgm"), scratch.path().join("code"));
    fs::write(&file, WAITING).unwrap();
    emit(&file, "rust", &folder, &[]);
    let mut run = Command::new(rust_program(&folder));
    assert_waited(&Rows::read(&must(run.args(WAITING_RTOL))));
}

/// The sources of an emitted package, including those of the runtime.
fn package_sources(folder: &Path) -> Vec<(PathBuf, String)> {
    let mut found = Vec::new();
    for inside in ["src", "run/src", "lgm-runtime/src"] {
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
    let scratch = tempfile::tempdir().unwrap();
    // A loop, kinks of inputs, derived parameters, conditions on time, no inputs at all.
    let names = [
        "diode_rectifier.lgm",
        "speed_loop.lgm",
        "milling_machine.lgm",
        "pendulum.lgm",
    ];
    let folders = names.map(|name| scratch.path().join(name));
    for (name, folder) in names.iter().zip(&folders) {
        emit(&support::program::example(name), "rust", folder, &[]);
        for (path, text) in package_sources(folder) {
            assert!(!text.contains("unsafe {") && !text.contains("std::"), "{path:?}");
        }
    }
    gather(scratch.path(), &folders);
    let target = scratch.path().join("target");
    must(&mut cargo(
        scratch.path(),
        &target,
        &["clippy", "--workspace", "--all-targets"],
    ));
    must(&mut cargo(scratch.path(), &target, &["test", "--workspace"]));
}

#[test]
fn a_motor_takes_a_page_and_reads_like_its_equations() {
    let scratch = tempfile::tempdir().unwrap();
    let folder = scratch.path().join("code");
    emit(&support::program::example("dc_motor.lgm"), "rust", &folder, &[]);
    let files = ["src/lib.rs", "Cargo.toml"].map(|name| fs::read_to_string(folder.join(name)).unwrap());
    let lines: usize = files.iter().map(|text| text.lines().count()).sum();
    assert!(lines <= 150, "{lines} lines");
    for line in [
        "        // der(inductance.i) = (u - R_a*inductance.i - K_m*rotor.w)/L_a\n",
        "        dx[0] = (u_ - p.R_a*inductance_i - p.K_m*rotor_w)/p.L_a; // der(inductance.i)\n",
    ] {
        assert!(files[0].contains(line), "{}", files[0]);
    }
}

/// Prints the largest difference between the Jacobian and differences of right-hand sides, as a share of the largest entry.
const SLOPES: &str = r#"use NAME_run::{Model, Parameters, JACOBIAN_COLUMNS, JACOBIAN_ENTRIES, JACOBIAN_ROWS, STATES};

fn main() {
    let (mut model, mut x) = Model::new(&Parameters::<f64>::default()).unwrap();
    let (u, du) = model.inputs(0.3);
    for (at, x) in x.iter_mut().enumerate() {
        *x += 0.1 * (1.0 + at as f64);
    }
    let mut entries = [0.0; JACOBIAN_ENTRIES];
    model.jacobian(0.3, &x, &u, &du, &mut entries).unwrap();
    let (mut worst, mut most) = (0.0_f64, 0.0_f64);
    for column in 0..STATES {
        let mut sides = [[0.0; STATES]; 2];
        for (side, step) in sides.iter_mut().zip([-1e-5, 1e-5]) {
            let mut x = x;
            x[column] += step;
            model.rhs(0.3, &x, &u, &du, side).unwrap();
        }
        for row in 0..STATES {
            let found = (JACOBIAN_ROWS[row]..JACOBIAN_ROWS[row + 1]).find(|at| JACOBIAN_COLUMNS[*at] == column);
            let entry = found.map_or(0.0, |at| entries[at]);
            worst = worst.max((entry - (sides[1][row] - sides[0][row]) / 2e-5).abs());
            most = most.max(entry.abs());
        }
    }
    println!("{}", worst / most);
}
"#;

#[test]
fn jacobians_are_those_of_the_right_hand_sides() {
    // A matrix, and a model with an algebraic loop.
    for name in ["cart_pendulum", "diode_rectifier"] {
        let scratch = tempfile::tempdir().unwrap();
        let folder = scratch.path().join("code");
        emit(&support::program::example(&format!("{name}.lgm")), "rust", &folder, &[]);
        fs::write(folder.join("run/examples/slopes.rs"), SLOPES.replace("NAME", name)).unwrap();
        let printed = must(&mut Command::new(rust_example(&folder, "slopes")));
        assert!(printed.trim().parse::<f64>().unwrap() < 1e-6, "{name}: {printed}");
    }
}

/// A model with keywords of Rust as names, and names that differ only in case.
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

/// No parameters, no inputs and no states.
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

/// Nested conditions of all kinds, loops over lanes that only fill or copy, and values close to named constants.
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
    let texts = [NAMES, BARE[0], BARE[1], CONDITIONS];
    let files: Vec<PathBuf> = (0..texts.len())
        .map(|at| scratch.path().join(format!("Größe \"{at}\".lgm")))
        .collect();
    let folders: Vec<PathBuf> = (0..texts.len())
        .map(|at| scratch.path().join(format!("code{at}")))
        .collect();
    for ((text, file), folder) in texts.iter().zip(&files).zip(&folders) {
        fs::write(file, text).unwrap();
        emit(file, "rust", folder, &[]);
        for (path, text) in package_sources(folder) {
            let allows = text.contains("allow(unused") || text.contains("allow(dead_code)");
            assert!(!allows, "{path:?}");
        }
    }
    let programs = build_together(scratch.path(), &folders);
    let target = scratch.path().join("target");
    must(&mut cargo(
        scratch.path(),
        &target,
        &["clippy", "--workspace", "--all-targets"],
    ));
    must(&mut cargo(
        scratch.path(),
        &target,
        &["doc", "--workspace", "--no-deps"],
    ));
    let agrees = |words: &[&str], at: usize, setting: &[String]| {
        let rows = Rows::read(&must(Command::new(&programs[at]).args(TIGHT).args(words)));
        let (difference, place) = simulated(&files[at], setting).difference(&rows).unwrap();
        assert!(difference <= 1e-9, "{words:?}: {difference:e} {place}");
    };
    for at in 0..texts.len() {
        agrees(&[], at, &[]);
    }
    for (word, setting) in [
        ("fn=3", "fn=3"),
        ("Self[2]=-4", "Self=[1, -4]"),
        ("dyn=1.25", "dyn=1.25"),
    ] {
        agrees(&[word], 0, &["--set".into(), setting.to_string()]);
    }
}
