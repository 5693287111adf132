//! Emitted C, Rust and FMUs follow a solution of an algebraic loop to where it ends, and go on with another from there: beside closed forms, as `laws_in_pieces` does it for `lgm simulate`.

use crate::emit::fmu::driven::{Driven, SANITIZED, has_compiler};
use crate::nonlinear::laws_in_pieces::{CUBIC, MULTIVIBRATOR, PARABOLA, multivibrating};
use crate::support;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use support::emitted::{Rows, compile, emit, must, output, python, rust_program};

const MULTIVIBRATOR_RUN: [&str; 6] = ["--stop", "0.15", "--points", "31", "--rtol", "1e-9"];
const CUBIC_RUN: [&str; 6] = ["--stop", "2", "--points", "41", "--rtol", "1e-9"];

/// Emits a text for a target into a folder.
fn emitted(scratch: &Path, text: &str, target: &str, options: &[&str]) -> PathBuf {
    let (file, folder) = (scratch.join("m.lgm"), scratch.join(target));
    fs::write(&file, text).unwrap();
    emit(&file, target, &folder, &[options, &["--force"]].concat());
    folder
}

fn column(rows: &Rows, name: &str) -> Vec<f64> {
    let at = rows.names.iter().position(|other| other == name).unwrap();
    rows.values.iter().map(|row| row[at]).collect()
}

/// The capacitor turns back when the amplifier leaves saturation, and not before; samples show the side it was on.
#[track_caller]
fn assert_multivibrating(what: &str, rows: &Rows, allowed: f64) {
    assert!(rows.values.len() >= 31, "{what}: {} rows", rows.values.len());
    let sides = column(rows, "v");
    for ((time, voltage), side) in column(rows, "time").iter().zip(column(rows, "cv")).zip(sides) {
        let expected = multivibrating(*time);
        assert!(
            (voltage - expected).abs() < allowed,
            "{what}: {voltage} is not {expected} at {time} s"
        );
        let is_rising = multivibrating(time + 1e-6) > expected;
        let is_turning = expected.abs() > 7.4;
        assert!(
            is_turning || side == if is_rising { 15.0 } else { -15.0 },
            "{what}: v = {side} at {time} s"
        );
    }
}

/// Two solutions of v^3 - v = u meet and vanish at u = 2/3^1.5; only the third one remains afterwards.
#[track_caller]
fn assert_folded(what: &str, rows: &Rows, allowed: f64) {
    let integral = |v: f64| 0.75 * v.powi(4) - 0.5 * v.powi(2);
    let fold: f64 = 1.0 / 3f64.sqrt();
    let expected = integral(fold) - integral(2.0 * fold);
    let last = *column(rows, "z").last().unwrap();
    assert!((last - expected).abs() < allowed, "{what}: {last} is not {expected}");
    for (time, v) in column(rows, "time").iter().zip(column(rows, "v")) {
        assert_eq!(v < 0.0, time - 1.0 < 2.0 * fold.powi(3), "{what}: {v} at {time} s");
        assert!((v.powi(3) - v - (time - 1.0)).abs() < 1e-8, "{what}: {v} at {time} s");
    }
}

#[test]
fn emitted_c_leaves_a_branch_where_it_ends() {
    let scratch = tempfile::tempdir().unwrap();
    let program = compile(&emitted(scratch.path(), MULTIVIBRATOR, "c", &[]), &SANITIZED);
    let rows = Rows::read(&must(Command::new(program).args(MULTIVIBRATOR_RUN)));
    assert_multivibrating("C", &rows, 1e-5);
    let scratch = tempfile::tempdir().unwrap();
    let program = compile(&emitted(scratch.path(), CUBIC, "c", &[]), &SANITIZED);
    assert_folded("C", &Rows::read(&must(Command::new(program).args(CUBIC_RUN))), 1e-6);
}

#[test]
fn steps_of_fixed_length_end_with_a_branch() {
    for (float, step, allowed) in [("", "1e-5", 1e-4), ("--float", "1e-4", 0.05)] {
        let scratch = tempfile::tempdir().unwrap();
        let options = ["--fixed-step", step, float];
        let options = if float.is_empty() { &options[..2] } else { &options };
        let folder = emitted(scratch.path(), MULTIVIBRATOR, "c", options);
        must(Command::new("make").args(["-s", "fixed", "-C"]).arg(&folder));
        let steps = (0.15 / step.parse::<f64>().unwrap()).round().to_string();
        let output = Command::new(folder.join("multivibrator_fixed"))
            .arg(steps)
            .output()
            .unwrap();
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        let rows = Rows::read(&String::from_utf8(output.stdout).unwrap());
        // A step finds the solution behind the end, or reports that it finds none: no sample is wrong.
        assert!(
            output.status.success() || said.contains("no solution of an algebraic loop"),
            "{said}"
        );
        assert_multivibrating(float, &rows, allowed);
        assert!(rows.values.last().unwrap()[0] > 0.034, "{said}");
    }
}

#[test]
fn fmus_leave_a_branch_where_it_ends() {
    if !has_compiler() {
        return;
    }
    let at = |stop: f64, points: usize, names: [&str; 3]| Rows {
        names: names.map(String::from).to_vec(),
        values: (0..points)
            .map(|row| vec![row as f64 / (points - 1) as f64 * stop])
            .collect(),
    };
    for target in ["fmu2", "fmu3"] {
        let scratch = tempfile::tempdir().unwrap();
        let file = scratch.path().join("m.lgm");
        fs::write(&file, MULTIVIBRATOR).unwrap();
        let oscillator = Driven::new(&file, target, &scratch.path().join("oscillator"), &SANITIZED);
        fs::write(&file, CUBIC).unwrap();
        let fold = Driven::new(&file, target, &scratch.path().join("fold"), &SANITIZED);
        for mode in ["cs", "me"] {
            let what = format!("{target}, {mode}");
            let rows = oscillator.rows(mode, &at(0.15, 31, ["time", "cv", "v"]), "1e-9", &[]);
            assert_multivibrating(&what, &rows, 1e-4);
            let rows = fold.rows(mode, &at(2.0, 41, ["time", "z", "v"]), "1e-9", &[]);
            assert_folded(&what, &rows, 1e-5);
        }
    }
}

#[test]
fn emitted_rust_leaves_a_branch_where_it_ends() {
    let scratch = tempfile::tempdir().unwrap();
    let run = |text: &str, words: &[&str]| {
        let folder = emitted(scratch.path(), text, "rust", &[]);
        Rows::read(&must(Command::new(rust_program(&folder)).args(words)))
    };
    assert_multivibrating("Rust", &run(MULTIVIBRATOR, &MULTIVIBRATOR_RUN), 1e-5);
    assert_folded("Rust", &run(CUBIC, &CUBIC_RUN), 1e-6);
}

#[test]
fn emitted_programs_name_the_loop_whose_branch_ends_with_no_other() {
    let scratch = tempfile::tempdir().unwrap();
    let mut programs = vec![Command::new(compile(
        &emitted(scratch.path(), PARABOLA, "c", &[]),
        &SANITIZED,
    ))];
    let folder = emitted(scratch.path(), PARABOLA, "rust", &[]);
    programs.push(Command::new(rust_program(&folder)));
    if let Some(python) = python("numpy, scipy") {
        let mut run = Command::new(python);
        run.arg(emitted(scratch.path(), PARABOLA, "python", &[]).join("loop.py"));
        programs.push(run);
    }
    for mut program in programs {
        let output = output(program.args(["--stop", "2"]));
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(
            !output.status.success()
                && said.contains("loop of `odd`")
                && (said.contains("no solution") || said.contains("limit point")),
            "{said}"
        );
    }
}
