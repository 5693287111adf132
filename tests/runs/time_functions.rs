//! Functions of time outside `input`s: they behave like inputs, at every position.

use crate::support;
use crate::support::command;

use command::{ends_with, err, lgm, out};
use std::path::{Path, PathBuf};
use std::process::Command;
use support::emitted::{Rows as Emitted, compile, emit, must, python};
use support::program::run;

/// The samples of a run, by the names of their columns.
struct Rows {
    names: Vec<String>,
    rows: Vec<Vec<f64>>,
}

impl Rows {
    fn read(csv: &str) -> Rows {
        let mut lines = csv.lines();
        let names = lines.next().unwrap().split(',').map(str::to_string).collect();
        let numbers = |line: &str| line.split(',').map(|cell| cell.parse().unwrap()).collect();
        Rows {
            names,
            rows: lines.map(numbers).collect(),
        }
    }

    fn column(&self, name: &str) -> Vec<f64> {
        let at = self.names.iter().position(|known| known == name).unwrap();
        self.rows.iter().map(|row| row[at]).collect()
    }
}

fn write(folder: &Path, text: &str) {
    std::fs::write(folder.join("m.lgm"), text).unwrap();
}

fn simulated(text: &str, options: &[&str]) -> (Rows, String) {
    let folder = tempfile::tempdir().unwrap();
    write(folder.path(), text);
    let output = lgm(folder.path(), &[&["simulate", "m.lgm"], options].concat());
    ends_with(&output, 0);
    (Rows::read(&out(&output)), err(&output))
}

fn assert_near(found: &[f64], expected: &[f64], allowed: f64) {
    assert_eq!(found.len(), expected.len());
    for (a, b) in found.iter().zip(expected) {
        assert!((a - b).abs() <= allowed, "{found:?} but {expected:?}");
    }
}

#[test]
fn time_is_seen_in_steps_pulses_and_ramps_of_linear_models() {
    let text = "model M {
      signal load = 2*step(1);
      node s : rotational;
      drive : TorqueSource(3) gnd -> s;
      j : Inertia(1) s -> gnd;
      brake : TorqueSource(load) s -> gnd;
      state z = int(step(1));
      output w = across(j); output tload = load; output on = step(1);
      output p = 3*pulse(0.5, 1); output r = ramp(1); output past = step(-1);
      output early = 1 - step(1); output i = int(pulse(0.5, 0.5));
      experiment { stop = 2; points = 5; }
    }";
    let (rows, _) = simulated(text, &[]);
    assert_near(&rows.column("w"), &[0.0, 1.5, 3.0, 3.5, 4.0], 1e-6);
    assert_near(&rows.column("z"), &[0.0, 0.0, 0.0, 0.5, 1.0], 1e-6);
    assert_near(&rows.column("i"), &[0.0, 0.0, 0.5, 0.5, 0.5], 1e-6);
    assert_eq!(rows.column("tload"), [0.0, 0.0, 2.0, 2.0, 2.0]);
    assert_eq!(rows.column("on"), [0.0, 0.0, 1.0, 1.0, 1.0]);
    assert_eq!(rows.column("p"), [0.0, 3.0, 3.0, 0.0, 0.0]);
    assert_eq!(rows.column("r"), [0.0, 0.0, 0.0, 0.5, 1.0]);
    assert_eq!(rows.column("past"), [1.0; 5]);
    assert_eq!(rows.column("early"), [1.0, 1.0, 0.0, 0.0, 0.0]);
}

#[test]
fn matrices_leave_out_what_steps_and_linearised_ones_are_those_of_the_time() {
    let folder = tempfile::tempdir().unwrap();
    write(
        folder.path(),
        "model M {
          node a : electrical;
          i : CurrentSource(step(1)) gnd -> a;
          c : Capacitor(2) a -> gnd;
          r : Resistor(1 + step(1)) a -> gnd;
          output v = across(c);
        }",
    );
    let at = |time: &str| {
        let output = lgm(
            folder.path(),
            &["equations", "m.lgm", "--linearize", "--at", time, "--format", "json"],
        );
        ends_with(&output, 0);
        let json: serde_json::Value = serde_json::from_str(&out(&output)).unwrap();
        json["A"].to_string()
    };
    assert_eq!(at("time=0.5"), "[[\"-0.5\"]]");
    assert_eq!(at("time=1.5"), "[[\"-0.25\"]]");
}

/// A model with the function of time as an input, as a signal, at its use, and as an argument of a component; the marks
/// are `@declaration@`, and `@value@` for the value.
fn written_in_four_ways(template: &str, function: &str) -> Vec<(&'static str, String)> {
    let fill =
        |declaration: &str, value: &str| template.replace("@declaration@", declaration).replace("@value@", value);
    let (input, signal) = (format!("input u = {function};"), format!("signal u = {function};"));
    let in_parentheses = format!("({function})");
    vec![
        ("an input", fill(&input, "u")),
        ("a signal", fill(&signal, "u")),
        ("in place", fill("", &in_parentheses)),
        (
            "half a signal",
            fill(&format!("signal half = ({function})/2;"), "(2*half)"),
        ),
    ]
}

/// Models whose states move when the function steps: two capacitors across a source, a driven mass, a geared one in a
/// nonlinear model, a modulus, and outputs that need rates.
const MOVED: [(&str, &str); 6] = [
    (
        "divider",
        "model M { @declaration@ node a, b : electrical;
          s : VoltageSource(@value@) a -> gnd; c1 : Capacitor(1) a -> b; c2 : Capacitor(3) b -> gnd; r : Resistor(1) b -> gnd;
          output v = across(c2); output i = through(r); experiment { stop = 2; points = 9; rtol = 1e-9; atol = 1e-12; } }",
    ),
    (
        "argument",
        "component Feed(value) { port p : electrical; s : VoltageSource(value) p -> gnd; }
        model M { @declaration@ node a, b : electrical;
          feed : Feed(@value@) (p = a); c2 : Capacitor(3) b -> gnd; c1 : Capacitor(1) a -> b; r : Resistor(1) b -> gnd;
          output v = across(c2); output i = through(r); experiment { stop = 2; points = 9; rtol = 1e-9; atol = 1e-12; } }",
    ),
    (
        "controlled",
        "model M { @declaration@ node a, b : electrical;
          s : VoltageSource(@value@ - 0.5*across(c2) + 1 - 1) a -> gnd; c1 : Capacitor(1) a -> b; c2 : Capacitor(3) b -> gnd;
          r : Resistor(1) b -> gnd;
          output v = across(c2); experiment { stop = 2; points = 9; rtol = 1e-9; atol = 1e-12; } }",
    ),
    (
        "nonlinear",
        "model M { @declaration@ param k = 1; node a, b : electrical;
          s : VoltageSource(@value@) a -> gnd; c1 : Capacitor(1) a -> b; c2 : Capacitor(3) b -> gnd;
          g : CurrentSource(k*across(c2)^3) b -> gnd;
          output v = across(c2); output twice = across(c2)*@value@;
          experiment { stop = 2; points = 9; rtol = 1e-9; atol = 1e-12; } }",
    ),
    (
        "modulus",
        "model M { @declaration@ node a, b : electrical;
          s : CurrentSource(1) gnd -> a; c1 : Capacitor(1) a -> gnd; t : Transformer(2 + @value@) a -> gnd, b -> gnd;
          c2 : Capacitor(3) b -> gnd; r : Resistor(1) b -> gnd;
          output v = across(c2); output w = across(c1); experiment { stop = 2; points = 9; rtol = 1e-9; atol = 1e-12; } }",
    ),
    (
        "outputs",
        "model M { @declaration@ node a, b : electrical;
          s : VoltageSource(@value@) a -> gnd; r : Resistor(1) a -> b; c : Capacitor(1) b -> gnd;
          output y = @value@*across(c); output z = @value@*int(across(c)); output d = der(across(c)); output dd = der(der(across(c)));
          output k = @value@*der(across(c)); experiment { stop = 2; points = 9; rtol = 1e-9; atol = 1e-12; } }",
    ),
];

const FUNCTIONS: [&str; 6] = [
    "2*step(0.6)",
    "5*cos(3*time)",
    "if time > 0.7 then 2 else 0",
    "sin(time) + pulse(0.25, 1)",
    "ramp(0.5) + exp(-time)",
    "2*step(0) + (if time < 0.3 then 1 else 0)*time",
];

#[test]
fn a_function_of_time_is_the_same_as_input_signal_and_in_place() {
    for (name, template) in MOVED {
        for function in FUNCTIONS {
            let mut reference: Option<(Rows, usize)> = None;
            for (way, text) in written_in_four_ways(template, function) {
                let (rows, reported) = simulated(&text, &[]);
                // Every form reports impulses in outputs.
                let reported = reported.matches("LGM1022").count();
                let Some((expected, wanted)) = &reference else {
                    reference = Some((rows, reported));
                    continue;
                };
                assert_eq!(reported, *wanted, "{name} with {function} as {way}");
                for column in expected.names.iter().filter(|name| !name.contains('(')) {
                    let (found, wanted) = (rows.column(column), expected.column(column));
                    for (a, b) in found.iter().zip(&wanted) {
                        let allowed = 1e-6 * b.abs().max(1.0);
                        assert!(
                            (a - b).abs() <= allowed,
                            "{name} with {function} as {way}: {column} {found:?} but {wanted:?}"
                        );
                    }
                }
            }
        }
    }
}

#[test]
fn a_step_of_a_signal_moves_states_as_charge_asks_for() {
    // 2 V at 1 ms on 1 uF in series with 3 uF and 1 kohm: a quarter of it instantaneously, decaying with 4 ms.
    let text = "model M { signal u = 2*step(1e-3); node s, x : electrical;
      src : VoltageSource(u) s -> gnd; c1 : Capacitor(1 [uF]) s -> x; c2 : Capacitor(3 [uF]) x -> gnd; r : Resistor(1 [kohm]) x -> gnd;
      output v = across(c2); experiment { stop = 10 [ms]; points = 5; rtol = 1e-9; } }";
    let (rows, _) = simulated(text, &["--atol", "1e-12"]);
    let expected = [0.0, 2.5e-3, 5e-3, 7.5e-3, 10e-3].map(|time: f64| match time < 1e-3 {
        true => 0.0,
        false => 0.5 * (-(time - 1e-3) / 4e-3).exp(),
    });
    assert_near(&rows.column("v"), &expected, 1e-7);
    let folder = tempfile::tempdir().unwrap();
    write(folder.path(), text);
    let equations = out(&lgm(folder.path(), &["equations", "m.lgm"]));
    assert!(equations.contains("der(u)"), "{equations}");
    assert!(equations.contains("follows: 2*step(0.001)"), "{equations}");
}

#[test]
fn second_rates_are_given_where_no_second_rate_of_an_input_is_in_them() {
    // A resistor of 1 ohm and 1 F at sin(t): v' = u - v, v'' = u' - v'.
    for law in ["", "g : CurrentSource(k*across(c)^2) b -> gnd;"] {
        let text = format!(
            "model M {{ param k = 0; input u = sin(time); node a, b : electrical; s : VoltageSource(u) a -> gnd; r : Resistor(1) a -> b;
              c : Capacitor(1) b -> gnd; {law} output v = across(c); output dd = der(der(across(c)));
              experiment {{ stop = 2; points = 5; rtol = 1e-9; atol = 1e-12; }} }}"
        );
        let (rows, _) = simulated(&text, &[]);
        for ((time, v), dd) in rows.column("time").iter().zip(rows.column("v")).zip(rows.column("dd")) {
            assert!(
                (dd - (time.cos() - time.sin() + v)).abs() < 1e-8,
                "{law} at {time}: {dd}"
            );
        }
    }
}

/// Models with a corner or a switch of time at the first instant, at coinciding instants, or at a sample; with their
/// final values.
const CORNERS: [(&str, [f64; 3]); 6] = [
    // A body of 1 kg in a damper of 1 N.s/m: v' = u - v, at 0, 1 and 2 s.
    ("abs(sin(2*pi*time))", [0.0, 0.400621615799934, 0.548002071941613]),
    ("sign(time)", [0.0, 0.632120559, 0.864664717]),
    ("if time > 0 then 1 else 0", [0.0, 0.632120559, 0.864664717]),
    ("max(sin(2*pi*time), 0)", [0.0, 0.15125095, 0.20689306]),
    (
        "(if time > 0.5 then 1 else 0)*(if time < 0.5 then 0 else 2)",
        [0.0, 0.786938681, 1.553739680],
    ),
    ("if time > 1 then 1 else 0", [0.0, 0.0, 0.632120559]),
];

fn cornered(function: &str) -> String {
    format!(
        "model M {{ param k = 1; signal u = k*({function}); node x : translational; push : ForceSource(u) gnd -> x;
          m : Mass(1) x -> gnd; d : Damper(1) x -> gnd; output v = across(m); output y = through(push);
          experiment {{ stop = 2 [s]; points = 3; rtol = 1e-9; atol = 1e-12; }} }}"
    )
}

/// The function just after 0, 1 and 2 s, if it is nonzero there.
fn just_after(function: &str) -> [f64; 3] {
    match function {
        "sign(time)" | "if time > 0 then 1 else 0" => [1.0; 3],
        "if time > 1 then 1 else 0" => [0.0, 1.0, 1.0],
        _ if function.contains("0.5") => [0.0, 2.0, 2.0],
        _ => [0.0; 3],
    }
}

#[test]
fn corners_at_the_start_and_together_are_passed_and_rows_show_what_holds_after() {
    for (function, expected) in CORNERS {
        let (rows, _) = simulated(&cornered(function), &[]);
        assert_near(&rows.column("v"), &expected, 1e-7);
        assert_near(&rows.column("y"), &just_after(function), 1e-12);
        // Without an absolute tolerance the run first looks ahead, but still begins after the corner.
        let looked_ahead = cornered(function).replace("atol = 1e-12;", "");
        let (rows, notes) = simulated(&looked_ahead, &["--verify"]);
        assert_near(&rows.column("v"), &expected, 1e-6);
        assert_near(&rows.column("y"), &just_after(function), 1e-12);
        assert!(notes.contains("verified:"), "{function}: {notes}");
    }
}

/// Functions that switch only in outputs, at the start and at samples, with and without a state.
fn switched_outputs() -> [String; 2] {
    ["m : Mass(1) x -> gnd;", ""].map(|storage| {
        format!(
            "model M {{ node x : translational; push : ForceSource(1 + (if time > 1 then 1 else 0)) gnd -> x; {storage}
              d : Damper(1) x -> gnd; output y = if time > 1 then 1 else 0; output s = sign(time)*through(push);
              output p = step(1/3) - step(4/3); experiment {{ stop = 2 [s]; points = 7; rtol = 1e-9; }} }}"
        )
    })
}

#[test]
fn rows_of_what_is_switched_in_outputs_alone_show_what_holds_after() {
    for text in switched_outputs() {
        let (rows, notes) = simulated(&text, &["--verify"]);
        let after = [0.0, 0.0, 0.0, 1.0, 1.0, 1.0, 1.0];
        assert_near(&rows.column("y"), &after, 0.0);
        assert_near(&rows.column("s"), &after.map(|value| 1.0 + value), 0.0);
        assert_near(&rows.column("p"), &[0.0, 1.0, 1.0, 1.0, 0.0, 0.0, 0.0], 0.0);
        assert!(notes.contains("verified:"), "{notes}");
    }
}

#[test]
fn a_corner_at_the_start_is_no_charge_that_is_lost() {
    let text = "model M {
      input f = 2.25*abs(sin(13.8*time));
      node n : fluid;
      a : Inertance(1) n -> gnd;
      b : Inertance(1) n -> gnd;
      s : FlowSource(f) gnd -> n;
      output p = across(b);
      experiment { stop = 1; points = 3; }
    }";
    let (rows, notes) = simulated(text, &["--verify"]);
    // Half of the flow passes through each: p = f'/2, from the right.
    assert_near(&rows.column("p")[..1], &[15.525], 1e-9);
    assert!(notes.contains("verified:"), "{notes}");
}

/// Emits a model for C and for Python, and runs the available targets.
fn emitted_rows(text: &str) -> Vec<(&'static str, Emitted)> {
    let folder = tempfile::tempdir().unwrap();
    write(folder.path(), text);
    let file = folder.path().join("m.lgm");
    let c = folder.path().join("c");
    emit(&file, "c", &c, &[]);
    let mut found = vec![("C", Emitted::read(&must(&mut Command::new(compile(&c, &["-O0"])))))];
    if let Some(python) = python("numpy, scipy") {
        let folder = folder.path().join("python");
        let words = ["emit", "--target", "python", "-o"].map(String::from).into_iter();
        let words: Vec<String> = words
            .chain([&folder, &file].map(|path| path.display().to_string()))
            .collect();
        let output = run(&words);
        if !output.status.success() {
            let said = String::from_utf8_lossy(&output.stderr).into_owned();
            assert!(said.contains("LGM0944"), "{said}");
            return found;
        }
        let module: Option<PathBuf> = std::fs::read_dir(&folder)
            .unwrap()
            .map(|entry| entry.unwrap().path())
            .find(|path| path.extension().is_some_and(|ending| ending == "py"));
        found.push((
            "Python",
            Emitted::read(&must(Command::new(&python).arg(module.unwrap()))),
        ));
    }
    found
}

#[test]
fn emitted_programs_move_states_and_pass_corners_as_runs_do() {
    let mut models: Vec<String> = CORNERS.iter().map(|(function, _)| cornered(function)).collect();
    for (_, template) in MOVED {
        let (_, text) =
            written_in_four_ways(template, FUNCTIONS[models.len() % FUNCTIONS.len()]).swap_remove(models.len() % 4);
        models.push(text);
    }
    models.extend(switched_outputs());
    for text in models {
        let (expected, _) = simulated(&text, &[]);
        for (target, rows) in emitted_rows(&text) {
            assert_eq!(rows.names, expected.names, "{target}: {text}");
            for (found, wanted) in rows.values.iter().zip(&expected.rows) {
                for (a, b) in found.iter().zip(wanted) {
                    assert!(
                        (a - b).abs() <= 1e-6 * b.abs().max(1.0),
                        "{target}: {text}\n{found:?} but {wanted:?}"
                    );
                }
            }
            assert_eq!(rows.values.len(), expected.rows.len());
        }
    }
}
