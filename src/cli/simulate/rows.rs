//! The destinations of the samples of a run: a file or standard output, and plots.

use super::plots::Plotter;
use lgm_emit::rows::{Column, Field, TableFormat, TableWriter};
use lgm_model::SiUnit;
use lgm_session::run::columns::Written;
use lgm_simulate::{Inputs, Sink, Stop};
use std::io::{self, Write};

/// Receives the samples of one run.
pub(super) struct Recorder<'a, 'w> {
    stream: Option<(&'a mut (dyn Write + 'w), TableWriter)>,
    columns: &'a Written,
    plotter: &'a mut Plotter,
    inputs: &'a Inputs,
    fault: Option<io::Error>,
}

impl<'a, 'w> Recorder<'a, 'w> {
    /// Writes the content before the samples.
    pub fn begin(
        stream: Option<&'a mut (dyn Write + 'w)>,
        format: TableFormat,
        model: &str,
        columns: &'a Written,
        plotter: &'a mut Plotter,
        inputs: &'a Inputs,
    ) -> io::Result<Recorder<'a, 'w>> {
        let stream = match stream {
            Some(out) => {
                let mut table = vec![Column {
                    name: "time".to_string(),
                    unit: Some(SiUnit::second()),
                    kind: "time",
                }];
                table.extend(columns.columns());
                let writer = TableWriter::begin(format, model, &table, out)?;
                Some((out, writer))
            }
            None => None,
        };
        Ok(Recorder {
            stream,
            columns,
            plotter,
            inputs,
            fault: None,
        })
    }

    /// Writes the content after the samples. Fails if a sample could not be written.
    pub fn end(self, status: &str) -> io::Result<()> {
        match (self.fault, self.stream) {
            (Some(fault), _) => Err(fault),
            (None, Some((out, writer))) => writer.end(status, out),
            (None, None) => Ok(()),
        }
    }
}

impl Sink for Recorder<'_, '_> {
    fn row(&mut self, time: f64, outputs: &[f64], states: &[f64]) -> Result<(), Stop> {
        self.plotter.row(time, outputs, states, self.inputs);
        let Some((out, writer)) = &mut self.stream else {
            return Ok(());
        };
        let values = self.columns.values(time, outputs, states, self.inputs);
        let fields = std::iter::once(time).chain(values).map(Field::Number);
        if let Err(fault) = writer.row(fields, *out) {
            let words = fault.to_string();
            self.fault = Some(fault);
            return Err(Stop::Refused(words));
        }
        Ok(())
    }

    fn wants_events(&self) -> bool {
        self.plotter.draws()
    }

    fn beside(&mut self, time: f64, outputs: &[f64], states: &[f64]) {
        self.plotter.row(time, outputs, states, self.inputs);
    }
}
