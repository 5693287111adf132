//! Transitions at an instant: the search of the runtime finds the modes in force after it, and the states there.

use crate::failure::Failure;
use crate::plan::Plan;
use crate::switching::instant::contacts::Contacts;
use crate::switching::instant::standing::{Before, Closing, Standing};
use crate::switching::library::Combinations;
use crate::switching::prepared::Prepared;
use lgm_equations::switching::WatchedChange;
use lgm_runtime::events::cause::Happening;
use lgm_runtime::events::complementarity::Outcome;
use lgm_runtime::events::search::{Acting, Transition, Unsettled, settle};
use rustc_hash::FxHashSet;
use std::rc::Rc;

/// The events at one instant.
pub(crate) struct Instant<'r, 'l> {
    pub library: &'r mut Combinations<'l>,
    pub plan: &'r Plan,
    pub time: f64,
    /// The piece of the run in which inputs are evaluated: after the instant, or before it.
    pub piece: (f64, f64),
    pub happened: Vec<Happening>,
    /// The energy that sources have supplied by impulses.
    pub supplied: f64,
}

impl Instant<'_, '_> {
    /// Finds the modes after this instant, and the states there.
    pub fn settle(&mut self, from: Before) -> Result<Standing, Failure> {
        let mut modes = from.modes.clone();
        let mut search = Search {
            instant: self,
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
            ..
        } = search;
        let standing = standing.expect(STANDS);
        self.note_changes(&from.began, &modes, &contacts);
        self.supplied += standing.supplied;
        Ok(standing)
    }

    fn prepared(&mut self, modes: &[usize]) -> Result<Rc<Prepared>, Failure> {
        let found = self.library.prepared(modes);
        found.map_err(|found| self.no_equations(modes, &found))
    }

    fn note_changes(&mut self, began: &[usize], modes: &[usize], contacts: &Contacts) {
        for (element, (before, after)) in began.iter().zip(modes).enumerate() {
            // An element that has closed and reopened at this instant has changed twice.
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

/// Returns the changes that act by an impulse on a bound, each with its element and next mode.
fn pulled(standing: &Standing) -> Vec<(usize, usize)> {
    let elements = standing.prepared.changes.iter().enumerate();
    let acts = |change: &&WatchedChange| {
        let is_struck = change
            .bound
            .is_some_and(|bound| standing.margin_impulses[bound.margin] != 0.0);
        is_struck && change.sets.is_empty() && standing.holds(&change.condition)
    };
    let found = elements.filter_map(|(element, changes)| Some((element, changes.iter().find(acts)?.to)));
    found.collect()
}

/// Explains why a search always has a current combination.
const STANDS: &str = "invariant: a search stands in a combination from its first step on";

/// A search for modes, with its data.
struct Search<'s, 'r, 'l> {
    instant: &'s mut Instant<'r, 'l>,
    /// The state of the run just before the instant, or after contacts have closed.
    from: Before,
    standing: Option<Standing>,
    contacts: Contacts,
    visited: FxHashSet<Vec<usize>>,
}

impl Search<'_, '_, '_> {
    fn standing(&self) -> &Standing {
        self.standing.as_ref().expect(STANDS)
    }

    /// Returns the first acting change of an element.
    fn change_of(&self, element: usize) -> Option<&WatchedChange> {
        let standing = self.standing();
        let mut changes = standing.prepared.changes[element].iter();
        changes.find(|change| standing.holds(&change.condition))
    }

    /// Returns the acting contacts.
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

    fn acting(&self, element: usize) -> Option<Acting> {
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
        let standing = self.instant.enter(&self.from, prepared, &[])?;
        let has_rates = standing.has_rates;
        self.standing = Some(standing);
        Ok(has_rates)
    }

    fn complementary(&mut self, modes: &mut Vec<usize>) -> Result<Outcome, Failure> {
        let standing = self.standing.as_ref().expect(STANDS);
        self.instant.complementary_modes(&self.from, standing, modes)
    }

    fn close_contacts(&mut self, modes: &mut Vec<usize>) -> Result<(), Failure> {
        let closing = self.closing();
        let (base, sets) = self.contacts.close(&self.from, closing, modes);
        let prepared = self.instant.prepared(modes)?;
        let mut set = self.instant.enter(&base, prepared, &sets)?;
        // Contacts open if an impulse would pull at them.
        for _ in 0..modes.len() {
            let pulled = pulled(&set);
            if pulled.is_empty() {
                break;
            }
            pulled.into_iter().for_each(|(element, to)| modes[element] = to);
            let prepared = self.instant.prepared(modes)?;
            set = self.instant.enter(&base, prepared, &sets)?;
        }
        self.instant.supplied += set.supplied;
        self.from = Before::of(&set, self.from.began.clone());
        self.visited = FxHashSet::from_iter([modes.clone()]);
        self.standing = Some(self.instant.enter(&self.from, set.prepared, &[])?);
        Ok(())
    }

    fn keep(&mut self) -> bool {
        let standing = self.standing.as_mut().expect(STANDS);
        let prepared = standing.prepared.clone();
        // The bound of a redundant element is not part of the problem.
        let elements = prepared.changes.iter().zip(prepared.combination.is_redundant());
        let changes = elements.filter(|element| !element.1).flat_map(|element| element.0);
        let bounded = changes.filter_map(|change| Some((change, change.bound?)));
        let mut is_any = false;
        for (change, bound) in bounded.filter(|(change, _)| change.sets.is_empty()) {
            let at = bound.margin;
            // If the change's condition holds at its bound, try the other side of the bound.
            if standing.signs[at] != 0.0 && standing.holds(&change.condition) {
                standing.least[at] = standing.least[at].max(2.0 * standing.margins[at].abs());
                standing.signs[at] = if bound.is_positive {
                    -f64::MIN_POSITIVE
                } else {
                    f64::MIN_POSITIVE
                };
                is_any |= !standing.holds(&change.condition);
            }
        }
        is_any
    }

    fn at_rest(&self, element: usize) -> Option<usize> {
        let standing = self.standing();
        let prepared = &standing.prepared;
        let laws = &prepared.combination.laws[element];
        let law = |mode: usize| Some(prepared.of_output(laws[mode]?.1, &standing.watched));
        prepared.changes[element].iter().find_map(|change| {
            let bound = change.bound?;
            let slides = law(bound.far?)? != law(prepared.modes[element])?;
            (slides && standing.signs[bound.margin] == 0.0).then_some(change.to)
        })
    }

    fn attempt(&mut self, modes: &Vec<usize>) -> Result<Option<Vec<usize>>, Failure> {
        let kept = self.standing.take();
        let stands = self.stand_in(modes)?;
        let acts = |element: usize| usize::from(self.standing().acts(element));
        let acting: Option<Vec<usize>> = stands.then(|| (0..modes.len()).map(acts).collect());
        if acting.as_ref().is_none_or(|acting| acting.contains(&1)) {
            self.standing = kept;
        }
        Ok(acting)
    }

    fn returns(&self, element: usize, to: usize) -> bool {
        let standing = self.standing();
        let mut changes = standing.prepared.changes[element].iter();
        let slides = |change: &WatchedChange| change.bound.is_some_and(|bound| bound.far.is_some());
        changes.any(|change| change.to == to && standing.holds_beyond(change) && !slides(change))
    }

    fn former(&self) -> Vec<usize> {
        self.from.modes.clone()
    }

    fn is_struck(&self) -> bool {
        !pulled(self.standing()).is_empty()
    }

    fn jump(&mut self, modes: &Vec<usize>) {
        let standing = self.standing.as_ref().expect(STANDS);
        self.instant.supplied += standing.supplied;
        self.from = Before::of(standing, self.from.began.clone());
        self.visited = FxHashSet::from_iter([modes.clone()]);
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
        self.from.modes[element] == mode || tried.any(|modes| modes[element] == mode)
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
