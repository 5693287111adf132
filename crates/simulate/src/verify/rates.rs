//! The right sides that the second integrator evaluates, and what they cost.

use crate::motion::{Mass, Motion};

/// A loop for which no solution is found costs as much as so many others.
const FAILED: u64 = 20;

/// The Jacobian of the right sides by states, dense or as it is stored.
#[derive(Clone)]
pub(super) struct Jacobian {
    pub row_starts: Vec<usize>,
    pub columns_of: Vec<usize>,
    pub values: Vec<f64>,
}

/// The integrator of one run.
pub(super) struct Integrator<'a> {
    pub(super) motion: &'a Motion<'a>,
    /// Right sides that may still be evaluated.
    pub(super) left: u64,
    /// What one of them costs.
    cost: u64,
    pub(super) size: usize,
    /// What begins and ends within less than a step is looked at here: no step reaches over one of these instants.
    pub(super) looks: &'a [f64],
}

/// Why an interval was not crossed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Given {
    /// It would take too long.
    Up,
    /// The right sides have no value on the way, or no step is short enough.
    Out,
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

    /// The loops go on from these unknowns.
    pub(super) fn begin(&self, unknowns: &[f64]) {
        self.motion.guess_unknowns(unknowns);
    }

    pub(super) fn take(&mut self, work: u64) -> Result<(), Given> {
        self.left = self.left.checked_sub(work).ok_or(Given::Up)?;
        Ok(())
    }

    pub(super) fn rates(&mut self, time: f64, states: &[f64]) -> Result<Vec<f64>, Given> {
        self.take(self.cost)?;
        let mut to = vec![0.0; self.size];
        match self.motion.rates(time, states, &mut to) {
            true => Ok(to),
            false => {
                // Loops were looked at for long before that.
                self.take(if self.motion.unknowns > 0 {
                    FAILED * self.cost
                } else {
                    0
                })?;
                Err(Given::Out)
            }
        }
    }
}
