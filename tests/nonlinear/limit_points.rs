//! Limit points of stored quantities: a run ends where two solutions of its loop meet, and reports the time and the
//! storage. The reference finds the time and all earlier values by continuation along the equation of the conserved
//! quantity.

use crate::emit::fmu::driven::{Driven, SANITIZED, has_compiler};
use crate::nonlinear::laws_in_pieces;
use crate::support;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use support::command::{ends_with, err, lgm, out};
use support::emitted::{Rows, compile, emit, rust_program};

/// A linear capacitor in series with one whose voltage decreases with its charge in some interval, and a resistor in
/// parallel with the latter, at a voltage source; or the dual, with inductors and a resistor at a current source.
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
        // Endless limit points: solutions repeat with a period.
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
        // Many limit points within the length of a step.
        Folded {
            law: "0.2002 [V/C]*X + 1.5864 [V]*sin(X/0.3795 [C])",
            value: |q| 0.2002 * q + 1.5864 * (q / 0.3795).sin(),
            source: "4.325*(1 - cos(1.763*(time*1 [1/s])))",
            input: |t| 4.325 * (1.0 - (1.763 * t).cos()),
            resistance: 1.812,
            stop: 6.0,
            ..sine(17.749, "1e-6")
        },
        // Narrow bumps: between the two solutions the steps are long.
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

    /// The stored quantity at which `q + linear*law(q)` is the total: from `q` on, the first value in the direction of
    /// the drive.
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

    /// The stored quantity at the samples before the first limit point, and the time of that point. The steps of the
    /// midpoint rule are short enough to keep its errors below the tolerance.
    fn expected(&self) -> (Vec<f64>, f64) {
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
        let mut rows = vec![q];
        for row in 1..POINTS {
            for part in 0..parts as usize {
                let time = ((row - 1) as f64 * parts + part as f64) * step;
                let half = time + 0.5 * step;
                let middle = self.held(own + 0.5 * step * rate(time, q) + of_source(half), q);
                own += step * rate(half, middle);
                let next = self.held(own + of_source(time + step), middle);
                if (next - q).abs() > 0.03 {
                    return (rows, time);
                }
                q = next;
            }
            rows.push(q);
        }
        panic!("no limit point in {}", self.text());
    }

    /// Compares the samples before the limit point with the expected ones; none may follow it.
    fn assert_rows(&self, what: &str, found: &[f64]) {
        let (expected, end) = self.expected();
        let size = expected.iter().fold(1e-3, |most: f64, value| most.max(value.abs()));
        assert!(
            found.len().abs_diff(expected.len()) <= 1,
            "{what}: {} rows of {} in {}",
            found.len(),
            expected.len(),
            self.text()
        );
        for (row, (found, expected)) in found.iter().zip(&expected).enumerate() {
            let time = self.stop * row as f64 / (POINTS - 1) as f64;
            let is_near = end - time < 1e-3 * self.stop;
            assert!(
                is_near || (found - expected).abs() < 1e-3 * size,
                "{what}: {found} is not {expected} at {time} s, before {end} s, in {}",
                self.text()
            );
        }
    }

    /// Asserts that a message contains the time of the limit point, and the storage there.
    fn assert_said(&self, what: &str, said: &str) {
        let (_, end) = self.expected();
        assert!(said.contains("`f"), "{what}: {said} in {}", self.text());
        let before = said.split(" s: ").chain(said.split(" s\n"));
        let times = before.filter_map(|part| part.rsplit(' ').next()?.parse::<f64>().ok());
        let nearest = times.map(|time| (time - end).abs()).fold(f64::INFINITY, f64::min);
        assert!(
            nearest < 1e-3 * self.stop,
            "{what}: not at {end} s, but: {said} in {}",
            self.text()
        );
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

fn emitted(scratch: &Path, text: &str, target: &str) -> PathBuf {
    let (file, folder) = (scratch.join("m.lgm"), scratch.join(target));
    fs::write(&file, text).unwrap();
    emit(&file, target, &folder, &["--force"]);
    folder
}

#[test]
fn a_run_ends_at_the_limit_point_of_what_a_storage_holds() {
    // A limit point is a property of the equations: two models show that every method detects it.
    let methods = ["auto", "bdf", "sdirk", "tr-bdf2", "tsit45"];
    for (at, model) in models().iter().enumerate() {
        let folder = laws_in_pieces::written(&model.text());
        let words = model.words();
        for method in &methods[..if at < 2 { methods.len() } else { 1 }] {
            let all = ["simulate", "m.lgm", "--method", method].into_iter();
            let run = lgm(
                folder.path(),
                &all.chain(words.iter().map(String::as_str)).collect::<Vec<_>>(),
            );
            ends_with(&run, 1);
            let said = err(&run);
            for part in ["LGM0450", "small resistance in series"] {
                assert!(said.contains(part), "{method}: {said}");
            }
            model.assert_said(method, &said);
            let rows = Rows::read(&out(&run));
            let at = rows.names.iter().position(|name| name == "q").unwrap();
            let found: Vec<f64> = rows.values.iter().map(|row| row[at]).collect();
            model.assert_rows(method, &found);
        }
    }
}

/// Failure messages of emitted programs.
fn assert_stops(model: &Folded, what: &str, program: &mut Command) {
    let output = program.args(model.words()).output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(!output.status.success(), "{what}: {said}");
    model.assert_said(what, &said);
}

#[test]
fn emitted_programs_end_at_the_limit_point_of_what_a_storage_holds() {
    let models = models();
    for model in &models {
        let scratch = tempfile::tempdir().unwrap();
        let program = compile(&emitted(scratch.path(), &model.text(), "c"), &SANITIZED);
        assert_stops(model, "C", &mut Command::new(program));
    }
    let scratch = tempfile::tempdir().unwrap();
    for model in [&models[2], &models[6], &models[9]] {
        let folder = emitted(scratch.path(), &model.text(), "rust");
        assert_stops(model, "Rust", &mut Command::new(rust_program(&folder)));
    }
}

#[test]
fn fmus_end_at_the_limit_point_of_what_a_storage_holds() {
    if !has_compiler() {
        return;
    }
    let model = &models()[2];
    let (_, end) = model.expected();
    let scratch = tempfile::tempdir().unwrap();
    let file = scratch.path().join("m.lgm");
    fs::write(&file, model.text()).unwrap();
    let time = |row: usize| vec![row as f64 / (POINTS - 1) as f64 * model.stop];
    for target in ["fmu2", "fmu3"] {
        let unit = Driven::new(&file, target, &scratch.path().join(target), &SANITIZED);
        for mode in ["cs", "me"] {
            let until = |limit: f64| Rows {
                names: ["time", "q"].map(String::from).to_vec(),
                values: (0..POINTS).map(time).filter(|row| row[0] < limit).collect(),
            };
            let before = unit.rows(mode, &until(end), model.rtol, &[]);
            let found: Vec<f64> = before.values.iter().map(|row| row[1]).collect();
            model.assert_rows(&format!("{target}, {mode}"), &found);
            let arguments = unit.arguments(mode, &until(f64::INFINITY), model.rtol, &[]);
            let output = Command::new(&unit.program).args(arguments).output().unwrap();
            assert!(!output.status.success(), "{target}, {mode}");
        }
    }
}
