//! Inputs that are constant between events: discrete variables, and the offsets of elements with modes.

use crate::inputs::expressions::Inputs;
use crate::inputs::history::History;
use crate::inputs::signals::{Corner, Side, Signals};
use std::sync::Arc;

/// A held input.
#[derive(Clone, Copy, Debug)]
pub(crate) struct HeldInput {
    /// Its index in the list of inputs.
    pub input: usize,
    /// Its value before the instant of the last event, and from then on.
    pub before: f64,
    pub after: f64,
}

/// The signals of a run from one event to the next.
#[derive(Debug)]
pub(crate) struct Held<'a> {
    pub inputs: &'a Inputs,
    /// The instant of the last event.
    pub at: f64,
    pub held: Vec<HeldInput>,
    /// The histories of delayed signals.
    pub histories: &'a [Arc<History>],
}

impl Held<'_> {
    fn is_held(&self, input: usize) -> bool {
        self.held.iter().any(|held| held.input == input)
    }
}

impl Signals for Held<'_> {
    fn count(&self) -> usize {
        self.inputs.count()
    }

    fn values(&self, time: f64, side: Side, values: &mut [f64], rates: &mut [f64]) {
        self.inputs.values(time, side, values, rates);
        let is_before = time < self.at || time == self.at && side == Side::Before;
        for held in &self.held {
            values[held.input] = if is_before { held.before } else { held.after };
            rates[held.input] = 0.0;
        }
    }

    fn corners(&self, from: f64, to: f64) -> Vec<Corner> {
        let mut corners = self.inputs.corners(from, to);
        if !self.histories.is_empty() {
            let mut times: Vec<f64> = self
                .histories
                .iter()
                .flat_map(|history| history.corners(from, to))
                .collect();
            times.retain(|time| corners.iter().all(|corner| corner.time != *time));
            times.sort_by(f64::total_cmp);
            times.dedup();
            corners.extend(times.into_iter().map(|time| Corner {
                time,
                steps: self.inputs.steps(time),
            }));
            corners.sort_by(|one, other| one.time.total_cmp(&other.time));
        }
        for corner in &mut corners {
            corner.steps.retain(|(input, _)| !self.is_held(*input));
        }
        corners
    }

    fn horizon(&self, from: f64, to: f64, most: usize) -> f64 {
        self.inputs.horizon(from, to, most)
    }

    fn looks(&self, from: f64, to: f64) -> Vec<f64> {
        self.inputs.looks(from, to)
    }

    fn is_measured(&self, input: usize) -> bool {
        self.inputs.is_measured(input)
    }

    fn frequency(&self, from: f64, to: f64) -> f64 {
        self.inputs.frequency(from, to)
    }
}
