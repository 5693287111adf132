//! Integrals of variables of a matrix of springs, capacitors or inductors add no state, but still start from 0.

use crate::support::command;

use command::{ends_with, lgm, out};
use std::fs;
use tempfile::TempDir;

/// Two bodies on a matrix of springs with initial deflection, pushed by a force; `k` is the matrix, and the measures
/// are given.
fn springs(measured: &str) -> String {
    format!(
        "model M {{
  param k1 = 30 [N/m]; param k2 = 20 [N/m];
  node q[2] vector : translational;
  push : ForceSource([3*sin(2*time), 0]) gnd -> q;
  M : Mass([[2, 0.5], [0.5, 1]]) q -> gnd;
  K : Spring([[k1 + k2, -k2], [-k2, k2]]) q -> gnd, start = [1, -2];
  R : Damper([[0.4, 0.1], [0.1, 0.3]]) q -> gnd;
  {measured}
  experiment {{ stop = 2 [s]; points = 41; rtol = 1e-10; }}
}}"
    )
}

/// The names of the states, and the samples of the outputs.
fn run(text: &str) -> (Vec<String>, Vec<Vec<f64>>) {
    let folder: TempDir = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("m.lgm"), text).unwrap();
    let check = lgm(folder.path(), &["check", "m.lgm", "--verify"]);
    ends_with(&check, 0);
    let equations = lgm(folder.path(), &["equations", "m.lgm", "--format", "json"]);
    ends_with(&equations, 0);
    let json: serde_json::Value = serde_json::from_str(&out(&equations)).unwrap();
    let states = json["states"].as_array().unwrap().iter();
    let states = states
        .map(|state| state["name"].as_str().unwrap().to_string())
        .collect();
    let rows = lgm(folder.path(), &["simulate", "m.lgm", "--columns", "y1,y2"]);
    ends_with(&rows, 0);
    let text = out(&rows);
    let rows = text.lines().skip(1);
    let rows = rows.map(|line| line.split(',').skip(1).map(|field| field.parse().unwrap()).collect());
    (states, rows.collect())
}

/// Runs with integrals as outputs agree with runs in which these integrals are declared as states.
#[track_caller]
fn held(with: impl Fn(&str) -> String, integrals: [&str; 2], states: &[&str]) {
    let [a, b] = integrals;
    let (names, rows) = run(&with(&format!("output y1 = int({a}); output y2 = int({b});")));
    assert_eq!(names, states);
    let declared = format!("state s1 = int({a}); state s2 = int({b}); output y1 = s1; output y2 = s2;");
    let (_, reference) = run(&with(&declared));
    assert_eq!(rows.len(), reference.len());
    assert!(
        rows[0].iter().all(|value| value.abs() < 1e-15),
        "integrals count from 0"
    );
    let largest = reference
        .iter()
        .flatten()
        .fold(0.0f64, |most, value| most.max(value.abs()));
    assert!(largest > 1e-3, "something moves");
    for (row, wanted) in rows.iter().zip(&reference) {
        for (value, wanted) in row.iter().zip(wanted) {
            assert!((value - wanted).abs() < 1e-7 * largest, "{value} is not {wanted}");
        }
    }
}

#[test]
fn displacements_of_a_matrix_of_springs() {
    let states = ["M.v[1]", "M.v[2]", "K.F[1]", "K.F[2]"];
    held(springs, ["across(q)[1]", "across(q)[2]"], &states);
    held(springs, ["across(q)[1] - 2*across(q)[2]", "across(M)[2]"], &states);
}

#[test]
fn charges_of_a_matrix_of_capacitors() {
    let with = |measured: &str| {
        format!(
            "model M {{
  node s, n[2] vector, m[2] vector : electrical;
  src : VoltageSource([2*sin(3*time), 1]) m -> gnd;
  r : Resistor([[2, 0], [0, 3]]) m -> n;
  C : Capacitor([[0.2, -0.05], [-0.05, 0.1]]) n -> gnd, start = [0.5, -0.3];
  g : Resistor(5) s -> gnd;
  {measured}
  experiment {{ stop = 2 [s]; points = 41; rtol = 1e-10; }}
}}"
        )
    };
    held(with, ["through(r)[1]", "through(r)[2]"], &["C.v[1]", "C.v[2]"]);
}

#[test]
fn what_no_storage_holds_still_adds_a_state() {
    let (names, _) = run(&springs(
        "output y1 = int(through(K)[1]); output y2 = int(across(q)[1]);",
    ));
    assert_eq!(names, ["M.v[1]", "M.v[2]", "K.F[1]", "K.F[2]", "y1"]);
}

#[test]
fn the_linearized_manipulator_has_four_states() {
    let text = include_str!("../../examples/seeds/two_link_linearized.lgm");
    let text = text.replace("dtheta1", "y1").replace("dtheta2", "y2");
    let text = text.replace("  output y1", "  experiment { stop = 1 [s]; points = 5; }\n  output y1");
    assert_eq!(run(&text).0, ["M.w[1]", "M.w[2]", "K.tau[1]", "K.tau[2]"]);
}

/// A body on given springs and masses; the damper is nonlinear.
fn bodies(elements: &str) -> impl Fn(&str) -> String {
    let elements = elements.to_string();
    move |measured: &str| {
        format!(
            "import nonlinear;
element Drag(c) : translational {{ through = c*across*abs(across); }}
model M {{
  param k1 = 30 [N/m]; param k2 = 20 [N/m]; param m = 2 [kg];
  node a, b : translational;
  push : ForceSource(3*sin(2*time)) gnd -> b;
  D : Drag(0.3) a -> gnd;
  {elements}
  {measured}
  experiment {{ stop = 2 [s]; points = 41; rtol = 1e-10; }}
}}"
        )
    }
}

#[test]
fn displacements_along_springs() {
    let chain = "M1 : Mass(m) a -> gnd; M2 : Mass(1) b -> gnd; K1 : Spring(k1) gnd -> a";
    let states = ["M1.v", "M2.v", "K1.F", "K2.F"];
    let asked = ["across(M2)", "m*across(a) - 3*across(b)"];
    held(bodies(&format!("{chain}; K2 : Spring(k2) a -> b;")), asked, &states);
    held(
        bodies(&format!("{chain}, start = 2; K2 : Spring(k2) a -> b;")),
        asked,
        &states,
    );
    let hard = "K2 : HardSpring(k2, 40) b -> a, start = 0.1;";
    let states = ["M1.v", "M2.v", "K1.F", "K2.int_v"];
    held(bodies(&format!("{chain}, start = -1; {hard}")), asked, &states);
    // Without a spring to ground, only the difference is stored.
    let free = "M1 : Mass(m) a -> gnd, start = 1; M2 : Mass(1) b -> gnd; K2 : Spring(k2) a -> b;";
    held(
        bodies(free),
        ["across(a) - across(b)", "across(b)"],
        &["M1.v", "M2.v", "K2.F", "y2"],
    );
}

#[test]
fn displacements_that_declared_states_hold() {
    let elements = "M1 : Mass(m) a -> gnd; M2 : Mass(1) b -> gnd; K2 : Spring(k2) a -> b, start = 1;
      state x = int(across(M1)), start = 4;";
    held(
        bodies(elements),
        ["across(D)", "across(b)"],
        &["M1.v", "M2.v", "K2.F", "x"],
    );
}

/// Springs in series share a force: one without an initial value starts with that of the other.
#[test]
fn starts_that_follow_from_other_starts_are_taken_off() {
    let elements = "M2 : Mass(1) b -> gnd; K1 : Spring(k1) gnd -> c, start = 5; node c : translational;
      K2 : Spring(k2) c -> b; N : Mass(1) a -> gnd;";
    held(
        bodies(elements),
        ["across(b)", "across(c)"],
        &["M2.v", "K1.F", "N.v", "y1"],
    );
}

/// An event that sets a spring does not move the adjacent body.
#[test]
fn springs_that_events_set_hold_no_displacement() {
    let text = bodies(
        "M1 : Mass(m) a -> gnd; M2 : Mass(1) b -> gnd; K1 : Spring(k1) gnd -> a; K2 : Spring(k2) a -> b;
      when time > 1 { through(K1) := 0; }",
    );
    held(
        &text,
        ["across(a)", "across(b)"],
        &["M1.v", "M2.v", "K1.F", "K2.F", "y1", "y2"],
    );
}

/// The equations of a run with events contain no initial values of states.
#[test]
fn integrals_beside_blocks_count_from_zero() {
    let text = bodies(
        "M1 : Mass(m) a -> gnd; M2 : Mass(1) b -> gnd; K1 : Spring(k1) gnd -> a, start = 3; K2 : Spring(k2) a -> b;
      R : Damper(2) a -> b; discrete n = 0; when time > 1 { n := 1; }",
    );
    held(
        &text,
        ["through(R)", "across(b)"],
        &["M1.v", "M2.v", "K1.F", "K2.F", "y1"],
    );
    let linear = |measured: &str| {
        format!(
            "model M {{
  node x, y : translational;
  push : ForceSource(1) gnd -> x;
  mass : Mass(2) x -> gnd;
  spring : Spring(3) x -> y, start = -2;
  damper : Damper(2) x -> y;
  hold : Mass(1) y -> gnd;
  discrete n = 0;
  when time > 1 {{ n := 1; }}
  {measured}
  experiment {{ stop = 2 [s]; points = 5; rtol = 1e-10; }}
}}"
        )
    };
    held(
        linear,
        ["through(damper)", "across(x) - across(y)"],
        &["mass.v", "spring.F", "hold.v", "y1"],
    );
}

/// A closing switch redistributes charge, which no measured resistor carries.
#[test]
fn capacitors_behind_switches_hold_no_charge_of_resistors() {
    let with = |measured: &str| {
        format!(
            "import switching;
model M {{
  node a, b, c : electrical;
  src : VoltageSource(1) a -> gnd;
  R : Resistor(10) a -> b;
  C : Capacitor(0.01) b -> gnd;
  C2 : Capacitor(0.02) c -> gnd;
  R2 : Resistor(100) c -> gnd;
  S : Switch(time > 0.1) b -> c;
  {measured}
  experiment {{ stop = 0.3 [s]; points = 13; rtol = 1e-10; }}
}}"
        )
    };
    held(with, ["through(R)", "through(R2)"], &["C.v", "C2.v", "y1", "y2"]);
}

/// A spring without stiffness has no displacement.
#[test]
fn springs_of_no_stiffness_hold_nothing() {
    let elements = "M1 : Mass(m) a -> gnd, start = 1; M2 : Mass(1) b -> gnd, start = 2; K1 : Spring(0*k1) gnd -> a;
      K2 : Spring(k2) a -> b;";
    held(
        bodies(elements),
        ["across(a)", "across(a) - across(b)"],
        &["M1.v", "M2.v", "K1.F", "K2.F", "y1"],
    );
    let linear = |measured: &str| {
        format!(
            "model M {{
  param k = 0 [N/m];
  node x : translational;
  push : ForceSource(1) gnd -> x;
  mass : Mass(2) x -> gnd;
  spring : Spring(k) x -> gnd;
  {measured}
  experiment {{ stop = 2 [s]; points = 5; }}
}}"
        )
    };
    held(
        linear,
        ["across(mass)", "2*across(x)"],
        &["mass.v", "spring.F", "y1", "y2"],
    );
}

/// The state behind an output in millimetres is in metres; `trim` reads a required value in the unit that is written.
#[test]
fn states_of_outputs_in_other_units_are_in_si() {
    let folder = TempDir::new().unwrap();
    let text =
        "model M { node a : translational; input F [N] = 0; f : ForceSource(F) gnd -> a; m : Mass(2 [kg]) a -> gnd;
        d : Damper(3 [N.s/m]) a -> gnd; output x = int(across(m)) [mm]; output v = across(m) [mm/s];
        }";
    fs::write(folder.path().join("m.lgm"), text).unwrap();
    let output = lgm(folder.path(), &["equations", "m.lgm", "--format", "json"]);
    ends_with(&output, 0);
    let found: serde_json::Value = serde_json::from_str(&out(&output)).unwrap();
    let states = found["states"].as_array().unwrap();
    let state = states.iter().find(|state| state["name"] == "x").unwrap();
    assert_eq!(state["unit"], "m");
    let rested = text.replace("output x = int(across(m)) [mm]; ", "");
    fs::write(folder.path().join("v.lgm"), rested).unwrap();
    for value in ["v=2", "v=2 [mm/s]", "v=0.002 [m/s]"] {
        let output = lgm(folder.path(), &["trim", "v.lgm", "--require", value, "--vary", "F"]);
        ends_with(&output, 0);
        assert!(out(&output).contains("F = 0.006 [N]"), "{value}: {}", out(&output));
    }
}
