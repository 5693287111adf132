//! Rows with the same columns in every combination of modes.

use crate::motion::Motion;
use crate::plan::{Sink, Stop};
use crate::switching::prepared::Prepared;
use lgm_model::system::StateSystem;

/// Passes on samples from any combination of modes, with the states of the first one.
pub struct Columns<'c> {
    sink: &'c mut dyn Sink,
    first: &'c StateSystem,
    prepared: &'c Prepared,
    motion: &'c Motion<'c>,
    values: Vec<f64>,
}

impl<'c> Columns<'c> {
    /// Creates the rows of a combination from its equations, and passes them to a sink.
    pub fn new(
        sink: &'c mut dyn Sink,
        first: &'c StateSystem,
        prepared: &'c Prepared,
        motion: &'c Motion<'c>,
    ) -> Columns<'c> {
        Columns {
            sink,
            first,
            prepared,
            motion,
            values: Vec::with_capacity(first.states.len()),
        }
    }
}

impl Columns<'_> {
    /// Computes the states of the first combination of modes.
    fn fill(&mut self, time: f64, states: &[f64]) {
        let prepared = self.prepared;
        let mut watched = None;
        self.values.clear();
        for state in &self.first.states {
            let value = match prepared.state(&state.name) {
                Some(at) => states[at],
                None => {
                    let point = (time, states);
                    let watched =
                        watched.get_or_insert_with(|| prepared.call(self.motion, &prepared.watched, point, None));
                    // A storage without a closed expression for its value has no value in modes in which it is dependent.
                    prepared.named(&state.name, states, watched).unwrap_or(f64::NAN)
                }
            };
            self.values.push(value);
        }
    }
}

impl Sink for Columns<'_> {
    fn row(&mut self, time: f64, outputs: &[f64], states: &[f64]) -> Result<(), Stop> {
        self.fill(time, states);
        self.sink.row(time, outputs, &self.values)
    }

    fn beside(&mut self, time: f64, outputs: &[f64], states: &[f64]) {
        self.fill(time, states);
        self.sink.beside(time, outputs, &self.values);
    }
}
