//! What users reach for first: parameters of instances, units, functions, tables, and components with signals. Every value is compared
//! with a closed form, or with numbers of another program.

use crate::support::command::{ends_with, err, lgm, out};
use std::fs;
use std::path::Path;
use tempfile::TempDir;

/// A folder with one model in `m.lgm`.
fn folder(text: &str) -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("m.lgm"), text).unwrap();
    folder
}

/// The numbers of the columns of a run, row by row.
fn rows(folder: &Path, arguments: &[&str]) -> Vec<Vec<f64>> {
    let all: Vec<&str> = ["simulate", "m.lgm"].iter().chain(arguments).copied().collect();
    let output = lgm(folder, &all);
    ends_with(&output, 0);
    let text = out(&output);
    let numbers = |line: &str| line.split(',').filter_map(|field| field.parse().ok()).collect();
    text.lines().skip(1).map(numbers).collect()
}

fn run(text: &str, arguments: &[&str]) -> Vec<Vec<f64>> {
    rows(folder(text).path(), arguments)
}

#[track_caller]
fn near(found: f64, expected: f64, tolerance: f64) {
    assert!(
        (found - expected).abs() <= tolerance * (1.0 + expected.abs()),
        "{found} instead of {expected}"
    );
}

const DISCHARGE: &str = "component Leak(G [S] = 1) {
  port p : electrical;
  r : Resistor(1/G) p -> gnd;
}
model M {
  node a : electrical;
  c : Capacitor(1 [F]) a -> gnd, start = 1;
  leak : Leak() (p = a);
  output u = across(c);
  experiment { stop = 1; points = 2; }
}
";

#[test]
fn parameters_of_instances_are_set_swept_and_fitted() {
    let folder = folder(DISCHARGE);
    let last = |arguments: &[&str]| rows(folder.path(), arguments).pop().unwrap()[1];
    near(last(&[]), (-1.0f64).exp(), 1e-5);
    near(last(&["--set", "leak.G=2"]), (-2.0f64).exp(), 1e-5);
    near(last(&["--set", "leak.r.R=4"]), (-0.25f64).exp(), 1e-5);
    near(last(&["--set", "c.C = 500 [mF]"]), (-2.0f64).exp(), 1e-5);
    let swept = rows(folder.path(), &["--sweep", "leak.r.R=1:4:2"]);
    let ends: Vec<&Vec<f64>> = swept.iter().filter(|row| row[2] == 1.0).collect();
    near(ends[0][3], (-1.0f64).exp(), 1e-5);
    near(ends[1][3], (-0.25f64).exp(), 1e-5);
    // d(pole)/dR of -1/(R*C).
    let modes = lgm(
        folder.path(),
        &["modes", "m.lgm", "--sensitivity", "leak.r.R", "--format", "json"],
    );
    ends_with(&modes, 0);
    assert!(out(&modes).contains("leak.r.R"), "{}", out(&modes));
    let equations = out(&lgm(folder.path(), &["equations", "m.lgm", "--set", "leak.r.R=4"]));
    assert!(equations.contains("leak.r.R"), "{equations}");
    let data = (0..11).map(|at| format!("{at},{}\n", (-f64::from(at) / 3.0).exp()));
    let data = format!("time,u\n{}", data.collect::<String>());
    fs::write(folder.path().join("data.csv"), data).unwrap();
    let fitted = lgm(folder.path(), &["fit", "m.lgm", "--data", "data.csv", "--vary", "c.C"]);
    ends_with(&fitted, 0);
    let value = out(&fitted);
    let value = value
        .lines()
        .nth(1)
        .unwrap()
        .split_whitespace()
        .nth(1)
        .unwrap()
        .parse()
        .unwrap();
    near(value, 3.0, 1e-6);
}

#[test]
fn misspelt_parameters_of_instances_are_answered_with_the_nearest() {
    let folder = folder(DISCHARGE);
    for (option, expected) in [
        ("leak.g=2", "leak.G"),
        ("G=2", "leak.G"),
        ("leek.G=2", "leak.G"),
        ("c.R=2", "c.C"),
    ] {
        let output = lgm(folder.path(), &["simulate", "m.lgm", "--set", option]);
        assert!(!output.status.success());
        assert!(err(&output).contains("LGM0902"), "{}", err(&output));
        assert!(err(&output).contains(expected), "{option}: {}", err(&output));
    }
    let output = lgm(folder.path(), &["simulate", "m.lgm", "--sweep", "leak.H=1:2:2"]);
    assert!(
        err(&output).contains("LGM0925") && err(&output).contains("leak.G"),
        "{}",
        err(&output)
    );
}

#[test]
fn outputs_are_shown_in_their_units() {
    let text = "model M {
  param eta = 0.5;
  node n : thermal;
  node s : rotational;
  body : ThermalCapacitor(1 [J/K]) n -> gnd, start = 25 [degC];
  cold : ThermalCapacitor(1 [J/K]) n2 -> gnd, start = -40 [degC];
  node n2 : thermal;
  wheel : Inertia(1 [kg.m^2]) s -> gnd, start = 60 [rpm];
  output T = across(n) [degC];
  output F = across(n2) [degF];
  output w = across(wheel) [rpm];
  output share = eta [%];
  output gain = 20*eta [dB];
  output peak = 400*sqrt(9/4) [V];
  experiment { stop = 1; points = 2; }
}
";
    let row = run(text, &[]).remove(0);
    for (found, expected) in row[1..].iter().zip([25.0, -40.0, 60.0, 50.0, 20.0, 600.0]) {
        near(*found, expected, 1e-12);
    }
    let header = out(&lgm(folder(text).path(), &["equations", "m.lgm"]));
    assert!(header.contains("degC") && header.contains("rpm"), "{header}");
}

#[test]
fn units_are_accepted_on_the_command_line_and_missing_ones_are_warned_of() {
    let text = "model M {
  param C = 500 [mF];
  param T [degC] = 25;
  node a : electrical;
  node n : thermal;
  c : Capacitor(C) a -> gnd, start = 1;
  r : Resistor(1 [ohm]) a -> gnd;
  body : ThermalCapacitor(1 [J/K]) n -> gnd, start = T;
  output u = across(c);
  output t = across(n) [degC];
  experiment { stop = 1; points = 2; }
}
";
    let folder = folder(text);
    let output = lgm(folder.path(), &["simulate", "m.lgm", "--set", "C=250"]);
    assert!(err(&output).contains("LGM0210"), "{}", err(&output));
    let output = lgm(
        folder.path(),
        &["simulate", "m.lgm", "--set", "C=250 [mF]", "--set", "T=30"],
    );
    assert!(!err(&output).contains("LGM0210"), "{}", err(&output));
    let last = out(&output).lines().last().unwrap().to_string();
    let last: Vec<f64> = last.split(',').map(|field| field.parse().unwrap()).collect();
    near(last[1], (-4.0f64).exp(), 1e-5);
    near(last[2], 30.0, 1e-12);
    for option in ["C=250:500:2 [mF]", "C=250 [mF]:0.5 [F]:2"] {
        let swept = rows(folder.path(), &["--sweep", option]);
        near(swept[1][3], (-4.0f64).exp(), 1e-5);
        near(swept[3][3], (-2.0f64).exp(), 1e-5);
    }
    let swept = rows(folder.path(), &["--sweep", "T=20:30:2"]);
    near(swept[0][4], 20.0, 1e-12);
    let output = lgm(folder.path(), &["simulate", "m.lgm", "--sweep", "C=250:500:2 [mH]"]);
    assert!(err(&output).contains("LGM0924"), "{}", err(&output));
    let output = lgm(folder.path(), &["simulate", "m.lgm", "--sweep", "C=250:500:2"]);
    assert!(err(&output).contains("LGM0210"), "{}", err(&output));
}

#[test]
fn functions_are_replaced_by_their_values() {
    let text = "function rate(v [V], R [ohm] = 2) = v/R;
function twice(x) = 2*half(x)*two;
function half(x) = x/2;
const two = 2;
model M {
  node a : electrical;
  c : Capacitor(1 [F]) a -> gnd, start = 1;
  r : CurrentSource(rate(across(c))) a -> gnd;
  output u = across(c);
  output d = twice(across(c));
  output near = round(2.5) + mod(-1, 3) + log10(1000);
  experiment { stop = 1; points = 2; }
}
";
    let row = run(text, &[]).pop().unwrap();
    near(row[1], (-0.5f64).exp(), 1e-5);
    near(row[2], 2.0 * (-0.5f64).exp(), 1e-5);
    near(row[3], 8.0, 1e-12);
    for (call, code) in [("rate(1 [m])", "LGM0201"), ("rate()", "LGM0128"), ("rat(1)", "LGM0145")] {
        let wrong = text.replace("rate(across(c))", call);
        let output = lgm(folder(&wrong).path(), &["check", "m.lgm"]);
        assert!(err(&output).contains(code), "{call}: {}", err(&output));
    }
    let recursive = text.replace("= x/2;", "= twice(x);");
    let output = lgm(folder(&recursive).path(), &["check", "m.lgm"]);
    assert!(err(&output).contains("LGM0117"), "{}", err(&output));
}

#[test]
fn periodic_signals_have_their_shapes() {
    let text = "model M {
  input a = square(1);
  input b = square(1, 0.25);
  input c = sawtooth(2);
  input d = trapezoid(0.2, 0.3, 0.2, 1);
  input e = pulse(0.5, 0.25, 1);
  output ya = a; output yb = b; output yc = c; output yd = d; output ye = e;
  output area = int(d);
  experiment { stop = 3; points = 31; }
}
";
    for row in run(text, &[]) {
        let time = row[0];
        let along = |period: f64| time - period * (time / period + 1e-12).floor();
        // At the instant of a jump, rounding decides.
        let is_apart = |at: f64| (along(1.0) - at).abs() > 1e-9;
        if is_apart(0.5) && is_apart(0.0) && is_apart(0.25) && is_apart(0.75) {
            near(row[1], if along(1.0) < 0.5 { 1.0 } else { -1.0 }, 1e-12);
            near(row[2], if along(1.0) < 0.25 { 1.0 } else { -1.0 }, 1e-12);
            let is_on = time >= 0.5 && (0.5..0.75).contains(&along(1.0));
            near(row[5], f64::from(u8::from(is_on)), 1e-12);
        }
        if (along(2.0)).abs() > 1e-9 {
            near(row[3], along(2.0) - 1.0, 1e-9);
        }
        let shape = (along(1.0) / 0.2).min((0.7 - along(1.0)) / 0.2).clamp(0.0, 1.0);
        near(row[4], shape, 1e-9);
    }
    // The area of a trapezoid.
    near(run(text, &[]).pop().unwrap()[6], 3.0 * 0.5, 1e-6);
}

/// A table as an output of time, with the values of SciPy's `PchipInterpolator` (1.16).
#[test]
fn tables_are_linear_smooth_or_steps() {
    let text = "model M {
  table line = [[0, 0], [1, 2], [3, 1], [4, 1], [6, 5]];
  table curve = [[0, 0], [1, 2], [3, 1], [4, 1], [6, 5]], method = smooth;
  table stairs = [[0, 0], [1, 2], [3, 1], [4, 1], [6, 5]], method = steps;
  input u = 0;
  output a = line(time);
  output b = curve(time);
  output c = stairs(time);
  experiment { stop = 6; points = 25; }
}
";
    let found = run(text, &[]);
    let at = |time: f64| found.iter().find(|row| (row[0] - time).abs() < 1e-9).unwrap();
    for (time, linear, smooth, steps) in [
        (0.25, 0.5, 0.710_937_5, 0.0),
        (0.5, 1.0, 1.354_166_666_666_666_7, 0.0),
        (1.5, 1.75, 1.843_75, 2.0),
        (2.0, 1.5, 1.5, 2.0),
        (3.5, 1.0, 1.0, 1.0),
        (5.0, 3.0, 2.166_666_666_666_666_5, 1.0),
        (5.5, 4.0, 3.4375, 1.0),
        (6.0, 5.0, 5.0, 5.0),
    ] {
        let row = at(time);
        near(row[1], linear, 1e-12);
        near(row[2], smooth, 1e-12);
        near(row[3], steps, 1e-12);
    }
}

/// A tank that empties through a curve of two lines: its level follows two exponentials, or a line and an exponential.
#[test]
fn laws_with_tables_follow_their_closed_forms() {
    let text = "element Drain() : electrical {
  table curve = [[0, 0], [1, 1], [3, 2]], OUTSIDE;
  through = curve(across);
}
model M {
  node a : electrical;
  c : Capacitor(1 [F]) a -> gnd, start = START;
  d : Drain() a -> gnd;
  output u = across(c);
  experiment { stop = 3; points = 31; rtol = 1e-9; }
}
";
    // From 3: u' = -(u + 1)/2, so u + 1 = 4*exp(-t/2) until u = 1 at t = 2*log(2); then u = exp(-(t - 2*log(2))).
    let model = |outside: &str, start: &str| text.replace("OUTSIDE", outside).replace("START", start);
    let exact = |time: f64| {
        let corner = 2.0 * 2f64.ln();
        match time < corner {
            true => 4.0 * (-time / 2.0).exp() - 1.0,
            false => (corner - time).exp(),
        }
    };
    for row in run(&model("outside = error", "3"), &[]) {
        near(row[1], exact(row[0]), 1e-7);
    }
    // Above 3 the current is 2 and the voltage falls along a line, which reaches 3 at 0.5 s.
    for row in run(&model("outside = hold", "4"), &[]) {
        let expected = match row[0] < 0.5 {
            true => 4.0 - 2.0 * row[0],
            false => exact(row[0] - 0.5),
        };
        near(row[1], expected, 1e-7);
    }
    // Along the end slope, u + 1 = 5*exp(-t/2).
    for row in run(&model("outside = extend", "4"), &["--stop", "0.4"]) {
        near(row[1], 5.0 * (-row[0] / 2.0).exp() - 1.0, 1e-7);
    }
    let output = lgm(folder(&model("outside = error", "4")).path(), &["simulate", "m.lgm"]);
    assert!(!output.status.success());
    assert!(err(&output).contains("LGM1004"), "{}", err(&output));
}

#[test]
fn tables_are_read_from_files() {
    let text = "model M {
  table torque = csv(\"curve.csv\", \"torque\");
  table plain = csv(\"two.csv\");
  input u = 0;
  output a = torque(time);
  output b = plain(1.5);
  experiment { stop = 2; points = 3; }
}
";
    let folder = folder(text);
    fs::write(
        folder.path().join("curve.csv"),
        "t [ms], speed, torque [kN.m]\n0, 7, 1\n1000, 8, 3\n2000, 9, 4\n",
    )
    .unwrap();
    fs::write(folder.path().join("two.csv"), "x,y\n1,10\n2,20\n").unwrap();
    let found = rows(folder.path(), &[]);
    for (row, expected) in found.iter().zip([1000.0, 3000.0, 4000.0]) {
        near(row[1], expected, 1e-12);
        near(row[2], 15.0, 1e-12);
    }
    for (from, to, code) in [
        ("\"torque\"", "\"torqe\"", "LGM0211"),
        (", \"torque\"", "", "LGM0211"),
        ("curve.csv", "missing.csv", "LGM0101"),
    ] {
        fs::write(folder.path().join("m.lgm"), text.replace(from, to)).unwrap();
        let output = lgm(folder.path(), &["check", "m.lgm"]);
        assert!(err(&output).contains(code), "{to}: {}", err(&output));
    }
}

#[test]
fn components_pass_signals() {
    let text = "component Lag(T [s]) {
  input u;
  input gain = 1;
  state z = int((gain*u - z)/T);
  output y = z;
}
model M {
  param Ts = 0.25 [s];
  discrete count = 0;
  every Ts { count := count + 1; }
  first : Lag(0.5) (u = 1);
  second : Lag(T = 2) (u = first.y, gain = 3);
  output a = first.y;
  output b = second.y;
  output n = count;
  experiment { stop = 2; points = 21; rtol = 1e-8; }
}
";
    for row in run(text, &[]) {
        let time = row[0];
        near(row[1], 1.0 - (-2.0 * time).exp(), 1e-6);
        // Two lags in series: 1 - (T1*exp(-t/T1) - T2*exp(-t/T2))/(T1 - T2).
        let fast = 0.5 * (-2.0 * time).exp();
        let slow = 2.0 * (-time / 2.0).exp();
        near(row[2], 3.0 * (1.0 - (slow - fast) / 1.5), 1e-6);
    }
    let counts = |arguments: &[&str]| run(text, arguments).pop().unwrap()[3];
    assert_eq!((counts(&[]), counts(&["--set", "Ts=0.5"])), (9.0, 5.0));
    near(
        run(text, &["--set", "first.T=1"]).pop().unwrap()[1],
        1.0 - (-2.0f64).exp(),
        1e-6,
    );
    let swept = lgm(folder(text).path(), &["simulate", "m.lgm", "--sweep", "Ts=0.1:0.2:2"]);
    assert!(err(&swept).contains("LGM0925"), "{}", err(&swept));
    for (from, to, code) in [
        ("(u = 1)", "", "LGM0302"),
        ("(u = 1)", "(v = 1)", "LGM0135"),
        ("first.y,", "first.x,", "LGM0111"),
    ] {
        let output = lgm(folder(&text.replace(from, to)).path(), &["check", "m.lgm"]);
        assert!(err(&output).contains(code), "{to}: {}", err(&output));
    }
}

#[test]
fn constants_of_nature_are_imported_by_name() {
    let text = "import constants;
element Fall(m [kg]) : translational { through = m*g; }
model M {
  node x : translational;
  body : Mass(2 [kg]) x -> gnd;
  pull : Fall(2 [kg]) x -> gnd;
  output v = across(body);
  output p = R_gas*T_0/(0.022413969545014137 [m^3/mol]);
  experiment { stop = 1; points = 2; }
}
";
    let row = run(text, &[]).pop().unwrap();
    near(row[1], -9.80665, 1e-9);
    near(row[2], 101_325.0, 1e-9);
}

/// Unused values are warned of, but not values that another part of the text uses.
#[test]
fn unused_values_cause_a_warning() {
    let text = "function half(x) = x*share;\nfunction third(x) = x/3;\nconst share = 0.5;\nconst spare = 2;
component Leak(G [S], spare [S]) { port p : electrical; r : Resistor(1/G) p -> gnd; }
model M {
  param C [F] = 1;
  param R [ohm] = 1;
  table curve = [[0, 1], [2, 3]];
  table other = [[0, 1], [2, 3]];
  node a : electrical;
  c : Capacitor(C) a -> gnd;
  s : CurrentSource(half(curve(time))) gnd -> a;
  leak : Leak(1, 2) (p = a);
  output u = across(c);
}
";
    let folder = folder(text);
    let output = lgm(folder.path(), &["check", "m.lgm"]);
    ends_with(&output, 0);
    let told = err(&output);
    let found: Vec<&str> = told.lines().filter(|line| line.contains("nothing uses")).collect();
    let expected = [
        "function `third`",
        "constant `spare`",
        "parameter `spare`",
        "parameter `R`",
        "table `other`",
    ];
    assert_eq!(found.len(), expected.len(), "{told}");
    for words in expected {
        let line = format!("[LGM0156] Warning: nothing uses the {words}");
        assert!(found.contains(&&*line), "{line}: {told}");
    }
    // The functions and constants of a file without models are for other files.
    fs::write(
        folder.path().join("parts.lgm"),
        "function half(x) = x/2;\nconst share = 0.5;\n",
    )
    .unwrap();
    assert_eq!(err(&lgm(folder.path(), &["check", "parts.lgm"])), "");
}

/// Natural frequencies over a parameter: sqrt(k/m).
#[test]
fn modes_of_a_sweep_follow_the_parameter() {
    let text = "model M {
  param k [N/m] = 4;
  node x : translational;
  m : Mass(1 [kg]) x -> gnd;
  s : Spring(k) x -> gnd;
  d : Damper(0.2 [N.s/m]) x -> gnd;
  output v = across(m);
}
";
    let folder = folder(text);
    let output = lgm(folder.path(), &["modes", "m.lgm", "--sweep", "k=1:9:3"]);
    ends_with(&output, 0);
    let text = out(&output);
    let numbers = |line: &str| -> Vec<f64> { line.split_whitespace().map(|word| word.parse().unwrap()).collect() };
    let rows: Vec<Vec<f64>> = text.lines().skip(1).map(numbers).collect();
    assert_eq!(rows.len(), 3, "{text}");
    for (row, k) in rows.iter().zip([1.0_f64, 5.0, 9.0]) {
        near(row[0], k, 1e-12);
        near(row[4], k.sqrt(), 1e-8);
        near(row[6], 0.1 / k.sqrt(), 1e-3);
    }
    let refused = lgm(folder.path(), &["modes", "m.lgm", "--sweep", "q=1:9:3"]);
    ends_with(&refused, 2);
}

/// A run that leaves the range of a table reports no values from beyond it.
#[test]
fn a_run_that_leaves_a_table_shows_no_values_from_beyond() {
    let text = "model M {
  table f = [[0, 1], [1, 2]];
  node x : translational;
  m : Mass(1) x -> gnd, start = 0.1;
  p : ForceSource(f(across(m))) gnd -> x;
  output v = across(m);
}
";
    let folder = folder(text);
    let output = lgm(folder.path(), &["simulate", "m.lgm", "--stop", "2", "--points", "11"]);
    ends_with(&output, 1);
    let told = err(&output);
    assert!(told.contains("LGM1004") && !told.contains("e80"), "{told}");
}

/// Statistics of the values 1 to 5, and of a rise from 0 to each of them.
#[test]
fn the_summary_of_a_batch_has_the_statistics_of_its_runs() {
    let text = "model M {
  param k = 1;
  input rate = k;
  state y = int(rate);
  output held = k;
  output rise = y;
}
";
    let folder = folder(text);
    let arguments = [
        "simulate",
        "m.lgm",
        "--stop",
        "1",
        "--points",
        "3",
        "--sweep",
        "k=1:5:5",
        "--summary",
    ];
    let output = lgm(folder.path(), &arguments);
    ends_with(&output, 0);
    let text = out(&output);
    let line = |name: &str, measure: &str| -> Vec<String> {
        let lines = text
            .lines()
            .map(|line| line.split_whitespace().map(String::from).collect());
        let mut found = lines.filter(|words: &Vec<String>| words.len() > 2 && words[0] == name && words[1] == measure);
        found.next().unwrap_or_else(|| panic!("{name} {measure}: {text}"))
    };
    assert_eq!(
        line("held", "last")[2..],
        ["3", "1.5811", "1.2", "3", "4.8", "1", "5", "1,", "5"]
    );
    assert_eq!(
        line("rise", "max")[2..],
        ["3", "1.5811", "1.2", "3", "4.8", "1", "5", "1,", "5"]
    );
    assert_eq!(line("rise", "min")[2], "0");
    assert!(
        text.starts_with("5 of 5 runs\n") && text.contains("\nrun 5: k = 5\n"),
        "{text}"
    );
    // A single run has no statistics.
    ends_with(&lgm(folder.path(), &["simulate", "m.lgm", "--summary"]), 2);
}

#[test]
fn coils_without_leakage_lead_to_their_component() {
    let text = "import electronics; model M { node a, b : electrical; t : CoupledInductors(1, 4, 1) a -> gnd, b -> gnd; \
                r : Resistor(1) a -> gnd; q : Resistor(1) b -> gnd; }";
    let output = lgm(folder(text).path(), &["check", "m.lgm"]);
    ends_with(&output, 1);
    let message = err(&output);
    assert!(
        message.contains("LGM0412") && message.contains("use `TightlyCoupledInductors`"),
        "{message}"
    );
}
