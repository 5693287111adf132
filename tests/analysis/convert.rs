//! Models converted to one domain: they have the transfer functions of the original models, and only elements of that
//! domain.

use super::{json, near, number, written};
use crate::support::arithmetic::{Bindings, evaluate};
use crate::support::command::{ends_with, err, lgm, out};
use serde_json::Value;
use std::path::Path;

fn converted(file: &str, domain: &str, more: &[&str]) -> String {
    let package = Path::new(env!("CARGO_MANIFEST_DIR"));
    let words = [&["convert", file, "--to", domain, "--format", "lgm"], more].concat();
    let output = lgm(package, &words);
    ends_with(&output, 0);
    out(&output)
}

/// Magnitudes and phases at several frequencies.
fn responses(file: &str) -> Value {
    json(&["response", file, "--omega", "0.01:1e5:40"])["H"].clone()
}

fn same_responses(text: &str, file: &str) {
    let scratch = tempfile::tempdir().unwrap();
    let other = written(scratch.path(), "converted.lgm", text);
    let (before, after) = (responses(file), responses(other.to_str().unwrap()));
    for (pair, before) in before.as_object().unwrap() {
        let after = after[pair].as_array().unwrap_or_else(|| panic!("no {pair} in\n{text}"));
        let size = before
            .as_array()
            .unwrap()
            .iter()
            .map(|value| number(&value[0]).hypot(number(&value[1])))
            .fold(0.0, f64::max);
        for (a, b) in before.as_array().unwrap().iter().zip(after) {
            let error = (number(&a[0]) - number(&b[0])).hypot(number(&a[1]) - number(&b[1]));
            assert!(error <= 1e-9 * size, "{pair}: {a} and {b}\n{text}");
        }
    }
}

#[test]
fn models_in_one_domain_have_the_same_responses() {
    for (file, domain, others) in [
        ("examples/dc_motor.lgm", "rotational", "electrical"),
        ("examples/dc_motor.lgm", "electrical", "rotational"),
        ("examples/seeds/hydraulic_actuator.lgm", "fluid", "translational"),
        ("examples/seeds/hydraulic_actuator.lgm", "translational", "fluid"),
    ] {
        for more in [&[][..], &["--numeric"]] {
            let text = converted(file, domain, more);
            same_responses(&text, file);
            for gone in ["Transformer", "Gyrator", "GY", &format!(": {others}")] {
                assert!(!text.contains(gone), "{gone} in\n{text}");
            }
        }
    }
}

#[test]
fn a_motor_seen_from_its_shaft_is_a_spring_and_a_damper() {
    // L/k^2 is a compliance and R/k^2 an inverse friction coefficient, in series with the speed u/k.
    let text = converted("examples/dc_motor.lgm", "rotational", &[]);
    for part in [
        "TorsionSpring(K_m^2/L_a)",
        "RotaryDamper(K_m^2/R_a)",
        "AngularVelocitySource(u/K_m)",
        "Inertia(J)",
    ] {
        assert!(text.contains(part), "no {part} in\n{text}");
    }
    let scratch = tempfile::tempdir().unwrap();
    let file = written(scratch.path(), "motor.lgm", &text);
    let file = file.to_str().unwrap();
    // Parameters are kept, and so are the transfer functions in terms of them.
    let (before, after) = (json(&["transfer", "examples/dc_motor.lgm"]), json(&["transfer", file]));
    assert_eq!(before, after, "{text}");
}

#[test]
fn what_is_no_ladder_becomes_states() {
    // A bridged network behind a gyrator, with an output inside the network.
    let scratch = tempfile::tempdir().unwrap();
    let text = "model Bridged {
  param k = 2;
  input F [N] = 0;
  node x : translational;  node a, b, c : electrical;
  push : ForceSource(F) gnd -> x;  mass : Mass(3) x -> gnd;  damper : Damper(0.5) x -> gnd;
  coil : Transformer(k) x -> gnd, a -> gnd;
  r1 : Resistor(1) a -> b;  r2 : Resistor(2) b -> gnd;  r3 : Resistor(3) a -> c;  r4 : Resistor(5) c -> gnd;
  bridge : Capacitor(0.7) b -> c;  load : Inductor(0.4) b -> gnd;
  output v = across(mass);
  output inside = through(load);
}";
    let file = written(scratch.path(), "bridged.lgm", text);
    let file = file.to_str().unwrap();
    let text = converted(file, "translational", &[]);
    assert!(text.contains("state coil_x1"), "{text}");
    same_responses(&text, file);
}

#[test]
fn networks_with_two_ports_are_refused() {
    let scratch = tempfile::tempdir().unwrap();
    let text = "model Pair {
  input F [N] = 0;
  node x, y : translational;  node a : electrical;
  push : ForceSource(F) gnd -> x;  m1 : Mass(3) x -> gnd;  m2 : Mass(2) y -> gnd;
  first : Transformer(2) x -> gnd, a -> gnd;  second : Transformer(3) y -> gnd, a -> gnd;
  r : Resistor(1) a -> gnd;
  output v = across(m1);
}";
    let file = written(scratch.path(), "pair.lgm", text);
    let output = lgm(
        scratch.path(),
        &[
            "convert",
            file.to_str().unwrap(),
            "--to",
            "translational",
            "--format",
            "lgm",
        ],
    );
    ends_with(&output, 1);
    assert!(err(&output).contains("LGM0718"), "{}", err(&output));
}

#[test]
fn a_gear_within_the_domain_is_named() {
    let scratch = tempfile::tempdir().unwrap();
    let text = "model Geared {
  input u [V] = 1;
  node a, p : electrical;  node shaft, load : rotational;
  src : VoltageSource(u) a -> gnd;  r : Resistor(2) a -> p;
  motor : Transformer(20) p -> gnd, shaft -> gnd;
  j1 : Inertia(1) shaft -> gnd;
  gear : Transformer(0.2) shaft -> gnd, load -> gnd;
  j2 : Inertia(3) load -> gnd;
  output w = across(j2);
}";
    let file = written(scratch.path(), "geared.lgm", text);
    let file = file.to_str().unwrap();
    let output = lgm(scratch.path(), &["convert", file, "--to", "rotational"]);
    ends_with(&output, 1);
    let fault = err(&output);
    assert!(
        fault.contains("`gear` connects two points within the domain `rotational`"),
        "{fault}"
    );
    assert!(fault.contains("`--to electrical`"), "{fault}");
    ends_with(&lgm(scratch.path(), &["convert", file, "--to", "electrical"]), 0);
}

#[test]
fn equations_have_parts_of_their_own() {
    // p' = -k/1 q - b/m p + F, q' = p/m.
    let answer = json(&["equations", "examples/oscillator.lgm", "--partition"]);
    assert_eq!(answer["p"].as_array().unwrap().len(), 1);
    assert_eq!(answer["A_pp"], serde_json::json!([["-b/m"]]));
    assert_eq!(answer["A_pq"], serde_json::json!([["-k"]]));
    assert_eq!(answer["A_qp"][0][0], "1/m");
    assert_eq!(answer["e"], serde_json::json!(["F"]));
    assert_eq!(answer["B_pe"], serde_json::json!([["1"]]));
    let answer = json(&["equations", "examples/oscillator.lgm", "--partition", "--numeric"]);
    near(number(&answer["A_pp"][0][0]), -0.2, 1e-14);
}

/// De Silva's Tables 1 and 2: a network behind a coupler as seen from its other port, for both kinds of couplers in both directions.
#[test]
fn the_steps_of_a_conversion_lead_to_its_impedance() {
    let folder = tempfile::tempdir().unwrap();
    for (coupler, domain, near) in [
        ("Transformer", "translational", "b"),
        ("Transformer", "electrical", "a"),
        ("Gyrator", "translational", "b"),
        ("Gyrator", "electrical", "a"),
    ] {
        let text = format!(
            "model M {{ param r = 0.7; param R = 2; param m = 3; input u = 1; node e, a : electrical; node b : translational;
  src : VoltageSource(u) e -> gnd; loss : Resistor(R) e -> a; c : {coupler}(r) a -> gnd, b -> gnd;
  mass : Mass(m) b -> gnd; output y = across(mass); }}"
        );
        let file = written(folder.path(), "coupled.lgm", &text).display().to_string();
        let found = json(&["convert", &file, "--to", domain]);
        let step = &found["steps"][0];
        let lines = step["lines"].as_array().unwrap();
        let of = |kind: &str| {
            let line = lines.iter().rev().find(|line| line[0] == kind).unwrap();
            line[1].as_str().unwrap().to_string()
        };
        let known = [
            ("r", 0.7),
            ("Z", 1.9),
            ("v_oc", 2.3),
            ("c.a.v", 0.31),
            ("c.a.i", -1.1),
            ("c.b.v", 0.53),
            ("c.b.F", 1.7),
        ];
        let mut values: Bindings = known.map(|(name, value)| (name.to_string(), value)).into();
        let (impedance, expected) = (
            evaluate(&of("impedance"), &values),
            evaluate(step["rule"].as_str().unwrap(), &values),
        );
        assert!((impedance - expected).abs() < 1e-12, "{lines:?}");
        // The result, in its two parts, solves the substituted equation.
        let result = of("result");
        let (left, right) = result.split_once(" = ").unwrap();
        assert_eq!(left, format!("c.{near}.v"));
        let value = evaluate(right, &values);
        let through = if near == "a" { "c.a.i" } else { "c.b.F" };
        let parts = evaluate(&of("source"), &values) + expected * values[through];
        assert!((value - parts).abs() < 1e-12, "{lines:?}");
        values.insert(left.to_string(), value);
        let substituted = of("substituted");
        let (left, right) = substituted.split_once(" = ").unwrap();
        assert!(
            (evaluate(left, &values) - evaluate(right, &values)).abs() < 1e-12,
            "{lines:?}"
        );
    }
}
