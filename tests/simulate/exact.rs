//! Errors against exact solutions.

use super::runs::{Shape, compile, finished, tight};
use lgm::simulate::{Method, Plan};

const OSCILLATOR: &str = "model Oscillator {
  param m = 2 [kg]; param k = 50 [N/m]; param b = 0.4 [N.s/m];
  input F [N];
  node x : translational;
  push : ForceSource(F) gnd -> x;
  mass : Mass(m) x -> gnd;
  spring : Spring(k) x -> gnd;
  damper : Damper(b) x -> gnd;
  output v = across(mass);
}";

/// The velocity after a unit step of force.
fn step_response(time: f64) -> f64 {
    let (m, k, b) = (2.0_f64, 50.0_f64, 0.4_f64);
    let decay = b / (2.0 * m);
    let omega = (k / m - decay * decay).sqrt();
    (-decay * time).exp() * (omega * time).sin() / (m * omega)
}

fn error_at(method: Method, rtol: f64) -> (f64, u64) {
    let system = compile(OSCILLATOR);
    let plan = Plan {
        rtol,
        atol: rtol * 1e-3,
        method,
        ..tight(10.0, 201)
    };
    let (rows, summary) = finished(&system, &[Shape::Constant(1.0)], &plan);
    let worst = rows
        .times
        .iter()
        .zip(&rows.outputs)
        .map(|(time, row)| (row[0] - step_response(*time)).abs())
        .fold(0.0, f64::max);
    (worst / 0.1, summary.steps)
}

#[test]
fn the_error_follows_the_tolerance_over_six_decades() {
    for (method, tightest, share) in [
        (Method::Tsit45, 1e-10, 100.0),
        (Method::Bdf, 1e-9, 3000.0),
        (Method::Sdirk, 1e-8, 1000.0),
        (Method::TrBdf2, 1e-6, 3000.0),
    ] {
        let mut rtol = 1e-3;
        let mut last = f64::INFINITY;
        while rtol >= tightest * 0.99 {
            let (error, steps) = error_at(method, rtol);
            println!("{} at rtol {rtol:.0e}: {error:.1e} in {steps} steps", method.word());
            assert!(error < share * rtol, "{} at {rtol:.0e}: {error:.1e}", method.word());
            assert!(error < last, "{} at {rtol:.0e} is no better than before", method.word());
            last = error;
            rtol *= 0.1;
        }
    }
}
