//! Values of the inputs over time, from any source.

/// The side of a time at which a signal steps.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Side {
    /// The limit from the left; before the start of a run every input is 0 with rate 0.
    Before,
    /// The value from then on, which a row at this time shows.
    After,
}

/// A time at which an input, or one of its derivatives, is discontinuous. A solver ends a step there.
#[derive(Clone, Debug, PartialEq)]
pub struct Corner {
    /// The first time on the new branch, in seconds.
    pub time: f64,
    /// Inputs that step there, with the value after minus the value before, in their SI units; empty if only rates change.
    pub steps: Vec<(usize, f64)>,
}

/// The signals of all inputs of a model.
pub trait Signals: Send + Sync {
    /// Returns the number of inputs.
    fn count(&self) -> usize;

    /// Returns the time at which functions of time are read on one side of a time. The last double before a corner is still on the old
    /// branch.
    fn read_at(&self, time: f64, side: Side) -> f64 {
        match side {
            Side::Before => time.next_down(),
            Side::After => time,
        }
    }

    /// Writes every input and its time derivative, in SI units and SI units per second.
    fn values(&self, time: f64, side: Side, values: &mut [f64], rates: &mut [f64]);

    /// Returns all corners from `from` to `to`, both included, in order of time and each time once.
    ///
    /// At the start of the run the inputs step from 0 to their values (language, section 9). The first corner is
    /// therefore there unless all inputs start at 0 with rate 0.
    fn corners(&self, from: f64, to: f64) -> Vec<Corner>;

    /// Returns a time up to which at most `most` corners follow the first time.
    fn horizon(&self, _from: f64, to: f64, _most: usize) -> f64 {
        to
    }

    /// Returns instants between two times that a solver must sample, in order: effects there may be too short for its steps.
    fn looks(&self, _from: f64, _to: f64) -> Vec<f64> {
        Vec::new()
    }

    /// Returns true if a table replaces the model's definition of an input.
    fn is_measured(&self, _input: usize) -> bool {
        false
    }

    /// Returns the largest angular frequency of the inputs between two times, in rad/s; 0 if nothing oscillates, or if it is unknown.
    fn frequency(&self, _from: f64, _to: f64) -> f64 {
        0.0
    }
}
