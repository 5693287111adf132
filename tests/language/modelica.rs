//! Examples of the Modelica Standard Library, in `examples/modelica`, against their closed forms.

use crate::support::command::{ends_with, lgm, out};
use std::path::Path;

fn printed(arguments: &[&str]) -> String {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("examples/modelica");
    let output = lgm(&folder, arguments);
    ends_with(&output, 0);
    out(&output)
}

fn rows(file: &str) -> Vec<Vec<f64>> {
    let text = printed(&["simulate", file]);
    let numbers = |line: &str| line.split(',').filter_map(|field| field.parse().ok()).collect();
    text.lines().skip(1).map(numbers).collect()
}

#[track_caller]
fn near(found: f64, expected: f64, tolerance: f64) {
    assert!((found - expected).abs() <= tolerance, "{found} instead of {expected}");
}

/// The temperatures approach 50 degC with the time constant C/(2*G).
#[test]
fn two_masses_exchange_heat() {
    for row in rows("two_masses.lgm") {
        let apart = 50.0 * (-2.0 * 10.0 / 15.0 * row[0]).exp();
        near(row[1], 50.0 + apart, 1e-6);
        near(row[2], 50.0 - apart, 1e-6);
    }
}

/// A Cauer filter passes half of a constant voltage, and nothing at its zeros of transmission.
#[test]
fn the_cauer_filter_has_its_zeros_of_transmission() {
    let file = "cauer_low_pass.lgm";
    let text = printed(&["response", file, "--omega", "0,1.179945,1.704992", "--format", "json"]);
    let found: serde_json::Value = serde_json::from_str(&text).unwrap();
    for (at, expected) in [0.5, 0.0, 0.0].into_iter().enumerate() {
        let value = |part: usize| found["H"]["u->y"][at][part].as_f64().unwrap();
        near(value(0).hypot(value(1)), expected, 1e-12);
    }
}

/// The free mass swings ever further; the damped one approaches an amplitude of F/(d*w) = 1 mm.
#[test]
fn masses_are_excited_at_resonance() {
    let (natural, omega) = (100.0, std::f64::consts::TAU * 15.9155);
    let decay = 5.0f64;
    let damped = (natural * natural - decay * decay).sqrt();
    // The steady motion of the damped mass is the imaginary part of a*exp(j*w*t).
    let (re, im) = (natural * natural - omega * omega, 10.0 * omega);
    let (a, b) = (re / (re * re + im * im), -im / (re * re + im * im));
    for row in rows("resonance.lgm") {
        let time = row[0];
        let free = ((omega * time).sin() - omega / natural * (natural * time).sin()) / re;
        near(row[1], free, 2e-7);
        let steady = a * (omega * time).sin() + b * (omega * time).cos();
        let (start, slope) = (-b, -a * omega);
        let swing = start * (damped * time).cos() + (slope + decay * start) / damped * (damped * time).sin();
        near(row[2], steady + (-decay * time).exp() * swing, 1e-7);
    }
}
