//! The modes in force after an instant: implements the interface of [`settle`] with the tables of a model.

use super::super::array::Array;
use super::super::real::Real;
use super::super::system::Fault;
use super::cause::{Happening, Reason};
use super::complementarity::Outcome;
use super::moment::Moment;
use super::search::{settle, Acting, Transition, Unsettled};
use super::switching::Switching;
use super::tables::Change;

fn has_sets(change: &Option<&'static Change>) -> bool {
    change.is_some_and(|change| !change.sets.is_empty())
}

impl<S: Switching> Moment<'_, S> {
    /// Returns the first acting change of an element.
    fn change_of(&self, element: usize) -> Option<&'static Change> {
        let changes = S::TABLES.mode(self.motion.combination(), element).changes.iter();
        let signs = &self.events.margins.signs;
        changes.into_iter().find(|change| S::holds(change.condition, signs))
    }

    /// Returns true if a change acts once its bound is exceeded; a change without a bound acts here.
    pub(crate) fn holds_beyond(&self, change: &Change) -> bool {
        let mut signs = self.events.margins.signs;
        if let Some(bound) = change.bound {
            signs[bound.margin] = S::Real::c(if bound.is_positive { 1.0 } else { -1.0 });
        }
        S::holds(change.condition, &signs)
    }

    /// Stores the values of contacts that act now, in addition to those that closed earlier at this instant. A contact that closes again
    /// starts a new set of values.
    fn take_contacts(&mut self, modes: &mut S::Modes) {
        let acting = S::Acting::of(|element| self.change_of(element));
        let events = &mut *self.events;
        let contacts = &mut events.contacts;
        let mut pairs = acting.entries().zip(contacts.closed.entries());
        if pairs.any(|(acting, closed)| has_sets(acting) && closed.is_some()) {
            contacts.closed = S::Acting::filled(None);
            (contacts.base, contacts.offered) = (None, None);
        }
        contacts.base.get_or_insert(events.from);
        for element in 0..S::Acting::LENGTH {
            let Some(mut change) = acting[element].filter(|change| !change.sets.is_empty()) else {
                continue;
            };
            let mut values = &events.watched;
            if let Some((offered, combination)) = &contacts.offered {
                let mut others = S::TABLES.mode(*combination, element).changes.iter();
                if let Some(other) = others.rfind(|other| other.to == change.to && !other.sets.is_empty()) {
                    (change, values) = (other, offered);
                }
            }
            for set in change.sets {
                contacts.set_values[set.place] = values[S::TABLES.places.sets + set.place];
            }
            contacts.closed[element] = Some(change);
            contacts.first_closed[element].get_or_insert(change);
        }
        for (mode, closed) in modes.entries_mut().zip(contacts.closed.entries()) {
            *mode = closed.map_or(*mode, |closed| closed.to);
        }
    }

    /// Returns the change of an element that acts by an impulse on a bound.
    fn pulled(&self, element: usize) -> Option<&'static Change> {
        let margins = &self.events.margins;
        let mut changes = S::TABLES.mode(self.motion.combination(), element).changes.iter();
        changes.find(|change| {
            let is_struck = change
                .bound
                .is_some_and(|bound| margins.entered[bound.margin] != S::Real::c(0.0));
            is_struck && change.sets.is_empty() && S::holds(change.condition, &margins.signs)
        })
    }

    /// Takes the changes that act by an impulse on a bound; returns false if there are none.
    fn pull(&mut self, modes: &mut S::Modes) -> bool {
        let mut is_any = false;
        for element in 0..S::Modes::LENGTH {
            if let Some(change) = self.pulled(element) {
                modes[element] = change.to;
                is_any = true;
            }
        }
        is_any
    }

    /// Reports the changes of this instant. An element that has closed and reopened has changed twice.
    fn note_changes(&mut self) {
        let (began, now) = (&S::TABLES.combinations[self.events.from.began], self.in_force());
        for element in 0..S::Modes::LENGTH {
            let (mut from, to) = (began.modes[element], now.modes[element]);
            let closed = self.events.contacts.first_closed[element].map_or(from, |closed| closed.to);
            for next in [closed, to] {
                if next != from {
                    let to = next;
                    self.events.note(Happening::Mode { element, from, to });
                    from = next;
                }
            }
        }
    }

    /// Returns the combination of these modes, which the program must contain.
    fn held(&mut self, modes: &S::Modes) -> Result<usize, Fault> {
        let found = S::TABLES.combination_of(modes.as_ref());
        let reason = Reason::NotHeld(self.motion.combination());
        found.ok_or_else(|| self.fail(reason))
    }

    /// Returns the fault for inconsistent modes. Contradictory modes are a more specific reason than a cycle of changes.
    fn disagree(&mut self) -> Fault {
        let tried = self.events.visited.entries().zip(S::TABLES.combinations);
        let conflict = tried
            .into_iter()
            .position(|(visited, row)| *visited && row.conflict.is_some());
        let circle = Reason::Disagree(self.events.from.began);
        self.fail(conflict.map_or(circle, Reason::NoEquations))
    }

    /// Finds the modes after this instant, and the states there; `from` of the events contains the data known before.
    pub(crate) fn settle(&mut self) -> Result<(), Fault> {
        let began = S::TABLES.combinations[self.events.from.combination].modes;
        let mut modes = S::Modes::of(|element| began[element]);
        settle(self, &mut modes)?;
        self.note_changes();
        Ok(())
    }
}

impl<S: Switching> Transition for Moment<'_, S> {
    type Modes = S::Modes;
    type Fault = Fault;

    fn count(&self, element: usize) -> usize {
        S::TABLES.elements[element].modes.len()
    }

    fn is_free(&self, element: usize, from: usize, to: usize) -> bool {
        let mut changes = S::TABLES.elements[element].modes[from].changes.iter();
        changes.any(|change| change.to == to && change.is_free)
    }

    fn acting(&self, element: usize) -> Option<Acting> {
        let change = self.change_of(element)?;
        Some(Acting {
            to: change.to,
            has_sets: !change.sets.is_empty(),
        })
    }

    fn stand_in(&mut self, modes: &S::Modes) -> Result<bool, Fault> {
        let combination = self.held(modes)?;
        if S::TABLES.combinations[combination].conflict.is_some() {
            return Ok(false);
        }
        let from = self.events.from;
        self.enter(&from, combination, false)?;
        Ok(S::States::LENGTH == 0 || self.motion.rates(self.t, self.x).is_some())
    }

    fn complementary(&mut self, modes: &mut S::Modes) -> Result<Outcome, Fault> {
        Ok(self.complementary_modes(modes))
    }

    fn close_contacts(&mut self, modes: &mut S::Modes) -> Result<(), Fault> {
        let began = self.events.from.began;
        self.take_contacts(modes);
        let mut combination = self.held(modes)?;
        if S::TABLES.combinations[combination].conflict.is_some() {
            return Err(self.fail(Reason::NoEquations(combination)));
        }
        let base = self.events.contacts.base.unwrap_or(self.events.from);
        self.enter(&base, combination, true)?;
        // Elements release if an impulse of the contacts pulls at them.
        for _ in 0..S::Modes::LENGTH {
            if !self.pull(modes) {
                break;
            }
            combination = self.held(modes)?;
            if S::TABLES.combinations[combination].conflict.is_some() {
                return Err(self.fail(Reason::NoEquations(combination)));
            }
            self.enter(&base, combination, true)?;
        }
        let from = self.before(began);
        self.events.from = from;
        self.events.visited = S::Visited::of(|at| at == combination);
        self.enter(&from, combination, false)
    }

    fn keep(&mut self) -> bool {
        let combination = self.motion.combination();
        // The bounds of a redundant element are not part of the problem.
        let redundant = S::TABLES.combinations[combination].redundant;
        let elements = (0..S::Modes::LENGTH).filter(|element| !redundant[*element]);
        let changes = elements.flat_map(|element| S::TABLES.mode(combination, element).changes);
        let bounded = changes.filter_map(|change| Some((change, change.bound?)));
        let margins = &mut self.events.margins;
        let mut is_any = false;
        for (change, bound) in bounded.filter(|(change, _)| change.sets.is_empty()) {
            let at = bound.margin;
            // A condition that holds at the bound itself does not depend on the side.
            if margins.signs[at] != S::Real::c(0.0) && S::holds(change.condition, &margins.signs) {
                margins.least[at] = margins.least[at].maximum(S::Real::c(2.0) * margins.values[at].abs());
                let least = S::Real::c(f64::MIN_POSITIVE);
                margins.signs[at] = if bound.is_positive { -least } else { least };
                is_any |= !S::holds(change.condition, &margins.signs);
            }
        }
        is_any
    }

    fn at_rest(&self, element: usize) -> Option<usize> {
        let combination = self.motion.combination();
        let (watched, signs) = (&self.events.watched, &self.events.margins.signs);
        let laws = S::TABLES.places.laws + S::TABLES.elements[element].first_mode;
        let own = watched[laws + S::TABLES.combinations[combination].modes[element]];
        let mut changes = S::TABLES.mode(combination, element).changes.iter();
        changes.find_map(|change| {
            let bound = change.bound?;
            let slides = watched[laws + bound.far?] != own;
            (slides && signs[bound.margin] == S::Real::c(0.0)).then_some(change.to)
        })
    }

    fn attempt(&mut self, modes: &S::Modes) -> Result<Option<S::Modes>, Fault> {
        if S::TABLES.combination_of(modes.as_ref()).is_none() {
            return Ok(None);
        }
        let (before, from) = (self.motion.combination(), self.events.from);
        let (signs, least) = (self.events.margins.signs, self.events.margins.least);
        let stands = self.stand_in(modes)?;
        let acting = S::Modes::of(|element| usize::from(self.acting(element).is_some()));
        let stays = stands && acting.entries().all(|acts| *acts == 0);
        if !stays && self.motion.combination() != before {
            self.enter(&from, before, false)?;
            (self.events.margins.signs, self.events.margins.least) = (signs, least);
        }
        Ok(stands.then_some(acting))
    }

    fn returns(&self, element: usize, to: usize) -> bool {
        let mut changes = S::TABLES.mode(self.motion.combination(), element).changes.iter();
        let slides = |change: &Change| change.bound.is_some_and(|bound| bound.far.is_some());
        changes.any(|change| change.to == to && self.holds_beyond(change) && !slides(change))
    }

    fn former(&self) -> S::Modes {
        let modes = S::TABLES.combinations[self.events.from.combination].modes;
        S::Modes::of(|element| modes[element])
    }

    fn is_struck(&self) -> bool {
        (0..S::Modes::LENGTH).any(|element| self.pulled(element).is_some())
    }

    fn jump(&mut self, _: &S::Modes) {
        let (began, combination) = (self.events.from.began, self.motion.combination());
        let from = self.before(began);
        self.events.from = from;
        self.events.visited = S::Visited::of(|at| at == combination);
    }

    fn begin(&mut self, _: &S::Modes) {
        let combination = self.motion.combination();
        self.events.visited = S::Visited::of(|at| at == combination);
        let offered = (self.events.watched, combination);
        let contacts = &mut self.events.contacts;
        contacts.offered = Some(offered);
        contacts.base = None;
        contacts.closed = S::Acting::filled(None);
        contacts.first_closed = S::Acting::filled(None);
    }

    fn is_new(&mut self, modes: &S::Modes) -> bool {
        let combination = S::TABLES.combination_of(modes.as_ref());
        combination.is_none_or(|at| !core::mem::replace(&mut self.events.visited[at], true))
    }

    fn was_changed(&self, element: usize) -> bool {
        let first = S::TABLES.combinations[self.events.from.combination].modes;
        let mut tried = self.events.visited.entries().zip(S::TABLES.combinations);
        tried.any(|(visited, row)| *visited && row.modes[element] != first[element])
    }

    fn was_in(&self, element: usize, mode: usize) -> bool {
        let first = S::TABLES.combinations[self.events.from.combination].modes;
        let mut tried = self.events.visited.entries().zip(S::TABLES.combinations);
        first[element] == mode || tried.any(|(visited, row)| *visited && row.modes[element] == mode)
    }

    fn fault(&mut self, modes: &S::Modes, reason: Unsettled) -> Fault {
        match reason {
            Unsettled::NoEquations => match self.held(modes) {
                Ok(combination) => self.fail(Reason::NoEquations(combination)),
                Err(fault) => fault,
            },
            Unsettled::Circle | Unsettled::TooMany(_) => self.disagree(),
        }
    }
}
