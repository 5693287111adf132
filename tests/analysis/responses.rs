//! Frequency ranges, margins, peaks, group delays and plots, compared with closed forms.

use super::{json, near, number, written};
use crate::support::command::{ends_with, lgm, out};
use serde_json::Value;

const LOOP: &str = "model Loop {
  input u = 0;
  state a = int(u - a);  state b = int(a - b);  state c = int(4*b - c);
  output y = c;
}";

#[test]
fn margins_of_three_lags_are_exact() {
    // 4/(s + 1)^3: the phase is -180 degrees at sqrt(3), where the magnitude is 1/2; it is 1 at sqrt(4^(2/3) - 1).
    let scratch = tempfile::tempdir().unwrap();
    let file = written(scratch.path(), "loop.lgm", LOOP);
    let answer = json(&["response", file.to_str().unwrap(), "--margins"]);
    let margins = &answer["margins"]["u->y"];
    near(number(&margins["gain_margin"]), 2.0, 1e-9);
    near(number(&margins["phase_crossover"]), 3f64.sqrt(), 1e-9);
    let crossover = (4f64.powf(2.0 / 3.0) - 1.0).sqrt();
    near(number(&margins["gain_crossover"]), crossover, 1e-9);
    near(
        number(&margins["phase_margin"]),
        180.0 - 3.0 * crossover.atan().to_degrees(),
        1e-8,
    );
}

#[test]
fn an_oscillator_peaks_where_it_should() {
    // fk/F = k/(m s^2 + b s + k) peaks at sqrt(w^2 - b^2/(2 m^2)), with 1/(2 d sqrt(1 - d^2)).
    let answer = json(&[
        "response",
        "examples/oscillator.lgm",
        "--omega",
        "0.1:100:7",
        "--peaks",
        "--margins",
    ]);
    let peaks = answer["peaks"]["F->fk"].as_array().unwrap();
    assert_eq!(peaks.len(), 1);
    near(number(&peaks[0]["omega"]), (25.0f64 - 0.02).sqrt(), 1e-12);
    let damping: f64 = 0.02;
    near(
        number(&peaks[0]["magnitude"]),
        1.0 / (2.0 * damping * (1.0 - damping * damping).sqrt()),
        1e-10,
    );
    // v/F at its resonance is 1/b, exactly at w.
    let peaks = answer["peaks"]["F->v"].as_array().unwrap();
    near(number(&peaks[0]["omega"]), 5.0, 1e-12);
    near(number(&peaks[0]["magnitude"]), 2.5, 1e-10);
    assert_eq!(answer["margins"]["F->fk"]["gain_margin"], Value::Null);
    let omega: Vec<f64> = answer["omega"].as_array().unwrap().iter().map(number).collect();
    assert_eq!((omega.len(), omega[0], omega[6]), (7, 0.1, 100.0));
    near(omega[3], 10f64.powf(0.5), 1e-15);
    let answer = json(&["response", "examples/oscillator.lgm", "--omega", "0:10:5:lin,20"]);
    assert_eq!(answer["omega"], serde_json::json!([0.0, 2.5, 5.0, 7.5, 10.0, 20.0]));
}

#[test]
fn the_delay_of_a_lag_is_its_time_constant_over_one_plus_square() {
    let scratch = tempfile::tempdir().unwrap();
    let file = written(
        scratch.path(),
        "lag.lgm",
        "model Lag { input u = 0; state x = int(3*u - 2*x); output y = x; }",
    );
    let answer = json(&["response", file.to_str().unwrap(), "--omega", "0,1,5", "--group-delay"]);
    for (delay, omega) in answer["group_delay"]["u->y"]
        .as_array()
        .unwrap()
        .iter()
        .zip([0.0f64, 1.0, 5.0])
    {
        near(number(delay), 2.0 / (4.0 + omega * omega), 1e-13);
    }
}

#[test]
fn plots_are_written_whole() {
    let scratch = tempfile::tempdir().unwrap();
    written(scratch.path(), "loop.lgm", LOOP);
    for name in ["loop.svg", "loop.html"] {
        let output = lgm(scratch.path(), &["response", "loop.lgm", "--plot", name]);
        ends_with(&output, 0);
        assert_eq!(out(&output), "");
        let text = std::fs::read_to_string(scratch.path().join(name)).unwrap();
        let svg = &text[text.find("<svg").unwrap()..];
        assert!(svg.contains("u \u{2192} y") && svg.contains("</svg>"));
        assert!(!text.contains("NaN") && !text.contains("inf"), "{name}");
    }
    ends_with(&lgm(scratch.path(), &["response", "loop.lgm", "--plot", "loop.png"]), 2);
    ends_with(&lgm(scratch.path(), &["response", "loop.lgm", "--omega", "1:0:5"]), 2);
}
