//! A run from event to event: sampled blocks, `when` blocks whose condition has become true, and changes of modes.

use super::super::array::Array;
use super::super::dopri5::UNKNOWN_SCALE;
use super::super::loops::zeros;
use super::super::real::Real;
use super::super::system::Fault;
use super::cause::{Happening, Reason, MOST_AT_ONCE};
use super::moment::Moment;
use super::search::{follow, Follow};
use super::switching::{AssignmentReads, Switching};
use super::tables::{Known, Target, Trigger};
use super::watch::{keeps, remember};

/// The fraction of the run that counts as almost no time: physical events do not occur this often.
pub const NO_TIME: f64 = 1e-5;
/// The scale of a state without a known magnitude, as a fraction of its expected magnitude.
pub const UNSEEN: f64 = 1e-3;

impl<S: Switching> Moment<'_, S> {
    fn find_instant(&mut self) {
        let blocks = S::TABLES.blocks.iter().zip(self.events.next.entries());
        let instants = blocks.map(|(block, number)| S::Real::c(block.trigger.instant(number.to_f64())));
        self.events.instant = instants.fold(S::Real::c(f64::INFINITY), |first, instant| first.minimum(instant));
    }

    /// Returns the margins at the current point. A margin within its round-off is 0; one that depends on time alone counts as it does
    /// just after this instant.
    fn margins_now(&self) -> S::Margins {
        let (margins, timed) = (&self.events.margins, self.in_force().timed);
        S::Margins::of(|at| match margins.values[at].abs() <= margins.least[at] {
            true if timed[at] => margins.signs[at],
            true => S::Real::c(0.0),
            false => margins.values[at],
        })
    }

    /// Returns true if the condition of a block holds at the start of a run: a condition of time that is false there becomes true even if
    /// it is true just after it.
    fn holds_at_start(&self, block: usize) -> bool {
        let (now, timed) = (self.margins_now(), self.in_force().timed);
        let exact = &self.events.margins.values;
        let margins = S::Margins::of(|at| if timed[at] { exact[at] } else { now[at] });
        S::holds(S::TABLES.blocks[block].condition, &margins)
    }

    /// Returns true if the condition of a block holds here and not merely just ahead, or has held and is not left yet.
    fn keeps(&self, block: usize, held: bool) -> bool {
        keeps::<S>(
            S::TABLES.blocks[block].condition,
            held,
            &self.margins_now(),
            &self.events.sides,
        )
    }

    /// Performs the assignments of a block; a sampled one reads the time of its own instant.
    fn assign(&mut self, block: usize, u: &mut S::Inputs) -> Result<(), Fault> {
        let tables = &S::TABLES.blocks[block];
        let instant = tables.trigger.instant(self.events.next[block].to_f64() - 1.0);
        let t = self.t.minimum(S::Real::c(instant));
        for (at, target) in tables.targets.iter().enumerate() {
            let given = AssignmentReads {
                t,
                watched: &self.events.watched,
                u,
                temporaries: &self.events.temporaries,
            };
            let mut value = [S::Real::c(0.0)];
            let system = &mut self.motion.model.system;
            system.assigned(tables.first_assignment + at, given, &mut value);
            let [value] = value;
            if !value.is_finite() {
                return Err(self.fail(Reason::NoValue(block)));
            }
            match *target {
                Target::Discrete(place) => {
                    self.events.from.discretes[place] = value;
                    u[S::TABLES.discretes[place]] = value;
                }
                Target::Temporary(place) => self.events.temporaries[place] = value,
                Target::State(place) => {
                    if self.in_force().known[place] == Known::No {
                        let combination = self.motion.combination();
                        return Err(self.fail(Reason::NoState(S::STATES.names[place], combination)));
                    }
                    self.events.from.x[place] = value;
                    self.events.from.is_set[place] = true;
                }
            }
        }
        Ok(())
    }

    /// Gives ports the values that follow from the storage set by blocks: a switch that closes at the same instant connects the set values.
    fn follow_sets(&mut self) {
        let mut set = self.events.from;
        if !set.is_set.entries().any(|is_set| *is_set) {
            return;
        }
        set.discretes = set.old_discretes;
        // Modes that contradict the set values give way, and their ports keep the previous ones.
        if self.enter(&set, set.combination, false).is_ok() {
            let watched = &self.events.watched;
            self.events.from.ports = Some(S::Powers::of(|at| watched[S::TABLES.places.ports + at]));
        }
    }

    /// Ends a run whose events accumulate.
    fn mind_accumulation(&mut self) -> Result<(), Fault> {
        let no_time = S::Real::c(NO_TIME) * self.motion.whole();
        let place = self.events.count % MOST_AT_ONCE;
        if self.events.count >= MOST_AT_ONCE && self.t - self.events.recent[place] < no_time {
            let latest = self.events.latest();
            return Err(self.fail(Reason::Accumulate(latest)));
        }
        self.events.recent[place] = self.t;
        self.events.count += 1;
        Ok(())
    }

    /// Sets scales of states that were zero until now and begin to move in new modes. Such a state is expected to become as large as
    /// others of its kind; if there are none, its initial slope is extrapolated.
    fn give_scales(&mut self) {
        let least = S::Real::c(UNKNOWN_SCALE);
        let zero = S::Real::c(0.0);
        for (seen, x) in self.motion.tolerances.seen.entries_mut().zip(self.x.entries()) {
            *seen = seen.maximum(x.abs());
        }
        let seen = self.motion.tolerances.seen;
        let is_unknown = |at: usize| (0.0..=UNKNOWN_SCALE).contains(&S::STATES.scales[at]) && seen[at] <= least;
        if self.motion.tolerances.atol > zero || !(0..S::States::LENGTH).any(is_unknown) {
            return;
        }
        let Some(slope) = self.motion.rates(self.t, self.x) else {
            return;
        };
        let left = self.motion.plan.stop - self.t;
        for at in (0..S::States::LENGTH).filter(|at| is_unknown(*at)) {
            let kinds = S::STATES.kinds.iter().enumerate();
            let same = kinds.filter(|(_, kind)| **kind == S::STATES.kinds[at]);
            let expected = same.fold(slope[at].abs() * left, |most, (other, _)| most.maximum(seen[other]));
            if expected.is_finite() {
                self.motion.tolerances.seen[at] = S::Real::c(UNSEEN) * expected;
            }
        }
    }

    /// Performs all further events at the current point, after those that have occurred there already.
    fn go_through(&mut self) -> Result<(), Fault> {
        loop {
            self.events.is_due = false;
            self.mind_accumulation()?;
            self.stand()?;
            follow(self)?;
            if !self.is_at_once() {
                break;
            }
        }
        self.give_scales();
        Ok(())
    }

    /// Performs all events at the current point.
    pub(crate) fn pass(&mut self) -> Result<(), Fault> {
        self.events.happenings = 0;
        self.go_through()
    }

    /// Records the state of the run just before a discontinuity.
    pub(crate) fn arrive(&mut self) -> Result<(), Fault> {
        self.events.watched = self.watched()?;
        self.events.offsets = zeros();
        self.events.from = self.before(self.motion.combination());
        Ok(())
    }

    /// Applies the input steps at a discontinuity: finds the modes after them together with the resulting states.
    fn step_inputs(&mut self, before: &S::Inputs) -> Result<(), Fault> {
        let (here, steps) = self.motion.steps(self.t, before);
        if steps.entries().all(|step| *step == S::Real::c(0.0)) {
            return Ok(());
        }
        self.events.from.inputs = Some(S::Inputs::of(|at| here.u[at] - steps[at]));
        self.settle()?;
        self.give_scales();
        Ok(())
    }

    /// Performs the events at a discontinuity.
    pub(crate) fn corner(&mut self, before: Option<&S::Inputs>) -> Result<(), Fault> {
        self.events.happenings = 0;
        if let Some(before) = before {
            self.step_inputs(before)?;
        }
        if self.in_force().timed.iter().any(|timed| *timed) {
            self.stand()?;
        }
        if self.events.is_due || self.events.instant <= self.t || self.is_at_once() {
            return self.go_through();
        }
        Ok(())
    }

    /// Starts a run: finds the modes that agree with the initial values, and runs the initial blocks and those of the first instant.
    pub(crate) fn begin(&mut self) -> Result<(), Fault> {
        let held = self.motion.model.system.held_mut();
        (held.combination, held.values) = (S::TABLES.first, None);
        let u = self.motion.inputs(self.t);
        let discretes = S::Discretes::of(|at| u[S::TABLES.discretes[at]]);
        let from = &mut self.events.from;
        from.inputs = Some(zeros());
        (from.discretes, from.old_discretes) = (discretes, discretes);
        from.x = *self.x;
        from.is_known = S::Knowns::of(|at| S::TABLES.start_known[at]);
        let (t, blocks) = (self.t, S::TABLES.blocks);
        self.events.next = S::Numbers::of(|at| S::Real::c(blocks[at].trigger.first_number(t.to_f64())));
        self.settle()?;
        for (at, block) in blocks.iter().enumerate() {
            self.events.holding[at] = self.holds_at_start(at);
            if block.trigger == Trigger::Initially {
                self.events.is_run = S::Flags::of(|other| other == at);
                self.run_marked()?;
            }
        }
        follow(self)?;
        if self.is_at_once() {
            self.go_through()?;
        }
        self.give_scales();
        Ok(())
    }

    /// Returns the states of a row, if some are dependent in the combination in force.
    pub(crate) fn row(&mut self) -> Option<S::States> {
        let known = self.in_force().known;
        if known.iter().all(|known| *known == Known::State) {
            return None;
        }
        let level = self.watched().unwrap_or(zeros());
        Some(S::States::of(|at| match known[at] {
            Known::State => self.x[at],
            Known::Follows => level[at],
            Known::No => S::Real::c(f64::NAN),
        }))
    }
}

impl<S: Switching> Follow for Moment<'_, S> {
    type Fault = Fault;

    fn mark_due(&mut self) -> bool {
        for (at, block) in S::TABLES.blocks.iter().enumerate() {
            let is_due = S::Real::c(block.trigger.instant(self.events.next[at].to_f64())) <= self.t;
            self.events.is_run[at] = is_due;
            if is_due {
                self.events.next[at] = self.events.next[at] + S::Real::c(1.0);
            }
        }
        self.find_instant();
        self.events.is_run.entries().any(|is_run| *is_run)
    }

    fn mark_became(&mut self) -> bool {
        for block in 0..S::Flags::LENGTH {
            let holds = self.keeps(block, self.events.holding[block]);
            self.events.is_run[block] = holds && !self.events.holding[block];
            self.events.holding[block] = holds;
        }
        let margins = self.margins_now();
        remember::<S>(&mut self.events.sides, &margins, None);
        self.events.is_run.entries().any(|is_run| *is_run)
    }

    fn has_become(&self) -> bool {
        (0..S::Flags::LENGTH).any(|block| !self.events.holding[block] && self.keeps(block, false))
    }

    fn run_marked(&mut self) -> Result<(), Fault> {
        self.events.from = self.before(self.motion.combination());
        let mut u = self.motion.inputs(self.t);
        for block in 0..S::Flags::LENGTH {
            if self.events.is_run[block] {
                self.assign(block, &mut u)?;
                self.events.note(Happening::Block(block));
            }
        }
        self.follow_sets();
        self.settle()
    }

    fn hold_marked(&mut self) {
        for block in 0..S::Flags::LENGTH {
            if self.events.is_run[block] {
                // The side given by the event, at any distance: a ball that bounces ever more softly has left the floor each time.
                let condition = S::TABLES.blocks[block].condition;
                self.events.holding[block] =
                    S::holds(condition, &self.events.margins.values) || self.keeps(block, false);
            }
        }
    }

    fn change_modes(&mut self) -> Result<bool, Fault> {
        let combination = self.motion.combination();
        self.events.from = self.before(combination);
        self.settle()?;
        Ok(self.motion.combination() != combination)
    }

    fn endless(&mut self) -> Fault {
        let latest = self.events.latest();
        self.fail(Reason::BlocksAccumulate(latest))
    }
}
