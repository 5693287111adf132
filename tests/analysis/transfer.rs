//! Transfer functions: lowest terms, known answers, closed forms, limits.

use super::{json, near, number, written};
use crate::support;
use num_complex::Complex64;
use serde_json::Value;
use std::path::Path;
use support::arithmetic::{Bindings, evaluate};
use support::command::{ends_with, err, lgm, out};
use support::program::{example, settings};
use support::records::{Record, bindings};

/// The value of a polynomial with coefficients in descending powers.
pub(super) fn value(coefficients: &Value, bindings: &Bindings, s: Complex64) -> Complex64 {
    let entry = |entry: &Value| match entry {
        Value::String(text) => evaluate(text, bindings),
        entry => number(entry),
    };
    let list = coefficients.as_array().unwrap().iter();
    list.fold(Complex64::default(), |sum, coefficient| sum * s + entry(coefficient))
}

fn roots(list: &Value) -> Vec<Complex64> {
    let pair = |pair: &Value| Complex64::new(number(&pair[0]), number(&pair[1]));
    list.as_array().unwrap().iter().map(pair).collect()
}

#[test]
fn an_oscillator_has_its_textbook_functions() {
    let file = example("oscillator.lgm");
    let file = file.to_str().unwrap();
    let speed = json(&["transfer", file, "--from", "F", "--to", "v"]);
    assert_eq!(speed["num"], serde_json::json!(["1", "0"]));
    assert_eq!(speed["den"], serde_json::json!(["m", "b", "k"]));
    let force = json(&["transfer", file, "--from", "F", "--to", "fk", "--as", "ode"]);
    assert_eq!(force["left"], serde_json::json!(["m", "b", "k"]));
    assert_eq!(force["right"], serde_json::json!(["k"]));
    let list = json(&["transfer", file, "--as", "zpk"]);
    let speed = &list[0];
    assert_eq!(roots(&speed["zeros"]), [Complex64::default()]);
    near(number(&speed["gain"]), 0.5, 1e-15);
    assert_eq!(number(&speed["static_gain"]), 0.0);
    assert_eq!(speed["relative_degree"], 1);
    near(number(&list[1]["static_gain"]), 1.0, 1e-15);
    for pole in roots(&speed["poles"]) {
        near(pole.norm(), 5.0, 1e-13);
        near(pole.re, -0.1, 1e-12);
    }
}

#[test]
fn records_have_their_responses() {
    let mut count = 0;
    for record in Record::all()
        .into_iter()
        .filter(|record| record.json.get("linear").is_some())
    {
        let file = example("seeds").join(format!("{}.lgm", record.name));
        // Only the record contains the point of linearisation.
        let text = std::fs::read_to_string(&file).unwrap_or_default();
        let parameters = record.parameters();
        let mut settable = parameters.clone();
        settable
            .retain(|(name, _)| text.contains(&format!("param {name} ")) || text.contains(&format!("const {name} ")));
        if !file.exists() || parameters.iter().any(|pair| pair.1.is_array()) {
            continue;
        }
        let sets = settings(&settable);
        let mut words: Vec<&str> = vec!["transfer", file.to_str().unwrap()];
        words.extend(sets.iter().map(String::as_str));
        let linear = record.linear();
        let (inputs, outputs) = (linear.inputs.len(), linear.outputs.len());
        let symbols = json(&words);
        let numbers = json(&[&words[..], &["--numeric"]].concat());
        let factors = json(&[&words[..], &["--as", "zpk"]].concat());
        let mut bindings = bindings(&parameters);
        let derived = json(&[&["equations"], &words[1..]].concat());
        let constants = derived.get("constants").and_then(Value::as_array).into_iter().flatten();
        let derived = derived["parameters"].as_array().unwrap().iter().chain(constants);
        bindings.extend(derived.map(|one| (one["name"].as_str().unwrap().to_owned(), number(&one["value"]))));
        for (at, omega) in record.frequencies().into_iter().enumerate() {
            let expected = record.response(at);
            let s = Complex64::new(0.0, omega);
            for (input, output) in (0..inputs).flat_map(|input| (0..outputs).map(move |output| (input, output))) {
                let place = input * outputs + output;
                let wanted = expected[(output, input)];
                let scale = wanted.norm().max(1e-9 * expected.map(|value| value.norm()).amax());
                for functions in [&symbols, &numbers] {
                    let one = &functions[place];
                    let found = value(&one["num"], &bindings, s) / value(&one["den"], &bindings, s);
                    assert!(
                        (found - wanted).norm() <= 1e-9 * scale,
                        "{}: {found} is not {wanted}",
                        record.name
                    );
                }
                let one = &factors[place];
                let zeros: Complex64 = roots(&one["zeros"]).into_iter().map(|zero| s - zero).product();
                let poles: Complex64 = roots(&one["poles"]).into_iter().map(|pole| s - pole).product();
                let found = zeros / poles * number(&one["gain"]);
                assert!(
                    (found - wanted).norm() <= 1e-7 * scale,
                    "{}: {found} is not {wanted}",
                    record.name
                );
            }
        }
        count += 1;
    }
    assert!(count >= 8, "{count} records");
}

#[test]
fn common_factors_are_gone() {
    // Two equal lags in parallel reduce to one, and a mode absent from the output is removed.
    let scratch = tempfile::tempdir().unwrap();
    let text = "model Twice {
  param R = 2 [ohm];  param C = 3 [F];
  input u [V] = 0;
  node a, b, c : electrical;
  src : VoltageSource(u) a -> gnd;
  r1 : Resistor(R) a -> b;  c1 : Capacitor(C) b -> gnd;
  r2 : Resistor(R) a -> c;  c2 : Capacitor(C) c -> gnd;
  output sum = across(c1) + across(c2);
  output difference = across(c1) - across(c2);
}";
    let file = written(scratch.path(), "twice.lgm", text);
    let list = json(&["transfer", file.to_str().unwrap()]);
    assert_eq!(list[0]["num"], serde_json::json!(["2"]));
    assert_eq!(list[0]["den"], serde_json::json!(["R*C", "1"]));
    assert_eq!(list[1]["num"], serde_json::json!(["0"]));
    assert_eq!(list[1]["den"], serde_json::json!(["1"]));
    let list = json(&["transfer", file.to_str().unwrap(), "--as", "zpk"]);
    assert_eq!(list[0]["zeros"], serde_json::json!([]));
    near(roots(&list[0]["poles"])[0].re, -1.0 / 6.0, 1e-12);
    assert_eq!(number(&list[1]["gain"]), 0.0);
}

#[test]
fn the_rate_of_an_input_makes_a_function_improper() {
    let scratch = tempfile::tempdir().unwrap();
    let text = "model Charging {
  param C = 2 [F];  param R = 4 [ohm];
  input u [V] = 0;
  node a : electrical;
  src : VoltageSource(u) a -> gnd;
  c : Capacitor(C) a -> gnd;
  r : Resistor(R) a -> gnd;
  output i = through(c) + through(r);
}";
    let file = written(scratch.path(), "charging.lgm", text);
    let one = json(&["transfer", file.to_str().unwrap(), "--from", "u", "--to", "i"]);
    assert_eq!(one["num"], serde_json::json!(["C*R", "1"]));
    assert_eq!(one["den"], serde_json::json!(["R"]));
    let one = json(&[
        "transfer",
        file.to_str().unwrap(),
        "--from",
        "u",
        "--to",
        "i",
        "--as",
        "zpk",
    ]);
    near(roots(&one["zeros"])[0].re, -0.125, 1e-14);
    assert_eq!(one["relative_degree"], -1);
    near(number(&one["gain"]), 2.0, 1e-15);
    near(number(&one["static_gain"]), 0.25, 1e-15);
}

#[test]
fn functions_that_are_too_long_are_numbers() {
    let scratch = tempfile::tempdir().unwrap();
    let text = "model Ladder {
  const N = 40;
  param L = list(i in 1:N, 0.5 [H]);
  param C = list(i in 1:N, 0.25 [F]);
  input u [V] = 1;
  node v[N + 1] : electrical;
  src : VoltageSource(u) v[1] -> gnd;
  for i in 1:N { l[i] : Inductor(L[i]) v[i] -> v[i + 1]; c[i] : Capacitor(C[i]) v[i + 1] -> gnd; }
  output y = across(c[N]);
}";
    let file = written(scratch.path(), "ladder.lgm", text);
    let output = lgm(
        scratch.path(),
        &["transfer", file.to_str().unwrap(), "--format", "json"],
    );
    ends_with(&output, 0);
    assert!(err(&output).contains("LGM0708"), "{}", err(&output));
    // cosh-like: y/u = 1/T with T_n = (2 + s^2/8) T_(n-1) - T_(n-2), the chain of equal sections.
    let one = json(&["transfer", file.to_str().unwrap(), "--from", "u", "--to", "y"]);
    let s = Complex64::new(0.3, 0.4);
    let step = 2.0 + s * s * 0.125;
    let (mut before, mut last) = (Complex64::new(1.0, 0.0), step - 1.0);
    for _ in 1..40 {
        (before, last) = (last, step * last - before);
    }
    let found = value(&one["num"], &Bindings::new(), s) / value(&one["den"], &Bindings::new(), s);
    assert!((found * last - 1.0).norm() < 1e-8, "{found}");
}

#[test]
fn a_bridge_of_fourteen_symbols_is_what_node_equations_say() {
    let scratch = tempfile::tempdir().unwrap();
    let names = [
        "R1", "R2", "R3", "R4", "R5", "R6", "C1", "C2", "C3", "C4", "L1", "L2", "L3", "R7",
    ];
    let ends = [
        ("a", "b"),
        ("a", "c"),
        ("b", "c"),
        ("b", "d"),
        ("c", "e"),
        ("d", "e"),
        ("b", "gnd"),
        ("c", "gnd"),
        ("d", "gnd"),
        ("e", "gnd"),
        ("d", "f"),
        ("e", "f"),
        ("b", "e"),
        ("f", "gnd"),
    ];
    let mut text = "model Bridge {\n".to_string();
    for (at, name) in names.iter().enumerate() {
        text += &format!("  param {name} = {};\n", 1.0 + 0.1 * at as f64);
    }
    text += "  input u [V] = 0;\n  node a, b, c, d, e, f : electrical;\n  src : VoltageSource(u) a -> gnd;\n";
    for (at, (name, (from, to))) in names.iter().zip(ends).enumerate() {
        let kind = match &name[..1] {
            "R" => "Resistor",
            "C" => "Capacitor",
            _ => "Inductor",
        };
        text += &format!("  e{at} : {kind}({name}) {from} -> {to};\n");
    }
    text += "  output y = across(e13);\n}\n";
    let file = written(scratch.path(), "bridge.lgm", &text);
    let one = json(&["transfer", file.to_str().unwrap(), "--from", "u", "--to", "y"]);
    assert!(one["num"][0].is_string(), "in symbols");
    let s = Complex64::new(0.4, 0.9);
    let known: Bindings = names
        .iter()
        .enumerate()
        .map(|(at, name)| (name.to_string(), 0.7 + 0.23 * at as f64))
        .collect();
    let found = value(&one["num"], &known, s) / value(&one["den"], &known, s);
    // Node equations with the source at `a`.
    let nodes = ["b", "c", "d", "e", "f"];
    let mut matrix = nalgebra::DMatrix::<Complex64>::zeros(5, 5);
    let mut right = nalgebra::DVector::<Complex64>::zeros(5);
    for (name, (from, to)) in names.iter().zip(ends) {
        let size = Complex64::new(known[*name], 0.0);
        let admittance = match &name[..1] {
            "R" => size.inv(),
            "C" => s * size,
            _ => (s * size).inv(),
        };
        let place = |node: &str| nodes.iter().position(|known| *known == node);
        for (own, other) in [(from, to), (to, from)] {
            let Some(row) = place(own) else { continue };
            matrix[(row, row)] += admittance;
            match place(other) {
                Some(column) => matrix[(row, column)] -= admittance,
                None if other == "a" => right[row] += admittance,
                None => {}
            }
        }
    }
    let expected = matrix.lu().solve(&right).unwrap()[4];
    assert!(
        (found - expected).norm() < 1e-12 * expected.norm(),
        "{found} is not {expected}"
    );
}

/// Masses between two walls; the force on the second wall has a zero of multiplicity N.
const CHAIN: &str = "model Chain {
  const N = 4;
  param m = 1 [kg]; param k = 100 [N/m]; param b = 0.5 [N.s/m];
  input F [N] = 1;
  node q[N] : translational;
  push : ForceSource(F) gnd -> q[1];
  k[1] : Spring(k) gnd -> q[1];
  b[1] : Damper(b) gnd -> q[1];
  for i in 1:N { m[i] : Mass(m) q[i] -> gnd; }
  for i in 2:N { k[i] : Spring(k) q[i - 1] -> q[i]; b[i] : Damper(b) q[i - 1] -> q[i]; }
  k[N + 1] : Spring(k) q[N] -> gnd;
  b[N + 1] : Damper(b) q[N] -> gnd;
  output x1 = int(across(m[1]));
  output Fw = through(k[N + 1]) + through(b[N + 1]);
}";

/// A plate with a base at one end and a source at the other: most poles cancel, and the others are close together.
const PLATE: &str = "model Plate {
  const N = 4; const M = 3;
  param C = 2 [J/K]; param Rx = 0.5 [K/W]; param Ry = 0.7 [K/W]; param Rb = 0.3 [K/W];
  input T0 [K] = 1; input q [W] = 1;
  node n[N, M], e : thermal;
  for i in 1:N { for j in 1:M {
    c[i, j] : ThermalCapacitor(C) n[i, j] -> gnd;
    if i < N { rx[i, j] : ThermalResistor(Rx) n[i, j] -> n[i + 1, j]; }
    if j < M { ry[i, j] : ThermalResistor(Ry) n[i, j] -> n[i, j + 1]; } } }
  for j in 1:M { rb[j] : ThermalResistor(Rb) e -> n[1, j]; }
  base : TemperatureSource(T0) e -> gnd;
  heat : HeatSource(q) gnd -> n[N, M];
  output Tc = across(c[N, M]);
  output q0 = -sum(j in 1:M, through(rb[j]));
}";

/// The value of a function from its coefficients, or from zeros, poles and gain.
fn function_at(one: &Value, s: Complex64) -> Complex64 {
    if one.get("num").is_some() {
        return value(&one["num"], &Bindings::default(), s) / value(&one["den"], &Bindings::default(), s);
    }
    let sum = |list: &Value| roots(list).iter().map(|root| (s - root).ln()).sum::<Complex64>();
    (sum(&one["zeros"]) - sum(&one["poles"])).exp() * number(&one["gain"])
}

/// Zeros from eigenvalues lose all digits if many coincide, and exact functions of several pairs may be too long
/// together. The results must agree with the equations, or be absent.
#[test]
fn functions_in_numbers_have_the_values_of_the_equations() {
    let scratch = tempfile::tempdir().unwrap();
    for (text, sizes) in [(CHAIN, ["20", "40"]), (PLATE, ["14", "30"])] {
        let file = scratch.path().join("model.lgm");
        std::fs::write(&file, text).unwrap();
        let file = file.to_str().unwrap();
        for size in sizes {
            let size = format!("N={size}");
            let words = [file, "--set", &size];
            let omega = ["--omega", "0.01,0.3,3"];
            let response = json(&[&["response"][..], &words, &omega].concat());
            for form in [&["--numeric"][..], &["--as", "zpk"]] {
                let output = lgm(
                    Path::new("."),
                    &[&["transfer"][..], &words, form, &["--format", "json"]].concat(),
                );
                if !output.status.success() {
                    let is_known = text == CHAIN || form == ["--numeric"] && size == "N=14";
                    assert!(
                        !is_known && err(&output).contains("LGM0709"),
                        "{size} {form:?}: {}",
                        err(&output)
                    );
                    continue;
                }
                let list: Value = serde_json::from_slice(&output.stdout).unwrap();
                for one in list.as_array().unwrap() {
                    let pair = format!("{}->{}", one["from"].as_str().unwrap(), one["to"].as_str().unwrap());
                    let expected = roots(&response["H"][&pair]);
                    for (omega, expected) in [0.01, 0.3, 3.0].into_iter().zip(expected) {
                        let found = function_at(one, Complex64::new(0.0, omega));
                        let apart = (found - expected).norm() / expected.norm();
                        let what = format!("{size} {form:?} {pair} at {omega}: {found} and not {expected}");
                        assert!(apart < 1e-4, "{what}");
                    }
                }
            }
        }
    }
}

/// The force on the second wall has the zero -k/b once for each mass, and critical damping gives a double pole.
#[test]
fn roots_that_lie_several_times_at_one_place_keep_their_digits() {
    let scratch = tempfile::tempdir().unwrap();
    let file = written(scratch.path(), "chain.lgm", CHAIN);
    let words = [
        "transfer",
        file.to_str().unwrap(),
        "--from",
        "F",
        "--to",
        "Fw",
        "--as",
        "zpk",
    ];
    for count in [3, 10, 30] {
        let found = json(&[&words[..], &["--set", &format!("N={count}")]].concat());
        assert_eq!(
            roots(&found["zeros"]),
            vec![Complex64::new(-200.0, 0.0); count],
            "{count}"
        );
        assert_eq!(roots(&found["poles"]).len(), 2 * count);
    }
    let oscillator = example("oscillator.lgm");
    let words = [
        "transfer",
        oscillator.to_str().unwrap(),
        "--from",
        "F",
        "--to",
        "y",
        "--as",
        "zpk",
    ];
    let critical = json(&[&words[..], &["--set", "m=2", "--set", "b=20", "--set", "k=50"]].concat());
    assert_eq!(roots(&critical["poles"]), vec![Complex64::new(-5.0, 0.0); 2]);
}

#[test]
fn names_and_linearity_are_asked_for() {
    let package = Path::new(env!("CARGO_MANIFEST_DIR"));
    let output = lgm(package, &["transfer", "examples/oscillator.lgm", "--from", "G"]);
    ends_with(&output, 2);
    assert!(err(&output).contains("no input `G`"), "{}", err(&output));
    let output = lgm(package, &["transfer", "examples/pendulum.lgm"]);
    ends_with(&output, 1);
    assert!(err(&output).contains("LGM0701"), "{}", err(&output));
}

/// Prints differential equations.
fn ode(name: &str, options: &[&str]) -> String {
    let file = example(&format!("{name}.lgm")).display().to_string();
    let output = lgm(Path::new("."), &[&["transfer", &file, "--as", "ode"], options].concat());
    ends_with(&output, 0);
    out(&output)
}

/// De Silva (4), (5), (10) and (11), multiplied by their denominators, and in the order of the paper.
#[test]
fn eliminations_have_the_steps_of_the_source_document() {
    let speaker = ode("seeds/sound_system", &["--derive"]);
    for step in [
        "(5)  into (1): (2), without mass.v: Ls*coil.i' + Rs*coil.i + Lc*spring.i' = vi",
        "(6)  into (3): (2), without mass.v: Lc*Cm*Rb*spring.i'' + Lc*spring.i' + Rb*spring.i - Rb*coil.i = 0",
        "(7)  into (6): (5), without spring.i: ",
    ] {
        assert!(speaker.contains(step), "{step}\n{speaker}");
    }
    let actuator = ode("seeds/hydraulic_actuator", &["--derive"]);
    for step in [
        "(6)  into (4): (3), without return_spring.F: m*load.v'' + (R_v*A^2 + b)*load.v' + k*load.v - A*tank.P' = 0",
        "(7)  into (1): (2), without pipe_inertia.Q: I*C_f*tank.P'' + R*C_f*tank.P' + tank.P + I*A*load.v' + R*A*load.v = P_s",
        "(8)  into (7): (6), without tank.P: ",
    ] {
        assert!(actuator.contains(step), "{step}\n{actuator}");
    }
}

/// The last step is the equation that the elimination with little fill-in finds; states disappear one after the other.
#[test]
fn eliminations_end_with_the_differential_equation() {
    for name in [
        "oscillator",
        "quarter_car",
        "sallen_key",
        "seeds/sound_system",
        "seeds/hydraulic_actuator",
        "seeds/lg2ss_electrical",
        "seeds/lg2ss_sewing",
        "seeds/lg2ss_EF_cap_loop",
        "seeds/two_masses",
    ] {
        let list: Value = serde_json::from_str(&ode(name, &["--derive", "--format", "json"])).unwrap();
        let last = |pair: &Value| {
            let step = pair["steps"].as_array().unwrap().last().unwrap().clone();
            step["equation"].as_str().unwrap().to_string()
        };
        let ends: Vec<String> = list.as_array().unwrap().iter().map(last).collect();
        assert_eq!(ends.join("\n"), ode(name, &[]).trim_end(), "{name}");
    }
}

#[test]
fn eliminations_without_a_differential_equation_are_refused() {
    let file = example("oscillator.lgm").display().to_string();
    for (arguments, code) in [
        (&["transfer", &file, "--derive"][..], "LGM0907"),
        (&["transfer", &file, "--as", "zpk", "--derive"], "LGM0907"),
    ] {
        let output = lgm(Path::new("."), arguments);
        ends_with(&output, 2);
        assert!(err(&output).contains(code), "{}", err(&output));
    }
}
