//! Terminal equations of several instances as one component.

use super::json;
use crate::support::arithmetic::{Bindings, evaluate};
use crate::support::command::{ends_with, err, lgm};
use nalgebra::DMatrix;
use serde_json::json as value;
use std::path::Path;

/// Several instances are one component with ports at shared nodes; closed forms by hand.
#[test]
fn several_instances_are_one_component() {
    let gears = json(&[
        "terminals",
        "examples/rigid_gears.lgm",
        "--component",
        "first_stage, wheels,second_stage",
    ]);
    assert_eq!(gears["given"], value!(["across(motor_shaft)", "through(load_shaft)"]));
    let expected = [["J2/n1^2*s", "-1/(n1*n2)"], ["1/(n1*n2)", "0"]];
    assert_eq!(gears["matrix"], value!(expected));
    // Equation 20: a body with a fixed point. No force of the plane remains.
    let body = json(&[
        "terminals",
        "examples/seeds/rocking_pendulum.lgm",
        "--component",
        "ideal,plane",
    ]);
    assert_eq!(body["found"], value!(["through(turn)", "across(G)[1]", "across(G)[2]"]));
    let values: Bindings = [("l", 0.7), ("r", 0.3), ("angle", 0.4)]
        .map(|(name, value)| (name.to_string(), value))
        .into();
    let entry = |row: usize, column: usize| evaluate(body["matrix"][row][column].as_str().unwrap(), &values);
    for (row, expected) in [(1, 0.7 * 0.4_f64.cos() - 0.3), (2, 0.7 * 0.4_f64.sin())] {
        assert!((entry(row, 0) - expected).abs() < 1e-15 && (entry(0, row) + expected).abs() < 1e-15);
    }
}

/// Theorem 2: ring, disc and bar together are ideal, so that their matrix is skew. Rolling without slip gives the speed of the bar.
#[test]
fn joined_ideal_components_are_ideal() {
    let found = json(&["terminals", "examples/seeds/two_discs.lgm", "--component", "R,R1,R2"]);
    let names = [("a", 0.4), ("b", 1.1), ("c", 0.7), ("d", 0.2), ("phi", 0.9)];
    let values: Bindings = names.map(|(name, value)| (name.to_string(), value)).into();
    let size = found["given"].as_array().unwrap().len();
    assert_eq!(size, 11);
    let matrix = DMatrix::from_fn(size, size, |row, column| {
        let text = found["matrix"][row][column].as_str().unwrap();
        evaluate(&text.replace("R.angle", "phi"), &values)
    });
    assert!((&matrix + matrix.transpose()).amax() < 1e-14, "{found}");
    // v = b*w1 at the centre of the ring; the contact of ring and disc moves the disc's centre by c*w perpendicular to the bar.
    let row = |name: &str| {
        found["found"]
            .as_array()
            .unwrap()
            .iter()
            .position(|own| own == name)
            .unwrap()
    };
    let column = |name: &str| {
        found["given"]
            .as_array()
            .unwrap()
            .iter()
            .position(|own| own == name)
            .unwrap()
    };
    let entry = |to: &str, from: &str| matrix[(row(to), column(from))];
    let (turn, spin) = (entry("across(w)", "across(w1)"), entry("across(w)", "across(w2)"));
    assert!((turn - 1.1 / 0.7).abs() < 1e-14 && (spin + 0.4 / 0.7).abs() < 1e-14);
    for (axis, slope) in [(1, 0.9_f64.cos()), (2, 0.9_f64.sin())] {
        let centre = format!("across(G2)[{axis}]");
        assert!((entry(&centre, "across(w1)") - 0.7 * slope * turn).abs() < 1e-14);
        assert!((entry(&centre, "across(w2)") - 0.7 * slope * spin).abs() < 1e-14);
    }
}

#[test]
fn sets_without_ports_are_refused() {
    for (file, set, said) in [
        ("examples/lever.lgm", "T,I1", "contains a bond graph element"),
        ("examples/rigid_gears.lgm", "rotor,nothing", "no component `nothing`"),
        (
            "examples/rigid_gears.lgm",
            "motor,rotor,first_stage,wheels,second_stage,load,bearing",
            "has no open ports",
        ),
    ] {
        let output = lgm(Path::new("."), &["terminals", file, "--component", set]);
        ends_with(&output, 1);
        assert!(err(&output).contains(said), "{}", err(&output));
    }
}
