//! Frequency response and poles of state systems built by hand, compared with closed forms.

use crate::systems;

use lgm::analysis::{ResponseRequest, poles, response};
use num_complex::Complex;
use systems::{chain, oscillator, pendulum};

fn relative(found: Complex<f64>, expected: Complex<f64>) -> f64 {
    (found - expected).norm() / expected.norm()
}

#[test]
fn the_oscillator_has_its_textbook_response() {
    let system = oscillator(4);
    let omega = vec![0.0, 0.1, 1.0, 5.0, 1e6];
    let (found, diagnostics) = response(&system, &ResponseRequest::all(&system, omega.clone()));
    let found = found.unwrap();
    assert!(diagnostics.is_empty(), "{diagnostics:?}");
    for (at, w) in omega.into_iter().enumerate() {
        let s = Complex::new(0.0, w);
        let denominator = 2.0 * s * s + 0.4 * s + 50.0;
        assert_eq!(found.curves[0].values[0].norm(), 0.0);
        if w > 0.0 {
            assert!(relative(found.curves[0].values[at], s / denominator) < 1e-15);
        }
        assert!(relative(found.curves[1].values[at], 50.0 / denominator) < 1e-15);
    }
}

#[test]
fn an_undamped_resonance_is_infinite_and_says_so() {
    let system = oscillator(0);
    let (found, diagnostics) = response(&system, &ResponseRequest::all(&system, vec![4.0, 5.0]));
    let found = found.unwrap();
    assert!(found.curves[0].values[0].norm().is_finite());
    assert!(found.curves[0].values[1].norm().is_infinite());
    assert_eq!(diagnostics.len(), 1);
    assert!(
        diagnostics[0].message.contains("omega = 5 rad/s"),
        "{}",
        diagnostics[0].message
    );
    assert!(!diagnostics[0].is_error());
}

#[test]
fn an_integrator_that_nobody_looks_at_does_no_harm() {
    // A third state integrates the speed; its output is unbounded at 0, the others are bounded.
    let mut system = oscillator(4);
    let mut form = system.matrices.numeric.clone().unwrap();
    form.a.columns = 3;
    form.a.rows.push(vec![(1, 1.0)]);
    form.b.rows.push(Vec::new());
    form.e.rows.push(Vec::new());
    form.c.columns = 3;
    form.c.rows.push(vec![(2, 1.0)]);
    form.d.rows.push(Vec::new());
    form.f.rows.push(Vec::new());
    system.matrices.numeric = Some(form);
    let last = system.outputs[0].clone();
    system.outputs.push(last);
    let (found, diagnostics) = response(&system, &ResponseRequest::all(&system, vec![0.0]));
    let found = found.unwrap();
    assert_eq!(found.curves[1].values[0], Complex::new(1.0, 0.0));
    assert!(found.curves[2].values[0].norm().is_infinite());
    assert_eq!(diagnostics.len(), 1);
}

#[test]
fn input_derivatives_enter() {
    // y = C (sI - A)^-1 (B + s E) + D + s F with A = 0, B = 0.1, C = 1, E = F = 0.3.
    let system = systems::geared();
    let (found, _) = response(&system, &ResponseRequest::all(&system, vec![2.0]));
    let s = Complex::new(0.0, 2.0);
    let expected = (0.1 + 0.3 * s) / s + 0.3 * s;
    assert!(relative(found.unwrap().curves[0].values[0], expected) < 1e-15);
}

#[test]
fn long_chains_agree_with_their_closed_form() {
    // x[k]' = x[k-1] - 2 x[k] + x[k+1] with u at the left end and 0 at the right: x[n] = u / U_n(1 + s/2), where U_n is
    // the Chebyshev polynomial of the second kind. 50 states use dense solvers, 400 states sparse ones.
    for count in [50, 400] {
        let system = chain(count);
        let omega = vec![1e-3, 0.05];
        let (found, _) = response(&system, &ResponseRequest::all(&system, omega.clone()));
        let found = found.unwrap();
        for (at, w) in omega.into_iter().enumerate() {
            let twice = Complex::new(2.0, w);
            let (mut before, mut value) = (Complex::new(1.0, 0.0), twice);
            for _ in 1..count {
                (before, value) = (value, twice * value - before);
            }
            assert!(relative(found.curves[0].values[at], value.inv()) < 1e-11);
        }
    }
}

#[test]
fn poles_of_the_chain_are_those_of_the_second_difference() {
    let count = 30;
    let found = poles(&chain(count).matrices.numeric.unwrap().a).unwrap();
    let mut expected: Vec<f64> = (1..=count)
        .map(|k| -2.0 + 2.0 * (k as f64 * std::f64::consts::PI / (count as f64 + 1.0)).cos())
        .collect();
    expected.sort_by(f64::total_cmp);
    for (found, expected) in found.iter().zip(expected) {
        assert!((found - expected).norm() < 1e-12, "{found} is not {expected}");
    }
}

#[test]
fn a_nonlinear_system_has_no_response() {
    let system = pendulum();
    let (found, diagnostics) = response(&system, &ResponseRequest::all(&system, vec![1.0]));
    assert!(found.is_none());
    assert!(diagnostics[0].is_error());
}
