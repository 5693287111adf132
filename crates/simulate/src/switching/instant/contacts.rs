//! Variables set by changes at one instant. Contacts that close simultaneously satisfy their set values together, each with
//! the values just before the instant. Of three touching balls, the one that is hit and its neighbour thus start to move
//! immediately.

use crate::switching::instant::standing::{Before, Closing, PortValue, Standing};
use rustc_hash::FxHashMap;

/// The contacts of one instant.
#[derive(Default)]
pub(crate) struct Contacts {
    /// The values that each change would set, computed just before the instant, by element and next mode.
    offered: FxHashMap<(usize, usize), Vec<PortValue>>,
    /// The contacts that have closed, and the values before the first one closed.
    closed: Vec<Closing>,
    base: Option<Before>,
    /// All contacts that have closed at this instant.
    all: Vec<(usize, usize)>,
}

impl Contacts {
    /// Creates the contacts before any change.
    pub fn at(standing: &Standing) -> Contacts {
        let prepared = &standing.prepared;
        let mut offered = FxHashMap::default();
        for (element, changes) in prepared.changes.iter().enumerate() {
            for change in changes.iter().filter(|change| !change.sets.is_empty()) {
                let closing = Closing::of(element, change, standing);
                offered.insert((element, change.to), closing.sets);
            }
        }
        Contacts {
            offered,
            ..Contacts::default()
        }
    }

    /// Closes the contacts that act now, together with those that closed earlier at this instant. Returns the point from
    /// which the modes are entered, and all set values.
    pub fn close(&mut self, from: &Before, acting: Vec<Closing>, modes: &mut [usize]) -> (Before, Vec<PortValue>) {
        let is_closed = |change: &Closing| self.closed.iter().any(|known| known.element == change.element);
        if acting.iter().any(is_closed) {
            // A contact closes again: its new values follow those set before.
            self.closed.clear();
            self.base = None;
            self.offered.clear();
        }
        let base = self.base.get_or_insert_with(|| from.clone());
        for mut change in acting {
            if let Some(offered) = self.offered.get(&(change.element, change.to)) {
                change.sets.clone_from(offered);
            }
            self.all.push((change.element, change.to));
            self.closed.push(change);
        }
        for change in &self.closed {
            modes[change.element] = change.to;
        }
        let sets = self.closed.iter().flat_map(|change| change.sets.iter().cloned());
        (base.clone(), sets.collect())
    }

    /// Returns the mode in which an element first closed at this instant, if any.
    pub fn closed_by(&self, element: usize) -> impl Iterator<Item = usize> + '_ {
        let own = self.all.iter().filter(move |closed| closed.0 == element);
        own.map(|closed| closed.1).take(1)
    }
}
