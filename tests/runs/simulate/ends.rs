//! Every run ends: at its stop time, or with a reason.

use super::runs::{compile, run};
use lgm::simulate::{Failure, FailureKind, Method, Plan, Summary};

fn ended(text: &str, plan: &Plan) -> (Vec<Vec<f64>>, Result<Summary, Failure>) {
    let (rows, result) = run(&compile(text), &[], plan);
    (rows.outputs, result)
}

fn plan(method: Method, stop: f64) -> Plan {
    Plan {
        method,
        stop,
        points: 2,
        ..Plan::default()
    }
}

#[test]
fn what_grows_beyond_all_bounds_fails() {
    let text =
        "model Circuit { node a : electrical; C1 : Capacitor(1e-6) a -> gnd, start = 1; R1 : Resistor(-1) a -> gnd; }";
    for (method, _) in Method::ALL {
        let failure = ended(text, &plan(method, 1.0)).1.unwrap_err();
        assert_eq!(failure.kind, FailureKind::Unbounded, "{}: {failure:?}", method.word());
        // exp(1e6 t) is 1e80 at 184 microseconds.
        assert!((1.7e-4..2e-4).contains(&failure.time), "{}: {failure:?}", method.word());
        assert_eq!(failure.blame.unwrap().variable, "C1.v");
    }
}

/// Sections of a line with vibrations at 1e9 rad/s and above, driven slowly.
fn line(sections: u32) -> String {
    format!(
        "model Line {{
  const N = {sections};
  signal u = 1 - exp(-time/0.01);
  node a[N + 1] : electrical;  node m[N] : electrical;  node s : electrical;
  src : VoltageSource(u) s -> gnd;
  rs : Resistor(50) s -> a[1];
  for i in 1:N {{
    l[i] : Inductor(3.7e-8) a[i] -> m[i];
    r[i] : Resistor(0.43) m[i] -> a[i + 1];
    c[i] : Capacitor(4.5e-12) a[i + 1] -> gnd;
  }}
  load : Resistor(10000) a[N + 1] -> gnd;
  output y = across(load);
}}"
    )
}

#[test]
fn fast_vibrations_that_have_died_away_do_not_hold_any_method_up() {
    // At rest except for the drive: a divider.
    for (sections, methods) in [
        (
            3,
            &[Method::Auto, Method::Tsit45, Method::Bdf, Method::Sdirk, Method::TrBdf2][..],
        ),
        (20, &[Method::Bdf][..]),
    ] {
        let exact = 10_000.0 / (10_050.0 + 0.43 * f64::from(sections)) * (1.0 - (-10.0_f64).exp());
        for method in methods {
            let (rows, result) = ended(&line(sections), &plan(*method, 0.1));
            let summary = result.unwrap_or_else(|failure| panic!("{}: {failure:?}", method.word()));
            let error = (rows[1][0] - exact).abs();
            assert!(error < 1e-5, "{} of {sections}: {error:.1e}", method.word());
            assert!(summary.steps < 60_000, "{summary:?}");
            let is_told = summary.notes.iter().any(|note| note.code == "LGM1024");
            assert!(
                is_told || summary.method == *method || *method == Method::Auto,
                "{summary:?}"
            );
        }
    }
}

#[test]
fn a_run_that_no_method_can_finish_says_how_many_steps_it_would_take() {
    // Undamped: 1e12 periods.
    let text =
        "model Ring { node a : electrical; c : Capacitor(1e-12) a -> gnd, start = 1; l : Inductor(1e-12) a -> gnd; }";
    let failure = ended(text, &plan(Method::Auto, 10.0)).1.unwrap_err();
    assert!(
        matches!(failure.kind, FailureKind::NoHeadway(needed) if needed > 1e9),
        "{failure:?}"
    );
    assert!(failure.steps < 200_000, "{failure:?}");
}

#[test]
fn backward_differentiation_begins_with_steps_as_short_as_it_needs() {
    let robertson = "model Robertson {
  param k1 = 0.04;  param k2 = 3e7;  param k3 = 1e4;
  state a = int(-k1*a + k3*b*c), start = 1;
  state b = int(k1*a - k2*b^2 - k3*b*c);
  state c = int(k2*b^2);
  output y1 = a;  output y2 = b;
}";
    let exact = Plan {
        rtol: 1e-9,
        atol: Some(1e-23),
        ..plan(Method::Bdf, 1e11)
    };
    let (rows, result) = ended(robertson, &exact);
    assert!(result.is_ok(), "{result:?}");
    // From the test set for initial value problem solvers.
    for (found, expected) in rows[1]
        .iter()
        .zip([0.208_334_014_970_122e-7, 0.833_336_077_033_471e-13])
    {
        assert!((found / expected - 1.0).abs() < 1e-4, "{found} is not {expected}");
    }
    let e5 = "model E5 {
  param A = 7.89e-10;  param B = 1.1e7;  param C = 1.13e3;  param M = 1e6;
  state a = int(-A*a - B*a*c), start = 1.76e-3;
  state b = int(A*a - M*C*b*c);
  state c = int(A*a - B*a*c - M*C*b*c + C*d);
  state d = int(B*a*c - C*d);
  output y = a;
}";
    let loose = Plan {
        rtol: 1e-6,
        atol: Some(1e-24),
        ..plan(Method::Bdf, 1e5)
    };
    let (rows, result) = ended(e5, &loose);
    assert!(result.is_ok(), "{result:?}");
    let other = ended(
        e5,
        &Plan {
            method: Method::Sdirk,
            ..loose
        },
    )
    .0;
    assert!((rows[1][0] / other[1][0] - 1.0).abs() < 1e-4, "{rows:?} {other:?}");
}

#[test]
fn a_failure_shows_the_states_of_the_run_and_not_those_of_a_trial() {
    // The domain of the root ends at 1, so trial steps go beyond the current point of the run.
    let text = "model Root { state x = int(1), start = 0; state z = int(sqrt(1 - x)); output y = z; }";
    let failure = ended(text, &plan(Method::Auto, 10.0)).1.unwrap_err();
    let states = failure.blame.unwrap().states;
    let value: f64 = states["x = ".len()..].split(',').next().unwrap().parse().unwrap();
    assert!((0.99..=1.0).contains(&value), "{states}");
}
