//! Variables that changes set at one instant. Contacts that close together obey what they set together, each by the values just before
//! the instant: of three balls that touch, the one that is hit and the one behind it move off at once.

use crate::switching::instant::standing::{Acting, Before, PortValue, Standing};
use rustc_hash::FxHashMap;

/// The contacts of one instant.
pub(crate) struct Contacts {
    /// The values that each change would set by those just before the instant: by the element and the mode that follows.
    offered: FxHashMap<(usize, usize), Vec<PortValue>>,
    /// Those that have closed, and what was known before the first of them did.
    closed: Vec<Acting>,
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
                let value = |output: usize| prepared.of_output(output, &standing.watched);
                let sets = change.sets.iter().map(|set| (element, set.0, set.1, value(set.2)));
                offered.insert((element, change.to), sets.collect());
            }
        }
        Contacts {
            offered,
            closed: Vec::new(),
            base: None,
            all: Vec::new(),
        }
    }

    /// Closes contacts that act now, together with those that closed at this instant before: from where they are to be entered, and all
    /// that they set.
    pub fn close(&mut self, from: &Before, acting: &[Acting], modes: &mut [usize]) -> (Before, Vec<PortValue>) {
        let new: Vec<&Acting> = acting.iter().filter(|change| !change.2.is_empty()).collect();
        if new
            .iter()
            .any(|change| self.closed.iter().any(|known| known.0 == change.0))
        {
            // One of them closes again: what it sets now comes after what was set before.
            self.closed.clear();
            self.base = None;
            self.offered.clear();
        }
        let base = self.base.get_or_insert_with(|| from.clone());
        for (element, to, values) in new {
            let offered = self.offered.get(&(*element, *to)).unwrap_or(values);
            self.closed.push((*element, *to, offered.clone()));
            self.all.push((*element, *to));
        }
        for (element, to, _) in &self.closed {
            modes[*element] = *to;
        }
        let sets = self.closed.iter().flat_map(|change| change.2.clone());
        (base.clone(), sets.collect())
    }

    /// The modes in which an element has closed at this instant.
    pub fn closed_by(&self, element: usize) -> impl Iterator<Item = usize> + '_ {
        let own = self.all.iter().filter(move |closed| closed.0 == element);
        own.map(|closed| closed.1).take(1)
    }
}
