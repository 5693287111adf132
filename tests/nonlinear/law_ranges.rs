//! Laws that are solved for their argument, such as `through = I0*atan(across/v0)` for the voltage: within the range of
//! the function, at its end, and beyond, where the law has no value. Runs and emitted programs stop there.

use crate::emit::matlab;
use crate::support;

use std::f64::consts::{FRAC_PI_2, FRAC_PI_4, PI};
use std::fs;
use std::path::Path;
use std::process::{Command, Output};
use support::command::{ends_with, err, lgm, out};
use support::emitted::{Rows, cargo, compile, emit, must, python};

/// A model whose law reaches the end of its range.
struct Ending {
    name: &'static str,
    text: String,
    /// The time of the end, in seconds.
    end: f64,
    /// The voltage before the end.
    voltage: fn(f64) -> f64,
}

/// A law between a node and the reference, with its drive.
fn driven(law: &str, by: &str) -> String {
    format!(
        "element Curve(I0 [A] = 1, v0 [V] = 1, C0 [F] = 1) : electrical {{ {law}; }}
model M {{
  node a : electrical;
  input u = 1;
  {by}
  curve : Curve() a -> gnd;
  output v = across(curve);
}}"
    )
}

/// The current is a function of time.
fn fed(law: &str, current: &str) -> String {
    driven(law, &format!("source : CurrentSource({current}) gnd -> a;"))
}

const VARACTOR: &str = "int(through) = 2*C0*v0*(1 - sqrt(1 - across/v0))";
const ROOT: &str = "through = I0*sqrt(across/v0)";

/// 2 A into the varactor in parallel with 1 ohm: with z = 1 - q/2, z' = -(1 + z^2)/2.
fn charged() -> Ending {
    let by = "source : CurrentSource(2*u) gnd -> a; load : Resistor(1) a -> gnd;";
    Ending {
        name: "varactor",
        text: driven(VARACTOR, by),
        end: FRAC_PI_2,
        voltage: |t| 1.0 - (FRAC_PI_4 - t / 2.0).tan().powi(2),
    }
}

/// An inductance of 1 H drives 1 A through a square root against 1 V: i' = -1 - i^2.
fn slowed() -> Ending {
    let by = "node b : electrical; source : VoltageSource(-u) b -> gnd; coil : Inductor(1) b -> a, start = 1;";
    Ending {
        name: "root",
        text: driven(ROOT, by),
        end: FRAC_PI_4,
        voltage: |t| (FRAC_PI_4 - t).tan().powi(2),
    }
}

fn endings() -> Vec<Ending> {
    let fed = |name, law, current, end, voltage| Ending {
        name,
        text: fed(law, current),
        end,
        voltage,
    };
    vec![
        charged(),
        slowed(),
        fed("atan", "through = I0*atan(across/v0)", "time", FRAC_PI_2, f64::tan),
        fed("asin", "through = I0*asin(across/v0)", "-time", FRAC_PI_2, |t| -t.sin()),
        fed("acos", "through = I0*acos(across/v0)", "time", PI, f64::cos),
        fed("a cube root", "through = I0*(across/v0)^(1/3)", "1 - time", 1.0, |t| {
            (1.0 - t).powi(3)
        }),
        fed(
            "an inverse root",
            "through = I0/sqrt(across/v0)",
            "1 - time",
            1.0,
            |t| (1.0 - t).powi(-2),
        ),
    ]
}

/// Checks that samples are right up to the end, and that none exist beyond.
fn assert_rows(what: &str, rows: &Rows, ending: &Ending, spacing: f64) {
    let voltage = rows.names.iter().position(|name| name == "v").unwrap();
    for row in &rows.values {
        let (time, expected) = (row[0], (ending.voltage)(row[0]));
        assert!(time < ending.end + 1e-4, "{what}: a row at {time} s");
        let error = (row[voltage] - expected).abs() / expected.abs().max(1.0);
        assert!(error < 1e-5, "{what}: {} for {expected} at {time} s", row[voltage]);
    }
    let last = rows.values.last().map_or(0.0, |row| row[0]);
    assert!(last > ending.end - 1.5 * spacing, "{what}: the last row is at {last} s");
}

#[test]
fn a_run_stops_where_a_law_has_no_value_any_more() {
    let scratch = tempfile::tempdir().unwrap();
    for ending in endings() {
        fs::write(scratch.path().join("m.lgm"), &ending.text).unwrap();
        let stop = (2.0 * ending.end).to_string();
        let run = ["simulate", "m.lgm", "--points", "201", "--stop", &stop, "--keep"];
        let found = lgm(scratch.path(), &run);
        ends_with(&found, 1);
        let said = err(&found);
        assert!(
            said.contains("LGM1004") && said.contains("and no values beyond"),
            "{}: {said}",
            ending.name
        );
        assert_rows(ending.name, &Rows::read(&out(&found)), &ending, ending.end / 100.0);
    }
}

#[test]
fn within_its_range_an_inverse_is_a_closed_form_and_verifies() {
    let scratch = tempfile::tempdir().unwrap();
    for ending in endings() {
        fs::write(scratch.path().join("m.lgm"), &ending.text).unwrap();
        let equations = out(&lgm(scratch.path(), &["equations", "m.lgm"]));
        assert!(!equations.contains("loop"), "{equations}");
        // Random points beyond the range count as points without values.
        let checked = lgm(scratch.path(), &["check", "m.lgm", "--verify"]);
        ends_with(&checked, 0);
        assert!(!err(&checked).contains("LGM0711"), "{}", err(&checked));
        let stop = (0.95 * ending.end).to_string();
        let run = lgm(
            scratch.path(),
            &["simulate", "m.lgm", "--points", "20", "--stop", &stop, "--verify"],
        );
        ends_with(&run, 0);
        assert_rows(ending.name, &Rows::read(&out(&run)), &ending, ending.end / 10.0);
    }
}

/// Nonlinear storage that depends on other storage has the total as its state, even if the law could be solved for the
/// voltage.
#[test]
fn storage_beside_a_varactor_has_the_total_charge_as_state() {
    let scratch = tempfile::tempdir().unwrap();
    let by = "beside : Capacitor(1) a -> gnd, start = 0.5; load : Resistor(u) a -> gnd;";
    fs::write(scratch.path().join("m.lgm"), driven(VARACTOR, by)).unwrap();
    let found = lgm(scratch.path(), &["equations", "m.lgm"]);
    ends_with(&found, 0);
    let total = "beside.total_int_i C  total of beside and curve";
    assert!(out(&found).contains(total), "{}", out(&found));
}

/// Models that reach the end of a range but never cross it, regardless of round-off and tolerances.
fn touching() -> [(&'static str, String); 5] {
    let junction = "int(through) = 1e-12*C0*v0*sqrt(across/v0)";
    let decay = "node b : electrical; coil : Inductor(1) gnd -> b, start = 1; load : Resistor(5*u) b -> a;";
    let beside = "s1 : CurrentSource(0.1*u + 0.2) gnd -> a; s2 : CurrentSource(0.3) a -> gnd;";
    let back = "s1 : CurrentSource(0.3*u) gnd -> a; s2 : CurrentSource(0.1*u + 0.2) a -> gnd;";
    [
        ("a charge that is all there is", fed(VARACTOR, "sin(time)")),
        ("a charge that returns to zero", fed(junction, "1e-12*sin(time)")),
        ("a current that dies away", driven(ROOT, decay)),
        ("currents that cancel", driven(ROOT, beside)),
        ("currents that cancel, the other way round", driven(ROOT, back)),
    ]
}

#[test]
fn the_end_of_a_range_belongs_to_it() {
    let scratch = tempfile::tempdir().unwrap();
    for (name, text) in touching() {
        fs::write(scratch.path().join("m.lgm"), &text).unwrap();
        for method in ["auto", "tsit45", "tr-bdf2"] {
            let run = [
                "simulate", "m.lgm", "--stop", "20", "--points", "41", "--method", method,
            ];
            let found = lgm(scratch.path(), &run);
            assert!(found.status.success(), "{name}, {method}: {}", err(&found));
        }
    }
}

/// The samples that a program has written, and its messages.
fn failed(what: &str, output: &Output) -> (String, String) {
    let (rows, said) = (out(output), err(output));
    assert!(!output.status.success(), "{what} goes on\n{rows}");
    (rows, said)
}

/// A model in a file, with its requested run.
fn write_run(file: &Path, text: &str, stop: f64, points: usize) {
    let text = text.trim_end_matches('}');
    let run = format!("{text}  experiment {{ stop = {stop} [s]; points = {points}; }}\n}}");
    fs::write(file, run).unwrap();
}

#[test]
fn emitted_c_and_rust_stop_there_too() {
    let scratch = tempfile::tempdir().unwrap();
    let file = scratch.path().join("m.lgm");
    for ending in [charged(), slowed(), endings().remove(2)] {
        write_run(&file, &ending.text, 2.0 * ending.end, 201);
        let folder = scratch.path().join("c");
        emit(&file, "c", &folder, &["--force"]);
        let found = Command::new(compile(&folder, &[])).output().unwrap();
        let (rows, said) = failed("C", &found);
        assert!(said.contains("is not finite"), "{said}");
        assert_rows("C", &Rows::read(&rows), &ending, ending.end / 100.0);
        let folder = scratch.path().join("rust");
        emit(&file, "rust", &folder, &["--force"]);
        let mut run = cargo(
            &folder.join("run"),
            &scratch.path().join("target"),
            &["run", "--example", "simulate"],
        );
        let (rows, said) = failed("Rust", &run.output().unwrap());
        let cause = ["is not finite", "leaves the domain"]
            .iter()
            .any(|words| said.contains(words));
        assert!(cause, "{said}");
        assert_rows("Rust", &Rows::read(&rows), &ending, ending.end / 100.0);
    }
}

#[test]
fn emitted_python_and_matlab_stop_there_too() {
    let scratch = tempfile::tempdir().unwrap();
    let file = scratch.path().join("m.lgm");
    let (python, octave) = (python("numpy, scipy"), matlab::octave());
    for ending in [charged(), slowed()] {
        write_run(&file, &ending.text, 2.0 * ending.end, 201);
        if let Some(python) = &python {
            let folder = scratch.path().join("python");
            emit(&file, "python", &folder, &["--force"]);
            let found = Command::new(python).arg("m.py").current_dir(&folder).output().unwrap();
            let (_, said) = failed("Python", &found);
            assert!(said.contains("the run ends"), "{said}");
        }
        if let Some(octave) = &octave {
            let folder = scratch.path().join("matlab");
            emit(&file, "matlab", &folder, &["--force"]);
            let found = matlab::running(octave, &folder, "", "").output().unwrap();
            failed("MATLAB", &found);
        }
    }
}

#[test]
fn emitted_programs_pass_the_end_that_is_only_touched() {
    let scratch = tempfile::tempdir().unwrap();
    let file = scratch.path().join("m.lgm");
    let python = python("numpy, scipy");
    for (_, text) in touching() {
        write_run(&file, &text, 20.0, 41);
        let folder = scratch.path().join("c");
        emit(&file, "c", &folder, &["--force"]);
        must(&mut Command::new(compile(&folder, &[])));
        if let Some(python) = &python {
            let folder = scratch.path().join("python");
            emit(&file, "python", &folder, &["--force"]);
            must(Command::new(python).arg("m.py").current_dir(&folder));
        }
    }
}
