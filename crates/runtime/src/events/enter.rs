//! The run in a combination of modes behind an instant: what the modes give steps from what was before, and moves the states.

use super::super::array::Array;
use super::super::loops::zeros;
use super::super::real::Real;
use super::super::system::Fault;
use super::cause::Reason;
use super::lemke::least_offsets;
use super::moment::{short, Before, Moment};
use super::switching::Switching;
use super::tables::Known;

/// A margin counts as 0 where it is below this share of what its terms are worth.
pub const COUNTS: f64 = 1e-11;
/// By this share the states are moved to see what the terms of a margin are worth.
pub const MOVED: f64 = 1e-6;
/// A margin carries an impulse where a step of the inputs changes it by more than this share of its size.
pub const IMPULSE: f64 = 1e-9;
/// An impulse below this share of the relative tolerance, beside the largest one that the margin has had, is none.
pub const FAINT: f64 = 0.1;
/// A smaller tolerance makes no impulse more distinct: places are known to 1e-11 of their size, and the speed of a fall from such a height
/// is 1e-6 of the largest one.
pub const FINEST: f64 = 1e-6;
/// So far ahead, as a share of the run, a margin of 0 is looked at.
pub const AHEAD: f64 = 1e-7;

impl<S: Switching> Moment<'_, S> {
    /// The margins where the run is, and how near to 0 each of them counts as 0.
    fn look(&mut self) -> Result<(), Fault> {
        let row = self.in_force();
        let see = |sizes: &mut S::Margins, at: usize, size: S::Real| {
            if row.watches[at] && size.is_finite() {
                sizes[at] = sizes[at].maximum(size);
            }
        };
        let values = self.margins(None)?;
        for at in 0..S::Margins::LENGTH {
            see(&mut self.events.margins.sizes, at, values[at].abs());
        }
        for state in 0..S::States::LENGTH {
            let value = self.x[state];
            let beside = value * S::Real::c(1.0 + MOVED);
            if row.known[state] != Known::State || beside == value {
                continue;
            }
            self.x[state] = beside;
            let with = self.margins(None);
            self.x[state] = value;
            let with = with?;
            for at in 0..S::Margins::LENGTH {
                let size = (with[at] - values[at]).abs() / S::Real::c(MOVED);
                see(&mut self.events.margins.sizes, at, size);
            }
        }
        let margins = &mut self.events.margins;
        margins.least = S::Margins::of(|at| S::Real::c(COUNTS) * margins.sizes[at]);
        (margins.values, margins.signs) = (values, values);
        Ok(())
    }

    /// Margins that are 0 get the sign of where they are going, a short way ahead; twice as far, with the rates there: what is at rest
    /// and accelerates moves too.
    fn look_ahead(&mut self, impulses: &S::Margins) -> Result<(), Fault> {
        let zero = S::Real::c(0.0);
        let row = self.in_force();
        let ahead = short(AHEAD, self.motion, self.t);
        let margins = &mut self.events.margins;
        let (values, least) = (margins.values, margins.least);
        let is_undecided = |at: usize| impulses[at] == zero && values[at].abs() <= least[at] && row.watches[at];
        margins.signs = S::Margins::of(|at| match () {
            () if impulses[at] != zero => impulses[at],
            () if is_undecided(at) => zero,
            () => values[at],
        });
        if !(0..S::Margins::LENGTH).any(is_undecided) {
            return Ok(());
        }
        let Some(rates) = self.motion.rates(self.t, self.x) else {
            return Ok(());
        };
        let mut point = S::States::of(|at| self.x[at] + ahead * rates[at]);
        if let Some(rates) = self.motion.rates(self.t + ahead, &point) {
            point = S::States::of(|at| point[at] + ahead * rates[at]);
        }
        let with = self.motion.margins((self.t + S::Real::c(2.0) * ahead, &point), None)?;
        for at in 0..S::Margins::LENGTH {
            let change = with[at] - values[at];
            if is_undecided(at) && change.abs() > least[at] {
                self.events.margins.signs[at] = change;
            }
        }
        Ok(())
    }

    /// Looks at the conditions where the run is, without any change.
    pub(crate) fn stand(&mut self) -> Result<(), Fault> {
        self.events.watched = self.watched()?;
        self.events.offsets = zeros();
        self.look()?;
        self.look_ahead(&zeros())
    }

    /// The impulses of the margins by steps of the inputs.
    fn find_impulses(&mut self, step: &S::Inputs) -> Result<S::Margins, Fault> {
        let zero = S::Real::c(0.0);
        let with = self.margins(Some(step))?;
        let without = self.margins(Some(&zeros()))?;
        let watches = self.in_force().watches;
        let faint = S::Real::c(FAINT) * self.motion.plan.rtol.maximum(S::Real::c(FINEST));
        let largest = &mut self.events.margins.impulses;
        Ok(S::Margins::of(|at| {
            let size = with[at].abs().maximum(without[at].abs());
            let change = with[at] - without[at];
            if !(watches[at] && change.abs() > S::Real::c(IMPULSE) * size) {
                return zero;
            }
            largest[at] = largest[at].maximum(change.abs());
            if change.abs() > faint * largest[at] {
                change
            } else {
                zero
            }
        }))
    }

    /// The value that a change that has closed sets at a port, if it does.
    fn set_there(&self, element: usize, port: usize, given: usize) -> Option<S::Real> {
        let sets = self.events.contacts.closed[element]?.sets;
        let set = sets.iter().find(|set| set.port == port && set.variable == given)?;
        Some(self.events.contacts.set_values[set.place])
    }

    /// At the start of a run, the offsets with which dependent storage has its starts, as far as elements with modes join it to other
    /// storage.
    fn offsets_at_start(&mut self, from: &Before<S>) -> Result<S::Ports, Fault> {
        let known = self.in_force().known;
        let level = self.motion.watched_before(self.t, self.x)?;
        let (mut wanted, mut joined) = (zeros::<S::States>(), S::Joined::filled(zeros()));
        let (mut places, mut rows) = (S::Places::filled(0), 0);
        for at in 0..S::States::LENGTH {
            if known[at] == Known::Follows && from.is_known[at] {
                (wanted[rows], places[rows]) = (from.x[at] - level[at], at);
                rows += 1;
            }
        }
        if rows == 0 {
            return Ok(zeros());
        }
        for port in 0..S::Ports::LENGTH {
            let mut offsets = zeros::<S::Ports>();
            offsets[port] = S::Real::c(1.0);
            self.motion.hold(&from.discretes, &offsets);
            let answer = self.motion.watched_before(self.t, self.x)?;
            for (row, joined) in joined.entries_mut().enumerate().take(rows) {
                joined[port] = answer[places[row]] - level[places[row]];
            }
        }
        let mut turns = S::PortRows::filled(zeros());
        let joined = &mut joined.as_mut()[..rows];
        Ok(least_offsets(joined, turns.as_mut(), wanted.as_ref()))
    }

    /// The offsets before an instant and behind it.
    fn find_offsets(&self, from: &Before<S>, level: &S::Watched, has_sets: bool, before: &mut S::Ports) -> S::Ports {
        let combination = self.motion.combination();
        let mut after = zeros::<S::Ports>();
        for (at, element) in S::TABLES.elements.iter().enumerate() {
            let modes = |combination: usize| S::TABLES.combinations[combination].modes[at];
            let differs = modes(from.combination) != modes(combination);
            for (own, given) in S::TABLES.mode(combination, at).given.iter().enumerate() {
                let Some(given) = *given else { continue };
                let port = element.first_port + own;
                let value = level[S::TABLES.places.given + port];
                match &from.ports {
                    Some(ports) if differs => before[port] = ports[2 * port + given] - value,
                    _ if from.offsets[port] != S::Real::c(0.0) => before[port] = from.offsets[port],
                    _ => {}
                }
                if let Some(set) = self.set_there(at, port, given).filter(|_| has_sets) {
                    after[port] = set - value;
                }
            }
        }
        after
    }

    /// The run in a combination behind an instant; with what is set there, if `has_sets`.
    pub(crate) fn enter(&mut self, from: &Before<S>, combination: usize, has_sets: bool) -> Result<(), Fault> {
        let zero = S::Real::c(0.0);
        self.motion.model.system.held_mut().combination = combination;
        self.motion.from = self.t;
        for (at, known) in self.in_force().known.iter().enumerate() {
            let is_state = *known == Known::State;
            if is_state && !from.is_known[at] {
                return Err(self.fail(Reason::UnknownState(S::STATES.names[at])));
            }
            self.x[at] = if is_state { from.x[at] } else { zero };
        }
        self.motion.hold(&from.discretes, &zeros());
        let level = self.watched()?;
        let mut before = match from.ports {
            None => self.offsets_at_start(from)?,
            Some(_) => zeros(),
        };
        let after = self.find_offsets(from, &level, has_sets, &mut before);
        self.motion.hold(&from.old_discretes, &before);
        let mut held = self.motion.inputs(self.t);
        if let Some(inputs) = from.inputs {
            // All but what is held.
            let own = held;
            held = inputs;
            for at in 0..S::Held::LENGTH {
                let input = S::TABLES.held_input(at);
                held[input] = own[input];
            }
        }
        self.motion.hold(&from.discretes, &after);
        let now = self.motion.inputs(self.t);
        let step = S::Inputs::of(|at| now[at] - held[at]);
        let mut impulses = zeros();
        if step.entries().any(|step| *step != zero) {
            self.motion.move_states(self.t, &held, self.x, false)?;
            impulses = self.find_impulses(&step)?;
        }
        self.events.offsets = after;
        self.events.watched = self.watched()?;
        self.look()?;
        self.look_ahead(&impulses)
    }
}
