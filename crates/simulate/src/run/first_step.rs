//! The first step that a solver tries.

use crate::motion::Motion;
use crate::motion::scales::Scales;

/// The longest first step, as a fraction of its piece.
const LONGEST: f64 = 0.25;

/// Returns a step with an error of a hundredth of the tolerance, if the solution has no faster part than its first
/// derivatives show. The step scales with the unit of time.
pub(crate) fn first_step(
    motion: &Motion<'_>,
    time: f64,
    states: &[f64],
    left: f64,
    order: u32,
    scales: &Scales,
) -> f64 {
    let size = states.len();
    let measure = |vector: &[f64]| {
        let sum: f64 = vector
            .iter()
            .zip(states)
            .enumerate()
            .map(|(at, (value, state))| (value / scales.allowed(at, *state)).powi(2))
            .sum();
        (sum / size as f64).sqrt()
    };
    let mut rates = vec![0.0; size];
    if !motion.rates(time, states, &mut rates) {
        return 1e-9 * left;
    }
    let (value, rate) = (measure(states), measure(&rates));
    let probe = match value > 1e-5 && rate > 1e-5 {
        true => (1e-3 * value / rate).min(1e-3 * left),
        false => 1e-6 * left,
    };
    let beside: Vec<f64> = states.iter().zip(&rates).map(|(x, rate)| x + probe * rate).collect();
    let mut moved = vec![0.0; size];
    if !motion.rates(time + probe, &beside, &mut moved) {
        return 1e-3 * probe;
    }
    for (moved, rate) in moved.iter_mut().zip(&rates) {
        *moved -= rate;
    }
    let curvature = measure(&moved) / probe;
    let mut step = LONGEST * left;
    if rate > 0.0 {
        // With the n-th derivative as rate * pace^(n - 1).
        let pace = (curvature / rate).max(1.0 / left);
        step = step.min((0.01 * pace / rate).powf(1.0 / f64::from(order + 1)) / pace);
    }
    if curvature > 0.0 {
        let quadratic = (0.01 / curvature).sqrt();
        // If the solution is at rest, only its curvature shows how it begins.
        step = if rate > 0.0 {
            step.max(quadratic.min(LONGEST * left))
        } else {
            step.min(quadratic)
        };
    }
    step.max(1e-12 * left)
}
