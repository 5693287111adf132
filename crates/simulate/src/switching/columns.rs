//! Rows with the same columns in every combination of modes.

use crate::plan::{Sink, Stop};
use crate::switching::held::Held;
use crate::switching::prepared::Prepared;
use std::sync::Arc;

/// Hands rows on with the states of the run's columns, whatever combination they come from.
pub struct Columns<'c> {
    /// Takes the rows.
    pub sink: &'c mut dyn Sink,
    /// The names of the states that have columns.
    pub places: &'c [Arc<str>],
    /// The combination that the rows come from.
    pub prepared: &'c Prepared,
    /// Values of all parameters.
    pub parameters: &'c [f64],
    /// Inputs and discrete variables.
    pub signals: &'c Held<'c>,
    /// Room for the states of a row.
    pub values: Vec<f64>,
}

impl Sink for Columns<'_> {
    fn row(&mut self, time: f64, outputs: &[f64], states: &[f64]) -> Result<(), Stop> {
        let mut watched = None;
        self.values.clear();
        for name in self.places {
            let value = match self.prepared.state(name) {
                Some(at) => states[at],
                None => {
                    let watched = watched.get_or_insert_with(|| {
                        self.prepared
                            .watched_values(self.parameters, self.signals, time, states)
                    });
                    self.prepared.named(name, states, watched).unwrap_or(f64::NAN)
                }
            };
            self.values.push(value);
        }
        self.sink.row(time, outputs, &self.values)
    }
}
