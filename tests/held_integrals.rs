//! Integrals over variables of a matrix of springs, capacitors or inductors add no state, and count from 0 all the same.

use crate::support::command;

use command::{ends_with, lgm, out};
use std::fs;
use tempfile::TempDir;

/// Two bodies on a matrix of springs that starts bent, pushed by a force; with the matrix `k` and what is measured.
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

/// The names of the states, and the rows of the outputs.
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

/// Runs with integrals as outputs, and with states that are declared to be these integrals, agree.
#[track_caller]
fn held(with: impl Fn(&str) -> String, integrals: [&str; 2], states: &[&str]) {
    let [a, b] = integrals;
    let (names, rows) = run(&with(&format!("output y1 = int({a}); output y2 = int({b});")));
    assert_eq!(names, states);
    let declared = format!("state s1 = int({a}); state s2 = int({b}); output y1 = s1; output y2 = s2;");
    let (_, reference) = run(&with(&declared));
    assert_eq!(rows.len(), reference.len());
    assert_eq!(rows[0], [0.0, 0.0], "integrals count from 0");
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
    let text = include_str!("../examples/seeds/two_link_linearized.lgm");
    let text = text.replace("dtheta1", "y1").replace("dtheta2", "y2");
    let text = text.replace("  output y1", "  experiment { stop = 1 [s]; points = 5; }\n  output y1");
    assert_eq!(run(&text).0, ["M.w[1]", "M.w[2]", "K.tau[1]", "K.tau[2]"]);
}
