//! Conditions that depend only on time, parameters and discrete variables. The instants at which they change are solved
//! for in advance, and the conditions are not evaluated in between.

use lgm_kernels::Signs;
use std::cell::{Ref, RefCell};

/// The maximum number of changes that are solved for at once.
const MOST: usize = 8;

/// The margins of a combination of modes that depend only on time, parameters and discrete variables.
pub(crate) struct Instants {
    signs: Signs,
    parameters: Vec<f64>,
    /// The start and the end of the run.
    start: f64,
    stop: f64,
    known: RefCell<Known>,
}

/// Solved changes.
#[derive(Default)]
struct Known {
    /// The parameters, followed by the held values: discrete variables and offsets.
    values: Vec<f64>,
    /// The list of changes is complete after `from`, up to the second of these times.
    from: f64,
    until: f64,
    changes: Vec<f64>,
}

/// Signs that hold from one instant to another.
#[derive(Clone, Debug)]
pub(crate) struct Piece {
    pub from: f64,
    pub to: f64,
    pub signs: Vec<f64>,
}

impl Instants {
    pub fn new(signs: Signs, parameters: &[f64], (start, stop): (f64, f64)) -> Instants {
        Instants {
            signs,
            parameters: parameters.to_vec(),
            start,
            stop,
            known: RefCell::default(),
        }
    }

    /// Returns the indices of these margins in the list of all margins.
    pub fn places(&self) -> &[usize] {
        self.signs.places()
    }

    fn known(&self, time: f64, held: &[f64]) -> Ref<'_, Known> {
        let values = || self.parameters.iter().chain(held);
        let is_known = {
            let known = self.known.borrow();
            // Beyond the last change that was solved for, no end of the piece is known.
            known.from <= time && self.just_after(time) < known.until && known.values.iter().eq(values())
        };
        if !is_known {
            let values: Vec<f64> = values().copied().collect();
            let changes = match self.places().is_empty() {
                true => Vec::new(),
                false => self.signs.changes(&values, (time, self.just_after(self.stop)), MOST),
            };
            let until = match changes.last() {
                Some(last) if changes.len() == MOST => *last,
                _ => f64::INFINITY,
            };
            let from = time;
            self.known.replace(Known {
                values,
                from,
                until,
                changes,
            });
        }
        self.known.borrow()
    }

    /// Returns the signs at a time, even if they differ just after it.
    pub fn exactly_at(&self, time: f64, held: &[f64]) -> Vec<f64> {
        self.signs.at(&self.known(time, held).values, time)
    }

    /// Returns the end of a time's round-off.
    fn just_after(&self, time: f64) -> f64 {
        time + f64::EPSILON * time.abs().max(self.stop - self.start)
    }

    /// Returns the number of changes up to a time, including those within its round-off: at an instant at which a condition
    /// changes, it counts as it does just after it.
    fn passed(&self, known: &Known, time: f64) -> usize {
        known.changes.partition_point(|change| *change <= self.just_after(time))
    }

    /// Returns the changes after a time, and the time up to which the list is complete. A change within the round-off of the end of the
    /// run is at the end.
    pub fn changes(&self, time: f64, held: &[f64]) -> (Vec<f64>, f64) {
        let known = self.known(time, held);
        let next = &known.changes[self.passed(&known, time)..];
        let within = next.iter().map(|change| change.min(self.stop));
        (within.collect(), known.until)
    }

    /// Returns the signs from a time on, until they change.
    pub fn piece(&self, time: f64, held: &[f64]) -> Piece {
        let known = self.known(time, held);
        let next = self.passed(&known, time);
        let from = match next {
            0 => known.from,
            next => known.changes[next - 1],
        };
        let to = known
            .changes
            .get(next)
            .map_or(f64::INFINITY, |change| change.min(self.stop));
        // A point far from both ends, at which round-off would decide.
        let middle = from + 0.5 * (to.min(self.stop).max(from) - from);
        let signs = match self.places().is_empty() {
            true => Vec::new(),
            false => self.signs.at(&known.values, middle),
        };
        Piece { from, to, signs }
    }
}
