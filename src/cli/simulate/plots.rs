//! Which curves are drawn, and their files.

use super::columns::{Curve, Source, asked_for, named};
use crate::cli::disk::{WriteFault, write_text};
use crate::cli::simulate::arguments::Arguments;
use lgm_compilation::unknown_curves;
use lgm_emit::plot::{Figure, Series, Trace, html, svg};
use lgm_equations::StateSystem;
use lgm_simulate::{Inputs, Plan, Side, Signals};
use lgm_source::diagnostic::Diagnostic;

/// Without a choice, no more outputs than these are drawn.
const MOST: usize = 12;

/// Spans of time of which a long curve keeps its first, lowest, highest and last point.
const BINS: usize = 4000;

/// The curves to draw: those of the option, else of the experiment, else the outputs.
pub(super) fn chosen(option: &[String], system: &StateSystem, diagnostics: &mut Vec<Diagnostic>) -> Vec<Curve> {
    let mut curves = asked_for(option, "draw", system, diagnostics);
    if option.is_empty() {
        diagnostics.extend(unknown_curves(system));
        curves.extend(system.experiment.plot.iter().flat_map(|(name, _)| named(name, system)));
    }
    if curves.is_empty() && option.is_empty() {
        curves = system
            .outputs
            .iter()
            .take(MOST)
            .flat_map(|output| named(&output.name, system))
            .collect();
    }
    curves
}

/// Collects the curves of one run.
pub(super) struct Plotter {
    title: String,
    from: f64,
    to: f64,
    curves: Vec<(Curve, Trace)>,
    values: Vec<f64>,
    rates: Vec<f64>,
    reads_inputs: bool,
}

impl Plotter {
    /// Prepares the curves of a picture.
    pub fn new(system: &StateSystem, plan: &Plan, curves: &[Curve]) -> Plotter {
        Plotter {
            title: system.model.to_string(),
            from: plan.start,
            to: plan.stop,
            curves: curves
                .iter()
                .map(|curve| (curve.clone(), Trace::new(plan.start, plan.stop, BINS)))
                .collect(),
            values: vec![0.0; system.inputs.len()],
            rates: vec![0.0; system.inputs.len()],
            reads_inputs: curves.iter().any(|curve| matches!(curve.source, Source::Input(_))),
        }
    }

    /// Takes a row.
    pub fn row(&mut self, time: f64, outputs: &[f64], states: &[f64], inputs: &Inputs) {
        if self.reads_inputs {
            inputs.values(time, Side::After, &mut self.values, &mut self.rates);
        }
        for (curve, trace) in &mut self.curves {
            let value = match curve.source {
                Source::Output(at) => outputs[at],
                Source::State(at) => states[at],
                Source::Input(at) => self.values[at],
            };
            trace.push(time, value);
        }
    }

    /// The curves so far.
    pub fn series(&self) -> Vec<Series> {
        let one = |(curve, trace): &(Curve, Trace)| Series {
            name: curve.name.clone(),
            unit: curve.unit.as_deref().map(str::to_string),
            points: trace.points(),
        };
        self.curves.iter().map(one).collect()
    }

    /// The picture of them.
    pub fn figure(&self) -> Figure {
        Figure {
            title: self.title.clone(),
            from: self.from,
            to: self.to,
            series: self.series(),
        }
    }
}

/// Writes the pictures that were asked for; what could not be written is returned.
pub(super) fn write(arguments: &Arguments, figure: &Figure) -> Vec<WriteFault> {
    let pictures = [
        (&arguments.plot, svg as fn(&Figure) -> String),
        (&arguments.html, html as fn(&Figure) -> String),
    ];
    let written = pictures.into_iter().filter_map(|(path, draw)| {
        let path = path.as_deref()?;
        write_text(path, &draw(figure)).err()
    });
    written.collect()
}
