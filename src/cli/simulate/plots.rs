//! The curves to plot, and their files.

use crate::cli::files::disk::{WriteFault, write_text};
use crate::cli::profile::Positions;
use crate::cli::simulate::arguments::Arguments;
use lgm_compilation::unknown_curves;
use lgm_emit::plot::{Figure, PathFigure, Series, Trace, html, path_svg, profile_svg, svg};
use lgm_equations::StateSystem;
use lgm_session::run::columns::{Curve, Source, asked_for, named};
use lgm_simulate::{Event, Inputs, Plan, Side, Signals};
use lgm_source::codes::Code;
use lgm_source::diagnostic::{Diagnostic, has_errors, six_digits};

/// Maximum number of outputs drawn if none is selected.
const MOST: usize = 12;

/// Number of time intervals of a long curve. For each interval, the curve keeps the first, lowest, highest and last point.
const BINS: usize = 4000;

/// Returns the curves to draw: those of the option, otherwise those of the experiment, otherwise the outputs.
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

/// Returns the curves of the options.
pub(super) fn shown(arguments: &Arguments, system: &StateSystem, diagnostics: &mut Vec<Diagnostic>) -> Vec<Curve> {
    if let Some(name) = &arguments.profile {
        let curves = asked_for(std::slice::from_ref(name), "draw", system, diagnostics);
        if !has_errors(diagnostics)
            && let Err(fault) = Positions::of(system, arguments.over.as_deref(), (name, curves.len()))
        {
            diagnostics.push(*fault);
        }
        return curves;
    }
    match arguments.plot_xy.is_empty() {
        true => chosen(&arguments.show, system, diagnostics),
        false => of_path(&arguments.plot_xy, system, diagnostics),
    }
}

/// Returns the two curves of a path.
fn of_path(option: &[String], system: &StateSystem, diagnostics: &mut Vec<Diagnostic>) -> Vec<Curve> {
    let curves = asked_for(option, "draw", system, diagnostics);
    if curves.len() != 2 && !has_errors(diagnostics) {
        let message = format!("`--plot-xy` requires two quantities, but there are {}", curves.len());
        diagnostics.push(Diagnostic::error(Code::LGM0905, message).help("name two: `--plot-xy x,v`"));
    }
    curves
}

/// Number of points above which a path is thinned out.
const MOST_POINTS: usize = 40_000;

/// Points of one variable against another. Long paths are thinned out.
#[derive(Default)]
struct Pairs {
    points: Vec<(f64, f64)>,
    stride: usize,
    seen: usize,
    last: Option<(f64, f64)>,
}

impl Pairs {
    fn push(&mut self, point: (f64, f64)) {
        let stride = self.stride.max(1);
        if self.seen.is_multiple_of(stride) {
            self.points.push(point);
        }
        (self.seen, self.last) = (self.seen + 1, Some(point));
        if self.points.len() > MOST_POINTS {
            let mut at = 0;
            self.points.retain(|_| {
                at += 1;
                at % 2 == 1
            });
            self.stride = 2 * stride;
        }
    }

    /// Returns the points, including the last point.
    fn all(&self) -> Vec<(f64, f64)> {
        let mut points = self.points.clone();
        points.extend(self.last);
        points
    }
}

/// Number of instants at which a profile is drawn.
const INSTANTS: usize = 7;

/// A vector at some instants of a run.
struct Snapshots {
    positions: Positions,
    name: String,
    /// The remaining instants, in descending order.
    instants: Vec<f64>,
    curves: Vec<Series>,
}

impl Snapshots {
    fn asked_for(arguments: &Arguments, system: &StateSystem, plan: &Plan, count: usize) -> Option<Snapshots> {
        let name = arguments.profile.clone()?;
        let positions = Positions::of(system, arguments.over.as_deref(), (&name, count)).ok()?;
        let length = plan.stop - plan.start;
        let instant = |at: usize| plan.start + length * at as f64 / (INSTANTS - 1) as f64;
        Some(Snapshots {
            positions,
            name,
            instants: (0..INSTANTS).rev().map(instant).collect(),
            curves: Vec::new(),
        })
    }

    /// Takes a sample if it is the first sample at or after an instant.
    fn row(&mut self, time: f64, values: &[f64], unit: Option<String>) {
        let mut is_due = false;
        while self
            .instants
            .last()
            .is_some_and(|instant| time >= *instant * (1.0 - 1e-12))
        {
            self.instants.pop();
            is_due = true;
        }
        if is_due {
            let name = format!("t = {} s", six_digits(time));
            self.curves.push(self.positions.series(name, unit, values));
        }
    }
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
    /// The first two curves plotted against each other, if requested.
    pairs: Option<Pairs>,
    /// All curves over positions, if requested.
    snapshots: Option<Snapshots>,
    /// Times of events, with their descriptions.
    events: Vec<(f64, String)>,
}

impl Plotter {
    /// Prepares the curves of a plot.
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
            pairs: None,
            snapshots: None,
            events: Vec::new(),
        }
    }

    /// Prepares the requested plot: curves over time or over positions, or two curves against each other.
    pub fn asked_for(arguments: &Arguments, system: &StateSystem, plan: &Plan, curves: &[Curve]) -> Plotter {
        Plotter {
            pairs: (!arguments.plot_xy.is_empty()).then(Pairs::default),
            snapshots: Snapshots::asked_for(arguments, system, plan, curves.len()),
            ..Plotter::new(system, plan, curves)
        }
    }

    /// Returns true if there is a curve to draw.
    pub fn draws(&self) -> bool {
        !self.curves.is_empty()
    }

    /// Adds a sample.
    pub fn row(&mut self, time: f64, outputs: &[f64], states: &[f64], inputs: &Inputs) {
        if self.reads_inputs {
            inputs.values(time, Side::After, &mut self.values, &mut self.rates);
        }
        let of = |source: Source| match source {
            Source::Output(at) => outputs[at],
            Source::State(at) => states[at],
            Source::Input(at) => self.values[at],
        };
        if let (Some(pairs), [x, y]) = (&mut self.pairs, &self.curves[..]) {
            pairs.push((of(x.0.source), of(y.0.source)));
            return;
        }
        if let Some(snapshots) = &mut self.snapshots {
            let values: Vec<f64> = self.curves.iter().map(|curve| of(curve.0.source)).collect();
            let unit = self.curves.first().and_then(|curve| curve.0.unit.as_ref());
            snapshots.row(time, &values, unit.map(|unit| unit.to_string()));
            return;
        }
        for (curve, trace) in &mut self.curves {
            trace.push(time, of(curve.source));
        }
    }

    /// Returns the plot of two curves against each other, if requested.
    pub fn path(&self) -> Option<PathFigure> {
        let (Some(pairs), [x, y]) = (&self.pairs, &self.curves[..]) else {
            return None;
        };
        let named = |curve: &Curve| (curve.name.clone(), curve.unit.as_deref().map(str::to_string));
        Some(PathFigure {
            title: self.title.clone(),
            x: named(&x.0),
            y: named(&y.0),
            points: pairs.all(),
        })
    }

    /// Returns the curves up to the current time.
    pub fn series(&self) -> Vec<Series> {
        let one = |(curve, trace): &(Curve, Trace)| Series {
            name: curve.name.clone(),
            unit: curve.unit.as_deref().map(str::to_string),
            points: trace.points(),
        };
        self.curves.iter().map(one).collect()
    }

    /// Returns the plot of the curves.
    pub fn figure(&self) -> Figure {
        Figure {
            title: self.title.clone(),
            from: self.from,
            to: self.to,
            series: self.series(),
            events: self.events.clone(),
        }
    }

    /// Marks the events of the run.
    pub fn mark(&mut self, events: &[Event]) {
        self.events = events.iter().map(|event| (event.time, words(event))).collect();
    }
}

/// Describes an event: `d1: blocking to conducting`, or the block that ran.
fn words(event: &Event) -> String {
    match event.to.is_empty() {
        true => event.element.clone(),
        false => format!("{}: {} to {}", event.element, event.from, event.to),
    }
}

/// Writes the requested plots, and returns the errors of failed writes.
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

/// Writes all plots of a run, and returns the errors of failed writes.
pub(super) fn write_pictures(arguments: &Arguments, plotter: &Plotter) -> Vec<WriteFault> {
    let text = match (plotter.path(), &plotter.snapshots) {
        (Some(figure), _) => path_svg(&figure),
        (None, Some(snapshots)) => {
            let title = format!("{}: {}", plotter.title, snapshots.name);
            profile_svg(&snapshots.positions.figure(title, snapshots.curves.clone()))
        }
        (None, None) => return write(arguments, &plotter.figure()),
    };
    let path = arguments.plot.iter();
    path.filter_map(|path| write_text(path, &text).err()).collect()
}
