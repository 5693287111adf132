//! Algebraic loops, and the solution that a run follows.

use super::system::{rows, run, Laws, NONE};
use crate::linear::{factorise, solve_factors};
use crate::system::Features;

#[test]
fn dense_equations_are_solved_and_singular_ones_are_not() {
    let mut a = [[0.0, 2.0, 1.0], [1.0, -1.0, 0.0], [3.0, 0.0, 4.0]];
    let (mut pivots, mut right) = ([0; 3], [7.0_f64, -1.0, 15.0]);
    assert!(factorise(&mut a, &mut pivots));
    solve_factors(&a, &pivots, &mut right);
    for (found, expected) in right.iter().zip([1.0, 2.0, 3.0]) {
        assert!((found - expected).abs() < 1e-14, "{right:?}");
    }
    assert!(!factorise(&mut [[1.0, 2.0], [2.0, 4.0]], &mut [0; 2]));
}

/// The loop w + w^3 = x, and x' = w.
#[derive(Clone, Copy, Debug)]
struct Cubic;

impl Laws for Cubic {
    fn start() -> f64 {
        2.0
    }
    fn rate(_: f64, _: f64, _: f64, w: f64) -> f64 {
        -w
    }
    fn residual(x: f64, _: f64, w: f64) -> [f64; 2] {
        [w + w * w * w - x, 1.0 + 3.0 * w * w]
    }
}

#[test]
fn loops_are_solved_in_every_evaluation() {
    // With w as the state, (1 + 3 w^2) w' = -w. Therefore ln w + 1.5 w^2 decreases at unit rate from its value at w = 1.
    for [t, w, x] in rows::<Cubic, 0, 0>(3.0, 31, 1e-9) {
        assert!((w + w * w * w - x).abs() < 1e-14);
        assert!((w.ln() + 1.5 * w * w - 1.5 + t).abs() < 1e-7, "{t}: {w}");
    }
}

/// The loop w^3 - w = x with x' = 1: its lower solution ends at x = 2/sqrt(27). The run continues with the other one at 2/sqrt(3).
#[derive(Clone, Copy, Debug)]
struct Fold;

impl Laws for Fold {
    const FEATURES: Features = Features { branches: true, ..NONE };
    fn start() -> f64 {
        -1.0
    }
    fn rate(_: f64, _: f64, _: f64, _: f64) -> f64 {
        1.0
    }
    fn residual(x: f64, _: f64, w: f64) -> [f64; 2] {
        [w * w * w - w - x, 3.0 * w * w - 1.0]
    }
}

#[test]
fn a_run_follows_one_solution_to_its_end_and_goes_on_with_another() {
    let end = 2.0 / 27.0_f64.sqrt();
    for [t, w, x] in rows::<Fold, 0, 0>(2.0, 401, 1e-6) {
        assert!((x - (t - 1.0)).abs() < 1e-9, "{t}: {x}");
        assert!((w * w * w - w - x).abs() < 1e-9, "{t}: {w}");
        let is_lower = w < 1.0 / 3.0_f64.sqrt();
        assert!((x - end).abs() < 1e-3 || is_lower == (x < end), "{t}: {w}");
    }
}

/// The loop w^2 = -x: no solution exists for x > 0.
#[derive(Clone, Copy, Debug)]
struct Parabola;

impl Laws for Parabola {
    const FEATURES: Features = Features { branches: true, ..NONE };
    fn start() -> f64 {
        -1.0
    }
    fn rate(_: f64, _: f64, _: f64, _: f64) -> f64 {
        1.0
    }
    fn residual(x: f64, _: f64, w: f64) -> [f64; 2] {
        [w * w + x, 2.0 * w]
    }
}

#[test]
fn a_run_ends_where_no_solution_goes_on() {
    let (rows, said) = run::<Parabola, 0, 0>(2.0, 21, 1e-6);
    let said = said.unwrap();
    assert!(said.contains("loop of `loop`"), "{said}");
    let last = rows[rows.len() - 1];
    assert!((0.89..1.01).contains(&last[0]), "{last:?}");
}
