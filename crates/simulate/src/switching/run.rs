//! A run from event to event.

use crate::failure::Failure;
use crate::plan::{Plan, Progress, Silent, Sink, Summary};
use crate::simulator::RunSection;
use crate::switching::columns::Columns;
use crate::switching::course::Course;
use crate::switching::instant::standing::{Before, Standing};
use crate::switching::setup::{Event, Finished, Switched};
use crate::switching::starts::{
    beyond_contact, discrete_starts, equilibrium, lost_starts, no_equilibrium, rests_beyond, starts,
};
use crate::switching::undetermined::undetermined;
use crate::zero_crossings::watch::WatchedCondition;
use lgm_model::switching::Trigger;
use lgm_source::codes::Code;
use lgm_source::diagnostic::Diagnostic;
use rustc_hash::FxHashMap;
use std::rc::Rc;
use std::sync::Arc;

/// The maximum number of combinations of modes in which an equilibrium is searched for.
const MOST_RESTS: usize = 20;

/// Runs a model with events; `report` receives each event.
pub fn run_switched(
    setup: &Switched<'_>,
    plan: &Plan,
    sink: &mut dyn Sink,
    progress: &dyn Progress,
    report: &mut dyn FnMut(Event),
) -> Result<Finished, Failure> {
    let mut course = Course::new(setup, plan, sink, (progress, report));
    let (standing, energy) = course.begin()?;
    course.go_on(standing, energy)?;
    let warning = course.output_errors.warning(setup.first.0, plan.rtol);
    course.summary.notes.extend(warning);
    let met = course.library.met();
    let is_known = setup.events.watches_powers() && course.balance.rest().is_finite();
    Ok(Finished {
        balance: is_known.then_some(course.balance),
        summary: course.summary,
        met,
    })
}

/// Returns the warnings of the start of a run; none if it fails.
pub fn warnings_at_start(setup: &Switched<'_>, plan: &Plan) -> Vec<Diagnostic> {
    let (mut sink, mut report) = (|_: f64, _: &[f64], _: &[f64]| {}, |_: Event| {});
    let mut course = Course::new(setup, plan, &mut sink, (&Silent, &mut report));
    match course.begin() {
        Ok(_) => course.summary.notes,
        Err(_) => Vec::new(),
    }
}

impl Course<'_> {
    /// Performs the start: the modes that agree with the initial values, the blocks that run initially, and those of the first instant.
    /// Also returns the energy of storage before it.
    fn begin(&mut self) -> Result<(Standing, Option<f64>), Failure> {
        let switching = &self.setup.events.model().switching;
        let modes = switching.first_modes();
        let starts = starts(self.setup, self.plan)?;
        let discretes = discrete_starts(self.setup);
        self.begin_histories(&modes, &starts, &discretes)?;
        let (mut standing, energy) = match self.plan.from_equilibrium {
            true => {
                let standing = self.at_rest(modes, &starts, &discretes)?;
                let energy = standing.energy();
                (standing, energy)
            }
            false => {
                let from = Before::at_start(self.setup.first.0, modes, starts.clone(), discretes);
                let standing = self.settle(from.clone())?;
                let instant = self.instant((self.time, f64::INFINITY));
                let energy = instant.energy_given(&from, &standing.prepared)?;
                let lost = lost_starts(self.setup, &starts, (&self.library, &standing));
                self.summary.notes.extend(lost);
                (standing, energy)
            }
        };
        for (at, block) in self.setup.events.blocks().iter().enumerate() {
            if let Some(condition) = &standing.prepared.blocks[at] {
                self.holding[at] = standing.holds_at_start(condition, self.plan.start);
            }
            if block.trigger == Trigger::Initially {
                standing = self.run_blocks(&standing, &[at])?;
            }
        }
        let standing = self.happen(standing)?;
        // Storage that only follows the sources begins with its value after their first step.
        let energy = energy.filter(|_| !self.happened.is_empty() || self.supplied == 0.0);
        let lost = energy.zip(standing.energy()).map(|energies| self.lost(energies));
        if self.happened.is_empty() && lost.is_some_and(|lost| lost != 0.0) {
            self.happened.push(Event::at(self.time, "start", String::new()));
        }
        self.report_events(lost);
        let first = energy.or_else(|| standing.energy());
        Ok((standing, first))
    }

    /// Finds an equilibrium that is consistent with its modes: if other modes follow, their equilibrium is examined next.
    fn at_rest(
        &mut self,
        mut modes: Vec<usize>,
        starts: &FxHashMap<Arc<str>, f64>,
        discretes: &[f64],
    ) -> Result<Standing, Failure> {
        for _ in 0..MOST_RESTS {
            let Ok(prepared) = self.library.prepared(&modes) else {
                break;
            };
            let found = equilibrium(
                self.setup,
                self.plan,
                &prepared,
                (starts, discretes),
                &mut self.summary.notes,
            )?;
            let mut from = Before::at_start(&prepared.system, modes.clone(), found, discretes.to_vec());
            // The point is an equilibrium for the current inputs.
            from.inputs_step = false;
            let standing = self.settle(from)?;
            if standing.prepared.modes == modes {
                return match beyond_contact(&self.library, &standing) {
                    Some(name) => Err(rests_beyond(self.plan.start, &name)),
                    None => Ok(standing),
                };
            }
            modes.clone_from(&standing.prepared.modes);
        }
        Err(no_equilibrium(self.plan.start, &self.library.words(&modes)))
    }

    /// Continues from event to event, until the stop.
    fn go_on(&mut self, mut standing: Standing, first: Option<f64>) -> Result<(), Failure> {
        loop {
            let (known, next) = (self.known_until(), self.next_instant());
            let until = next.min(self.plan.stop).min(known);
            let began = self.time;
            let end = self.part(&standing, until)?;
            (self.time, self.row) = (end.0, end.1);
            let arrived = self.arrived(&standing, began, &end.2)?;
            if self.time > began {
                self.see_loops((&standing, &arrived), began);
            }
            if self.row >= self.plan.points && self.time >= self.plan.stop {
                self.balance.stored = arrived.energy().unwrap_or(f64::NAN) - first.unwrap_or(f64::NAN);
                return Ok(());
            }
            self.mind_accumulation()?;
            standing = arrived;
            let steps = known.is_finite() && !standing.prepared.inputs.steps(self.time).is_empty();
            let is_quiet = self.is_quiet((known, next), steps);
            if !is_quiet {
                self.event_row(&standing, Some(began))?;
            }
            self.supplied = 0.0;
            let before = standing.energy();
            standing = self.happen(standing)?;
            let lost = before.zip(standing.energy());
            self.report_events(lost.map(|energies| self.lost(energies)));
            if !is_quiet {
                self.event_row(&standing, None)?;
            }
        }
    }

    /// Returns the point at the end of a part with these states, before any event there.
    fn arrived(&mut self, standing: &Standing, began: f64, states: &[f64]) -> Result<Standing, Failure> {
        let mut from = Before::of(standing, standing.prepared.modes.clone());
        for (state, value) in standing.prepared.system.states.iter().zip(states) {
            from.replaced.insert(state.name.clone(), *value);
        }
        let mut instant = self.instant((began, self.time));
        instant.enter(&from, standing.prepared.clone(), &[])
    }

    /// Warns once about ideal elements in a loop, during the part of the run that began at a time.
    fn see_loops(&mut self, ends: (&Standing, &Standing), began: f64) {
        if self.summary.notes.iter().any(|note| note.code == Code::LGM1026) {
            return;
        }
        let (mut seen, times) = (std::mem::take(&mut self.seen), (began, self.time));
        let mut instant = self.instant((began, times.1));
        let warning = undetermined(&mut instant, ends, times, &mut seen);
        self.seen = seen;
        self.summary.notes.extend(warning);
    }

    /// Performs one part of the run; returns the time, the next row and the states at its end.
    fn part(&mut self, standing: &Standing, until: f64) -> Result<(f64, usize, Vec<f64>), Failure> {
        let prepared: Rc<_> = standing.prepared.clone();
        let signals = prepared.held(self.time, &standing.discretes);
        let changes = prepared.changes.iter().flatten();
        let changes = changes.map(|change| WatchedCondition {
            condition: change.condition.clone(),
            is_edge: false,
            held: false,
        });
        let blocks = prepared
            .blocks
            .iter()
            .zip(&self.holding)
            .filter_map(|(condition, held)| {
                Some(WatchedCondition {
                    condition: condition.clone()?,
                    is_edge: true,
                    held: *held,
                })
            });
        let held = prepared.held_between(&standing.discretes);
        let part = RunSection {
            time: self.time,
            states: standing.states.clone(),
            until,
            expected: match self.summary.restarts {
                0 => until - self.time,
                parts => (until - self.time).min((self.time - self.plan.start) / parts as f64),
            },
            // Delayed values may jump where they become known.
            is_event: self.next_instant() <= until || !prepared.histories.is_empty(),
            row: self.row,
            corners: &prepared.margin_corners,
            instants: (&prepared.instants, &held),
            longest: prepared.longest,
            looks: &prepared.looks,
            moving: &prepared.moving,
            margins: (&prepared.margins, prepared.phases),
            near: (standing.least.clone(), standing.going()),
            conditions: changes.chain(blocks).collect(),
            scales: prepared.scales.take(),
            output_errors: std::mem::take(&mut self.output_errors),
            powers: prepared.powers.as_ref(),
            delayed: (!prepared.histories.is_empty()).then_some((&prepared.delayed, &prepared.histories[..])),
        };
        let motion = prepared.motion(&self.setup.parameters, &signals, self.plan)?;
        let mut columns = Columns::new(&mut *self.sink, self.setup.first.0, &prepared, &motion);
        let simulator = prepared.simulator();
        let parameters = &self.setup.parameters[..];
        prepared.histories.iter().for_each(|history| history.forget(self.time));
        let end = simulator.run_part((parameters, &signals), self.plan, part, &mut columns, self.progress)?;
        prepared.scales.replace(Some(end.scales));
        self.output_errors = end.output_errors;
        let watched = prepared.blocks.iter().zip(&mut self.holding);
        let watched = watched.filter_map(|(condition, holding)| condition.as_ref().map(|_| holding));
        for (holding, held) in watched.zip(end.held) {
            *holding = held;
        }
        self.add(&end.summary);
        self.balance.add(&end.energies);
        Ok((end.time, end.row, end.states))
    }

    fn add(&mut self, part: &Summary) {
        let all = &mut self.summary;
        all.method = part.method;
        all.stiff_from = part.stiff_from;
        all.steps += part.steps;
        all.rejected += part.rejected;
        all.evaluations += part.evaluations;
        all.jacobians += part.jacobians;
        all.factorisations += part.factorisations;
        all.restarts += part.restarts + 1;
        for note in &part.notes {
            if !all.notes.iter().any(|known| known.code == note.code) {
                all.notes.push(note.clone());
            }
        }
    }
}
