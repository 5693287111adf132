//! A run from event to event.

use crate::failure::Failure;
use crate::plan::{Plan, Progress, Sink, Summary};
use crate::simulator::RunSection;
use crate::switching::columns::Columns;
use crate::switching::course::Course;
use crate::switching::instant::standing::{Before, Standing};
use crate::switching::instant::transition::Instant;
use crate::switching::setup::{Event, Finished, Switched};
use crate::switching::starts::{
    beyond_contact, discrete_starts, equilibrium, lost_starts, no_equilibrium, rests_beyond, starts,
};
use crate::switching::undetermined::undetermined;
use crate::switching::watch::WatchedCondition;
use lgm_model::switching::Trigger;
use lgm_source::codes::Code;
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
    let standing = course.begin()?;
    course.go_on(standing)?;
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

impl Course<'_> {
    /// Performs the start: the modes that agree with the initial values, the blocks that run initially, and those of the first instant.
    fn begin(&mut self) -> Result<Standing, Failure> {
        let switching = &self.setup.events.model().switching;
        let modes = switching.first_modes();
        let starts = starts(self.setup, self.plan)?;
        let discretes = discrete_starts(self.setup);
        let mut standing = match self.plan.from_equilibrium {
            true => self.at_rest(modes, &starts, &discretes)?,
            false => {
                let standing = self.settle(Before::at_start(self.setup.first.0, modes, starts.clone(), discretes))?;
                let lost = lost_starts(self.setup, &starts, (&self.library, &standing));
                self.summary.notes.extend(lost);
                standing
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
        let stays = standing.has_states(&starts);
        let lost = stays.then(|| standing.energy()).flatten();
        self.report_events(lost.map(|_| 0.0));
        Ok(standing)
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
    fn go_on(&mut self, mut standing: Standing) -> Result<(), Failure> {
        let first = standing.energy();
        loop {
            let until = self.next_instant().min(self.plan.stop);
            let began = self.time;
            let end = self.part(&standing, until)?;
            (self.time, self.row) = (end.0, end.1);
            let arrived = self.arrived(&standing, began, &end.2)?;
            if self.time > began {
                self.see_loops((&standing, &arrived));
            }
            if self.row >= self.plan.points && self.time >= self.plan.stop {
                self.balance.stored = arrived.energy().unwrap_or(f64::NAN) - first.unwrap_or(f64::NAN);
                return Ok(());
            }
            self.mind_accumulation()?;
            standing = arrived;
            self.event_row(&standing)?;
            self.supplied = 0.0;
            let before = standing.energy();
            standing = self.happen(standing)?;
            let lost = before.zip(standing.energy());
            let lost = lost.map(|(before, after)| before - after + self.supplied);
            self.balance.supplied += self.supplied;
            self.balance.lost += lost.unwrap_or(f64::NAN);
            self.report_events(lost);
            self.event_row(&standing)?;
        }
    }

    /// Returns the point at the end of a part with these states, before any event there.
    fn arrived(&mut self, standing: &Standing, began: f64, states: &[f64]) -> Result<Standing, Failure> {
        let mut from = Before::of(standing, standing.prepared.modes.clone());
        for (state, value) in standing.prepared.system.states.iter().zip(states) {
            from.replaced.insert(state.name.clone(), *value);
        }
        let mut instant = Instant {
            library: &mut self.library,
            plan: self.plan,
            time: self.time,
            piece: (began, self.time),
            happened: Vec::new(),
            supplied: 0.0,
        };
        instant.enter(&from, standing.prepared.clone(), &[])
    }

    /// Warns once about ideal elements in a loop.
    fn see_loops(&mut self, ends: (&Standing, &Standing)) {
        let is_known = self.summary.notes.iter().any(|note| note.code == Code::LGM1026);
        if !is_known && let Some(warning) = undetermined(&mut self.library, ends, &mut self.seen) {
            self.summary.notes.push(warning);
        }
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
            is_event: self.next_instant() <= until,
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
        };
        let motion = prepared.motion(&self.setup.parameters, &signals, self.plan)?;
        let mut columns = Columns::new(&mut *self.sink, self.setup.first.0, &prepared, &motion);
        let simulator = prepared.simulator();
        let parameters = &self.setup.parameters[..];
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
