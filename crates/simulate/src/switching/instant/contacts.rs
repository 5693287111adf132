//! Variables that changes set at one instant. Contacts that close together obey what they set together, each by the values just before
//! the instant: of three balls that touch, the one that is hit and the one behind it move off at once.

use crate::switching::instant::standing::{Before, Closing, PortValue, Standing};
use rustc_hash::FxHashMap;

/// The contacts of one instant.
#[derive(Default)]
pub(crate) struct Contacts {
    /// The values that each change would set by those just before the instant: by the element and the mode that follows.
    offered: FxHashMap<(usize, usize), Vec<PortValue>>,
    /// Those that have closed, and what was known before the first of them did.
    closed: Vec<Closing>,
    base: Option<Before>,
    /// All that have closed at this instant.
    all: Vec<(usize, usize)>,
}

impl Contacts {
    /// Before anything has changed.
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

    /// Closes contacts that act now, together with those that closed at this instant before: from where they are to be entered, and all
    /// that they set.
    pub fn close(&mut self, from: &Before, acting: Vec<Closing>, modes: &mut [usize]) -> (Before, Vec<PortValue>) {
        let is_closed = |change: &Closing| self.closed.iter().any(|known| known.element == change.element);
        if acting.iter().any(is_closed) {
            // One of them closes again: what it sets now comes after what was set before.
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

    /// The modes in which an element has closed at this instant.
    pub fn closed_by(&self, element: usize) -> impl Iterator<Item = usize> + '_ {
        let own = self.all.iter().filter(move |closed| closed.0 == element);
        own.map(|closed| closed.1).take(1)
    }
}
