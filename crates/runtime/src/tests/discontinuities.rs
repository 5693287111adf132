//! Derivative discontinuities: steps end at those that matter.

use super::system::{rows, Laws};

/// x' = -w with w = 100 |x - 0.3| + 1: the law has a kink that the error estimate of a step may miss.
#[derive(Clone, Copy, Debug)]
struct Corner;

impl Laws for Corner {
    const BENDING: &'static [usize] = &[0];
    fn start() -> f64 {
        1.0
    }
    fn rate(_: f64, _: f64, _: f64, w: f64) -> f64 {
        -w
    }
    fn residual(x: f64, _: f64, w: f64) -> [f64; 2] {
        [w - (100.0 * (x - 0.3).abs() + 1.0), 1.0]
    }
    fn condition(x: f64, _: f64, _: f64) -> f64 {
        x - 0.3
    }
}

/// Returns the exact state: up to 0.3 an exponential towards 0.29, then an exponential away from 0.31.
fn exact(t: f64) -> f64 {
    let there = 71.0_f64.ln() / 100.0;
    match t < there {
        true => 0.29 + 0.71 * (-100.0 * t).exp(),
        false => 0.31 - 0.01 * (100.0 * (t - there)).exp(),
    }
}

fn error<const BENDS: usize>() -> f64 {
    let rows = rows::<Corner, 0, BENDS>(0.08, 81, 1e-4);
    let errors = rows.iter().map(|[t, _, x]| (x - exact(*t)).abs());
    errors.fold(0.0, f64::max)
}

#[test]
fn steps_that_end_at_a_corner_of_a_law_keep_their_tolerance() {
    let (with, without) = (error::<1>(), error::<0>());
    assert!(with < 3e-4 && 20.0 * with < without, "{with:e} {without:e}");
}
