//! A system prepared for runs.

use super::failure::{Failure, FailureKind};
use super::motion::Motion;
use super::plan::{Plan, Progress, Sink, Summary};
use crate::inputs::signals::{Corner, Signals};
use crate::loops::singular::Position;
use crate::loops::solution_branch::Branch;
use crate::motion::scales::{Scales, nominal_sizes};
use crate::reinitialisation::jump::RatesRead;
use crate::run::balance::{Balance, PowerMeter, Powers};
use crate::run::course::Run;
use crate::run::headway::{self, Headway};
use crate::run::output_errors::OutputErrors;
use crate::run::recorder::{Delayed, Recorder};
use crate::solvers::interpolation::InterpolationError;
use crate::solvers::solver::Counts;
use crate::solvers::stiffness::Watch;
use crate::zero_crossings::corners::own_corners;
use crate::zero_crossings::derivative_discontinuities::Bends;
use crate::zero_crossings::events::Events;
use crate::zero_crossings::instants::Instants;
use crate::zero_crossings::watch::{EndConditions, WatchedCondition};
use lgm_kernels::{Corners, Kernel, Kernels, longest_step};
use lgm_model::system::StateSystem;
use lgm_runtime::events::watch::SAME_INSTANT;
use std::sync::Arc;

/// A system prepared for runs, which share all data that do not depend on parameter values.
pub struct Simulator<'a> {
    system: &'a StateSystem,
    kernels: &'a Kernels,
    traits: Arc<Traits>,
}

/// Properties of the equations, determined once for all runs.
#[derive(Debug)]
pub(crate) struct Traits {
    corners: Corners,
    pub rates_read: RatesRead,
}

impl Traits {
    pub fn new(system: &StateSystem) -> Traits {
        Traits {
            corners: own_corners(system),
            rates_read: RatesRead::new(system),
        }
    }
}

/// One part of a run, from event to event.
pub(crate) struct RunSection<'a> {
    /// The time at which it begins, and the states there.
    pub time: f64,
    pub states: Vec<f64>,
    /// Its end, unless an event occurs earlier.
    pub until: f64,
    /// The expected duration in seconds.
    pub expected: f64,
    /// True if an event occurs there, and a row at that time shows its values.
    pub is_event: bool,
    /// The next row.
    pub row: usize,
    /// The terms of its conditions that depend only on time: the conditions are evaluated at their corners.
    pub corners: &'a Corners,
    /// The conditions that depend only on time, with the held values.
    pub instants: (&'a Instants, &'a [f64]),
    /// The longest step; no step passes any of these instants.
    pub longest: f64,
    pub looks: &'a [f64],
    /// For each input, true if its step ends the part.
    pub moving: &'a [bool],
    /// The margins of its conditions and their parts, the last of which are this number of phases.
    pub margins: (&'a Kernel, usize),
    /// The magnitude below which each margin counts as 0, and the directions of those that are 0 at the beginning.
    pub near: (Vec<f64>, Vec<f64>),
    /// The conditions that end the part.
    pub conditions: Vec<WatchedCondition>,
    /// The scales found by an earlier part with these equations.
    pub scales: Option<Scales>,
    /// The accuracy of outputs in earlier parts.
    pub output_errors: OutputErrors,
    /// The powers to integrate, if the energy balance is requested.
    pub powers: Option<&'a Powers>,
    /// The values before delays to record.
    pub delayed: Option<Delayed<'a>>,
}

/// The approximate maximum number of corners that a part of a run with events looks ahead: events may change later ones.
const CORNERS_OF_PART: usize = 8;

/// The known future instants of a run.
struct Ahead {
    corners: Vec<Corner>,
    /// The longest step; no step passes an instant that must be sampled.
    longest: f64,
    looks: Vec<f64>,
}

/// The end of a part of a run.
pub(crate) struct PartEnd {
    pub time: f64,
    pub states: Vec<f64>,
    pub row: usize,
    pub summary: Summary,
    pub scales: Scales,
    pub output_errors: OutputErrors,
    /// The energies of the part; all are 0 unless they are requested.
    pub energies: Balance,
    /// For each condition that must become true, true if it held just before the end.
    pub held: Vec<bool>,
}

/// Returns the end of a part: the first known instant slightly later, otherwise the given time.
fn at_known_instant(time: f64, known: impl Iterator<Item = f64>) -> f64 {
    let near = known.filter(|instant| *instant > time && instant - time <= SAME_INSTANT * instant.abs());
    near.min_by(f64::total_cmp).unwrap_or(time)
}

/// Runs a system once: [`Simulator::new`] and [`Simulator::run`].
pub fn simulate(
    system: &StateSystem,
    kernels: &Kernels,
    parameters: &[f64],
    signals: &dyn Signals,
    plan: &Plan,
    sink: &mut dyn Sink,
    progress: &dyn Progress,
) -> Result<Summary, Failure> {
    Simulator::new(system, kernels).run(parameters, signals, plan, sink, progress)
}

impl<'a> Simulator<'a> {
    /// Analyses the equations once.
    pub fn new(system: &'a StateSystem, kernels: &'a Kernels) -> Simulator<'a> {
        Simulator::with(system, kernels, Arc::new(Traits::new(system)))
    }

    /// Creates a simulator for a system that was already analysed.
    pub(crate) fn with(system: &'a StateSystem, kernels: &'a Kernels, traits: Arc<Traits>) -> Simulator<'a> {
        Simulator {
            system,
            kernels,
            traits,
        }
    }

    /// Returns the simulated system.
    pub fn system(&self) -> &'a StateSystem {
        self.system
    }

    /// Its compiled functions.
    pub fn kernels(&self) -> &'a Kernels {
        self.kernels
    }

    /// Performs one run with these parameter values ([`Kernels::parameters`]).
    pub fn run(
        &self,
        parameters: &[f64],
        signals: &dyn Signals,
        plan: &Plan,
        sink: &mut dyn Sink,
        progress: &dyn Progress,
    ) -> Result<Summary, Failure> {
        check(plan)?;
        if self.system.events.happen {
            let words = "this model has events, which this kind of run does not support; use `lgm simulate`";
            return Err(Failure::new(plan.start, FailureKind::Refused(words.into())));
        }
        let motion = Motion::new(self.system, self.kernels, parameters, signals, plan)?;
        let whole = (plan.start, plan.stop);
        let ahead = Ahead {
            corners: self.all_corners(parameters, signals, whole),
            longest: self.longest_step(parameters, signals, whole),
            looks: self.all_looks(parameters, signals, whole),
        };
        let mut run = self.begun(&motion, signals, (plan, plan.start, plan.stop), ahead, (sink, progress));
        run.begin()?;
        run.solve()?;
        let warning = run.output_errors.warning(self.system, plan.rtol);
        let mut summary = summary(run, &motion);
        summary.notes.extend(warning);
        Ok(summary)
    }

    /// Performs one part of a run: after an event, up to an instant or until a condition acts.
    pub(crate) fn run_part(
        &self,
        (parameters, signals): (&[f64], &dyn Signals),
        plan: &Plan,
        part: RunSection<'_>,
        sink: &mut dyn Sink,
        progress: &dyn Progress,
    ) -> Result<PartEnd, Failure> {
        let motion = Motion::new(self.system, self.kernels, parameters, signals, plan)?;
        let (corners, until) = self.next_corners(parameters, signals, &part);
        let first = part.looks.partition_point(|look| *look <= part.time);
        let within = part.looks[first..].iter().take_while(|look| **look < until);
        let ahead = Ahead {
            corners,
            longest: part.longest,
            looks: within.copied().collect(),
        };
        let mut run = self.begun(&motion, signals, (plan, part.time, until), ahead, (sink, progress));
        run.watched = Some(EndConditions::new(
            part.margins,
            part.near,
            part.conditions,
            part.instants,
            &motion,
        ));
        run.meter = part.powers.map(|powers| PowerMeter::new(powers, &motion, part.time));
        run.recorder = (part.delayed).map(|delayed| Recorder::new(delayed, &motion, (part.time, plan.rtol)));
        run.row = part.row;
        run.expected = Some(part.expected);
        run.output_errors = part.output_errors;
        run.moving = part.moving.to_vec();
        run.ends_with_event = part.is_event && until >= part.until;
        let is_known = part.scales.is_some();
        if let Some(scales) = part.scales {
            run.scales = scales.again();
        }
        let acts = run.begin_behind_event(part.time, part.states, is_known)?;
        if !acts {
            run.solve()?;
        }
        let known = run.corners.iter().map(|corner| corner.time).chain([until]);
        let time = at_known_instant(run.time, known);
        let (states, row) = (std::mem::take(&mut run.states), run.row);
        let watched = run.watched.iter().flat_map(|watched| &watched.conditions);
        let held = watched
            .filter(|condition| condition.is_edge)
            .map(|condition| condition.held)
            .collect();
        let scales = std::mem::replace(&mut run.scales, Scales::new(plan, Vec::new()));
        let output_errors = std::mem::take(&mut run.output_errors);
        let energies = run.meter.take().map_or_else(Balance::default, |meter| meter.found);
        Ok(PartEnd {
            scales,
            output_errors,
            energies,
            held,
            time,
            states,
            row,
            summary: summary(run, &motion),
        })
    }

    /// Creates a run that has not begun.
    fn begun<'r>(
        &'r self,
        motion: &'r Motion<'r>,
        signals: &'r dyn Signals,
        (plan, from, until): (&'r Plan, f64, f64),
        ahead: Ahead,
        (sink, progress): (&'r mut dyn Sink, &'r dyn Progress),
    ) -> Run<'r> {
        let parameters = motion.parameters;
        Run {
            motion,
            signals,
            plan,
            sink,
            progress,
            rates_read: &self.traits.rates_read,
            events: Events::new(&self.traits.corners, motion),
            bends: Bends::new(&self.traits.corners, motion),
            moving: Vec::new(),
            watched: None,
            meter: None,
            recorder: None,
            until,
            ends_with_event: false,
            corners: ahead.corners,
            corner: 0,
            time: from,
            first: Position::default(),
            chains: None,
            branch: Branch::new(motion),
            given_up: (from, Vec::new()),
            safe: Position::default(),
            states: Vec::new(),
            outputs: vec![0.0; self.system.outputs.len()],
            output_errors: OutputErrors::new(plan.points, self.system.outputs.len()),
            between: vec![0.0; self.system.states.len()],
            row: 0,
            watch: Watch::new(self.system.equations.linear),
            expected: None,
            scales: Scales::new(plan, nominal_sizes(self.system, parameters)).with_chains(motion.held_unknowns()),
            summary: Summary::default(),
            done: Counts::default(),
            longest: ahead.longest,
            looks: ahead.looks.into(),
            interpolation: InterpolationError::new(motion),
            headway: Headway::default(),
            enough: headway::enough(plan),
            given_up_for: Vec::new(),
            has_impulse: false,
            reach: f64::INFINITY,
        }
    }

    /// Returns the longest step that misses no turn of an oscillation: bounded for nonlinear equations, see [`longest_step`].
    pub(crate) fn longest_step(&self, parameters: &[f64], signals: &dyn Signals, (from, to): (f64, f64)) -> f64 {
        if self.system.equations.linear {
            return f64::INFINITY;
        }
        let own = self.traits.corners.fastest(parameters, from, to);
        longest_step(own.max(signals.frequency(from, to)))
    }

    /// Returns the instants at which steps must sample the inputs and the equations' own functions of time.
    pub(crate) fn all_looks(&self, parameters: &[f64], signals: &dyn Signals, (from, to): (f64, f64)) -> Vec<f64> {
        let mut all = signals.looks(from, to);
        all.extend(self.traits.corners.looks(parameters, from, to));
        all.sort_by(f64::total_cmp);
        // No separate step is made for an instant within round-off of another.
        let least = 1e-10 * (to - from);
        all.dedup_by(|next, last| *next - *last < least);
        all
    }

    /// Returns the next corners of a part of a run, and the time up to which the list is complete, which is at most the end of the part.
    fn next_corners(&self, parameters: &[f64], signals: &dyn Signals, part: &RunSection<'_>) -> (Vec<Corner>, f64) {
        let (changes, horizon) = part.instants.0.changes(part.time, part.instants.1);
        let mut until = signals.horizon(part.time, part.until.min(horizon), CORNERS_OF_PART);
        let mut times = changes;
        for corners in [&self.traits.corners, part.corners] {
            let (found, horizon) = corners.first_times(parameters, (part.time, until), CORNERS_OF_PART);
            times.extend(found);
            until = until.min(horizon);
        }
        let mut corners = merged(signals.corners(part.time, until), times.into_iter());
        corners.retain(|corner| corner.time <= until);
        (corners, until)
    }

    /// Returns the corners of the inputs and of the equations themselves, each time once.
    fn all_corners(&self, parameters: &[f64], signals: &dyn Signals, (from, to): (f64, f64)) -> Vec<Corner> {
        let own = self.traits.corners.times(parameters, from, to).into_iter();
        merged(signals.corners(from, to), own)
    }
}

/// Merges corners and further instants, each time once.
fn merged(mut all: Vec<Corner>, times: impl Iterator<Item = f64>) -> Vec<Corner> {
    all.extend(times.map(|time| Corner {
        time,
        steps: Vec::new(),
    }));
    all.sort_by(|a, b| a.time.total_cmp(&b.time));
    let mut merged: Vec<Corner> = Vec::with_capacity(all.len());
    for corner in all {
        match merged.last_mut() {
            Some(last) if last.time == corner.time => last.steps.extend(corner.steps),
            _ => merged.push(corner),
        }
    }
    merged
}

/// Returns the summary of a run.
fn summary(run: Run<'_>, motion: &Motion<'_>) -> Summary {
    let Run {
        mut summary,
        done,
        given_up_for,
        ..
    } = run;
    summary.notes.extend(given_up_for);
    summary.steps = done.steps;
    summary.rejected = done.rejected;
    summary.factorisations = done.factorisations;
    summary.evaluations = motion.evaluations.get();
    summary.jacobians = motion.jacobians.get();
    summary
}

fn check(plan: &Plan) -> Result<(), Failure> {
    let refuse = |words: String| Err(Failure::new(plan.start, FailureKind::Refused(words)));
    let Plan { start, stop, .. } = *plan;
    if !(start.is_finite() && stop.is_finite() && start <= stop) {
        return refuse(format!("a run cannot go from {start} s to {stop} s"));
    }
    if plan.points == 0 {
        return refuse("a run has at least one sample".into());
    }
    if !(plan.rtol > 0.0 && plan.rtol < 1.0) {
        return refuse(format!("the relative tolerance {} is not between 0 and 1", plan.rtol));
    }
    if let Some(atol) = plan.atol.filter(|atol| !(*atol > 0.0 && atol.is_finite())) {
        return refuse(format!("the absolute tolerance {atol} is not above 0"));
    }
    Ok(())
}
