//! Values of the inputs over time: what a run reads, wherever they come from.

/// Which value is meant at a time where a signal steps.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Side {
    /// The limit from the left; before the start of a run every input is 0 with rate 0.
    Before,
    /// The value that holds from then on, which a row at this time shows.
    After,
}

/// A time at which an input, or one of its derivatives, is not continuous. A solver ends a step there.
#[derive(Clone, Debug, PartialEq)]
pub struct Corner {
    /// The first time at which the new branch holds, in seconds.
    pub time: f64,
    /// Inputs that step there, with the value after less the value before, in their SI units; empty where only rates change.
    pub steps: Vec<(usize, f64)>,
}

/// The signals of all inputs of a model.
pub trait Signals: Send + Sync {
    /// How many inputs there are.
    fn count(&self) -> usize;

    /// Writes every input and its time derivative, in SI units and SI units per second.
    fn values(&self, time: f64, side: Side, values: &mut [f64], rates: &mut [f64]);

    /// All corners from `from` to `to`, both included, in order of time and each time once.
    ///
    /// At the start of the run the inputs step from 0 to their values (language, section 9), so the first corner is there
    /// unless all of them start at 0 with rate 0.
    fn corners(&self, from: f64, to: f64) -> Vec<Corner>;

    /// Instants between two times at which a solver is to look, in order: what happens there may be too short to be met by its steps.
    fn looks(&self, _from: f64, _to: f64) -> Vec<f64> {
        Vec::new()
    }

    /// Whether an input is not what the model says of it: a table in its place.
    fn is_measured(&self, _input: usize) -> bool {
        false
    }

    /// The largest angular frequency of the inputs between two times, in rad/s; 0 where nothing oscillates, or nothing is known.
    fn frequency(&self, _from: f64, _to: f64) -> f64 {
        0.0
    }
}
