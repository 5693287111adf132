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
use crate::zero_crossings::corners::own_corners;
use crate::zero_crossings::derivative_discontinuities::Bends;
use crate::zero_crossings::events::Events;
use lgm_kernels::{Corners, Kernels, longest_step};
use lgm_model::system::StateSystem;

/// A system made ready for runs, which share what does not depend on parameter values.
pub struct Simulator<'a> {
    system: &'a StateSystem,
    kernels: &'a Kernels,
    corners: Corners,
    rates_read: RatesRead,
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
        Simulator {
            corners: own_corners(system),
            rates_read: RatesRead::new(system),
            system,
            kernels,
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
        let motion = Motion::new(self.system, self.kernels, parameters, signals, plan)?;
        let mut run = Run {
            motion: &motion,
            signals,
            plan,
            sink,
            progress,
            rates_read: &self.rates_read,
            events: Events::new(&self.corners, &motion),
            bends: Bends::new(&self.corners, &motion),
            corners: self.all_corners(parameters, signals, plan),
            corner: 0,
            time: plan.start,
            first: Position::default(),
            chains: None,
            branch: Branch::new(&motion),
            given_up: (plan.start, Vec::new()),
            safe: Position::default(),
            states: Vec::new(),
            outputs: vec![0.0; self.system.outputs.len()],
            output_errors: OutputErrors::new(plan.points, self.system.outputs.len()),
            between: vec![0.0; self.system.states.len()],
            row: 0,
            watch: Watch::new(self.system.linear),
            scales: Scales::new(plan, nominal_sizes(self.system, parameters)).with_chains(motion.held_unknowns()),
            summary: Summary::default(),
            done: Counts::default(),
            longest: self.longest_step(parameters, signals, plan),
            looks: self.all_looks(parameters, signals, plan).into(),
            interpolation: InterpolationError::new(&motion),
            headway: Headway::default(),
            enough: headway::enough(plan),
            given_up_for: Vec::new(),
            has_impulse: false,
            reach: f64::INFINITY,
        };
        run.begin()?;
        run.solve()?;
        let Run {
            mut summary,
            done,
            output_errors,
            given_up_for,
            ..
        } = run;
        summary.notes.extend(given_up_for);
        summary.notes.extend(output_errors.warning(&motion, plan.rtol));
        summary.steps = done.steps;
        summary.rejected = done.rejected;
        summary.factorisations = done.factorisations;
        summary.evaluations = motion.evaluations.get();
        summary.jacobians = motion.jacobians.get();
        Ok(summary)
    }

    /// The longest step in which no turn of an oscillation is overlooked: bounded for nonlinear equations, see [`longest_step`].
    fn longest_step(&self, parameters: &[f64], signals: &dyn Signals, plan: &Plan) -> f64 {
        if self.system.linear {
            return f64::INFINITY;
        }
        let (from, to) = (plan.start, plan.stop);
        let own = self.corners.fastest(parameters, from, to);
        longest_step(own.max(signals.frequency(from, to)))
    }

    /// Where steps are to look at what the inputs and the equations themselves do with time.
    fn all_looks(&self, parameters: &[f64], signals: &dyn Signals, plan: &Plan) -> Vec<f64> {
        let mut all = signals.looks(plan.start, plan.stop);
        all.extend(self.corners.looks(parameters, plan.start, plan.stop));
        all.sort_by(f64::total_cmp);
        // No step is made for what is within rounding of another.
        let least = 1e-10 * (plan.stop - plan.start);
        all.dedup_by(|next, last| *next - *last < least);
        all
    }

    /// Corners of the inputs and of the equations themselves, each time once.
    fn all_corners(&self, parameters: &[f64], signals: &dyn Signals, plan: &Plan) -> Vec<Corner> {
        let mut all = signals.corners(plan.start, plan.stop);
        let own = self.corners.times(parameters, plan.start, plan.stop);
        all.extend(own.into_iter().map(|time| Corner {
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
