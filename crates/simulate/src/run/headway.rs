//! The check that a method completes the run within its allowed steps.
//!
//! Steps may be short for a while, such as when a circuit settles after it is switched on. If they stay short, and the
//! rest of the run would take far too many of them, this is predicted: another method is tried instead of continuing
//! for hours.

use crate::plan::{Method, Plan};

/// The number of steps over which progress is measured.
const WINDOW: u64 = 2000;

/// The number of consecutive windows without progress.
const POOR: u32 = 4;

/// Progress that exceeds that of the previous window by this factor indicates growing steps.
const RISE: f64 = 1.5;

/// A requested method that would take more steps than this is abandoned for another: they take minutes.
const ENOUGH: u64 = 20_000_000;

/// Returns the number of steps beyond which a method is abandoned. Automatic selection has tried other methods by then,
/// so all steps are allowed.
pub(crate) fn enough(plan: &Plan) -> u64 {
    match plan.method {
        Method::Auto => plan.max_steps,
        _ => plan.max_steps.min(ENOUGH),
    }
}

/// Measures the progress of one method.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Headway {
    /// The time at which the window began.
    began: Option<f64>,
    steps: u64,
    /// The progress in the previous window.
    before: f64,
    poor: u32,
}

impl Headway {
    /// Records a step, with the remaining time. If the method must be abandoned, returns the number of remaining steps
    /// that it would need, which exceeds the allowed number.
    pub fn step(&mut self, (from, to): (f64, f64), left: f64, allowed: u64) -> Option<f64> {
        let began = *self.began.get_or_insert(from);
        self.steps += 1;
        if self.steps < WINDOW {
            return None;
        }
        let way = to - began;
        let needed = left / way * WINDOW as f64;
        let is_poor = needed > allowed as f64 && way < RISE * self.before;
        let poor = if is_poor { self.poor + 1 } else { 0 };
        *self = Headway {
            began: Some(to),
            steps: 0,
            before: way,
            poor,
        };
        (poor >= POOR).then_some(needed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the number of steps after which a method is abandoned whose steps have these lengths, in a run of one second.
    fn given_up(length: impl Fn(u64) -> f64) -> Option<u64> {
        let mut headway = Headway::default();
        let mut time = 0.0;
        (0..1_000_000).find(|step| {
            let from = time;
            time += length(*step);
            headway.step((from, time), 1.0 - time, 1_000_000_000).is_some()
        })
    }

    #[test]
    fn steps_that_stay_too_short_are_given_up_and_others_are_not() {
        assert_eq!(given_up(|_| 1e-12), Some((u64::from(POOR) + 1) * WINDOW - 1));
        assert_eq!(given_up(|_| 1e-8), None);
        // Short steps in a long initial phase.
        assert_eq!(given_up(|step| 1e-12 * (1.0 + (step as f64 / 2000.0).exp2())), None);
    }
}
