//! A system made ready for runs.

use super::failure::{Failure, FailureKind};
use super::motion::Motion;
use super::plan::{Plan, Progress, Sink, Summary};
use crate::inputs::signals::{Corner, Signals};
use crate::loops::singular::Position;
use crate::loops::solution_branch::Branch;
use crate::reinitialisation::jump::RatesRead;
use crate::run::course::Run;
use crate::run::headway::{self, Headway};
use crate::run::output_errors::OutputErrors;
use crate::run::scales::{Scales, nominal_sizes};
use crate::solvers::interpolation::InterpolationError;
use crate::solvers::solver::Counts;
use crate::solvers::stiffness::Watch;
use crate::switching::balance::{Balance, PowerMeter, Powers};
use crate::switching::watch::{EndConditions, WatchedCondition};
use crate::zero_crossings::corners::own_corners;
use crate::zero_crossings::derivative_discontinuities::Bends;
use crate::zero_crossings::events::Events;
use lgm_kernels::{Corners, Kernel, Kernels, longest_step};
use lgm_model::system::StateSystem;
use std::sync::Arc;

/// A system made ready for runs, which share what does not depend on parameter values.
pub struct Simulator<'a> {
    system: &'a StateSystem,
    kernels: &'a Kernels,
    traits: Arc<Traits>,
}

/// Traits of the equations, found once for all runs.
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
pub(crate) struct Part<'a> {
    /// Where it begins, and the states there.
    pub time: f64,
    pub states: Vec<f64>,
    /// Its end if nothing happens before.
    pub until: f64,
    /// True if an event happens there, whose values a row there shows.
    pub is_event: bool,
    /// The next row.
    pub row: usize,
    /// The terms of its conditions that depend on time alone: at their corners and in their oscillations the conditions are looked at.
    pub corners: &'a Corners,
    /// For each input, true if its step ends the part.
    pub moving: &'a [bool],
    /// The margins of its conditions; the size below which each of them is 0; and where those are going that are 0 at the beginning.
    pub margins: (&'a Kernel, Vec<f64>, Vec<f64>),
    /// The conditions that end it.
    pub conditions: Vec<WatchedCondition>,
    /// The scales that an earlier part with these equations has found.
    pub scales: Option<Scales>,
    /// The powers to integrate, if the balance of energy is asked for.
    pub powers: Option<&'a Powers>,
}

/// The end of a part of a run.
pub(crate) struct PartEnd {
    pub time: f64,
    pub states: Vec<f64>,
    pub row: usize,
    pub summary: Summary,
    pub scales: Scales,
    /// The energies of the part; all are 0 unless they were asked for.
    pub energies: Balance,
    /// Of the conditions that must become true, whether they held just before the end.
    pub held: Vec<bool>,
}

/// A condition acts a little before its margin is 0. An instant that is known exactly, such as that of a sampled block or of an input's
/// step, comes first if it is this near, as a share of the time.
const SAME_INSTANT: f64 = 1e-10;

/// Where a part ends: at the first known instant that lies just behind, or else where it is.
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
    /// Looks through the equations once.
    pub fn new(system: &'a StateSystem, kernels: &'a Kernels) -> Simulator<'a> {
        Simulator::with(system, kernels, Arc::new(Traits::new(system)))
    }

    /// For a system that was looked through before.
    pub(crate) fn with(system: &'a StateSystem, kernels: &'a Kernels, traits: Arc<Traits>) -> Simulator<'a> {
        Simulator {
            system,
            kernels,
            traits,
        }
    }

    /// The system that is run.
    pub fn system(&self) -> &'a StateSystem {
        self.system
    }

    /// Its compiled functions.
    pub fn kernels(&self) -> &'a Kernels {
        self.kernels
    }

    /// Makes one run with these parameter values ([`Kernels::parameters`]).
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
            let words =
                "events happen in this model, and this kind of run carries none; run it alone, with `lgm simulate`";
            return Err(Failure::new(plan.start, FailureKind::Refused(words.into())));
        }
        let motion = Motion::new(self.system, self.kernels, parameters, signals, plan)?;
        let whole = (plan, plan.start, plan.stop);
        let mut run = self.begun(&motion, (parameters, signals), whole, sink, progress);
        run.begin()?;
        run.solve()?;
        Ok(summary(run, &motion))
    }

    /// Makes one part of a run: behind an event, up to an instant or to where a condition acts.
    pub(crate) fn run_part(
        &self,
        (parameters, signals): (&[f64], &dyn Signals),
        plan: &Plan,
        part: Part<'_>,
        sink: &mut dyn Sink,
        progress: &dyn Progress,
    ) -> Result<PartEnd, Failure> {
        let motion = Motion::new(self.system, self.kernels, parameters, signals, plan)?;
        let part_of = (plan, part.time, part.until);
        let mut run = self.begun(&motion, (parameters, signals), part_of, sink, progress);
        run.watched = Some(EndConditions::new(part.margins, part.conditions, &motion));
        run.meter = part.powers.map(|powers| PowerMeter::new(powers, &motion, part.time));
        run.row = part.row;
        run.moving = part.moving.to_vec();
        let times = part.corners.times(parameters, part.time, part.until).into_iter();
        run.corners = merged(std::mem::take(&mut run.corners), times);
        let fastest = part.corners.fastest(parameters, part.time, part.until);
        let fastest = fastest.max(signals.frequency(part.time, part.until));
        run.longest = run.longest.min(longest_step(fastest));
        run.ends_with_event = part.is_event;
        let is_known = part.scales.is_some();
        if let Some(scales) = part.scales {
            run.scales = scales.again();
        }
        let acts = run.begin_behind_event(part.time, part.states, is_known)?;
        if !acts {
            run.solve()?;
        }
        let until = part.until;
        let known = run.corners.iter().map(|corner| corner.time).chain([until]);
        let time = at_known_instant(run.time, known);
        let (states, row) = (std::mem::take(&mut run.states), run.row);
        let watched = run.watched.iter().flat_map(|watched| &watched.conditions);
        let held = watched
            .filter(|condition| condition.is_edge)
            .map(|condition| condition.held)
            .collect();
        let scales = std::mem::replace(&mut run.scales, Scales::new(plan, Vec::new()));
        let energies = run.meter.take().map_or_else(Balance::default, |meter| meter.found);
        Ok(PartEnd {
            scales,
            energies,
            held,
            time,
            states,
            row,
            summary: summary(run, &motion),
        })
    }

    /// A run that has not begun.
    fn begun<'r>(
        &'r self,
        motion: &'r Motion<'r>,
        (parameters, signals): (&[f64], &'r dyn Signals),
        (plan, from, until): (&'r Plan, f64, f64),
        sink: &'r mut dyn Sink,
        progress: &'r dyn Progress,
    ) -> Run<'r> {
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
            until,
            ends_with_event: false,
            corners: self.all_corners(parameters, signals, (from, until)),
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
            scales: Scales::new(plan, nominal_sizes(self.system, parameters)).with_chains(motion.held_unknowns()),
            summary: Summary::default(),
            done: Counts::default(),
            longest: self.longest_step(parameters, signals, (from, until)),
            looks: self.all_looks(parameters, signals, (from, until)).into(),
            interpolation: InterpolationError::new(motion),
            headway: Headway::default(),
            enough: headway::enough(plan),
            given_up_for: Vec::new(),
            has_impulse: false,
            reach: f64::INFINITY,
        }
    }

    /// The longest step in which no turn of an oscillation is overlooked: bounded for nonlinear equations, see [`longest_step`].
    fn longest_step(&self, parameters: &[f64], signals: &dyn Signals, (from, to): (f64, f64)) -> f64 {
        if self.system.equations.linear {
            return f64::INFINITY;
        }
        let own = self.traits.corners.fastest(parameters, from, to);
        longest_step(own.max(signals.frequency(from, to)))
    }

    /// Where steps are to look at what the inputs and the equations themselves do with time.
    fn all_looks(&self, parameters: &[f64], signals: &dyn Signals, (from, to): (f64, f64)) -> Vec<f64> {
        let mut all = signals.looks(from, to);
        all.extend(self.traits.corners.looks(parameters, from, to));
        all.sort_by(f64::total_cmp);
        // No step is made for what is within rounding of another.
        let least = 1e-10 * (to - from);
        all.dedup_by(|next, last| *next - *last < least);
        all
    }

    /// Corners of the inputs and of the equations themselves, each time once.
    fn all_corners(&self, parameters: &[f64], signals: &dyn Signals, (from, to): (f64, f64)) -> Vec<Corner> {
        let own = self.traits.corners.times(parameters, from, to).into_iter();
        merged(signals.corners(from, to), own)
    }
}

/// Corners and further instants, each time once.
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

/// The summary of a run.
fn summary(run: Run<'_>, motion: &Motion<'_>) -> Summary {
    let rtol = run.plan.rtol;
    let Run {
        mut summary,
        done,
        output_errors,
        given_up_for,
        ..
    } = run;
    summary.notes.extend(given_up_for);
    summary.notes.extend(output_errors.warning(motion, rtol));
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
        return refuse("a run has one row at least".into());
    }
    if !(plan.rtol > 0.0 && plan.rtol < 1.0) {
        return refuse(format!("the relative tolerance {} is not between 0 and 1", plan.rtol));
    }
    if let Some(atol) = plan.atol.filter(|atol| !(*atol > 0.0 && atol.is_finite())) {
        return refuse(format!("the absolute tolerance {atol} is not above 0"));
    }
    Ok(())
}
