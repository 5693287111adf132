//! Dynamic augmentation: the augmented text compiles, contains no dependent storage, and approaches the exact model as
//! its connections become stiffer.

use crate::support::command::{ends_with, err, lgm, out};
use serde_json::Value;
use std::path::Path;

fn package() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

fn reduced(file: &str, more: &[&str]) -> String {
    let output = lgm(package(), &[&["reduce", file], more].concat());
    ends_with(&output, 0);
    out(&output)
}

fn json(file: &str, more: &[&str]) -> Value {
    serde_json::from_str(&reduced(file, &[more, &["--format", "json"]].concat())).unwrap()
}

const MODELS: [&str; 8] = [
    "examples/lever.lgm",
    "examples/rigid_gears.lgm",
    "examples/pendulum.lgm",
    "examples/seeds/roller_coaster.lgm",
    "examples/seeds/robot_arm.lgm",
    "examples/seeds/split_path_capacitors.lgm",
    "examples/seeds/split_path_inertias.lgm",
    "examples/seeds/lg2ss_EF_cap_loop.lgm",
];

#[test]
fn augmented_models_compile_and_have_no_dependent_storage() {
    let scratch = tempfile::tempdir().unwrap();
    for file in MODELS {
        let before = json(file, &[]);
        let count = before["dependent"].as_array().unwrap().len();
        assert!(count > 0, "{file}");
        let text = reduced(file, &["--augment", "1e6", "--format", "lgm"]);
        let other = scratch.path().join("augmented.lgm");
        std::fs::write(&other, &text).unwrap();
        let other = other.to_str().unwrap();
        let check = lgm(package(), &["check", other, "--verify"]);
        assert_eq!(check.status.code(), Some(0), "{file}: {}\n{text}", err(&check));
        let after = json(other, &[]);
        assert_eq!(after["dependent"], Value::Array(Vec::new()), "{file}\n{text}");
        let places = json(file, &["--augment", "1e6"]);
        assert!(places["places"].as_array().unwrap().len() <= count, "{file}: {places}");
    }
}

/// The thesis inserts springs alone.
#[test]
fn connections_without_damping_are_springs_alone() {
    let scratch = tempfile::tempdir().unwrap();
    for (file, spring) in [
        ("examples/seeds/roller_coaster.lgm", "Spring(stiffness)"),
        ("examples/lever.lgm", "C(1/stiffness)"),
    ] {
        let text = reduced(file, &["--augment", "1e6", "--damping", "0", "--format", "lgm"]);
        assert!(text.contains(spring) && !text.contains("loss_"), "{text}");
        let other = scratch.path().join("augmented.lgm");
        std::fs::write(&other, &text).unwrap();
        let other = other.to_str().unwrap();
        ends_with(&lgm(package(), &["check", other, "--verify"]), 0);
        assert_eq!(json(other, &[])["dependent"], Value::Array(Vec::new()), "{text}");
    }
}

/// The errors by stiffness, with the table for readers of the test's output.
fn errors(file: &str, stiffnesses: &str, more: &[&str]) -> Vec<f64> {
    let arguments = [&["--augment", "1e6", "--compare", stiffnesses], more].concat();
    let found = json(file, &arguments);
    println!("{file}\n{}", found["comparison"]);
    let runs = found["comparison"]["runs"].as_array().unwrap();
    runs.iter()
        .map(|run| run["error"].as_f64().unwrap_or_else(|| panic!("{run}")))
        .collect()
}

/// The error decreases at least with the square root of the stiffness: forces in a damper of 2*sqrt(k*m) do, and
/// motions decrease with the stiffness itself.
#[test]
fn augmented_models_come_to_the_exact_ones() {
    for (file, stiffnesses) in [
        ("examples/seeds/roller_coaster.lgm", "1e5,1e6,1e7"),
        ("examples/seeds/robot_arm.lgm", "1e5,1e6,1e7"),
        ("examples/rigid_gears.lgm", "1e4,1e5,1e6"),
        ("examples/seeds/split_path_capacitors.lgm", "1e3,1e4,1e5"),
    ] {
        let errors = errors(file, stiffnesses, &[]);
        let order = (errors[0] / errors[2]).log10() / 2.0;
        assert!(order > 0.45, "{file}: {errors:?}");
        assert!(errors[2] < 0.01, "{file}: {errors:?}");
    }
    // Under a constant force the spring starts with its steady-state force.
    let exact = errors("examples/lever.lgm", "1e4,1e6", &["--stop", "1"]);
    assert!(exact.iter().all(|error| *error < 1e-5), "{exact:?}");
}

/// Dependent storage starts consistently with the storage it depends on. In the augmented model it has a separate
/// initial value, even if only the dependent element has a `start`, and inside components too.
#[test]
fn augmented_models_start_as_the_exact_ones() {
    let scratch = tempfile::tempdir().unwrap();
    let capacitors = "model Capacitors {\n  node a, d : electrical;\n  rs : Resistor(20) a -> d;\n  src : VoltageSource(0) a -> gnd;\n  \
         c1 : Capacitor(0.01) d -> gnd;\n  c2 : Capacitor(0.03) d -> gnd, start = 1;\n  output v = across(c1);\n  \
         experiment { stop = 2 [s]; points = 5; }\n}\n";
    let wheels = "component Wheel(J, b) {\n  port w : rotational;\n  j : Inertia(J) w -> gnd;\n  d : RotaryDamper(b) w -> gnd;\n}\n\
         model Wheels {\n  node p, q : rotational;\n  j1 : Inertia(0.1) p -> gnd, start = 6;\n  \
         g : Transformer(0.5) p -> gnd, q -> gnd;\n  wh : Wheel(J = 0.3, b = 0.2) (w = q);\n  output w1 = across(j1);\n  \
         output w2 = across(q);\n  experiment { stop = 3 [s]; points = 31; }\n}\n";
    for (name, text) in [("capacitors.lgm", capacitors), ("wheels.lgm", wheels)] {
        let file = scratch.path().join(name);
        std::fs::write(&file, text).unwrap();
        let file = file.to_str().unwrap();
        let errors = errors(file, "1e5,1e6", &[]);
        // Without the initial forces of springs, the error of the wheels is 1e-5.
        assert!(errors[0] < 1e-6, "{name}: {errors:?}");
        assert!(errors[1] < 0.2 * errors[0], "{name}: {errors:?}");
    }
}

/// Stiff connections increase the errors of runs. These are not reported as errors of the model, and small poles are
/// not mistaken for zeros.
#[test]
fn errors_of_runs_are_told_from_those_of_the_model() {
    let scratch = tempfile::tempdir().unwrap();
    let file = scratch.path().join("lever.lgm");
    let text = "model Source {\n  input u [V] = sin(2*time);\n  node a, b : electrical;\n  src : VoltageSource(u) a -> gnd;\n  \
         c3 : Capacitor(0.02) a -> gnd;\n  r : Resistor(10) a -> b;\n  c1 : Capacitor(0.05) b -> gnd;\n  output is = through(c3);\n  \
         experiment { stop = 5 [s]; points = 51; }\n}\n";
    std::fs::write(&file, text).unwrap();
    let found = json(
        file.to_str().unwrap(),
        &["--augment", "1e6", "--compare", "1e3,1e4,1e9"],
    );
    let runs = found["comparison"]["runs"].as_array().unwrap();
    // The current lags by C/K: a fraction 2*0.02/K of its amplitude, which is half of its range.
    for (run, stiffness) in runs.iter().zip([1e3, 1e4]) {
        let (error, expected) = (run["error"].as_f64().unwrap(), 0.02 / stiffness);
        assert!(
            (error - expected).abs() < 0.1 * expected && run["settled"] == true,
            "{run}"
        );
    }
    assert_eq!(runs[2]["settled"], false, "{}", runs[2]);
    // 1/(R*C1) = 2, and K/C3.
    let ratio = runs[2]["stiffness_ratio"].as_f64().unwrap();
    assert!((ratio / 2.5e10 - 1.0).abs() < 1e-3, "{ratio}");
}

/// At low frequencies a stiff connection has no effect: the exact transfer functions of the rewritten text.
#[test]
fn an_augmented_model_has_the_slow_responses_of_the_exact_one() {
    let file = "examples/rigid_gears.lgm";
    let scratch = tempfile::tempdir().unwrap();
    let text = reduced(file, &["--augment", "1e10", "--format", "lgm"]);
    let other = scratch.path().join("stiff.lgm");
    std::fs::write(&other, text).unwrap();
    let answer = |file: &str| -> Value {
        let output = lgm(
            package(),
            &["response", file, "--omega", "0.01,1,10", "--format", "json"],
        );
        ends_with(&output, 0);
        serde_json::from_str(&out(&output)).unwrap()
    };
    let (exact, stiff) = (answer(file), answer(other.to_str().unwrap()));
    let exact = exact["H"].as_object().unwrap();
    assert!(!exact.is_empty());
    for (pair, values) in exact {
        for (a, b) in values
            .as_array()
            .unwrap()
            .iter()
            .zip(stiff["H"][pair].as_array().unwrap())
        {
            let part = |value: &Value, at: usize| value[at].as_f64().unwrap();
            let size = part(a, 0).hypot(part(a, 1));
            let error = (part(a, 0) - part(b, 0)).hypot(part(a, 1) - part(b, 1));
            assert!(error <= 1e-4 * size, "{pair}: {a} and {b}");
        }
    }
}

#[test]
fn rules_dampings_and_refusals_are_as_they_are_asked_for() {
    let text = reduced(
        "examples/seeds/roller_coaster.lgm",
        &["--augment", "1e6", "--damping", "30"],
    );
    assert!(text.contains("connection"), "{text}");
    assert!(text.contains("Damper(damping)"), "{text}");
    let none = reduced("examples/oscillator.lgm", &["--augment", "1e6", "--compare"]);
    assert_eq!(none, "no dependent storage: nothing to augment\n");
    let scratch = tempfile::tempdir().unwrap();
    let file = scratch.path().join("parts.lgm");
    let model = "
component Wheel() {
  port shaft : rotational;
  inertia : Inertia(2) shaft -> gnd;
}
model Train {
  input torque = 1;
  node a, b : rotational;
  node left, right : electrical;
  drive : TorqueSource(torque) gnd -> a;
  rotor : Inertia(0.1) a -> gnd;
  gear  : Transformer(0.2) a -> gnd, b -> gnd;
  wheel : Wheel() (shaft = b);
  feed  : CurrentSource(torque) gnd -> left;
  first : Inductor(1) left -> right;
  load  : Resistor(3) right -> gnd;
  output w = across(rotor);
  output i = through(load);
}
";
    std::fs::write(&file, model).unwrap();
    let found = json(file.to_str().unwrap(), &["--augment", "1e8"]);
    let places = found["places"].as_array().unwrap();
    let rules: Vec<(&str, &str)> = places
        .iter()
        .map(|place| (place["element"].as_str().unwrap(), place["rule"].as_str().unwrap()))
        .collect();
    assert_eq!(rules, [("wheel.inertia", "port"), ("first", "beside")]);
    let output = lgm(package(), &["reduce", "examples/lever.lgm", "--damping", "3"]);
    ends_with(&output, 2);
}

/// A loop of capacitors that charges before the second sample: a voltage that decays to 0 ends as round-off.
#[test]
fn columns_of_rounding_are_not_compared() {
    let scratch = tempfile::tempdir().unwrap();
    let text = "model Loop {
  input u = 1;
  node a, b, c : electrical;
  src : VoltageSource(u) a -> gnd;
  r : Resistor(100) a -> b;
  c1 : Capacitor(1 [uF]) b -> c; c2 : Capacitor(2 [uF]) c -> gnd; c3 : Capacitor(3 [uF]) b -> gnd;
  r2 : Resistor(50) c -> gnd;
  output v1 = across(c1);
  experiment { stop = 1 [s]; points = 11; }
}";
    let file = scratch.path().join("loop.lgm");
    std::fs::write(&file, text).unwrap();
    for error in errors(file.to_str().unwrap(), "1,1e2,1e3", &[]) {
        assert!(error < 1e-8, "{error}");
    }
}
