//! Discontinuities of inputs, steps that move states, and conditions on states.

use super::system::{rows, run, Laws, NONE};
use crate::system::Features;

/// x' = u, with u = 0 before 0.3 and u = 2 from then on.
#[derive(Clone, Copy, Debug)]
struct Step;

impl Laws for Step {
    fn input(t: f64) -> [f64; 2] {
        [if t < 0.3 { 0.0 } else { 2.0 }, 0.0]
    }
    fn instant() -> f64 {
        0.3
    }
    fn rate(_: f64, u: f64, _: f64, _: f64) -> f64 {
        u
    }
}

#[test]
fn no_step_leads_over_a_corner() {
    for [t, _, x] in rows::<Step, 0, 0>(1.0, 101, 1e-3) {
        let expected = if t < 0.3 { 0.0 } else { 2.0 * (t - 0.3) };
        assert!((x - expected).abs() < 1e-14, "{t}: {x}");
    }
}

/// x' = x u', with u stepping by ln 3 at 0.5: the step multiplies the state by 3.
#[derive(Clone, Copy, Debug)]
struct Impulse;

impl Laws for Impulse {
    const FEATURES: Features = Features { moves: true, ..NONE };
    const START_GIVEN: bool = true;
    fn start() -> f64 {
        2.0
    }
    fn input(t: f64) -> [f64; 2] {
        [if t < 0.5 { 0.0 } else { 3.0_f64.ln() }, 0.0]
    }
    fn instant() -> f64 {
        0.5
    }
    fn rate(x: f64, _: f64, du: f64, _: f64) -> f64 {
        x * du
    }
}

#[test]
fn a_step_of_an_input_moves_states_along_its_way() {
    for [t, _, x] in rows::<Impulse, 0, 0>(1.0, 11, 1e-6) {
        let expected = if t < 0.5 { 2.0 } else { 6.0 };
        assert!((x - expected).abs() < 1e-9, "{t}: {x}");
    }
}

/// x' = 2 + 5 u' with the same step; E is the same everywhere.
#[derive(Clone, Copy, Debug)]
struct Linear;

impl Laws for Linear {
    const FEATURES: Features = Features {
        moves: true,
        linear: true,
        ..NONE
    };
    fn input(t: f64) -> [f64; 2] {
        Impulse::input(t)
    }
    fn instant() -> f64 {
        0.5
    }
    fn rate(_: f64, _: f64, du: f64, _: f64) -> f64 {
        2.0 + 5.0 * du
    }
}

#[test]
fn a_step_moves_states_of_linear_models_by_the_same_everywhere() {
    for [t, _, x] in rows::<Linear, 0, 0>(1.0, 11, 1e-6) {
        let expected = 2.0 * t + if t < 0.5 { 0.0 } else { 5.0 * 3.0_f64.ln() };
        assert!((x - expected).abs() < 1e-12, "{t}: {x}");
    }
}

/// x' = 1 below 0.4 and 3 above: a jump that lowers the accuracy of any step across it.
#[derive(Clone, Copy, Debug)]
struct Jump;

impl Laws for Jump {
    const JUMPING: &'static [usize] = &[0];
    fn rate(x: f64, _: f64, _: f64, _: f64) -> f64 {
        if x < 0.4 {
            1.0
        } else {
            3.0
        }
    }
    fn condition(x: f64, _: f64, _: f64) -> f64 {
        x - 0.4
    }
}

fn error_behind<const JUMPS: usize>() -> f64 {
    let rows = rows::<Jump, JUMPS, 0>(1.0, 101, 1e-3);
    let behind = rows.iter().filter(|row| row[0] > 0.405);
    let errors = behind.map(|[t, _, x]| (x - (0.4 + 3.0 * (t - 0.4))).abs());
    errors.fold(0.0, f64::max)
}

#[test]
fn conditions_on_states_are_located() {
    let (with, without) = (error_behind::<1>(), error_behind::<0>());
    assert!(with < 1e-4 && 1000.0 * with < without, "{with:e} {without:e}");
}

/// x' = -1 above 0 and 1 below: the state chatters at 0, where neither law holds.
#[derive(Clone, Copy, Debug)]
struct Stuck;

impl Laws for Stuck {
    const JUMPING: &'static [usize] = &[0];
    fn start() -> f64 {
        0.5
    }
    fn rate(x: f64, _: f64, _: f64, _: f64) -> f64 {
        if x < 0.0 {
            1.0
        } else {
            -1.0
        }
    }
    fn condition(x: f64, _: f64, _: f64) -> f64 {
        x
    }
}

#[test]
fn a_condition_without_rest_ends_the_run() {
    let (rows, said) = run::<Stuck, 1, 0>(1.0, 11, 1e-6);
    let said = said.unwrap();
    assert!(said.contains("keeps changing"), "{said}");
    assert!((rows.len() as f64 - 6.0).abs() <= 1.0, "{}", rows.len());
}
