//! Entering a combination of modes at an instant: the variables set by the modes step from their previous values, and move the states.

use super::super::array::Array;
use super::super::loops::zeros;
use super::super::real::Real;
use super::super::system::Fault;
use super::cause::Reason;
use super::lemke::least_offsets;
use super::lemke::SHORT;
use super::moment::{short, Before, Moment};
use super::switching::Switching;
use super::tables::Known;

/// A margin below this fraction of the magnitude of its terms counts as 0.
pub const COUNTS: f64 = 1e-11;
/// The fraction by which the states are moved to find the magnitude of the terms of a margin.
pub const MOVED: f64 = 1e-6;
/// A margin carries an impulse if a step of the inputs changes it by more than this fraction of its magnitude.
pub const IMPULSE: f64 = 1e-9;
/// An impulse below this fraction of the relative tolerance, times the largest impulse of the margin so far, counts as none.
pub const FAINT: f64 = 0.1;
/// The smallest relative tolerance that makes impulses more distinct. Positions are known to 1e-11 of their magnitude; a fall from such
/// a height reaches 1e-6 of the largest speed.
pub const FINEST: f64 = 1e-6;
/// The times ahead at which margins are also evaluated to find their direction, as fractions of the run. The shortest sufficient time
/// is used.
pub const AHEAD: [f64; 3] = [1e-12, 1e-10, 1e-7];
/// A margin that crosses 0 within this fraction of the run counts as 0. Event instants are located to this accuracy, so a margin can keep
/// a remainder that exceeds its round-off in another combination of modes.
pub const RESOLVED: f64 = 1e-11;

impl<S: Switching> Moment<'_, S> {
    /// Computes the margins at the current point, and the magnitude below which each of them counts as 0.
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
        // A margin of time, parameters and discrete variables alone has the round-off of time.
        let of_time = S::Real::c(64.0 * S::Real::EPSILON) * self.t.abs();
        margins.least = S::Margins::of(|at| match row.timed[at] {
            true => of_time,
            false => S::Real::c(COUNTS) * margins.sizes[at],
        });
        (margins.values, margins.signs) = (values, values);
        Ok(())
    }

    /// Finds the signs of zero margins from their direction, two steps ahead: a body at rest that accelerates also moves.
    fn look_ahead(&mut self, impulses: &S::Margins) -> Result<(), Fault> {
        let zero = S::Real::c(0.0);
        let row = self.in_force();
        let (values, least) = (self.events.margins.values, self.events.margins.least);
        let resolved = short(RESOLVED, self.motion, self.t);
        // The change of each margin over the shortest step for which it exceeds round-off; and its change per resolved time.
        let (mut going, mut known) = (zeros::<S::Margins>(), zeros::<S::Margins>());
        for share in AHEAD {
            let ahead = short(share, self.motion, self.t);
            let is_first = share == AHEAD[0];
            let is_open = |at: usize| {
                let crosses = values[at].abs() <= least[at].maximum(known[at].abs());
                row.watches[at] && going[at] == zero && (is_first || crosses)
            };
            if !(0..S::Margins::LENGTH).any(is_open) {
                break;
            }
            let Some(point) = self.motion.two_steps(self.t, self.x, ahead) else {
                break;
            };
            let with = self.motion.margins((self.t + S::Real::c(2.0) * ahead, &point), None)?;
            for at in 0..S::Margins::LENGTH {
                let change = with[at] - values[at];
                if row.watches[at] && going[at] == zero {
                    known[at] = change * resolved / ahead;
                    going[at] = if change.abs() > least[at] { change } else { zero };
                }
            }
        }
        // A `when` block requires an actual change of sign of its margin.
        let (combination, margins) = (self.motion.combination(), &mut self.events.margins);
        let elements = || 0..S::Modes::LENGTH;
        let changes = || elements().flat_map(|element| S::TABLES.mode(combination, element).changes);
        let is_bound = |at: usize| changes().any(|change| change.bound.is_some_and(|bound| bound.margin == at));
        for at in 0..S::Margins::LENGTH {
            if values[at].abs() <= known[at].abs() && is_bound(at) {
                margins.least[at] = least[at].maximum(S::Real::c(2.0) * values[at].abs());
            }
            let is_zero = row.watches[at] && values[at].abs() <= margins.least[at];
            margins.signs[at] = match () {
                () if impulses[at] != zero => impulses[at],
                () if is_zero => going[at],
                () => values[at],
            };
        }
        Ok(())
    }

    /// Evaluates the conditions at the current point, without any change.
    pub(crate) fn stand(&mut self) -> Result<(), Fault> {
        self.events.watched = self.watched()?;
        self.events.offsets = zeros();
        self.events.margins.entered = zeros();
        self.look()?;
        self.look_ahead(&zeros())
    }

    /// Computes the impulses of the margins due to steps of the inputs.
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

    /// Returns the value that a closed change sets at a port, if any.
    fn set_there(&self, element: usize, port: usize, given: usize) -> Option<S::Real> {
        let sets = self.events.contacts.closed[element]?.sets;
        let set = sets.iter().find(|set| set.port == port && set.variable == given)?;
        Some(self.events.contacts.set_values[set.place])
    }

    /// Returns the watched values from which offsets are computed: at the start of a run those just before it, with zero inputs.
    fn level(&mut self, from: &Before<S>) -> Result<S::Watched, Fault> {
        match from.ports {
            None => self.motion.watched_before(self.t, self.x),
            Some(_) => self.watched(),
        }
    }

    /// Returns the offsets with which dependent storage reaches its own values, if elements with modes connect it to other storage. These
    /// values are initial values or, if a block has set storage, the previous or the set values.
    fn offsets_of_values(&mut self, from: &Before<S>) -> Result<S::Ports, Fault> {
        let known = self.in_force().known;
        let level = self.level(from)?;
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
            let answer = self.level(from)?;
            for (row, joined) in joined.entries_mut().enumerate().take(rows) {
                joined[port] = answer[places[row]] - level[places[row]];
            }
        }
        let mut turns = S::PortRows::filled(zeros());
        let joined = &mut joined.as_mut()[..rows];
        let found = least_offsets(joined, turns.as_mut(), wanted.as_ref());
        if (0..rows).any(|row| from.is_set[places[row]]) {
            // Values set by a block must be reached; other storage may deviate.
            self.motion.hold(&from.discretes, &found);
            let reached = self.level(from)?;
            let is_tied = |at: usize| {
                let (left, wanted) = (reached[at] - from.x[at], level[at] - from.x[at]);
                from.is_set[at] && left.abs() > S::Real::c(COUNTS).sqrt() * wanted.abs()
            };
            if let Some(tied) = (0..rows).map(|row| places[row]).find(|at| is_tied(*at)) {
                return Err(self.fail(Reason::NoState(S::STATES.names[tied], self.motion.combination())));
            }
        }
        Ok(found)
    }

    /// Computes the offsets before and after an instant.
    fn find_offsets(&self, from: &Before<S>, level: &S::Watched, has_sets: bool, before: &mut S::Ports) -> S::Ports {
        let combination = self.motion.combination();
        let mut after = zeros::<S::Ports>();
        for (at, element) in S::TABLES.elements.iter().enumerate() {
            let modes = |combination: usize| S::TABLES.combinations[combination].modes[at];
            let differs = modes(from.combination) != modes(combination);
            let is_redundant = S::TABLES.combinations[combination].redundant[at];
            for (own, given) in S::TABLES.mode(combination, at).given.iter().enumerate() {
                let Some(given) = given.filter(|_| !is_redundant) else {
                    continue;
                };
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

    /// Enters a combination after an instant; with the values set by contacts, if `has_sets`.
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
        let mut before = match from.ports.is_none() || from.is_set.entries().any(|set| *set) {
            true => self.offsets_of_values(from)?,
            false => zeros(),
        };
        let after = self.find_offsets(from, &level, has_sets, &mut before);
        self.motion.hold(&from.old_discretes, &before);
        let mut held = self.motion.inputs(self.t);
        if let Some(inputs) = from.inputs {
            // All inputs except the held values.
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
        // The round-off of an instant also leaves steps: an impulse must exceed what the value gives in its duration.
        let (values, length) = (self.events.margins.values, short(SHORT, self.motion, self.t));
        let is_impulse = |at: usize| impulses[at].abs() > length * values[at].abs();
        let impulses = S::Margins::of(|at| if is_impulse(at) { impulses[at] } else { zero });
        self.events.margins.entered = impulses;
        self.look_ahead(&impulses)
    }
}
