//! Reduced models that agree with large ones near given frequencies, and families of responses.

use super::{json, near, number, written};
use crate::support::command::{ends_with, lgm, out};
use num_complex::Complex64;
use serde_json::Value;

/// Masses between springs and dampers.
fn chain(masses: usize) -> String {
    format!(
        "model Chain {{
  const N = {masses};
  input F [N] = 0;
  node x[N] : translational;
  push : ForceSource(F) gnd -> x[1];
  first : Spring(100) gnd -> x[1];
  for i in 1:N {{ m[i] : Mass(1) x[i] -> gnd; b[i] : Damper(0.3) x[i] -> gnd; }}
  for i in 1:N-1 {{ k[i] : Spring(100) x[i] -> x[i + 1]; }}
  output v = across(m[1]);
  output w = across(m[3]);
}}"
    )
}

fn value(pair: &Value) -> Complex64 {
    Complex64::new(number(&pair[0]), number(&pair[1]))
}

#[test]
fn moments_agree_at_their_frequencies_and_stay_stable() {
    let scratch = tempfile::tempdir().unwrap();
    let file = written(scratch.path(), "chain.lgm", &chain(60));
    let file = file.to_str().unwrap();
    for more in [&[][..], &["--keep", "second-order"]] {
        let words = [
            "approximate",
            file,
            "--order",
            "24",
            "--method",
            "moments",
            "--at",
            "2,9",
        ];
        let answer = json(&[&words[..], more].concat());
        assert_eq!((&answer["order"], &answer["method"]), (&24.into(), &"moments".into()));
        assert!(number(&answer["errors"][0]["relative"]) < 0.1, "{answer}");
        // The text of the reduced model has these responses, and poles in the left half plane.
        let output = lgm(scratch.path(), &[&words[..], more, &["--format", "lgm"]].concat());
        ends_with(&output, 0);
        let reduced = written(scratch.path(), "reduced.lgm", &out(&output));
        let reduced = reduced.to_str().unwrap();
        let (before, after) = (
            json(&["response", file, "--omega", "2,9"]),
            json(&["response", reduced, "--omega", "2,9"]),
        );
        for pair in ["F->v", "F->w"] {
            for at in 0..2 {
                let (a, b) = (value(&before["H"][pair][at]), value(&after["H"][pair][at]));
                assert!((a - b).norm() <= 1e-7 * a.norm(), "{pair}: {a} and {b}");
            }
        }
        for pole in json(&["modes", reduced])["poles"].as_array().unwrap() {
            assert!(number(&pole["real"]) < 1e-9, "{pole}");
        }
    }
}

/// Springs between walls carry a force that no input changes: a pole at 0 that is absent from the transfer function.
#[test]
fn a_force_that_is_held_for_ever_does_not_keep_a_chain_from_truncation() {
    let scratch = tempfile::tempdir().unwrap();
    for masses in [25, 50] {
        let held = "first : Spring(100) gnd -> x[1];\n  last : Spring(100) x[N] -> gnd;";
        let text = chain(masses).replace("first : Spring(100) gnd -> x[1];", held);
        let text = text
            .replace("Damper(0.3)", "Damper(2)")
            .replace("  output w = across(m[3]);\n", "");
        let file = written(scratch.path(), "chain.lgm", &text);
        let file = file.to_str().unwrap();
        let found = json(&["approximate", file, "--order", "10"]);
        let matrix = |key: &str| {
            let rows = found[key].as_array().unwrap();
            rows.iter()
                .flat_map(|row| row.as_array().unwrap().iter().map(super::number))
                .collect::<Vec<f64>>()
        };
        let (a, b, c) = (matrix("A"), matrix("B"), matrix("C"));
        let omega = 3.0;
        let whole = json(&["response", file, "--omega", "3"]);
        let whole = value(&whole["H"]["F->v"][0]);
        let a = nalgebra::DMatrix::from_row_slice(10, 10, &a).map(Complex64::from);
        let resolvent = (nalgebra::DMatrix::identity(10, 10) * Complex64::new(0.0, omega) - a)
            .try_inverse()
            .unwrap();
        let b = nalgebra::DVector::from_vec(b).map(Complex64::from);
        let c = nalgebra::DVector::from_vec(c).map(Complex64::from);
        let reduced = (c.transpose() * resolvent * b)[0];
        let bound = super::number(&found["bound"]);
        assert!(
            (reduced - whole).norm() <= bound && bound < 0.5 * whole.norm(),
            "{reduced} {whole} {bound}"
        );
    }
}

#[test]
fn the_bound_of_moments_holds() {
    let scratch = tempfile::tempdir().unwrap();
    let file = written(scratch.path(), "chain.lgm", &chain(20));
    let file = file.to_str().unwrap();
    let answer = json(&[
        "approximate",
        file,
        "--order",
        "12",
        "--method",
        "moments",
        "--at",
        "0.5,4",
    ]);
    let bound = number(&answer["bound"]);
    let output = lgm(
        scratch.path(),
        &[
            "approximate",
            file,
            "--order",
            "12",
            "--method",
            "moments",
            "--at",
            "0.5,4",
            "--format",
            "lgm",
        ],
    );
    let reduced = written(scratch.path(), "reduced.lgm", &out(&output));
    let range = ["--omega", "0.01:100:300"];
    let before = json(&[&["response", file], &range[..]].concat());
    let after = json(&[&["response", reduced.to_str().unwrap()], &range[..]].concat());
    for at in 0..300 {
        let error = |pair: &str| (value(&before["H"][pair][at]) - value(&after["H"][pair][at])).norm();
        assert!(error("F->v").hypot(error("F->w")) <= bound * (1.0 + 1e-9));
    }
}

#[test]
fn a_picture_has_both_responses() {
    let scratch = tempfile::tempdir().unwrap();
    let file = written(scratch.path(), "chain.lgm", &chain(20));
    let words = [
        "approximate",
        file.to_str().unwrap(),
        "--order",
        "6",
        "--plot",
        "both.svg",
    ];
    ends_with(&lgm(scratch.path(), &words), 0);
    let text = std::fs::read_to_string(scratch.path().join("both.svg")).unwrap();
    assert!(text.contains("F \u{2192} v, order 6") && !text.contains("NaN"));
}

#[test]
fn a_family_has_a_response_for_each_value() {
    let scratch = tempfile::tempdir().unwrap();
    let words = [
        "response",
        "examples/oscillator.lgm",
        "--from",
        "F",
        "--to",
        "v",
        "--omega",
        "5",
    ];
    let answer = json(&[&words[..], &["--sweep", "b=0.5:2:4"]].concat());
    let list = answer.as_array().unwrap();
    assert_eq!(list.len(), 4);
    for (one, b) in list.iter().zip([0.5, 1.0, 1.5, 2.0]) {
        near(number(&one["parameters"]["b"]), b, 1e-15);
        // At resonance the mobility is 1/b.
        near(value(&one["H"]["F->v"][0]).norm(), 1.0 / b, 1e-12);
    }
    let package = std::path::Path::new(env!("CARGO_MANIFEST_DIR"));
    let file = scratch.path().join("family.svg");
    let file = file.to_str().unwrap();
    let output = lgm(
        package,
        &[
            "response",
            "examples/oscillator.lgm",
            "--to",
            "v",
            "--sweep",
            "b=0.1:10:3:log",
            "--plot",
            file,
        ],
    );
    ends_with(&output, 0);
    let text = std::fs::read_to_string(file).unwrap();
    for name in ["b = 0.1", "b = 1", "b = 10"] {
        assert!(text.contains(name), "no {name}");
    }
    let output = lgm(
        package,
        &[
            "response",
            "examples/oscillator.lgm",
            "--omega",
            "1",
            "--sweep",
            "z=1:2:3",
        ],
    );
    ends_with(&output, 2);
}

#[test]
fn one_output_is_drawn_against_another() {
    let scratch = tempfile::tempdir().unwrap();
    let package = std::path::Path::new(env!("CARGO_MANIFEST_DIR"));
    let file = scratch.path().join("orbit.svg");
    let file = file.to_str().unwrap();
    let words = ["simulate", "examples/oscillator.lgm", "--plot", file, "--plot-xy"];
    ends_with(&lgm(package, &[&words[..], &["y,v"]].concat()), 0);
    let text = std::fs::read_to_string(file).unwrap();
    assert!(text.contains("v against y") && !text.contains("NaN"));
    assert_ne!(lgm(package, &[&words[..], &["y"]].concat()).status.code(), Some(0));
}
