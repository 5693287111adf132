//! Transitions at an instant: the modes in force behind it, and the states there.
//!
//! In the search conditions read impulses before finite values, and states jump only in the combination that is found. A value that a
//! change sets moves the states at once, and stays whatever mode follows.

use crate::failure::Failure;
use crate::plan::Plan;
use crate::switching::instant::contacts::Contacts;
use crate::switching::instant::standing::{Acting, Before, Standing};
use crate::switching::library::Library;
use crate::switching::prepared::Prepared;
use lgm_equations::switching::near;
use rustc_hash::FxHashSet;
use std::rc::Rc;

/// Blocks and changes follow each other at one instant this number of times at most.
const MOST_ROUNDS: usize = 1000;

/// If changes lead in a circle, at most this number of combinations is looked through.
pub(super) const MOST_SEARCHED: u128 = 4096;

/// An event of a run.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Happening {
    /// An element has changed its mode: which, from and to which.
    Mode(usize, usize, usize),
    /// A block was run.
    Block(usize),
}

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
    pub fn settle(&mut self, mut from: Before) -> Result<Standing, Failure> {
        let mut modes = from.modes.clone();
        let mut standing = self.standing_in(&from, &mut modes)?;
        let mut contacts = Contacts::at(&standing);
        let mut visited: FxHashSet<Vec<usize>> = FxHashSet::default();
        visited.insert(modes.clone());
        let mut one_by_one = false;
        for _ in 0..MOST_ROUNDS {
            let acting = self.acting(&standing);
            if acting.is_empty() {
                self.note_changes(&from.began, &modes, &contacts);
                self.supplied += standing.supplied;
                return Ok(standing);
            }
            // Values that are set move the states at once. In the search a mode that cannot hold may pass on an impulse, and close a
            // contact that way: so all other changes come first.
            let others: Vec<Acting> = acting.iter().filter(|change| change.2.is_empty()).cloned().collect();
            if others.is_empty() {
                let (base, sets) = contacts.close(&from, &acting, &mut modes);
                let prepared = self.prepared(&modes)?;
                let set = self.enter(&base, prepared, &sets)?;
                self.supplied += set.supplied;
                from = Before::of(&set, from.began);
                visited.clear();
                visited.insert(modes.clone());
                standing = self.enter(&from, set.prepared, &[])?;
                continue;
            }
            if !one_by_one
                && let Some(solved) = self.solved_modes(&from, &standing)?
                && visited.insert(solved.clone())
                && let Ok(prepared) = self.library.prepared(&solved)
            {
                modes = solved;
                standing = self.enter(&from, prepared, &[])?;
                continue;
            }
            let before = modes.clone();
            let taken = if one_by_one { 1 } else { others.len() };
            for (element, to, _) in &others[..taken] {
                modes[*element] = *to;
            }
            if !visited.insert(modes.clone()) {
                let is_tried = one_by_one || {
                    // All at once leads in a circle: from here on the first change alone is taken.
                    modes = before;
                    modes[others[0].0] = others[0].1;
                    !visited.insert(modes.clone())
                };
                one_by_one = true;
                if is_tried {
                    standing = self.searched(&from, &others, &mut modes, &visited)?;
                    continue;
                }
            }
            standing = self.standing_in(&from, &mut modes)?;
        }
        Err(self.circle(&from.began, &visited))
    }

    /// The run in these modes; where they have no equations, in the nearest ones that have.
    fn standing_in(&mut self, from: &Before, modes: &mut Vec<usize>) -> Result<Standing, Failure> {
        match self.library.prepared(modes) {
            Ok(prepared) => self.enter(from, prepared, &[]),
            Err(found) => {
                for tried in near(modes, &self.library.mode_counts()) {
                    if let Ok(prepared) = self.library.prepared(&tried) {
                        *modes = tried;
                        return self.enter(from, prepared, &[]);
                    }
                }
                Err(self.no_equations(modes, &found))
            }
        }
    }

    pub(crate) fn prepared(&mut self, modes: &[usize]) -> Result<Rc<Prepared>, Failure> {
        let found = self.library.prepared(modes);
        found.map_err(|found| self.no_equations(modes, &found))
    }

    /// The changes that act: the element, the mode that follows, and the variables that are set. The first one of an element counts.
    fn acting(&self, standing: &Standing) -> Vec<Acting> {
        let prepared = &standing.prepared;
        let mut acting = Vec::new();
        for (element, changes) in prepared.changes.iter().enumerate() {
            let found = changes.iter().find(|change| standing.holds(&change.condition));
            if let Some(change) = found {
                let value = |output: usize| prepared.of_output(output, &standing.watched);
                let sets = change.sets.iter().map(|set| (element, set.0, set.1, value(set.2)));
                acting.push((element, change.to, sets.collect()));
            }
        }
        acting
    }

    /// The combinations of the elements that act, looked through one after the other for one in which contacts act at most.
    fn searched(
        &mut self,
        from: &Before,
        acting: &[Acting],
        modes: &mut [usize],
        visited: &FxHashSet<Vec<usize>>,
    ) -> Result<Standing, Failure> {
        // Every element whose mode was changed in the search is open.
        let counts = self.library.mode_counts();
        let changed = |at: &usize| {
            acting.iter().any(|change| change.0 == *at) || visited.iter().any(|other| other[*at] != from.modes[*at])
        };
        let mut open: Vec<usize> = (0..counts.len()).filter(changed).collect();
        let size = |open: &[usize]| open.iter().map(|at| counts[*at] as u128).product::<u128>();
        let all: Vec<usize> = (0..counts.len()).collect();
        if size(&all) <= MOST_SEARCHED {
            open = all;
        }
        let possible = size(&open);
        for index in 0..possible.min(MOST_SEARCHED) as usize {
            let mut rest = index;
            for at in &open {
                modes[*at] = rest % counts[*at];
                rest /= counts[*at];
            }
            let Ok(prepared) = self.library.prepared(modes) else {
                continue;
            };
            let standing = self.enter(from, prepared, &[])?;
            if self.acting(&standing).iter().all(|change| !change.2.is_empty()) {
                return Ok(standing);
            }
        }
        match possible > MOST_SEARCHED {
            true => Err(self.too_many(&from.began, visited, possible)),
            false => Err(self.circle(&from.began, visited)),
        }
    }

    fn note_changes(&mut self, began: &[usize], modes: &[usize], contacts: &Contacts) {
        for (at, (before, after)) in began.iter().zip(modes).enumerate() {
            // An element that has closed and opened again at this instant has changed twice.
            let mut from = *before;
            for to in contacts.closed_by(at).filter(|to| to != before) {
                self.happened.push(Happening::Mode(at, from, to));
                from = to;
            }
            if from != *after {
                self.happened.push(Happening::Mode(at, from, *after));
            }
        }
    }
}
