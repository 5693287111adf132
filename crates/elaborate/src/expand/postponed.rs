//! Instances that name a part of a later instance: they wait until that instance is created.
//!
//! The order of declarations is free, but the elements keep the order of their declarations.

use crate::context::{AtPlace, FrameId, GraphPart, Indices, Place};
use crate::expand::{Expansion, Postponed};
use lgm_model::{ElementId, Port};
use lgm_syntax::ast::{Expr, ExprKind, Instance};

/// The elements of a postponed instance.
struct Late {
    before: usize,
    /// Its index in the postponed instances.
    turn: usize,
    made: std::ops::Range<usize>,
}

impl<'a> Expansion<'_, 'a> {
    /// Returns true if an instance must wait for another one of the same body.
    pub fn must_wait(&mut self, instance: &'a Instance, place: Place) -> bool {
        let bound = instance.bindings.iter().flatten().map(|binding| &binding.value);
        let ends = instance.branches.iter().flat_map(|(from, to)| [from, to]);
        // A component without parameters may have its ports in place of the arguments.
        let given = match instance.bindings {
            None => &instance.arguments[..],
            Some(_) => &[],
        };
        let given = given.iter().filter(|argument| argument.name.is_some());
        let given = given.map(|argument| &argument.value);
        bound.chain(ends).chain(given).any(|expr| !self.is_made(expr, place))
    }

    /// Returns true if the instance of a named part exists; other errors are reported later.
    fn is_made(&mut self, expr: &'a Expr, place: Place) -> bool {
        let ExprKind::Member(owner, _) = &expr.kind else {
            return match &expr.kind {
                ExprKind::Index(base, _) => self.is_made(base, place),
                _ => true,
            };
        };
        let (name, indices) = match &owner.kind {
            ExprKind::Name(name) => (name, None),
            ExprKind::Index(base, indices) => match &base.kind {
                ExprKind::Name(name) => (name, Some(indices)),
                _ => return self.is_made(base, place),
            },
            // The outermost owner is in this body.
            _ => return self.is_made(owner, place),
        };
        let Some(slot) = self.scopes.part_slot(&name.text, place.frame) else {
            return true;
        };
        match (&self.scopes.parts[slot], indices) {
            (GraphPart::Absent, _) => false,
            (GraphPart::Indexed(_), Some(indices)) => {
                let Some(at) = self.index_pair(indices, place) else {
                    return true;
                };
                matches!(&self.scopes.parts[slot], GraphPart::Indexed(map) if map.contains_key(&at))
            }
            _ => true,
        }
    }

    /// Creates the waiting instances of a body after the others; `first` is the first element of the body.
    pub fn make_postponed(&mut self, frame: FrameId, first: usize, waiting: Vec<Postponed<'a>>) {
        let mut late = Vec::new();
        let mut waiting: Vec<(usize, Postponed<'a>)> = waiting.into_iter().enumerate().collect();
        while !waiting.is_empty() && !self.reports.is_stopped() {
            let before = waiting.len();
            // A chain that is declared from its end to its start is created in one backward pass.
            for _ in 0..2 {
                waiting.reverse();
                let mut left = Vec::new();
                for (turn, entry) in waiting {
                    match self.must_wait(entry.instance, entry.place) {
                        true => left.push((turn, entry)),
                        false => late.push(self.make_late(turn, entry)),
                    }
                }
                waiting = left;
            }
            if waiting.len() == before {
                // They wait for each other, or for something that is never created; this is reported where they name it.
                for (turn, entry) in std::mem::take(&mut waiting) {
                    late.push(self.make_late(turn, entry));
                }
            }
        }
        if !self.reports.is_stopped() {
            self.reorder(frame, first, &late);
        }
    }

    fn make_late(&mut self, turn: usize, entry: Postponed<'a>) -> Late {
        let start = self.graph.model.graph.elements.len();
        self.at(entry.place, |this| this.make(entry.instance, entry.place));
        Late {
            before: entry.before,
            turn,
            made: start..self.graph.model.graph.elements.len(),
        }
    }

    /// Sorts the elements of a body into the order of their declarations.
    fn reorder(&mut self, frame: FrameId, first: usize, late: &[Late]) {
        let count = self.graph.model.graph.elements.len();
        if count == first {
            return;
        }
        // The position in the order, true if not postponed, the turn, and the element.
        let mut keys: Vec<(usize, bool, usize, usize)> = (first..count).map(|at| (at, true, 0, at)).collect();
        for entry in late {
            for at in entry.made.clone() {
                keys[at - first] = (entry.before, false, entry.turn, at);
            }
        }
        keys.sort_unstable();
        // The new indices by the old ones.
        let mut places = vec![0; count - first];
        for (place, key) in keys.iter().enumerate() {
            places[key.3 - first] = (first + place) as u32;
        }
        let moved = |id: ElementId| match id.index().checked_sub(first) {
            Some(at) => ElementId(places[at]),
            None => id,
        };
        // Ports were created in the order of the elements.
        let first_port = self.graph.model.graph.elements[first].ports.start;
        let old_ports: Vec<Port> = self.graph.model.graph.ports.split_off(first_port as usize);
        let old_elements = self.graph.model.graph.elements.split_off(first);
        let old_records = self.graph.records.split_off(first);
        for key in &keys {
            let at = key.3 - first;
            let mut element = old_elements[at].clone();
            let start = self.graph.model.graph.ports.len() as u32;
            for port in element.ports.clone() {
                let mut port = old_ports[(port - first_port) as usize].clone();
                port.element = moved(port.element);
                self.graph.model.graph.ports.push(port);
            }
            element.ports = start..self.graph.model.graph.ports.len() as u32;
            self.graph.model.graph.elements.push(element);
            self.graph.records.push(old_records[at]);
        }
        let parts = self.scopes.frames[frame.0 as usize].parts as usize;
        for part in &mut self.scopes.parts[parts..] {
            renamed(part, &moved);
        }
    }
}

fn renamed(part: &mut GraphPart, moved: &impl Fn(ElementId) -> ElementId) {
    match part {
        GraphPart::Element(id) | GraphPart::Modal(id, _) => *id = moved(*id),
        GraphPart::Indexed(map) => {
            let entries: &mut rustc_hash::FxHashMap<Indices, GraphPart> = map;
            entries.values_mut().for_each(|entry| renamed(entry, moved));
        }
        GraphPart::Absent | GraphPart::Failed | GraphPart::Nodes(_) | GraphPart::Component(_) => {}
    }
}
