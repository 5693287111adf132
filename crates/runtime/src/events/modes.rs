//! The modes in force behind an instant, as the tables of a model have them: what [`settle`] needs to know of a run.

use super::super::array::Array;
use super::super::system::Fault;
use super::cause::{Happening, Reason};
use super::moment::{Moment, NOT_ASSUMED};
use super::search::{is_idle, settle, Acting, Transition, Unsettled};
use super::switching::Switching;
use super::tables::Change;

/// The mode that is wanted of an element whose mode is assumed.
fn wanted_in<M: Array<Item = usize>>(wanted: &M, element: usize) -> Option<usize> {
    Some(wanted[element]).filter(|mode| *mode != NOT_ASSUMED)
}

fn has_sets(change: &Option<&'static Change>) -> bool {
    change.is_some_and(|change| !change.sets.is_empty())
}

impl<S: Switching> Moment<'_, S> {
    /// The first change of an element that acts.
    fn change_of(&self, element: usize) -> Option<&'static Change> {
        let changes = S::TABLES.mode(self.motion.combination(), element).changes.iter();
        let signs = &self.events.margins.signs;
        changes.into_iter().find(|change| S::holds(change.condition, signs))
    }

    /// Takes the values of contacts that act now, together with those that closed at this instant before. One that closes again comes
    /// after what was set before.
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

    /// Reports the changes of this instant. An element that has closed and opened again has changed twice.
    fn note_changes(&mut self) {
        let (began, now) = (&S::TABLES.combinations[self.events.from.began], self.in_force());
        for element in 0..S::Modes::LENGTH {
            let before = wanted_in(&self.events.wanted_before, element);
            let mut from = before.unwrap_or(began.modes[element]);
            let to = self.wanted(element).unwrap_or(now.modes[element]);
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

    /// The combination of these modes, which the program must hold.
    fn held(&mut self, modes: &S::Modes) -> Result<usize, Fault> {
        let found = S::TABLES.combination_of(modes.as_ref());
        let reason = Reason::NotHeld(self.motion.combination());
        found.ok_or_else(|| self.fail(reason))
    }

    /// No modes agree. Modes that contradict each other say more than a circle does.
    fn disagree(&mut self) -> Fault {
        let tried = self.events.visited.entries().zip(S::TABLES.combinations);
        let conflict = tried
            .into_iter()
            .position(|(visited, row)| *visited && row.conflict.is_some());
        let circle = Reason::Disagree(self.events.from.began);
        self.fail(conflict.map_or(circle, Reason::NoEquations))
    }

    /// Finds the modes behind this instant, and the states there; `from` of the events is what is known before.
    pub(crate) fn settle(&mut self) -> Result<(), Fault> {
        let began = S::TABLES.combinations[self.events.from.combination].modes;
        let mut modes = S::Modes::of(|element| began[element]);
        self.events.wanted_before = self.events.wanted;
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

    fn may_stay(&self, element: usize, mode: usize) -> bool {
        let mut changes = S::TABLES.elements[element].modes[mode].changes.iter();
        changes.all(|change| change.asks_ports)
    }

    fn is_idle(&self, element: usize) -> bool {
        let (places, own) = (&S::TABLES.places, &S::TABLES.elements[element]);
        let first = places.ports + 2 * own.first_port;
        let watched = self.events.watched.as_ref();
        is_idle(&watched[first..first + 2 * own.ports], &watched[..places.given])
    }

    fn wanted(&self, element: usize) -> Option<usize> {
        wanted_in(&self.events.wanted, element)
    }

    fn want(&mut self, element: usize, mode: Option<usize>) {
        self.events.wanted[element] = mode.unwrap_or(NOT_ASSUMED);
    }

    fn acting(&self, element: usize) -> Option<Acting> {
        if self.wanted(element).is_some() {
            return None;
        }
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
        Ok(true)
    }

    fn complementary(&mut self) -> Result<Option<S::Modes>, Fault> {
        let own = self.in_force().modes;
        let mut solved = S::Modes::of(|element| own[element]);
        let is_solved = self.complementary_modes(&mut solved);
        Ok(is_solved.then_some(solved))
    }

    fn close_contacts(&mut self, modes: &mut S::Modes) -> Result<(), Fault> {
        let began = self.events.from.began;
        self.take_contacts(modes);
        let combination = self.held(modes)?;
        if S::TABLES.combinations[combination].conflict.is_some() {
            return Err(self.fail(Reason::NoEquations(combination)));
        }
        let base = self.events.contacts.base.unwrap_or(self.events.from);
        self.enter(&base, combination, true)?;
        let from = self.before(began);
        self.events.from = from;
        self.events.visited = S::Visited::of(|at| at == combination);
        self.enter(&from, combination, false)
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
        wanted_in(&self.events.wanted_before, element).unwrap_or(first[element]) == mode
            || tried.any(|(visited, row)| *visited && row.modes[element] == mode)
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
