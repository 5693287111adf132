//! Steps of fixed and of controlled size.

use crate::dopri5::{Dopri5, Tolerances};
use crate::rk4;
use crate::system::Fault;

/// A harmonic oscillator: `x[0]` is the cosine of the time.
fn oscillator(_: f64, x: &[f64; 2], dx: &mut [f64; 2]) -> Result<(), Fault> {
    *dx = [x[1], -x[0]];
    Ok(())
}

fn error_of_rk4(steps: u32) -> f64 {
    let (mut x, h) = ([1.0, 0.0], 2.0 / f64::from(steps));
    for step in 0..steps {
        rk4::step(oscillator, f64::from(step) * h, h, &mut x).unwrap();
    }
    (x[0] - 2.0_f64.cos()).abs()
}

#[test]
fn steps_of_fixed_length_are_of_order_4() {
    let ratio = error_of_rk4(20) / error_of_rk4(40);
    assert!((14.0..18.0).contains(&ratio), "{ratio}");
}

#[test]
fn states_stay_where_a_step_has_no_value() {
    let mut x = [1.0];
    let fails = |t: f64, _: &[f64; 1], dx: &mut [f64; 1]| {
        dx[0] = 1.0;
        if t > 0.0 {
            Err(Fault::NotFinite)
        } else {
            Ok(())
        }
    };
    assert_eq!(rk4::step(fails, 0.0, 0.1, &mut x), Err(Fault::NotFinite));
    assert_eq!(x, [1.0]);
}

#[test]
fn steps_of_controlled_length_keep_their_tolerance_within_them_too() {
    let tolerances = Tolerances::with_scales(1e-9, 0.0, &[1.0, 1.0]);
    let mut solver = Dopri5::new(oscillator, (0.0, 20.0), &[1.0, 0.0], tolerances, f64::INFINITY).unwrap();
    let mut most: f64 = 0.0;
    while solver.t < 20.0 {
        solver.step(oscillator, 20.0).unwrap();
        let (mut x, middle) = ([0.0; 2], 0.5 * (solver.before + solver.t));
        solver.dense(middle, &mut x);
        most = most.max((x[0] - middle.cos()).abs());
        most = most.max((solver.x[0] - solver.t.cos()).abs());
    }
    assert!(solver.t == 20.0 && most < 1e-7, "{most:e}");
    assert!((100..2000).contains(&solver.steps), "{}", solver.steps);
}

#[test]
fn a_singularity_ends_the_steps() {
    // The solution 1/(1 - t) ends at 1.
    let f = |_: f64, x: &[f64; 1], dx: &mut [f64; 1]| {
        dx[0] = x[0] * x[0];
        Ok(())
    };
    let tolerances = Tolerances::with_scales(1e-6, 0.0, &[1.0]);
    let mut solver = Dopri5::new(f, (0.0, 2.0), &[1.0], tolerances, f64::INFINITY).unwrap();
    let ended = (0..100_000).find_map(|_| solver.step(f, 2.0).err());
    assert_eq!(ended, Some(Fault::NotFinite));
    assert!((solver.t - 1.0).abs() < 1e-5, "{}", solver.t);
}
