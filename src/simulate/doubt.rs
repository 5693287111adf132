//! Steps of explicit methods that passed the error test by luck.
//!
//! Where a step reaches across a sharp bend, as of a diode that begins to conduct, its estimate of the error may vanish by
//! accident: the two solutions that are compared differ by some sum of slopes, which has zeros. A step is made smaller and
//! smaller there until the estimate is small, which it is at its zero before it is for good. So a step that passes after others
//! were rejected is asked for a second opinion: whether its solution moves, halfway, as the equations say.

use super::motion::Motion;
use super::scales::Scales;
use super::solver::{Solver, SolverFault};

/// How much more than the tolerance a step may miss the slope halfway, over its length. Where the error test is right this is
/// about the tolerance itself; where it is not, the two differ by orders of magnitude.
const DOUBT: f64 = 100.0;

/// Whether the last step does not move as the equations say.
pub(super) fn is_doubtful(motion: &Motion<'_>, solver: &mut dyn Solver, scales: &Scales) -> Result<bool, SolverFault> {
    let (from, to) = (solver.previous(), solver.time());
    let middle = from + 0.5 * (to - from);
    // Too short to be halved.
    if !(from < middle && middle < to) {
        return Ok(false);
    }
    let size = solver.states().len();
    let (mut states, mut slopes, mut rates) = (vec![0.0; size], vec![0.0; size], vec![0.0; size]);
    solver.interpolate(middle, &mut states)?;
    solver.slopes(middle, &mut slopes)?;
    if !motion.rates(middle, &states, &mut rates) {
        return Ok(true);
    }
    let share = |at: usize| {
        let allowed = scales.allowed(at, states[at]);
        (rates[at] - slopes[at]) * (to - from) / allowed
    };
    let sum: f64 = (0..size).map(|at| share(at).powi(2)).sum();
    Ok((sum / size as f64).sqrt() > DOUBT)
}
