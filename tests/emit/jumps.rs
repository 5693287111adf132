//! Emitted programs and FMUs in which inputs step into nonlinear storage: charges and fluxes are conserved, as in
//! closed forms, and undetermined steps fail with a cause. `jumps` tests the same for `lgm simulate`.

use crate::emit::fmu::driven::{Driven, SANITIZED, has_compiler};
use crate::runs::jumps::integral;
use crate::support;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use support::emitted::{Rows, compile, emit, must, rust_program};

/// A model with an input that steps at 0.5 s or at the start, and its outputs immediately afterwards, at the sample of
/// the given index.
struct Known {
    text: String,
    row: usize,
    outputs: Vec<(&'static str, f64)>,
}

const RUN: [&str; 4] = ["--stop", "1", "--points", "3"];

/// A linear capacitor in series with a nonlinear one, on a source that steps.
fn in_series(law: &str, linear: u32, bent: &str, volts: u32) -> String {
    format!(
        "element Bent(a, c) {{ {law} }}
model M {{
  input u = {volts}*step(0.5);
  node n1, n2 : electrical;
  linear : Capacitor({linear}) n2 -> n1;
  bent   : {bent} n1 -> gnd;
  leak   : Resistor(1e12) n1 -> gnd;
  source : VoltageSource(u) n2 -> gnd;
  output v = across(bent);
}}"
    )
}

/// 5 V charges 1 F in series with `v = 0.577*q + c*q^3`. For the largest c, 64 steps of a method of order 4 leave an
/// error of 0.4 of the voltage.
fn steep() -> String {
    in_series("across = a*int(through) + c*int(through)^3;", 1, "Bent(0.577, 1e6)", 5)
}

/// An inverse law: the charge is `v + v^3` of the second capacitor, and `2*(3 - v)` of the first.
fn inverse() -> String {
    in_series("int(through) = a*across + c*across^3;", 2, "Bent(1, 1)", 3)
}

/// A current through a linear inductor in series with a sharply saturating one, and a third in parallel: at first the
/// flux moves a million times faster than at the end.
const SATURATING: &str = "element Saturating() : electrical { through = int(across)/0.2 + (int(across)/1e-5)^7; }
model M {
  input i [A] = 1e6*step(0.5);
  node a, b : electrical;
  source : CurrentSource(i) gnd -> a;
  first  : Inductor(0.1) a -> b;
  second : Saturating() b -> gnd;
  third  : Inductor(0.3) a -> gnd;
  output i1 = through(first); output i3 = through(third);
}";

/// The charge passes instantaneously, so a limited current adds nothing meanwhile.
const LIMITED: &str = "model M {
  input f = 2*step(0.5);
  node n : electrical;
  store  : Capacitor(3) n -> gnd;
  source : VoltageSource(f) n -> gnd;
  state z = int(min(max(f - through(store), -100), 100)), start = 0;
  state charge = int(f - through(store)), start = 0;
  output y = z; output q = charge;
}";

/// A current through a resistance that the same input sets: `v*(2 + k*f) = u` while both rise, and therefore its
/// logarithm.
const GAIN: &str = "model M {
  input f = 1.89*step(0.5);
  node n1, n2 : electrical;
  c1 : Capacitor(1e-9) n2 -> gnd;
  c2 : Capacitor(1e-9) n2 -> n1;
  source : VoltageSource(100*f) n1 -> gnd;
  extra  : CurrentSource(-0.277*f*through(c1)) gnd -> n2;
  output v = across(c1);
}";

/// A step at the start: with the charge q, the capacitors hold `q/2 + q + 3*q^3 = 2*0.5`.
const MEASURED: &str = "element Cubic(a, c) : electrical { across = a*int(through) + c*int(through)^3; }
model M {
  node n1, n2, n3 : electrical;
  c1 : Capacitor(2) n1 -> gnd;
  c2 : Cubic(1, 3) n2 -> n1;
  e3 : VoltageSource(0.5) n3 -> gnd;
  e  : VoltageSource(2*through(r3)) n2 -> gnd;
  r  : Resistor(1) n1 -> gnd;
  r3 : Resistor(1) n3 -> gnd;
  output v = across(c1);
  output w = across(c2);
}";

/// A current found by iteration at each rate of the rising voltage. The faster the voltage rises, the closer the
/// feedback is to 0.55 of the other current, so `v*(2 + 2 + 2*0.55) = 2*3`.
const LOOP: &str = "model M {
  input u = 3*step(0.5);
  node n1, n2 : electrical;
  c1 : Capacitor(2) n2 -> gnd;
  c2 : Capacitor(2) n2 -> n1;
  leak : Resistor(1e12) n2 -> gnd;
  source : VoltageSource(u) n1 -> gnd;
  extra  : CurrentSource(-0.5*through(c1)*(1 + 0.1*tanh(through(c1)/(1 [A])))) gnd -> n2;
  output v = across(c1);
}";

/// Undetermined steps and their messages: the square of a current has no bound, or the order in which the charge passes
/// and k rises is undefined.
fn refused() -> [(String, &'static str); 2] {
    [
        (integral("through(store)^2"), "the resulting change of"),
        (integral("k*through(store)"), "depending on which is first"),
    ]
}

/// Where a rising function is zero.
fn zero(from: f64, to: f64, of: impl Fn(f64) -> f64) -> f64 {
    let (mut from, mut to) = (from, to);
    for _ in 0..400 {
        let middle = 0.5 * (from + to);
        match of(middle) > 0.0 {
            true => to = middle,
            false => from = middle,
        }
    }
    0.5 * (from + to)
}

/// Models with closed forms for their steps.
fn known() -> Vec<Known> {
    let charge = zero(0.0, 5.0, |q| q - (5.0 - 0.577 * q - 1e6 * q.powi(3)));
    let of = |x: f64| x / 0.2 + (x / 1e-5f64).powi(7);
    // The flux of the second inductor is x: the first carries its current, and the loop holds 0.1*i1 + x = 0.3*i3.
    let flux = zero(0.0, 1.0, |x| 0.1 * of(x) + x - 0.3 * (1e6 - of(x)));
    let measured = zero(0.0, 1.0, |q| 1.5 * q + 3.0 * q.powi(3) - 1.0);
    let shared = zero(0.0, 3.0, |v| v + v.powi(3) - 2.0 * (3.0 - v));
    let gain = 100.0 / 0.277 * (1.0 + 0.277 * 1.89 / 2.0f64).ln();
    let known = |text: &str, row, outputs: &[(&'static str, f64)]| Known {
        text: text.to_string(),
        row,
        outputs: outputs.to_vec(),
    };
    vec![
        known(&steep(), 1, &[("v", 5.0 - charge)]),
        known(SATURATING, 1, &[("i1", of(flux)), ("i3", 1e6 - of(flux))]),
        known(LIMITED, 1, &[("y", 0.0), ("q", -6.0)]),
        known(GAIN, 1, &[("v", gain)]),
        known(MEASURED, 0, &[("v", 0.5 * measured), ("w", 1.0 - 0.5 * measured)]),
        known(&inverse(), 1, &[("v", shared)]),
        known(LOOP, 1, &[("v", 6.0 / 5.1)]),
    ]
}

#[track_caller]
fn assert_known(what: &str, known: &Known, rows: &Rows, allowed: f64) {
    assert_eq!(rows.values.len(), 3, "{what}");
    for (name, expected) in &known.outputs {
        let column = rows.names.iter().position(|other| other == name).unwrap();
        let found = rows.values[known.row][column];
        let is_near = (found - expected).abs() <= allowed * expected.abs().max(1e-6);
        assert!(is_near, "{what}: {name} = {found} and not {expected}\n{}", known.text);
    }
}

#[track_caller]
fn assert_refused(what: &str, output: &Output, cause: &str) {
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(!output.status.success() && said.contains(cause), "{what}: {said}");
    // The sample before the step is unchanged.
    let printed = String::from_utf8_lossy(&output.stdout);
    assert!(printed.lines().count() <= 2, "{what}: {printed}");
}

/// Emits a text for a target into a folder.
pub fn emitted(scratch: &Path, text: &str, target: &str, options: &[&str]) -> PathBuf {
    let (file, folder) = (scratch.join("m.lgm"), scratch.join(target));
    fs::write(&file, text).unwrap();
    if folder.exists() {
        fs::remove_dir_all(&folder).unwrap();
    }
    emit(&file, target, &folder, options);
    folder
}

#[test]
fn emitted_c_conserves_what_steps_move() {
    let scratch = tempfile::tempdir().unwrap();
    for known in known() {
        let program = compile(&emitted(scratch.path(), &known.text, "c", &[]), &SANITIZED);
        let rows = Rows::read(&must(Command::new(program).args(RUN)));
        assert_known("C", &known, &rows, 1e-8);
    }
}

#[test]
fn emitted_c_refuses_what_steps_do_not_determine() {
    let scratch = tempfile::tempdir().unwrap();
    for (text, cause) in refused() {
        let program = compile(&emitted(scratch.path(), &text, "c", &[]), &SANITIZED);
        assert_refused("C", &Command::new(program).args(RUN).output().unwrap(), cause);
    }
    // A path of too few segments does not complete.
    let folder = emitted(scratch.path(), GAIN, "c", &[]);
    let numbers = folder.join("run/lgm_model.h");
    let text = fs::read_to_string(&numbers).unwrap();
    let line = text
        .lines()
        .find(|line| line.starts_with("#define M_JUMP_PARTS "))
        .unwrap();
    fs::write(&numbers, text.replace(line, "#define M_JUMP_PARTS 5")).unwrap();
    let output = Command::new(compile(&folder, &SANITIZED)).args(RUN).output().unwrap();
    assert_refused("C", &output, "the states after the step were not found");
}

/// A source steps into two capacitors in series.
const SERIES: &str = "model M { input u [V] = 5*step(0.5); node a, b : electrical; s : VoltageSource(u) a -> gnd;
  c1 : Capacitor(1 [F]) a -> b; c2 : Capacitor(2 [F]) b -> gnd; r : Resistor(100 [ohm]) b -> gnd; output v = across(c2);
  experiment { stop = 1; points = 3; } }";

/// Fixed-step programs conserve quantities if inputs move them by the same amount at every state; other models are
/// rejected.
#[test]
fn steps_of_fixed_length_conserve_what_steps_move() {
    let scratch = tempfile::tempdir().unwrap();
    let mut counts = [0, 0];
    let mut all = known();
    all.push(Known {
        text: SERIES.to_string(),
        row: 1,
        outputs: vec![("v", 5.0 / 3.0)],
    });
    for (known, float) in all.iter().flat_map(|known| [(known, false), (known, true)]) {
        let (file, folder) = (scratch.path().join("m.lgm"), scratch.path().join("code"));
        fs::write(&file, &known.text).unwrap();
        let mut words = ["emit", "--target", "c", "--force", "--fixed-step", "0.5", "-o"]
            .map(String::from)
            .to_vec();
        words.extend([folder.display().to_string(), file.display().to_string()]);
        words.extend(float.then(|| "--float".to_string()));
        let output = support::program::run(&words);
        if !output.status.success() {
            let said = String::from_utf8_lossy(&output.stderr).into_owned();
            assert!(
                said.contains("LGM0944") && said.contains("by amounts that depend on the states"),
                "{said}"
            );
            counts[1] += 1;
            continue;
        }
        counts[0] += 1;
        must(Command::new("make").args(["-s", "fixed", "-C"]).arg(&folder));
        let rows = Rows::read(&must(Command::new(folder.join("m_fixed")).arg("2")));
        let allowed = if float { 3e-3 } else { 1e-8 };
        assert_known("steps of fixed length", known, &rows, allowed);
    }
    assert!(counts[0] > 0 && counts[1] > 0, "{counts:?}");
}

#[test]
fn emitted_rust_conserves_what_steps_move() {
    let scratch = tempfile::tempdir().unwrap();
    let built = |text: &str| {
        let folder = emitted(scratch.path(), text, "rust", &[]);
        Command::new(rust_program(&folder))
    };
    for known in known() {
        assert_known("Rust", &known, &Rows::read(&must(built(&known.text).args(RUN))), 1e-8);
    }
    for (text, cause) in refused() {
        assert_refused("Rust", &built(&text).args(RUN).output().unwrap(), cause);
    }
}

#[test]
fn fmus_conserve_what_steps_move() {
    if !has_compiler() {
        return;
    }
    let scratch = tempfile::tempdir().unwrap();
    let file = scratch.path().join("m.lgm");
    for (at, target) in ["fmu2", "fmu3"].into_iter().enumerate() {
        for (number, known) in known().iter().enumerate() {
            // Each model in one version, and in both modes.
            if number % 2 != at {
                continue;
            }
            fs::write(&file, &known.text).unwrap();
            let folder = scratch.path().join(format!("{target}-{number}"));
            let driven = Driven::new(&file, target, &folder, &SANITIZED);
            let names = ["time"].into_iter().chain(known.outputs.iter().map(|output| output.0));
            let like = Rows {
                names: names.map(String::from).collect(),
                values: vec![vec![0.0], vec![0.5], vec![1.0]],
            };
            for mode in ["cs", "me"] {
                let rows = driven.rows(mode, &like, "1e-9", &[]);
                assert_known(&format!("{target}, {mode}"), known, &rows, 1e-6);
            }
        }
        for (number, (text, cause)) in refused().iter().enumerate() {
            fs::write(&file, text).unwrap();
            let folder = scratch.path().join(format!("{target}-refused-{number}"));
            let driven = Driven::new(&file, target, &folder, &SANITIZED);
            let like = Rows {
                names: ["time", "y"].map(String::from).to_vec(),
                values: vec![vec![0.0], vec![0.5], vec![1.0]],
            };
            for mode in ["cs", "me"] {
                // The driver prints the terms of FMI 3; those of FMI 2 are arguments that it omits.
                let said = if target == "fmu3" { cause } else { "logStatusError" };
                let mut command = Command::new(&driven.program);
                command.args(driven.arguments(mode, &like, "1e-6", &[]));
                assert_refused(&format!("{target}, {mode}"), &command.output().unwrap(), said);
            }
        }
    }
}
