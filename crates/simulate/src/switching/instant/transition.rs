//! Transitions at an instant: the modes in force behind it, and the states there, as the search of the runtime finds them.

use crate::failure::Failure;
use crate::plan::Plan;
use crate::switching::instant::contacts::Contacts;
use crate::switching::instant::standing::{Before, Closing, Standing};
use crate::switching::library::Library;
use crate::switching::prepared::Prepared;
use lgm_equations::switching::WatchedChange;
use lgm_runtime::events::cause::Happening;
use lgm_runtime::events::search::{Acting, Transition, Unsettled, is_idle, settle};
use rustc_hash::FxHashSet;
use std::rc::Rc;

/// The events at one instant.
pub(crate) struct Instant<'r, 'l> {
    pub library: &'r mut Library<'l>,
    pub plan: &'r Plan,
    pub time: f64,
    /// The piece of the run in which inputs are read: behind the instant, or before it.
    pub piece: (f64, f64),
    pub happened: Vec<Happening>,
    /// The energy that sources have supplied by impulses.
    pub supplied: f64,
}

impl Instant<'_, '_> {
    /// Finds the modes behind this instant, and the states there.
    pub fn settle(&mut self, from: Before) -> Result<Standing, Failure> {
        let mut modes = from.modes.clone();
        let before = from.wanted.clone();
        let mut search = Search {
            instant: self,
            wanted: before.clone(),
            from,
            standing: None,
            contacts: Contacts::default(),
            visited: FxHashSet::default(),
        };
        settle(&mut search, &mut modes)?;
        let Search {
            from,
            standing,
            contacts,
            wanted,
            ..
        } = search;
        let mut standing = standing.expect(STANDS);
        // Events leave out assumed modes.
        let told = |modes: &[usize], wanted: &[Option<usize>]| -> Vec<usize> {
            let modes = modes.iter().zip(wanted);
            modes.map(|(mode, wanted)| wanted.unwrap_or(*mode)).collect()
        };
        self.note_changes(&told(&from.began, &before), &told(&modes, &wanted), &contacts);
        standing.wanted = wanted;
        self.supplied += standing.supplied;
        Ok(standing)
    }

    fn prepared(&mut self, modes: &[usize]) -> Result<Rc<Prepared>, Failure> {
        let found = self.library.prepared(modes);
        found.map_err(|found| self.no_equations(modes, &found))
    }

    fn note_changes(&mut self, began: &[usize], modes: &[usize], contacts: &Contacts) {
        for (element, (before, after)) in began.iter().zip(modes).enumerate() {
            // An element that has closed and opened again at this instant has changed twice.
            let mut from = *before;
            for to in contacts.closed_by(element).filter(|to| to != before) {
                self.happened.push(Happening::Mode { element, from, to });
                from = to;
            }
            if from != *after {
                let to = *after;
                self.happened.push(Happening::Mode { element, from, to });
            }
        }
    }
}

/// Why a search stands in some combination.
const STANDS: &str = "invariant: a search stands in a combination from its first step on";

/// A search for modes, with what it keeps.
struct Search<'s, 'r, 'l> {
    instant: &'s mut Instant<'r, 'l>,
    /// The run just before the instant, or as contacts leave it.
    from: Before,
    standing: Option<Standing>,
    /// The modes that are wanted of elements whose modes are assumed.
    wanted: Vec<Option<usize>>,
    contacts: Contacts,
    visited: FxHashSet<Vec<usize>>,
}

impl Search<'_, '_, '_> {
    fn standing(&self) -> &Standing {
        self.standing.as_ref().expect(STANDS)
    }

    /// The first change of an element that acts.
    fn change_of(&self, element: usize) -> Option<&WatchedChange> {
        let standing = self.standing();
        let mut changes = standing.prepared.changes[element].iter();
        changes.find(|change| standing.holds(&change.condition))
    }

    /// The contacts that act.
    fn closing(&self) -> Vec<Closing> {
        let standing = self.standing();
        let elements = 0..standing.prepared.changes.len();
        let acting = elements.filter_map(|element| Some((element, self.change_of(element)?)));
        let contacts = acting.filter(|(_, change)| !change.sets.is_empty());
        contacts
            .map(|(element, change)| Closing::of(element, change, standing))
            .collect()
    }
}

impl Transition for Search<'_, '_, '_> {
    type Modes = Vec<usize>;
    type Fault = Failure;

    fn count(&self, element: usize) -> usize {
        self.instant.library.mode_count(element)
    }

    fn is_free(&self, element: usize, from: usize, to: usize) -> bool {
        self.instant.library.is_free(element, from, to)
    }

    fn may_stay(&self, element: usize, mode: usize) -> bool {
        self.instant.library.may_stay(element, mode)
    }

    fn is_idle(&self, element: usize) -> bool {
        let standing = self.standing();
        let values = |ports: &[(usize, usize)]| -> Vec<f64> {
            let value = |output: usize| standing.prepared.of_output(output, &standing.watched);
            ports.iter().flat_map(|port| [value(port.0), value(port.1)]).collect()
        };
        let all = &standing.prepared.combination.ports;
        let mut everything = values(&all.concat());
        everything.extend(&standing.states);
        is_idle(&values(&all[element]), &everything)
    }

    fn wanted(&self, element: usize) -> Option<usize> {
        self.wanted[element]
    }

    fn want(&mut self, element: usize, mode: Option<usize>) {
        self.wanted[element] = mode;
    }

    fn acting(&self, element: usize) -> Option<Acting> {
        if self.wanted[element].is_some() {
            return None;
        }
        let change = self.change_of(element)?;
        Some(Acting {
            to: change.to,
            has_sets: !change.sets.is_empty(),
        })
    }

    fn stand_in(&mut self, modes: &Vec<usize>) -> Result<bool, Failure> {
        let Ok(prepared) = self.instant.library.prepared(modes) else {
            return Ok(false);
        };
        self.standing = Some(self.instant.enter(&self.from, prepared, &[])?);
        Ok(true)
    }

    fn complementary(&mut self) -> Result<Option<Vec<usize>>, Failure> {
        let standing = self.standing.as_ref().expect(STANDS);
        self.instant.complementary_modes(&self.from, standing)
    }

    fn close_contacts(&mut self, modes: &mut Vec<usize>) -> Result<(), Failure> {
        let closing = self.closing();
        let (base, sets) = self.contacts.close(&self.from, closing, modes);
        let prepared = self.instant.prepared(modes)?;
        let set = self.instant.enter(&base, prepared, &sets)?;
        self.instant.supplied += set.supplied;
        self.from = Before::of(&set, self.from.began.clone());
        self.visited = FxHashSet::from_iter([modes.clone()]);
        self.standing = Some(self.instant.enter(&self.from, set.prepared, &[])?);
        Ok(())
    }

    fn begin(&mut self, modes: &Vec<usize>) {
        self.contacts = Contacts::at(self.standing());
        self.visited = FxHashSet::from_iter([modes.clone()]);
    }

    fn is_new(&mut self, modes: &Vec<usize>) -> bool {
        self.visited.insert(modes.clone())
    }

    fn was_changed(&self, element: usize) -> bool {
        let mut tried = self.visited.iter();
        tried.any(|modes| modes[element] != self.from.modes[element])
    }

    fn was_in(&self, element: usize, mode: usize) -> bool {
        let mut tried = self.visited.iter();
        self.from.wanted[element].unwrap_or(self.from.modes[element]) == mode
            || tried.any(|modes| modes[element] == mode)
    }

    fn fault(&mut self, modes: &Vec<usize>, reason: Unsettled) -> Failure {
        let (began, visited) = (&self.from.began, &self.visited);
        match reason {
            Unsettled::NoEquations => {
                let found = self.instant.library.fault_of(modes).unwrap_or_default();
                self.instant.no_equations(modes, &found)
            }
            Unsettled::Circle => self.instant.circle(began, visited),
            Unsettled::TooMany(possible) => self.instant.too_many(began, visited, possible),
        }
    }
}
