//! `delay(x, T)`: runs against the method of steps and closed forms, frequency responses against `exp(-jw*T)`.

use crate::support::command::{ends_with, err, lgm, out};
use std::fs;
use tempfile::TempDir;

fn folder(text: &str) -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("m.lgm"), text).unwrap();
    folder
}

fn rows(text: &str, arguments: &[&str]) -> Vec<Vec<f64>> {
    let folder = folder(text);
    let all: Vec<&str> = ["simulate", "m.lgm"].iter().chain(arguments).copied().collect();
    let output = lgm(folder.path(), &all);
    ends_with(&output, 0);
    let numbers = |line: &str| line.split(',').filter_map(|field| field.parse().ok()).collect();
    out(&output).lines().skip(1).map(numbers).collect()
}

#[track_caller]
fn near(found: f64, expected: f64, tolerance: f64) {
    assert!(
        (found - expected).abs() <= tolerance * (1.0 + expected.abs()),
        "{found} instead of {expected}"
    );
}

/// x' = -x(t - 1) with x = 1 before the start, by the method of steps.
fn steps(time: f64) -> f64 {
    let (mut sum, mut factorial) = (1.0, 1.0);
    for k in 1..20 {
        let since = time - f64::from(k - 1);
        factorial *= f64::from(k);
        if since > 0.0 {
            sum += (-since).powi(k) / factorial;
        }
    }
    sum
}

#[test]
fn runs_agree_with_the_method_of_steps() {
    let text = |delay: &str| {
        format!(
            "model M {{ param T = 1 [s]; state x = int(-{delay}), start = 1; output y = x; \
             experiment {{ stop = 6 [s]; points = 61; rtol = 1e-10; }} }}"
        )
    };
    for delay in ["delay(x, T)", "delay(delay(x, 0.4*T), 0.6*T)", "delay(2*x, T)/2"] {
        for method in ["auto", "bdf", "sdirk"] {
            for row in rows(&text(delay), &["--method", method]) {
                near(row[1], steps(row[0]), 1e-7);
            }
        }
    }
    // A parameter that is swept: with x(t - T), time is scaled by T only if the rate is, too.
    let scaled = text("delay(x, T)").replace("int(-", "int(-1/T*");
    for row in rows(&scaled, &["--set", "T=0.5"]) {
        near(row[1], steps(2.0 * row[0]), 1e-7);
    }
}

#[test]
fn a_signal_without_states_is_delayed_exactly() {
    let text =
        "model M { input u = sin(50*time); output y = delay(u, 0.3 [s]); experiment { stop = 2; points = 41; } }";
    for row in rows(text, &["--rtol", "1e-9"]) {
        let since: f64 = row[0] - 0.3;
        let expected = if since > 0.0 { (50.0 * since).sin() } else { 0.0 };
        near(row[1], expected, 1e-9);
    }
}

#[test]
fn a_step_arrives_later_and_not_at_once() {
    let text = "model M { input u = 2*step(0); state x = int(delay(u, 0.25 [s]) - x); output y = x; output d = delay(u, 0.25 [s]); \
        experiment { stop = 1; points = 5; rtol = 1e-9; } }";
    for row in rows(text, &[]) {
        let since: f64 = row[0] - 0.25;
        near(
            row[1],
            if since > 0.0 { 2.0 * (1.0 - (-since).exp()) } else { 0.0 },
            1e-8,
        );
        near(row[2], if since >= 0.0 { 2.0 } else { 0.0 }, 1e-12);
    }
}

/// A lossless line (Branin's method), a source with the impedance of the line, and another load.
const LINE: &str = "model M {
  param Z0 = 50 [ohm]; param TD = 1 [us];
  input u [V] = step(0);
  node s, a, m1, b, m2 : electrical;
  src : VoltageSource(u) s -> gnd;
  rs : Resistor(Z0) s -> a;
  z1 : Resistor(Z0) a -> m1;
  e1 : VoltageSource(delay(across(b) + Z0*through(z2), TD)) m1 -> gnd;
  z2 : Resistor(Z0) b -> m2;
  e2 : VoltageSource(delay(across(a) + Z0*through(z1), TD)) m2 -> gnd;
  load : Resistor(150 [ohm]) b -> gnd;
  output near = across(a);
  output far = across(b);
  experiment { stop = 5 [us]; points = 11; }
}
";

#[test]
fn a_transmission_line_reflects_once() {
    let reflected = 0.5 * (150.0 - 50.0) / (150.0 + 50.0);
    for row in rows(LINE, &[]) {
        let later = |instant: f64| row[0] >= instant - 1e-12;
        let near_end = 0.5 + if later(2e-6) { reflected } else { 0.0 };
        let far_end = if later(1e-6) { 0.5 + reflected } else { 0.0 };
        near(row[1], near_end, 1e-9);
        near(row[2], far_end, 1e-9);
    }
}

#[test]
fn a_signal_may_depend_on_its_own_delayed_value() {
    let text = "model M { input u = step(0); signal y = u - 0.5*z; signal z = delay(y, 1 [s]); output o = y; output p = z; \
        experiment { stop = 4; points = 9; } }";
    for row in rows(text, &[]) {
        let sum = |count: i32| (0..count).map(|k| (-0.5f64).powi(k)).sum::<f64>();
        let count = row[0].floor() as i32;
        near(row[1], sum(count + 1), 1e-12);
        near(row[2], sum(count), 1e-12);
    }
}

/// The motion begins with steps near the round-off of the time. A Pade approximation of a high order is the reference.
#[test]
fn a_loop_with_two_delays_runs_at_tight_tolerances() {
    let text = "import signals; model M { param T = 50 [ms]; input ref = step(0); node shaft : rotational; \
        signal w = across(rotor); c : PI(0.2, 0.5, high = 5) (setpoint = ref, measured = delay(w, T)); \
        m : TorqueSource(delay(c.y, 2*T)*1 [N.m]) gnd -> shaft; rotor : Inertia(0.1) shaft -> gnd; \
        drag : RotaryDamper(0.1) shaft -> gnd; output speed = w; experiment { stop = 2; points = 5; } }";
    let reference = rows(text, &["--rtol", "1e-10", "--pade", "12"]);
    for tolerance in ["1e-7", "1e-9"] {
        for (row, other) in rows(text, &["--rtol", tolerance]).iter().zip(&reference).skip(1) {
            near(row[1], other[1], 1e-5);
        }
    }
}

#[test]
fn events_see_delayed_signals() {
    let text = "model M { state x = int(1); discrete hits = 0; when delay(x, 0.5 [s]) > 1 { hits := x; } output n = hits; \
        experiment { stop = 2; points = 3; } }";
    let last = rows(text, &["--rtol", "1e-9"]).pop().unwrap();
    near(last[1], 1.5, 1e-7);
}

#[test]
fn responses_contain_exp_of_the_delay() {
    let text =
        "model M { input u = 1; state x = int(u - delay(x, 0.5 [s])); output y = x; output d = delay(u, 2 [s]); }";
    let folder = folder(text);
    let output = lgm(
        folder.path(),
        &["response", "m.lgm", "--omega", "0,1,3", "--format", "json"],
    );
    ends_with(&output, 0);
    let found: serde_json::Value = serde_json::from_str(&out(&output)).unwrap();
    for (at, omega) in [0.0f64, 1.0, 3.0].into_iter().enumerate() {
        let of = |name: &str, part: usize| found["H"][name][at][part].as_f64().unwrap();
        // 1/(jw + exp(-jw/2))
        let (re, im) = ((omega / 2.0).cos(), omega - (omega / 2.0).sin());
        let square = re * re + im * im;
        near(of("u->y", 0), re / square, 1e-12);
        near(of("u->y", 1), -im / square, 1e-12);
        near(of("u->d", 0), (2.0 * omega).cos(), 1e-12);
        near(of("u->d", 1), -(2.0 * omega).sin(), 1e-12);
    }
}

/// Omitted outputs do not shift the values before the delays.
#[test]
fn nonlinear_outputs_do_not_change_responses() {
    let text = |shown: &str, delayed: &str| {
        format!("model M {{ input u = 1; state x = int(u - {delayed}); {shown} output y = 2*x; output z = 3*x; }}")
    };
    let response = |text: &str| {
        lgm(
            folder(text).path(),
            &["response", "m.lgm", "--omega", "1,2", "--to", "y"],
        )
    };
    let delayed = "delay(x, 0.5 [s])";
    let plain = response(&text("", delayed));
    ends_with(&plain, 0);
    let other = response(&text("output square = x^2;", delayed));
    ends_with(&other, 0);
    assert_eq!(out(&plain), out(&other));
    ends_with(&response(&text("", "delay(x^2, 0.5 [s])")), 1);
}

#[test]
fn a_report_shows_no_poles_without_the_delay() {
    let text = "model M { input u = 1; state x = int(u - delay(x, 0.5 [s])); output y = x; experiment { stop = 4; } }";
    let folder = folder(text);
    ends_with(
        &lgm(folder.path(), &["report", "m.lgm", "--format", "markdown", "-o", "out"]),
        0,
    );
    let report = fs::read_to_string(folder.path().join("out/report.md")).unwrap();
    assert!(
        report.contains("There are no poles") && report.contains("There is no frequency response"),
        "{report}"
    );
}

#[test]
fn analyses_of_states_ask_for_an_approximation() {
    let text = "model M { input u = 1; state x = int(u - delay(x, 0.5 [s])); output y = x; }";
    let folder = folder(text);
    for command in [
        &["modes", "m.lgm"][..],
        &["transfer", "m.lgm"],
        &["response", "m.lgm", "--margins"],
        &["equations", "m.lgm", "--linearize"],
        &["emit", "m.lgm", "--target", "c", "--output", "out"],
    ] {
        let output = lgm(folder.path(), command);
        ends_with(&output, 1);
        assert!(err(&output).contains("LGM0725"), "{command:?}: {}", err(&output));
        let approximated: Vec<&str> = command.iter().copied().chain(["--pade", "5"]).collect();
        ends_with(&lgm(folder.path(), &approximated), 0);
    }
    let output = lgm(folder.path(), &["modes", "m.lgm", "--pade", "8", "--format", "json"]);
    let found: serde_json::Value = serde_json::from_str(&out(&output)).unwrap();
    // The rightmost root of s + exp(-s/2) = 0 is 2*W(-1/2).
    let text = found.to_string();
    assert!(text.contains("-1.58804"), "{text}");
}

#[test]
fn a_late_constant_feedback_without_a_limit_is_refused() {
    for (text, code) in [
        ("model M { output y = delay(time, -1 [s]); }", "LGM0167"),
        ("model M { output y = delay(time, time); }", "LGM0167"),
        ("model M { output y = delay(time, 1 [m]); }", "LGM0201"),
        (
            "element E(k) : electrical { through = delay(across, 1); } model M { node a : electrical; e : E(1) a -> gnd; c : \
          Capacitor(1) a -> gnd; }",
            "LGM0167",
        ),
    ] {
        let output = lgm(folder(text).path(), &["check", "m.lgm"]);
        ends_with(&output, 1);
        assert!(err(&output).contains(code), "{text}: {}", err(&output));
    }
}
