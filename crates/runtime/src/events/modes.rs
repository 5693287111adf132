//! Transitions at an instant: the modes in force behind it, and the states there.
//!
//! In the search conditions read impulses before finite values, and states jump only in the combination that is found. A value that a
//! change sets moves the states at once, and stays whatever mode follows.

use super::super::array::Array;
use super::super::system::Fault;
use super::cause::{Happening, Reason};
use super::moment::Moment;
use super::switching::Switching;
use super::tables::Change;

/// Changes follow each other at one instant this number of times at most.
const MOST_ROUNDS: usize = 1000;
/// If changes lead in a circle, at most this number of combinations is looked through.
const MOST_SEARCHED: usize = 4096;
/// Of the elements, so many have their modes changed two by two in the search.
const MOST_PAIRED: usize = 24;

/// The modes of an element by their number.
fn count<S: Switching>(element: usize) -> usize {
    S::TABLES.elements[element].modes.len()
}

/// The number of combinations of the modes of some elements.
fn product<S: Switching>(elements: impl Iterator<Item = usize>) -> usize {
    elements.fold(1, |all: usize, element| all.saturating_mul(count::<S>(element)))
}

fn has_sets(change: &Option<&'static Change>) -> bool {
    change.is_some_and(|change| !change.sets.is_empty())
}

/// Returns true for a change that sets nothing.
fn is_plain(change: &Option<&'static Change>) -> bool {
    change.is_some_and(|change| change.sets.is_empty())
}

impl<S: Switching> Moment<'_, S> {
    /// Finds the changes that act, the first one of each element.
    fn find_acting(&mut self) {
        let (combination, signs) = (self.motion.combination(), &self.events.margins.signs);
        self.events.acting = S::Acting::of(|element| {
            let changes = S::TABLES.mode(combination, element).changes.iter();
            changes.into_iter().find(|change| S::holds(change.condition, signs))
        });
    }

    /// Closes contacts that act now, together with those that closed at this instant before. One that closes again comes after what was
    /// set before.
    fn close_contacts(&mut self, modes: &mut S::Modes) {
        let events = &mut *self.events;
        let contacts = &mut events.contacts;
        let mut pairs = events.acting.entries().zip(contacts.closed.entries());
        if pairs.any(|(acting, closed)| has_sets(acting) && closed.is_some()) {
            contacts.closed = S::Acting::filled(None);
            (contacts.base, contacts.offered) = (None, None);
        }
        contacts.base.get_or_insert(events.from);
        for element in 0..S::Acting::LENGTH {
            let Some(mut change) = events.acting[element].filter(|change| !change.sets.is_empty()) else {
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

    /// Enters the combination of these modes if it has equations; false if it has none.
    fn tries(&mut self, modes: &S::Modes) -> Result<bool, Fault> {
        let combination = self.held(modes)?;
        if S::TABLES.combinations[combination].conflict.is_some() {
            return Ok(false);
        }
        let from = self.events.from;
        self.enter(&from, combination, false)?;
        Ok(true)
    }

    /// The combination of these modes, which the program must hold.
    fn held(&mut self, modes: &S::Modes) -> Result<usize, Fault> {
        let found = S::TABLES.combination_of(modes.as_ref());
        let reason = Reason::NotHeld(self.motion.combination());
        found.ok_or_else(|| self.fail(reason))
    }

    /// The run in these modes; where they have no equations, in the nearest ones that have: with one element in another mode, or two.
    fn enter_nearest(&mut self, modes: &mut S::Modes) -> Result<(), Fault> {
        if self.tries(modes)? {
            return Ok(());
        }
        let wanted = *modes;
        let elements = S::Modes::LENGTH;
        for at in 0..elements {
            for mode in (0..count::<S>(at)).filter(|mode| *mode != wanted[at]) {
                modes[at] = mode;
                if self.tries(modes)? {
                    return Ok(());
                }
            }
            *modes = wanted;
        }
        let paired = elements.min(MOST_PAIRED);
        for first in 0..paired {
            for second in first + 1..paired {
                for both in 0..count::<S>(first) * count::<S>(second) {
                    (modes[first], modes[second]) = (both / count::<S>(second), both % count::<S>(second));
                    let are_others = modes[first] != wanted[first] && modes[second] != wanted[second];
                    if are_others && self.tries(modes)? {
                        return Ok(());
                    }
                }
                *modes = wanted;
            }
        }
        let combination = self.held(&wanted)?;
        Err(self.fail(Reason::NoEquations(combination)))
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

    /// The combinations of the elements that act, looked through one after the other for one in which contacts act at most.
    fn search(&mut self, modes: &mut S::Modes) -> Result<(), Fault> {
        let elements = S::Modes::LENGTH;
        // Every element whose mode was changed in the search is open, and all if that is not too much.
        let are_few = product::<S>(0..elements) <= MOST_SEARCHED;
        let first = S::TABLES.combinations[self.events.from.combination].modes;
        let events = &*self.events;
        let is_open = S::Opens::of(|element| {
            let mut visited = events.visited.entries().zip(S::TABLES.combinations);
            are_few
                || is_plain(&events.acting[element])
                || visited.any(|(visited, row)| *visited && row.modes[element] != first[element])
        });
        let possible = product::<S>((0..elements).filter(|element| is_open[*element]));
        for index in 0..possible.min(MOST_SEARCHED) {
            let mut rest = index;
            for element in (0..elements).filter(|element| is_open[*element]) {
                modes[element] = rest % count::<S>(element);
                rest /= count::<S>(element);
            }
            if self.tries(modes)? {
                self.find_acting();
                if !self.events.acting.entries().any(is_plain) {
                    return Ok(());
                }
            }
        }
        Err(self.disagree())
    }

    /// Takes all changes that act and set nothing, or the first one alone; true if that leads to a combination that was not tried yet.
    fn take_changes(&mut self, modes: &mut S::Modes, is_first_alone: bool) -> bool {
        let acting = self.events.acting.entries().enumerate();
        let plain = acting.filter(|(_, change)| is_plain(change));
        for (element, change) in plain.take(if is_first_alone { 1 } else { usize::MAX }) {
            modes[element] = change.map_or(modes[element], |change| change.to);
        }
        let combination = S::TABLES.combination_of(modes.as_ref());
        combination.is_none_or(|combination| self.is_new(combination))
    }

    /// Marks a combination as tried; false if it was.
    fn is_new(&mut self, combination: usize) -> bool {
        !core::mem::replace(&mut self.events.visited[combination], true)
    }

    /// Contacts that act set their values, each by the values just before the instant.
    fn settle_contacts(&mut self, modes: &mut S::Modes) -> Result<(), Fault> {
        let began = self.events.from.began;
        self.close_contacts(modes);
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

    fn forget_contacts(&mut self) {
        let offered = (self.events.watched, self.motion.combination());
        let contacts = &mut self.events.contacts;
        contacts.offered = Some(offered);
        contacts.base = None;
        contacts.closed = S::Acting::filled(None);
        contacts.first_closed = S::Acting::filled(None);
    }

    /// Enters the modes that complementary elements agree on, if they were not tried yet.
    fn solve_modes(&mut self, modes: &mut S::Modes) -> Result<bool, Fault> {
        let own = self.in_force().modes;
        let mut solved = S::Modes::of(|element| own[element]);
        if !self.complementary_modes(&mut solved) {
            return Ok(false);
        }
        let combination = self.held(&solved)?;
        if !self.is_new(combination) || S::TABLES.combinations[combination].conflict.is_some() {
            return Ok(false);
        }
        *modes = solved;
        let from = self.events.from;
        self.enter(&from, combination, false)?;
        Ok(true)
    }

    /// Finds the modes behind this instant, and the states there; `from` of the events is what is known before.
    pub(crate) fn settle(&mut self) -> Result<(), Fault> {
        let began = S::TABLES.combinations[self.events.from.combination].modes;
        let mut modes = S::Modes::of(|element| began[element]);
        let mut one_by_one = false;
        self.enter_nearest(&mut modes)?;
        self.forget_contacts();
        let combination = self.motion.combination();
        self.events.visited = S::Visited::of(|at| at == combination);
        for _ in 0..MOST_ROUNDS {
            self.find_acting();
            if self.events.acting.entries().all(Option::is_none) {
                self.note_changes();
                return Ok(());
            }
            // In the search a mode that cannot hold may pass on an impulse, and close a contact that way: so all other changes come
            // first.
            if !self.events.acting.entries().any(is_plain) {
                self.settle_contacts(&mut modes)?;
                continue;
            }
            if !one_by_one && self.solve_modes(&mut modes)? {
                continue;
            }
            let kept = modes;
            let mut is_new = self.take_changes(&mut modes, one_by_one);
            if !is_new && !one_by_one {
                // All at once leads in a circle: from here on the first change alone is taken.
                one_by_one = true;
                modes = kept;
                is_new = self.take_changes(&mut modes, true);
            }
            if is_new {
                self.enter_nearest(&mut modes)?;
            } else {
                self.search(&mut modes)?;
            }
        }
        Err(self.disagree())
    }
}
