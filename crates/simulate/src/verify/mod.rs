//! Verification of a run while it is performed (`lgm simulate --verify`).
//!
//! A [`Verifier`] is placed between the run and its sink. At every sample, and on both sides of every event, it
//! evaluates the flat graph, which does not depend on the derived equations: junctions and laws, and outputs and inputs
//! as defined. Between rows it integrates from each to the next with a separate integrator. It also checks that charges
//! and momenta are conserved across jumps, and that the energy supplied by sources equals that absorbed by storage and
//! dissipators.

mod energy;
mod integrate;
mod interval;
mod radau;
mod rates;
mod report;

pub use report::{Fault, Report};

use super::Plan;
use super::motion::{Mass, Motion};
use super::plan::{Sink, Stop};
use crate::inputs::signals::{Side, Signals};
use crate::run::course::NEAREST;
use crate::zero_crossings::corners::own_corners;
use lgm_equations::{FlatGraph, Instant, Seen};
use lgm_kernels::longest_step;
use lgm_model::system::StateSystem;
use lgm_runtime::branch::INSTANT;
use report::{Difference, Worst};

/// The accuracy of states near zero, as a fraction of the tolerance of their largest value.
const LOOSE: f64 = 1e-3;

/// A sample as received.
#[derive(Clone, Debug, Default)]
struct Row {
    time: f64,
    outputs: Vec<f64>,
    states: Vec<f64>,
    unknowns: Vec<f64>,
}

/// Returns true if two times differ only by the round-off of both.
fn is_same(a: f64, b: f64) -> bool {
    (a - b).abs() <= 8.0 * f64::EPSILON * a.abs().max(b.abs()) + NEAREST
}

/// Examines the samples of a run, and passes on the requested ones.
pub struct Verifier<'a> {
    graph: FlatGraph<'a>,
    system: &'a StateSystem,
    motion: Motion<'a>,
    signals: &'a dyn Signals,
    plan: &'a Plan,
    inner: &'a mut dyn Sink,
    /// The number of rows passed on.
    row: usize,
    /// The last sample, with the data needed at the next one.
    held: Option<Row>,
    /// The previous row, with its evaluation.
    before: Option<(Row, Seen)>,
    unknowns: Vec<f64>,
    /// The times of steps and kinks of inputs or equations, in increasing order.
    corners: Vec<f64>,
    /// Instants at which effects shorter than a step are examined, in increasing order, and the longest step that
    /// misses no turn of an oscillation.
    looks: Vec<f64>,
    longest: f64,
    /// The largest magnitude of each state so far.
    sizes: Vec<f64>,
    /// The largest differences of outputs, and of the rates of states.
    outputs: Vec<Difference>,
    rates: Vec<Difference>,
    worst: Worst,
    work: u64,
    ports: u64,
    report: Report,
}

impl<'a> Verifier<'a> {
    /// Creates a verifier of a run by a plan with samples at events; those are passed on if `plan.events` is set.
    pub fn new(
        graph: FlatGraph<'a>,
        system: &'a StateSystem,
        kernels: &'a lgm_kernels::Kernels,
        parameters: &'a [f64],
        signals: &'a dyn Signals,
        plan: &'a Plan,
        inner: &'a mut dyn Sink,
    ) -> Result<Verifier<'a>, super::Failure> {
        let own = own_corners(system);
        let mut looks = signals.looks(plan.start, plan.stop);
        looks.extend(own.looks(parameters, plan.start, plan.stop));
        looks.sort_by(f64::total_cmp);
        let fastest = own.fastest(parameters, plan.start, plan.stop);
        let longest = match system.equations.linear {
            true => f64::INFINITY,
            false => longest_step(fastest.max(signals.frequency(plan.start, plan.stop))),
        };
        let mut corners = own.times(parameters, plan.start, plan.stop);
        corners.extend(signals.corners(plan.start, plan.stop).iter().map(|corner| corner.time));
        corners.sort_by(f64::total_cmp);
        Ok(Verifier {
            corners,
            looks,
            longest,
            report: Report {
                has_power: graph.has_power(),
                ..Report::default()
            },
            graph,
            system,
            motion: Motion::new(system, kernels, parameters, signals, plan)?,
            signals,
            plan,
            inner,
            row: 0,
            held: None,
            before: None,
            unknowns: Vec::new(),
            sizes: vec![0.0; system.states.len()],
            outputs: vec![Difference::default(); system.outputs.len()],
            rates: vec![Difference::default(); system.states.len()],
            worst: Worst::new(system),
            work: 0,
            ports: 0,
        })
    }

    /// Returns the plan that the run must use: rows at both sides of every event.
    pub fn plan_of(plan: &Plan) -> Plan {
        Plan {
            events: true,
            ..plan.clone()
        }
    }

    /// Returns the findings after the end of the run; `steps` are those of the run.
    pub fn finish(mut self, steps: u64) -> (Report, Result<(), Stop>) {
        let last = match self.held.take() {
            Some(row) => {
                let handed = self.hand_on(&row);
                self.look_at(row, Side::After);
                handed
            }
            None => Ok(()),
        };
        for difference in self.outputs.iter_mut().chain(&mut self.rates) {
            difference.judge(&mut self.report, self.plan);
        }
        self.worst.judge(&mut self.report, self.plan, &self.sizes, steps);
        self.report.judge_energy(self.plan);
        (self.report, last)
    }

    /// Passes a row on: all rows, or only the last one at the time of the next row of the plan.
    fn hand_on(&mut self, row: &Row) -> Result<(), Stop> {
        let is_next = self.row < self.plan.points && is_same(row.time, self.plan.time(self.row));
        if is_next {
            self.row += 1;
        }
        match is_next || self.plan.events {
            true => self.inner.row(row.time, &row.outputs, &row.states),
            false => Ok(()),
        }
    }

    /// Returns all values at one instant.
    fn instant(&self, row: &Row, side: Side) -> Instant {
        let count = self.system.inputs.len();
        let (mut inputs, mut rates) = (vec![0.0; count], vec![0.0; count]);
        self.signals.values(row.time, side, &mut inputs, &mut rates);
        Instant {
            time: self.signals.read_at(row.time, side),
            states: row.states.clone(),
            inputs,
            rates,
        }
    }

    /// Returns true if two rows are the two sides of an event, including the end of a branch, which is known to a fraction of a step.
    fn is_instant(&self, before: f64, after: f64) -> bool {
        is_same(before, after) || after - before <= INSTANT * (self.plan.stop - self.plan.start)
    }

    /// Returns the time of a row on one side of it: a row may miss its corner by round-off.
    fn time_of(&self, time: f64, side: Side) -> f64 {
        let first = self
            .corners
            .partition_point(|corner| *corner < time && !is_same(*corner, time));
        let mut near = self.corners[first..]
            .iter()
            .copied()
            .take_while(|corner| is_same(*corner, time));
        match side {
            Side::Before => near.next().map_or(time, |corner| corner.min(time)),
            Side::After => near.last().map_or(time, |corner| corner.max(time)),
        }
    }

    /// Examines a row on one side of its time, and the integration that led to it.
    fn look_at(&mut self, mut row: Row, side: Side) {
        row.time = self.time_of(row.time, side);
        // A row may miss its event by round-off.
        if let Some((last, _)) = self.before.as_ref().filter(|last| is_same(last.0.time, row.time)) {
            row.time = row.time.max(last.time);
        }
        let instant = self.instant(&row, side);
        self.check_inputs(&instant, side);
        for (size, value) in self.sizes.iter_mut().zip(&row.states) {
            *size = size.max(value.abs());
        }
        let Some(seen) = self.graph.see(&instant, &row.unknowns) else {
            self.report.unseen += 1;
            self.before = None;
            return;
        };
        self.report.take(row.time, &seen);
        self.check_outputs(&row, &seen);
        if side == Side::After {
            self.check_rates(&row, &seen);
        }
        match self.before.take() {
            // A later row that is the first one evaluated is not a start.
            None if self.report.rows + self.report.unseen == 1 => self.check_start(row.time, &seen),
            Some((last, was)) if self.is_instant(last.time, row.time) => self.check_jump(&last, &was, &row, &seen),
            Some((last, was)) => self.check_interval(&last, &was, &row, &seen),
            None => {}
        }
        self.before = Some((row, seen));
    }

    /// Checks that inputs have the values defined in the model.
    fn check_inputs(&mut self, instant: &Instant, side: Side) {
        for (at, value) in instant.inputs.iter().enumerate() {
            let is_before_all = side == Side::Before && instant.time < self.plan.start;
            if let Some(written) = self.graph.input(at, instant.time).filter(|_| !is_before_all) {
                self.report.inputs += 1;
                let size = value.abs().max(written.abs());
                if (value - written).abs() > 1e-9 * size && !self.signals.is_measured(at) {
                    let input = &self.system.inputs[at];
                    let words = format!("it is {value} in the run, but {written} by its definition");
                    self.report.fault(Fault::new(
                        format!("input `{}`", input.name),
                        input.span,
                        instant.time,
                        words,
                    ));
                }
            }
        }
    }

    fn check_outputs(&mut self, row: &Row, seen: &Seen) {
        for (at, (value, known)) in row.outputs.iter().zip(&seen.outputs).enumerate() {
            let Some((graph, rounding)) = known else { continue };
            self.report.outputs += 1;
            // With an infinite bound there is no digit to compare.
            let mut beyond = (value - graph).abs() - 4.0 * rounding;
            if beyond > self.plan.rtol * value.abs().max(graph.abs()) {
                beyond -= self.left_open(row, at);
            }
            self.outputs[at].take(beyond, value.abs().max(graph.abs()), || {
                let (what, span) = self.graph.output_words(at);
                let words = format!("it is {value} in the sample, but {graph} in the flat graph");
                Fault::new(what, span, row.time, words)
            });
        }
    }

    /// Returns the change of an output if each state moves by its tolerance, without loops. The states may determine an
    /// unknown without any digit, such as the voltage of a blocking diode. Its value from an implicit method is then as
    /// accurate as the one that follows from the states.
    fn left_open(&self, row: &Row, output: usize) -> f64 {
        if self.motion.unknowns == 0 {
            return 0.0;
        }
        self.motion.set_piece(row.time, f64::INFINITY);
        let mut values = vec![0.0; row.outputs.len()];
        let mut at = |states: &[f64]| {
            let has_values = self.motion.outputs(row.time, states, &mut values);
            has_values.then(|| values[output])
        };
        let Some(here) = at(&row.states) else { return 0.0 };
        let mut sum = 0.0;
        for state in 0..row.states.len() {
            let by = self.plan.rtol * row.states[state].abs().max(LOOSE * self.sizes[state]);
            let moved = [by, -by].map(|by| {
                let mut states = row.states.clone();
                states[state] += by;
                at(&states).map_or(0.0, |there| (there - here).abs())
            });
            sum += moved[0].max(moved[1]);
        }
        sum
    }

    /// Checks that the integrated rates of states are those of the equations.
    fn check_rates(&mut self, row: &Row, seen: &Seen) {
        if row.states.is_empty() {
            return;
        }
        self.motion.set_piece(row.time, f64::INFINITY);
        let unknowns = row_unknowns(&seen.unknowns, self.motion.unknowns);
        let mut rates = vec![0.0; row.states.len()];
        // Use the unknowns of the flat graph: if loops leave an unknown without a digit, such as the voltage of a diode
        // that blocks the current of an inductor, two of their solutions differ, and so do the rates.
        if self.motion.unknowns > 0 && matches!(self.motion.mass, Mass::Identity) {
            let kernel = &self.motion.kernels.derivatives;
            self.motion
                .call(kernel, row.time, &row.states, &unknowns, None, &mut rates);
        } else {
            self.motion.guess_unknowns(&unknowns);
            if !self.motion.rates(row.time, &row.states, &mut rates) {
                return;
            }
        }
        for (at, (integrated, (emitted, rounding))) in rates.iter().zip(&seen.rates).enumerate() {
            let beyond = (integrated - emitted).abs() - 8.0 * rounding;
            self.rates[at].take(beyond, emitted.abs(), || {
                let state = &self.system.states[at];
                let words = format!("it is integrated with the rate {integrated}, but the equations give {emitted}");
                Fault::new(format!("state `{}`", state.name), state.span, row.time, words)
            });
        }
    }

    /// Checks that initial values that are not given follow from rest by conserved charges and momenta.
    fn check_start(&mut self, time: f64, seen: &Seen) {
        let is_looked_for = self.system.starts.search.is_some() || !self.system.starts.constraints.is_empty();
        if self.plan.from_equilibrium || is_looked_for || self.graph.has_start_conditions() {
            return;
        }
        let found = self.graph.jump(None, seen);
        if found.is_err() {
            self.report.unjudged_jumps += 1;
        }
        if let Ok(found) = found {
            self.report.jumps += 1;
            if let Some(found) = found {
                let words = format!(
                    "charge or momentum is not conserved at the start: the error is {:.1e} of the largest",
                    found.residual
                );
                self.report.fault(Fault::new(found.what, found.span, time, words));
            }
        }
    }

    fn check_jump(&mut self, last: &Row, was: &Seen, row: &Row, seen: &Seen) {
        match self.graph.jump(Some(was), seen) {
            Ok(found) => {
                self.report.jumps += 1;
                if let Some(found) = found {
                    let words = format!(
                        "charge or momentum is not conserved in a step: the error is {:.1e} of the largest",
                        found.residual
                    );
                    self.report.fault(Fault::new(found.what, found.span, row.time, words));
                }
            }
            Err(_) if last.states == row.states => {}
            Err(_) => self.report.unjudged_jumps += 1,
        }
    }
}

/// Returns the unknowns of a run's loops.
fn row_unknowns(known: &[f64], count: usize) -> Vec<f64> {
    let mut list = known.to_vec();
    list.resize(count, 0.0);
    list
}

impl Sink for Verifier<'_> {
    fn unknowns(&mut self, unknowns: &[f64]) {
        self.unknowns = unknowns.to_vec();
        self.inner.unknowns(unknowns);
    }

    fn row(&mut self, time: f64, outputs: &[f64], states: &[f64]) -> Result<(), Stop> {
        let row = Row {
            time,
            outputs: outputs.to_vec(),
            states: states.to_vec(),
            unknowns: self.unknowns.clone(),
        };
        if let Some(held) = self.held.replace(row) {
            // The first of two samples at one time is the value before.
            let is_before = is_same(held.time, time);
            let side = if is_before { Side::Before } else { Side::After };
            if !is_before || self.plan.events {
                self.hand_on(&held)?;
            }
            self.look_at(held, side);
        }
        Ok(())
    }
}
