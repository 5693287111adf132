//! Verification of a run while it is made (`lgm simulate --verify`).
//!
//! A [`Verifier`] stands between the run and where its rows go. At every row, and on both sides of every event, it looks at the flat
//! graph, which the equations of the run were made from and which knows nothing of them: junctions and laws, outputs, inputs as they
//! are written. Between rows it goes from each to the next with an integrator of its own; across a jump, charges and momenta are kept; and
//! the energy that sources give is what storage and dissipators take.

mod integrate;
mod report;

pub use report::{Fault, Report};

use super::Plan;
use super::motion::Motion;
use super::plan::{Sink, Stop};
use super::signals::{Side, Signals};
use crate::corners::own_corners;
use crate::run::NEAREST;
use integrate::Integrator;
use lgm_equations::{FlatGraph, Instant, Powers, Seen};
use lgm_model::system::StateSystem;
use report::Worst;

/// Right sides, times their number, that are evaluated for the comparison of states.
const WORK: u64 = 400_000_000;

/// Variables of ports that are evaluated for the balance of energy.
const PORTS: u64 = 2_000_000;

/// How much more exact the second integrator is than the run.
const FINER: f64 = 1e-2;

/// No tolerance of it is below this.
const FINEST: f64 = 1e-12;

/// A row as it came.
#[derive(Clone, Debug, Default)]
struct Row {
    time: f64,
    outputs: Vec<f64>,
    states: Vec<f64>,
    unknowns: Vec<f64>,
}

/// Two times that differ by the rounding of both.
fn is_same(a: f64, b: f64) -> bool {
    (a - b).abs() <= 8.0 * f64::EPSILON * a.abs().max(b.abs()) + NEAREST
}

/// Looks at the rows of a run, and hands on those that were asked for.
pub struct Verifier<'a> {
    graph: FlatGraph<'a>,
    system: &'a StateSystem,
    motion: Motion<'a>,
    signals: &'a dyn Signals,
    plan: &'a Plan,
    inner: &'a mut dyn Sink,
    /// The number of rows handed on.
    row: usize,
    /// The row that came last, and what is to be known of it when the next one comes.
    held: Option<Row>,
    /// The row before it, as it was seen.
    before: Option<(Row, Seen)>,
    unknowns: Vec<f64>,
    /// When inputs or the equations step or bend, ascending.
    corners: Vec<f64>,
    /// The largest size of each state and output so far.
    sizes: Vec<f64>,
    output_sizes: Vec<f64>,
    worst: Worst,
    work: u64,
    ports: u64,
    report: Report,
}

impl<'a> Verifier<'a> {
    /// A verifier of a run by a plan whose rows at events are on; those are handed on if `plan.events` says so.
    pub fn new(
        graph: FlatGraph<'a>,
        system: &'a StateSystem,
        kernels: &'a lgm_kernels::Kernels,
        parameters: &'a [f64],
        signals: &'a dyn Signals,
        plan: &'a Plan,
        inner: &'a mut dyn Sink,
    ) -> Result<Verifier<'a>, super::Failure> {
        let mut corners = own_corners(system).times(parameters, plan.start, plan.stop);
        corners.extend(signals.corners(plan.start, plan.stop).iter().map(|corner| corner.time));
        corners.sort_by(f64::total_cmp);
        Ok(Verifier {
            corners,
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
            output_sizes: vec![0.0; system.outputs.len()],
            worst: Worst::new(system),
            work: 0,
            ports: 0,
        })
    }

    /// The plan that the run must be made by: rows at both sides of every event.
    pub fn plan_of(plan: &Plan) -> Plan {
        Plan {
            events: true,
            ..plan.clone()
        }
    }

    /// What was found, once the run has ended; `steps` are those of the run.
    pub fn finish(mut self, steps: u64) -> (Report, Result<(), Stop>) {
        let last = match self.held.take() {
            Some(row) => {
                let handed = self.hand_on(&row);
                self.look_at(row, Side::After);
                handed
            }
            None => Ok(()),
        };
        self.worst.settle(&mut self.report, self.plan, &self.sizes, steps);
        self.report.settle_energy(self.plan);
        (self.report, last)
    }

    /// Hands a row on: all of them, or the last one of those at the time of the next row of the plan.
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

    /// Everything at one instant.
    fn instant(&self, row: &Row, side: Side) -> Instant {
        let count = self.system.inputs.len();
        let (mut inputs, mut rates) = (vec![0.0; count], vec![0.0; count]);
        self.signals.values(row.time, side, &mut inputs, &mut rates);
        Instant {
            time: match side {
                Side::Before => row.time.next_down(),
                Side::After => row.time,
            },
            states: row.states.clone(),
            inputs,
            rates,
        }
    }

    /// The time of a row on one side of it: a row may miss the corner that it shows by rounding.
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

    /// Looks at a row on one side of its time, and at how the run came there.
    fn look_at(&mut self, mut row: Row, side: Side) {
        row.time = self.time_of(row.time, side);
        // A row may miss the event that it shows by rounding.
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
            None if self.report.rows == 1 => self.check_start(row.time, &seen),
            Some((last, was)) if is_same(last.time, row.time) => self.check_jump(&last, &was, &row, &seen),
            Some((last, was)) => self.check_interval(&last, &was, &row, &seen),
            None => {}
        }
        self.before = Some((row, seen));
    }

    /// Inputs are what is written in the model.
    fn check_inputs(&mut self, instant: &Instant, side: Side) {
        for (at, value) in instant.inputs.iter().enumerate() {
            let is_before_all = side == Side::Before && instant.time < self.plan.start;
            if let Some(written) = self.graph.input(at, instant.time).filter(|_| !is_before_all) {
                self.report.inputs += 1;
                let size = value.abs().max(written.abs());
                if (value - written).abs() > 1e-9 * size && !self.signals.is_measured(at) {
                    let input = &self.system.inputs[at];
                    let words = format!("it is {value} in the run, and {written} as it is written");
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
            self.output_sizes[at] = self.output_sizes[at].max(value.abs()).max(graph.abs());
            let allowed = 4.0 * rounding + self.plan.rtol.min(1e-6) * self.output_sizes[at];
            self.report.outputs += 1;
            // An infinite bound leaves no digit to compare.
            if (value - graph).abs() > allowed || value.is_nan() {
                let (what, span) = self.graph.output_words(at);
                let words = format!("it is {value} in the row, and {graph} by the flat graph");
                self.report.fault(Fault::new(what, span, row.time, words));
            }
        }
    }

    /// What is integrated is what the equations say.
    fn check_rates(&mut self, row: &Row, seen: &Seen) {
        if row.states.is_empty() {
            return;
        }
        self.motion.set_piece(row.time, f64::INFINITY);
        self.motion
            .guess_unknowns(&row_unknowns(&seen.unknowns, self.motion.unknowns));
        let mut rates = vec![0.0; row.states.len()];
        if !self.motion.rates(row.time, &row.states, &mut rates) {
            return;
        }
        for (at, (integrated, (emitted, rounding))) in rates.iter().zip(&seen.rates).enumerate() {
            let allowed = 8.0 * rounding + self.plan.rtol.min(1e-6) * emitted.abs();
            if (integrated - emitted).abs() > allowed {
                let state = &self.system.states[at];
                let words = format!("it is integrated with the rate {integrated}, where the equations have {emitted}");
                self.report.fault(Fault::new(
                    format!("state `{}`", state.name),
                    state.span,
                    row.time,
                    words,
                ));
            }
        }
    }

    /// The start follows from rest by conserved charges and momenta, where it is not given.
    fn check_start(&mut self, time: f64, seen: &Seen) {
        let is_looked_for = self.system.start_search.is_some() || !self.system.start_constraints.is_empty();
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
                    "charge or momentum is not conserved at the start, by {:.1e} of the largest",
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
                        "charge or momentum is not conserved in a step, by {:.1e} of the largest",
                        found.residual
                    );
                    self.report.fault(Fault::new(found.what, found.span, row.time, words));
                }
            }
            Err(_) if last.states == row.states => {}
            Err(_) => self.report.unjudged_jumps += 1,
        }
    }

    /// From the last row to this one by the second integrator.
    fn check_interval(&mut self, last: &Row, was: &Seen, row: &Row, seen: &Seen) {
        self.report.intervals += 1;
        let share = ((row.time - self.plan.start) / (self.plan.stop - self.plan.start)).clamp(0.0, 1.0);
        let granted = ((0.1 + 0.9 * share) * WORK as f64) as u64;
        if self.work >= granted || row.states.is_empty() {
            self.report.uncrossed += u64::from(!row.states.is_empty());
            return;
        }
        self.motion.set_piece(last.time, row.time);
        let finest = (FINER * self.plan.rtol).max(FINEST);
        let scale: Vec<f64> = (0..row.states.len())
            .map(|at| self.sizes[at].max(f64::MIN_POSITIVE / FINEST))
            .collect();
        let tolerance: Vec<f64> = scale.iter().map(|scale| finest * scale).collect();
        // What the run may be off at one row is carried to the next by the model itself.
        let off: Vec<f64> = (0..row.states.len())
            .map(|at| {
                let allowed = self.plan.rtol * scale[at] + self.plan.atol.unwrap_or(0.0);
                last.states[at] + scattered(at, self.report.intervals) * allowed
            })
            .collect();
        let budget = granted - self.work;
        let mut integrator = Integrator::new(&self.motion, budget);
        let is_balanced = self.report.has_power && (self.ports as f64) < (0.1 + 0.9 * share) * PORTS as f64;
        let mut energy = is_balanced.then(Energy::default);
        let mut looks = 0;
        let graph = &mut self.graph;
        let signals = self.signals;
        let mut unknowns = was.unknowns.clone();
        self.motion
            .guess_unknowns(&row_unknowns(&was.unknowns, self.motion.unknowns));
        let mut visit = |own: &mut Integrator<'_>, from: (f64, &[f64]), to: (f64, &[f64])| {
            looks += 5;
            if let Some(sum) = &mut energy
                && sum
                    .add(graph, signals, &mut unknowns, own, from, to, &tolerance)
                    .is_none()
            {
                energy = None;
            }
        };
        let crossed = integrator.cross(last.time, row.time, &last.states, &tolerance, &mut visit);
        self.motion
            .guess_unknowns(&row_unknowns(&was.unknowns, self.motion.unknowns));
        let moved = crossed.as_ref().ok().and_then(|_| {
            integrator
                .cross(last.time, row.time, &off, &tolerance, &mut |_, _, _| {})
                .ok()
        });
        self.work += budget - integrator.left;
        if is_balanced {
            self.ports += looks * (10 + self.graph.ports());
        }
        let (Ok(reached), Some(moved)) = (crossed, moved) else {
            self.report.uncrossed += 1;
            return;
        };
        self.report.crossed += 1;
        for at in 0..reached.len() {
            let carried = (moved[at] - reached[at]).abs();
            self.worst
                .take(at, row.time, (row.states[at] - reached[at]).abs(), carried);
        }
        if let (Some(sum), Some(stored), Some(had)) = (energy, self.graph.stored(seen), self.graph.stored(was)) {
            self.report.add_energy(&sum.powers, sum.doubt, stored - had);
        }
    }
}

/// The unknowns of a run's loops, as many as there are.
fn row_unknowns(known: &[f64], count: usize) -> Vec<f64> {
    let mut list = known.to_vec();
    list.resize(count, 0.0);
    list
}

/// A number between -1 and 1 that looks random.
fn scattered(at: usize, row: u64) -> f64 {
    let x = (at as f64 + 1.0) * 0.754_877_666 + row as f64 * 0.569_840_29;
    2.0 * x.fract() - 1.0
}

/// The energies of an interval, in joules.
#[derive(Default)]
struct Energy {
    powers: Powers,
    /// How far two quadratures differ.
    doubt: f64,
}

impl Energy {
    /// Adds those of one step, by Gauss' quadrature of three points; Simpson's says how far it may be off.
    #[allow(clippy::too_many_arguments)] // All that the powers at a point need.
    fn add(
        &mut self,
        graph: &mut FlatGraph<'_>,
        signals: &dyn Signals,
        unknowns: &mut [f64],
        integrator: &mut Integrator<'_>,
        from: (f64, &[f64]),
        to: (f64, &[f64]),
        tolerance: &[f64],
    ) -> Option<()> {
        let length = to.0 - from.0;
        let (mut time, mut states) = (from.0, from.1.to_vec());
        let mut powers = |time: f64, states: &[f64]| -> Option<Powers> {
            let side = if time >= to.0 { Side::Before } else { Side::After };
            let mut instant = Instant {
                time: if time >= to.0 { time.next_down() } else { time },
                states: states.to_vec(),
                inputs: vec![0.0; signals.count()],
                rates: vec![0.0; signals.count()],
            };
            signals.values(time, side, &mut instant.inputs, &mut instant.rates);
            graph.powers(&instant, unknowns)
        };
        let mut found = vec![powers(from.0, from.1)?];
        let apart = 0.5 * 0.6_f64.sqrt();
        for share in [0.5 - apart, 0.5, 0.5 + apart] {
            let next = from.0 + share * length;
            states = integrator
                .cross(time, next, &states, tolerance, &mut |_, _, _| {})
                .ok()?;
            time = next;
            found.push(powers(time, &states)?);
        }
        found.push(powers(to.0, to.1)?);
        let gauss = |of: &dyn Fn(&Powers) -> f64| {
            length / 18.0 * (5.0 * of(&found[1]) + 8.0 * of(&found[2]) + 5.0 * of(&found[3]))
        };
        let simpson =
            |of: &dyn Fn(&Powers) -> f64| length / 6.0 * (of(&found[0]) + 4.0 * of(&found[2]) + of(&found[4]));
        let parts: [&dyn Fn(&Powers) -> f64; 4] = [&|p| p.supplied, &|p| p.lost, &|p| p.taken, &|p| p.size];
        let [supplied, lost, taken, size] = parts.map(gauss);
        self.doubt += parts[..3]
            .iter()
            .map(|of| (gauss(*of) - simpson(*of)).abs())
            .sum::<f64>();
        self.powers.supplied += supplied;
        self.powers.lost += lost;
        self.powers.taken += taken;
        self.powers.size += size;
        Some(())
    }
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
            // Of two rows at one time, the first is what was before.
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
