//! Whether a method comes to the end of the run in the steps that it is allowed.
//!
//! Steps may be short for a while, as where a circuit settles after it is switched on. Where they stay as short as they are,
//! and the rest of the run would take far too many of them, the end is foreseen: another method is tried instead of going on
//! for hours.

use crate::plan::{Method, Plan};

/// Steps over which the way is measured.
const WINDOW: u64 = 2000;

/// So many windows in a row must make no headway.
const POOR: u32 = 4;

/// A window that makes so many times the way of the one before it is a beginning of longer steps.
const RISE: f64 = 1.5;

/// A method that was asked for and would take more steps than these is given up for another: they take minutes.
const ENOUGH: u64 = 20_000_000;

/// The number of steps for which a method is given up. A free choice has tried others by then, so that all steps are allowed.
pub(crate) fn enough(plan: &Plan) -> u64 {
    match plan.method {
        Method::Auto => plan.max_steps,
        _ => plan.max_steps.min(ENOUGH),
    }
}

/// Measures the way that one method makes.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Headway {
    /// When the window began.
    began: Option<f64>,
    steps: u64,
    /// The way of the window before.
    before: f64,
    poor: u32,
}

impl Headway {
    /// A step has reached a time, and so much time is left; the number of steps that it would take, where the method is to be given
    /// up because these are more than there are.
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

    /// After how many steps a method is given up whose steps have these lengths, in a run of one second.
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
        // Short ones of a beginning that lasts.
        assert_eq!(given_up(|step| 1e-12 * (1.0 + (step as f64 / 2000.0).exp2())), None);
    }
}
