//! How a model asks to be run.

use lgm_algebra::expr::ExprId;
use lgm_source::Span;

/// An `experiment`: what it says of a run, in SI; `None` where it does not.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Experiment {
    /// When the run starts, in seconds.
    pub start: Option<f64>,
    /// When it stops, in seconds.
    pub stop: Option<f64>,
    /// The number of rows, both ends counted.
    pub points: Option<u64>,
    /// The names of the outputs, states and inputs to draw, each with its place.
    pub plot: Vec<(String, Span)>,
    /// The method, by its word on the command line.
    pub method: Option<&'static str>,
    /// The relative tolerance.
    pub rtol: Option<f64>,
    /// The absolute tolerance, in the SI unit of each state.
    pub atol: Option<f64>,
    /// The time from row to row, in seconds, where `points` is not given.
    pub step: Option<f64>,
    /// Whether rows at events are wanted.
    pub events: Option<bool>,
    /// The entries that depend on parameters, as expressions over these: a run with other values has them anew.
    pub dependent: Vec<(ExperimentEntry, ExprId)>,
}

impl Experiment {
    /// The rows of a run if nothing says how many it has.
    pub const ROWS: u64 = 501;

    /// The rows of a run, both ends counted and two at least: as many as are asked for, or as the time from row to row makes.
    pub fn rows(&self) -> u64 {
        let length = self.stop.map(|stop| stop - self.start.unwrap_or(0.0));
        let by_step = self
            .step
            .zip(length)
            .map(|(step, length)| ((length / step).round() as u64).saturating_add(1));
        self.points.or(by_step).unwrap_or(Experiment::ROWS).max(2)
    }
}

/// An entry of an [`Experiment`] that is a number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ExperimentEntry {
    /// `start`
    Start,
    /// `stop`
    Stop,
    /// `points`
    Points,
    /// `rtol`
    Rtol,
    /// `atol`
    Atol,
    /// `step`
    Step,
    /// `events`
    Events,
}

impl Experiment {
    /// The same experiment with other values of the dependent entries, in their order; `points` as a number that is not whole
    /// is no number of rows.
    pub fn with_values(&self, values: &[f64]) -> Experiment {
        let mut changed = self.clone();
        for ((entry, _), value) in self.dependent.iter().zip(values) {
            match entry {
                ExperimentEntry::Start => changed.start = Some(*value),
                ExperimentEntry::Stop => changed.stop = Some(*value),
                ExperimentEntry::Rtol => changed.rtol = Some(*value),
                ExperimentEntry::Atol => changed.atol = Some(*value),
                ExperimentEntry::Step => changed.step = Some(*value),
                ExperimentEntry::Events => changed.events = Some(*value != 0.0),
                ExperimentEntry::Points => {
                    let is_count = value.fract() == 0.0 && *value >= 0.0;
                    changed.points = Some(if is_count { *value as u64 } else { 0 });
                }
            }
        }
        changed
    }
}
