//! The right sides that the second integrator evaluates, and their cost.

use crate::motion::{Mass, Motion};

/// The cost of a loop without a solution, in units of a solved loop.
const FAILED: u64 = 20;

/// The Jacobian of the right sides with respect to states, dense or stored sparsely.
#[derive(Clone)]
pub(super) struct Jacobian {
    pub row_starts: Vec<usize>,
    pub columns_of: Vec<usize>,
    pub values: Vec<f64>,
}

/// The integrator of one run.
pub(super) struct Integrator<'a> {
    pub(super) motion: &'a Motion<'a>,
    /// The remaining number of right sides that may be evaluated.
    pub(super) left: u64,
    /// The cost of one of them.
    cost: u64,
    pub(super) size: usize,
    /// Effects within a single step are examined here: no step extends over one of these instants.
    pub(super) looks: &'a [f64],
}

/// The reason why an interval was not integrated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum NotIntegrated {
    /// It would take too long.
    TooLong,
    /// The right sides have no value on the path, or no step is short enough.
    NoValue,
}

impl<'a> Integrator<'a> {
    pub(super) fn new(motion: &'a Motion<'a>, looks: &'a [f64], work: u64) -> Integrator<'a> {
        let (states, unknowns) = (motion.states as u64, motion.unknowns as u64);
        let of_loops = if unknowns > 0 { 50 + 10 * unknowns.pow(2) } else { 0 };
        let of_mass = if matches!(motion.mass, Mass::Changing) {
            states.pow(2)
        } else {
            0
        };
        Integrator {
            motion,
            left: work,
            cost: 1 + states + of_loops + of_mass,
            size: motion.states,
            looks,
        }
    }

    /// Starts the loops from these unknowns.
    pub(super) fn begin(&self, unknowns: &[f64]) {
        self.motion.guess_unknowns(unknowns);
    }

    pub(super) fn take(&mut self, work: u64) -> Result<(), NotIntegrated> {
        self.left = self.left.checked_sub(work).ok_or(NotIntegrated::TooLong)?;
        Ok(())
    }

    pub(super) fn rates(&mut self, time: f64, states: &[f64]) -> Result<Vec<f64>, NotIntegrated> {
        self.take(self.cost)?;
        let mut to = vec![0.0; self.size];
        match self.motion.rates(time, states, &mut to) {
            true => Ok(to),
            false => {
                // A loop fails only after many iterations.
                self.take(if self.motion.unknowns > 0 {
                    FAILED * self.cost
                } else {
                    0
                })?;
                Err(NotIntegrated::NoValue)
            }
        }
    }
}
