//! Errors relative to exact solutions.

use super::problems::{oscillator, rod};
use lgm::simulate::Method;

#[test]
fn the_error_follows_the_tolerance_over_six_decades() {
    let oscillator = oscillator();
    let system = oscillator.compile();
    for (method, tightest, share) in [
        (Method::Tsit45, 1e-10, 100.0),
        (Method::Bdf, 1e-9, 3000.0),
        (Method::Sdirk, 1e-8, 1000.0),
        (Method::TrBdf2, 1e-6, 3000.0),
    ] {
        let mut rtol = 1e-3;
        let mut last = f64::INFINITY;
        while rtol >= tightest * 0.99 {
            let run = oscillator.run(&system, method, rtol);
            let (error, word) = (run.error, method.word());
            println!("{word} at rtol {rtol:.0e}: {error:.1e} in {} steps", run.steps);
            assert!(error < share * rtol, "{word} at {rtol:.0e}: {error:.1e}");
            assert!(error < last, "{word} at {rtol:.0e} is no better than before");
            last = error;
            rtol *= 0.1;
        }
    }
}

#[test]
fn a_stiff_problem_is_as_exact_as_asked_for() {
    let rod = rod();
    let system = rod.compile();
    for (method, share) in [(Method::Auto, 100.0), (Method::Bdf, 1000.0), (Method::Sdirk, 1000.0)] {
        let run = rod.run(&system, method, 1e-6);
        println!(
            "{} on a stiff rod: {:.1e} in {} steps",
            method.word(),
            run.error,
            run.steps
        );
        assert!(run.error < share * run.rtol, "{}: {:.1e}", method.word(), run.error);
    }
}
