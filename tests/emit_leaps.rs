//! What storage with folds holds leaps in emitted code where it leaps in `lgm simulate`, and to the same solution: the first stable one of
//! the total's equation, which is found here by walking along that equation from the last value on.

use crate::emit_fmu::driven::{Driven, SANITIZED, has_compiler};
use crate::laws_in_pieces;
use crate::support;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use support::command::{ends_with, err, lgm};
use support::emitted::{Rows, cargo, compile, emit, must, python};

/// A linear capacitor in series with one that has folds, and a resistor beside the latter, at a source of voltage; or, with fluxes in
/// place of charges, inductors and a resistor at a source of current.
struct Folded {
    law: &'static str,
    value: fn(f64) -> f64,
    is_inductor: bool,
    linear: f64,
    resistance: f64,
    source: &'static str,
    input: fn(f64) -> f64,
    stop: f64,
    rtol: &'static str,
}

const POINTS: usize = 41;

fn cubic(q: f64) -> f64 {
    q - 1.5 * q.powi(2) + 0.5 * q.powi(3)
}

fn odd(q: f64) -> f64 {
    q - 1.5 * q.powi(3) + 0.5 * q.powi(5)
}

fn ramps(t: f64) -> f64 {
    8.0 * ((t - 0.5).max(0.0) - (t - 1.5).max(0.0))
}

fn models() -> Vec<Folded> {
    let cubic_law = "1 [V/C]*X - 1.5 [V/C^2]*X^2 + 0.5 [V/C^3]*X^3";
    let odd_law = "1 [V/C]*X - 1.5 [V/C^3]*X^3 + 0.5 [V/C^5]*X^5";
    let sine = |linear: f64, rtol: &'static str| Folded {
        law: cubic_law,
        value: cubic,
        is_inductor: false,
        linear,
        resistance: 1.0,
        source: "3*sin(time*1 [1/s])",
        input: |t| 3.0 * t.sin(),
        stop: 6.2,
        rtol,
    };
    vec![
        sine(8.0, "1e-5"),
        sine(14.0, "1e-8"),
        sine(20.0, "1e-6"),
        Folded {
            law: odd_law,
            value: odd,
            source: "3*sin(1.9*(time*1 [1/s]))",
            input: |t| 3.0 * (1.9 * t).sin(),
            ..sine(10.0, "1e-5")
        },
        Folded {
            law: odd_law,
            value: odd,
            source: "8*(ramp(0.5) - ramp(1.5))",
            input: ramps,
            stop: 3.0,
            ..sine(3.0, "1e-8")
        },
        Folded {
            law: "0.9 [V/C]*X - 2.2 [V/C^2]*X^2 + 0.7 [V/C^3]*X^3",
            value: |q| 0.9 * q - 2.2 * q.powi(2) + 0.7 * q.powi(3),
            source: "1.7*(1 - cos(2.3*(time*1 [1/s])))",
            input: |t| 1.7 * (1.0 - (2.3 * t).cos()),
            resistance: 2.5,
            ..sine(5.5, "1e-6")
        },
        // Folds without end: solutions follow each other at the distance of a period, far from zero in the end.
        Folded {
            law: "1.6 [V]*sin(X/1.5 [C])",
            value: |q| 1.6 * (q / 1.5).sin(),
            source: "1.16*(time*1 [1/s])",
            input: |t| 1.16 * t,
            ..sine(20.0, "1e-6")
        },
        Folded {
            law: "1 [A]*sin(X/1 [Wb])",
            value: f64::sin,
            is_inductor: true,
            source: "1.5",
            input: |_| 1.5,
            stop: 20.0,
            ..sine(5.0, "1e-7")
        },
        Folded {
            law: "0.2 [A/Wb]*X + 1.3 [A]*sin(X/0.6 [Wb])",
            value: |q| 0.2 * q + 1.3 * (q / 0.6).sin(),
            is_inductor: true,
            resistance: 1.8,
            source: "9*sin(1.2*(time*1 [1/s]))",
            input: |t| 9.0 * (1.2 * t).sin(),
            ..sine(9.0, "1e-6")
        },
        // Many leaps within a long step, and rows close to them.
        Folded {
            law: "0.2002 [V/C]*X + 1.5864 [V]*sin(X/0.3795 [C])",
            value: |q| 0.2002 * q + 1.5864 * (q / 0.3795).sin(),
            source: "4.325*(1 - cos(1.763*(time*1 [1/s])))",
            input: |t| 4.325 * (1.0 - (1.763 * t).cos()),
            resistance: 1.812,
            stop: 6.0,
            ..sine(17.749, "1e-6")
        },
        // Narrow bumps, the second one crossed both ways: between its two solutions the steps are long.
        Folded {
            law: "1 [V/C]*X - 0.4208 [V]*exp(-((X - 2.6707 [C])/0.1837 [C])^2)",
            value: |q| q - 0.4208 * (-((q - 2.6707) / 0.1837_f64).powi(2)).exp(),
            source: "4.81*(1 - cos(0.998*(time*1 [1/s])))",
            input: |t| 4.81 * (1.0 - (0.998 * t).cos()),
            resistance: 2.269,
            stop: 6.0,
            ..sine(20.036, "1e-6")
        },
        Folded {
            law: "1 [V/C]*X - 0.3 [V]*exp(-((X - 3 [C])/0.1 [C])^2)",
            value: |q| q - 0.3 * (-((q - 3.0) / 0.1_f64).powi(2)).exp(),
            source: "2*(time*1 [1/s])",
            input: |t| 2.0 * t,
            ..sine(2.0, "1e-6")
        },
    ]
}

impl Folded {
    fn text(&self) -> String {
        let Folded {
            linear,
            resistance,
            source,
            ..
        } = self;
        match self.is_inductor {
            false => format!(
                "element S() : electrical {{ across = {}; }}
model M {{
  input u [V] = {source};
  node a, n : electrical;
  s : VoltageSource(u) a -> gnd;  large : Capacitor({linear}) a -> n;
  f : S() n -> gnd;  load : Resistor({resistance}) n -> gnd;
  output q = int(through(f));
}}",
                self.law.replace('X', "int(through)")
            ),
            true => format!(
                "element S() : electrical {{ through = {}; }}
model M {{
  input i [A] = {source};
  node a, b : electrical;
  s : CurrentSource(i) gnd -> a;  load : Resistor({resistance}) a -> gnd;
  large : Inductor({linear}) a -> b;  f : S() b -> gnd;
  output q = int(across(f));
}}",
                self.law.replace('X', "int(across)")
            ),
        }
    }

    /// What is held where `q + linear*law(q)` is the total: from `q` on, the first value in the direction in which it is pushed.
    fn held(&self, total: f64, q: f64) -> f64 {
        let off = |q: f64| q + self.linear * (self.value)(q) - total;
        let step = if off(q) < 0.0 { 1e-3 } else { -1e-3 };
        let (mut low, mut high) = (q, q + step);
        while (off(high) < 0.0) == (off(q) < 0.0) {
            (low, high) = (high, high + step);
        }
        for _ in 0..50 {
            let middle = 0.5 * (low + high);
            match (off(middle) < 0.0) == (off(q) < 0.0) {
                true => low = middle,
                false => high = middle,
            }
        }
        0.5 * (low + high)
    }

    /// What is held at the times of the rows, and the times of leaps: the midpoint rule in steps so short that they are off by less than
    /// what is compared.
    fn expected(&self) -> (Vec<f64>, Vec<f64>) {
        let parts = (self.stop / (POINTS - 1) as f64 / 5e-5).ceil();
        let step = self.stop / (POINTS - 1) as f64 / parts;
        let of_source = |time: f64| {
            if self.is_inductor {
                0.0
            } else {
                self.linear * (self.input)(time)
            }
        };
        let rate = |time: f64, q: f64| match self.is_inductor {
            false => -(self.value)(q) / self.resistance,
            true => self.resistance * ((self.input)(time) - (self.value)(q)),
        };
        let (mut own, mut q) = (0.0, self.held(of_source(0.0), 0.0));
        let (mut rows, mut leaps) = (vec![q], Vec::new());
        for row in 1..POINTS {
            for part in 0..parts as usize {
                let time = ((row - 1) as f64 * parts + part as f64) * step;
                let half = time + 0.5 * step;
                let middle = self.held(own + 0.5 * step * rate(time, q) + of_source(half), q);
                own += step * rate(half, middle);
                let next = self.held(own + of_source(time + step), middle);
                if (next - q).abs() > 0.03 {
                    leaps.push(time);
                }
                q = next;
            }
            rows.push(q);
        }
        (rows, leaps)
    }

    /// Compares rows with what is expected, but those in which a leap is too near.
    fn assert_follows(&self, what: &str, found: &[f64]) {
        let (expected, leaps) = self.expected();
        assert!(!leaps.is_empty(), "{what}: no leap in {}", self.text());
        assert_eq!(found.len(), expected.len(), "{what}");
        let size = expected.iter().fold(0.0, |most: f64, value| most.max(value.abs()));
        let mut compared = 0;
        for (row, (found, expected)) in found.iter().zip(&expected).enumerate() {
            let time = self.stop * row as f64 / (POINTS - 1) as f64;
            if leaps.iter().any(|leap| (leap - time).abs() < 1e-3 * self.stop) {
                continue;
            }
            compared += 1;
            assert!(
                (found - expected).abs() < 1e-3 * size,
                "{what}: {found} is not {expected} at {time} s in {}, with leaps at {leaps:?}",
                self.text()
            );
        }
        assert!(compared > POINTS * 3 / 4, "{what}: {compared} rows were compared");
    }

    fn words(&self) -> [String; 6] {
        let points = POINTS.to_string();
        [
            "--stop",
            &self.stop.to_string(),
            "--points",
            &points,
            "--rtol",
            self.rtol,
        ]
        .map(String::from)
    }
}

/// A storage with folds behind another one, each with a resistor: both may leap at once.
const BOTH: &str = "element F() : electrical {
  across = 1 [V/C]*int(through) - 1.5 [V/C^2]*int(through)^2 + 0.5 [V/C^3]*int(through)^3;
}
element P() : electrical { across = 1.2 [V]*sin(int(through)/0.8 [C]); }
model M {
  input u [V] = 3*sin(time*1 [1/s]);
  node a, n, m : electrical;
  s : VoltageSource(u) a -> gnd;
  c1 : Capacitor(10) a -> n;  f : F() n -> gnd;  r1 : Resistor(1.5) n -> gnd;
  c3 : Capacitor(6) n -> m;  p : P() m -> gnd;  r2 : Resistor(0.7) m -> gnd;
  output q = int(through(f));
  output z = int(through(p));
}";

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

#[test]
fn simulate_leaps_to_the_first_stable_solution() {
    for model in models() {
        let folder = laws_in_pieces::written(&model.text());
        let words = model.words();
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        let rows = laws_in_pieces::run(folder.path(), &words);
        model.assert_follows("simulate", &rows.column("q"));
    }
}

#[test]
fn emitted_c_leaps_to_the_first_stable_solution() {
    for model in models() {
        let scratch = tempfile::tempdir().unwrap();
        let program = compile(&emitted(scratch.path(), &model.text(), "c", &[]), &SANITIZED);
        let rows = Rows::read(&must(Command::new(program).args(model.words())));
        model.assert_follows("C", &column(&rows, "q"));
    }
}

#[test]
fn emitted_rust_leaps_to_the_first_stable_solution() {
    let scratch = tempfile::tempdir().unwrap();
    let target = scratch.path().join("target");
    for model in models() {
        let folder = emitted(scratch.path(), &model.text(), "rust", &[]);
        must(&mut cargo(&folder, &target, &["build", "--example", "simulate"]));
        let rows = Rows::read(&must(
            Command::new(target.join("debug/examples/simulate")).args(model.words()),
        ));
        model.assert_follows("Rust", &column(&rows, "q"));
    }
}

#[test]
fn emitted_python_leaps_to_the_first_stable_solution() {
    let Some(python) = python("numpy, scipy") else { return };
    for model in models() {
        let scratch = tempfile::tempdir().unwrap();
        let folder = emitted(scratch.path(), &model.text(), "python", &[]);
        let rows = Rows::read(&must(
            Command::new(&python).arg(folder.join("m.py")).args(model.words()),
        ));
        model.assert_follows("Python", &column(&rows, "q"));
    }
}

#[test]
fn fmus_leap_to_the_first_stable_solution() {
    if !has_compiler() {
        return;
    }
    for (model, target) in models().iter().zip(["fmu2", "fmu3"].iter().cycle()) {
        let scratch = tempfile::tempdir().unwrap();
        let file = scratch.path().join("m.lgm");
        fs::write(&file, model.text()).unwrap();
        let unit = Driven::new(&file, target, &scratch.path().join("unit"), &SANITIZED);
        let time = |row: usize| vec![row as f64 / (POINTS - 1) as f64 * model.stop];
        let like = Rows {
            names: ["time", "q"].map(String::from).to_vec(),
            values: (0..POINTS).map(time).collect(),
        };
        for mode in ["cs", "me"] {
            let rows = unit.rows(mode, &like, model.rtol, &[]);
            model.assert_follows(&format!("{target}, {mode}"), &column(&rows, "q"));
        }
    }
}

#[test]
fn steps_of_fixed_length_leap_to_the_first_stable_solution() {
    let models = models();
    for model in [&models[2], &models[4], &models[6]] {
        let scratch = tempfile::tempdir().unwrap();
        let folder = emitted(scratch.path(), &model.text(), "c", &["--fixed-step", "5e-5"]);
        must(Command::new("make").args(["-s", "fixed", "-C"]).arg(&folder));
        let steps = (model.stop / 5e-5).round() as usize;
        let rows = Rows::read(&must(Command::new(folder.join("m_fixed")).arg(steps.to_string())));
        let all = column(&rows, "q");
        let kept: Vec<f64> = all.iter().step_by((all.len() - 1) / (POINTS - 1)).copied().collect();
        model.assert_follows("fixed", &kept);
    }
}

/// Two unknowns, of which one or both leap: all runs agree.
#[test]
fn two_storages_with_folds_leap_alike() {
    let options = ["--stop", "6.2", "--points", "32", "--rtol", "1e-7"];
    let scratch = laws_in_pieces::written(BOTH);
    let run = laws_in_pieces::run(scratch.path(), &options);
    let expected = ["q", "z"].map(|name| run.column(name));
    assert_leaps_of_both(&expected);
    let near = |what: &str, rows: &Rows| {
        for (name, expected) in ["q", "z"].iter().zip(&expected) {
            for (row, (found, expected)) in column(rows, name).iter().zip(expected).enumerate() {
                assert!(
                    (found - expected).abs() < 1e-4 * expected.abs().max(1.0),
                    "{what}: {name} = {found} is not {expected} in row {row}"
                );
            }
        }
    };
    let program = compile(&emitted(scratch.path(), BOTH, "c", &[]), &SANITIZED);
    near("C", &Rows::read(&must(Command::new(program).args(options))));
    let (folder, target) = (
        emitted(scratch.path(), BOTH, "rust", &[]),
        scratch.path().join("target"),
    );
    must(&mut cargo(&folder, &target, &["build", "--example", "simulate"]));
    must(&mut cargo(&folder, &target, &["clippy", "--all-targets"]));
    let mut program = Command::new(target.join("debug/examples/simulate"));
    near("Rust", &Rows::read(&must(program.args(options))));
    if let Some(python) = python("numpy, scipy") {
        let folder = emitted(scratch.path(), BOTH, "python", &[]);
        let mut program = Command::new(python);
        near(
            "Python",
            &Rows::read(&must(program.arg(folder.join("m.py")).args(options))),
        );
    }
}

/// The same circuit with a resistance of 1e-3 ohm in series with each storage: without them, the charges leap; with them, they run there.
fn assert_leaps_of_both(found: &[Vec<f64>; 2]) {
    let text = BOTH
        .replace("node a, n, m", "node a, n, m, k, l")
        .replace("f : F() n -> gnd;", "w1 : Resistor(1e-4) n -> k;  f : F() k -> gnd;")
        .replace("p : P() m -> gnd;", "w2 : Resistor(1e-4) m -> l;  p : P() l -> gnd;");
    let folder = laws_in_pieces::written(&text);
    let options = ["--stop", "6.2", "--points", "32", "--rtol", "1e-7"];
    let limited = laws_in_pieces::run(folder.path(), &options);
    for (name, found) in ["q", "z"].iter().zip(found) {
        let mut apart = 0;
        for (found, limited) in found.iter().zip(limited.column(name)) {
            // A leap takes some milliseconds there.
            apart += usize::from((found - limited).abs() > 0.02 * limited.abs().max(1.0));
        }
        assert!(apart <= 2, "{name}: {apart} rows");
    }
    let furthest = found[1].iter().fold(0.0, |most: f64, value| most.max(value.abs()));
    assert!(furthest > 2.0, "{furthest}");
}

/// All targets say that there are leaps; those that do not follow a solution to its end say that too. What a Modelica tool makes of it
/// is its own.
#[test]
fn targets_warn_of_leaps() {
    let text = models()[0].text();
    for (target, is_unfollowed) in [
        ("matlab", true),
        ("julia", true),
        ("modelica", false),
        ("c", false),
        ("fmu3", false),
    ] {
        let folder = laws_in_pieces::written(&text);
        let run = lgm(folder.path(), &["emit", "m.lgm", "--target", target, "-o", "code"]);
        ends_with(&run, 0);
        assert!(err(&run).contains("LGM0450"), "{target}: {}", err(&run));
        assert_eq!(err(&run).contains("LGM0937"), is_unfollowed, "{target}: {}", err(&run));
    }
}
