//! The run settings of a model.

use lgm_algebra::expr::ExprId;
use lgm_source::Span;

/// The run settings of an `experiment`, in SI; `None` if not given.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Experiment {
    /// When the run starts, in seconds.
    pub start: Option<f64>,
    /// When it stops, in seconds.
    pub stop: Option<f64>,
    /// The number of samples, including both ends.
    pub points: Option<u64>,
    /// The names of the outputs, states and inputs to plot, each with its location.
    pub plot: Vec<(String, Span)>,
    /// The method, by its name on the command line.
    pub method: Option<&'static str>,
    /// The relative tolerance.
    pub rtol: Option<f64>,
    /// The absolute tolerance, in the SI unit of each state.
    pub atol: Option<f64>,
    /// The sample interval in seconds, if `points` is not given.
    pub step: Option<f64>,
    /// True if samples at events are requested.
    pub events: Option<bool>,
    /// The entries that depend on parameters, as expressions; a run with other values recomputes them.
    pub dependent: Vec<(ExperimentEntry, ExprId)>,
}

impl Experiment {
    /// The default number of samples of a run.
    pub const ROWS: u64 = 501;

    /// Returns the number of samples of a run, at least two, including both ends: as requested, or from the sample interval.
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
    /// Returns the same experiment with other values of the dependent entries, in their order. A negative or non-integer `points` becomes
    /// 0.
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
