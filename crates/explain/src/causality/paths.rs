//! Causal paths: how a variable of one port follows from variables of others, bond by bond.

use crate::names::Names;
use lgm_equations::bond::{End, Origin};
use lgm_equations::causality::scap::{Assignment, Stroke};
use lgm_model::{Law, PortId, Variable};
use rustc_hash::{FxHashMap, FxHashSet};
use std::collections::VecDeque;

/// A variable of a bond.
type Signal = (u32, Variable);

/// The sources of variables.
pub(super) struct Paths<'a> {
    names: Names<'a>,
    assignment: &'a Assignment,
    /// The bond that sets the common variable of each junction.
    setters: &'a [Option<usize>],
}

impl<'a> Paths<'a> {
    pub(super) fn new(names: Names<'a>, assignment: &'a Assignment, setters: &'a [Option<usize>]) -> Paths<'a> {
        Paths {
            names,
            assignment,
            setters,
        }
    }

    /// Returns the shortest path from a port's variable back to each of these ports. Ports that no path leads to are omitted.
    pub(super) fn back(&self, port: PortId, variable: Variable, targets: &[PortId]) -> Vec<(PortId, Vec<String>)> {
        let wanted: FxHashSet<PortId> = targets.iter().copied().collect();
        let start: Signal = (self.names.graph.ports[port.index()].bond, variable);
        let mut before: FxHashMap<Signal, (Signal, End)> = FxHashMap::default();
        let mut found: FxHashMap<PortId, Signal> = FxHashMap::default();
        let mut seen: FxHashSet<Signal> = FxHashSet::default();
        let mut queue = VecDeque::from([start]);
        seen.insert(start);
        while let Some(signal) = queue.pop_front() {
            for end in self.makers(signal) {
                if let End::Port(other) = end
                    && !self.is_coupler(other)
                {
                    if wanted.contains(&other) && other != port {
                        found.entry(other).or_insert(signal);
                    }
                    continue;
                }
                for next in self.inputs(signal, end) {
                    if seen.insert(next) {
                        before.insert(next, (signal, end));
                        queue.push_back(next);
                    }
                }
            }
            if found.len() == wanted.len() {
                break;
            }
        }
        let path = |target: &PortId| {
            let mut at = *found.get(target)?;
            let mut passed = Vec::new();
            while let Some((next, end)) = before.get(&at) {
                passed.push(*end);
                at = *next;
            }
            passed.reverse();
            Some((*target, self.written(port, &passed, *target)))
        };
        targets.iter().filter_map(path).collect()
    }

    /// Returns the names along a path, including its ends. The junction of a branch is omitted next to its own element, because it adds no
    /// information.
    fn written(&self, from: PortId, passed: &[End], to: PortId) -> Vec<String> {
        let mut names = vec![self.names.port(from)];
        for end in passed {
            let name = match end {
                End::Port(port) => {
                    let element = self.names.model.graph.ports[port.index()].element;
                    self.names.model.element_name(element)
                }
                End::Junction(junction) => match self.names.graph.junctions[*junction as usize].origin {
                    Origin::Branch(own) if own == from || own == to => continue,
                    Origin::Direct(_) => continue,
                    Origin::Branch(_) | Origin::Node(_) => self.names.junction(*junction),
                },
            };
            names.push(name);
        }
        names.push(self.names.port(to));
        names.dedup();
        names
    }

    fn is_coupler(&self, port: PortId) -> bool {
        let element = self.names.model.graph.ports[port.index()].element;
        matches!(
            self.names.model.graph.elements[element.index()].law,
            Law::Coupler { .. }
        )
    }

    fn stroke(&self, bond: u32) -> Option<Stroke> {
        self.assignment.strokes[bond as usize]
    }

    /// Returns the end of a bond that sets one of its variables; both ends if this is undetermined.
    fn makers(&self, (bond, variable): Signal) -> Vec<End> {
        let ends = &self.names.graph.bonds[bond as usize];
        let both = [ends.tail, ends.head];
        match self.stroke(bond) {
            Some(stroke) => both
                .into_iter()
                .filter(|end| stroke.imposed(ends, *end) != variable)
                .collect(),
            None => both.to_vec(),
        }
    }

    /// Returns the variables from which a junction or a coupler computes a variable.
    fn inputs(&self, (bond, variable): Signal, end: End) -> Vec<Signal> {
        match end {
            End::Junction(junction) => {
                let info = &self.names.graph.junctions[junction as usize];
                let setter = self.setters[junction as usize];
                let is_common = info.kind.common() == variable;
                let others = info.bonds.iter().copied().filter(|other| *other != bond);
                match (is_common, setter) {
                    (true, Some(setter)) if setter as u32 != bond => vec![(setter as u32, variable)],
                    _ => others.map(|other| (other, variable)).collect(),
                }
            }
            End::Port(port) => self.through_coupler(port, variable),
        }
    }

    fn through_coupler(&self, port: PortId, variable: Variable) -> Vec<Signal> {
        let graph = self.names.graph;
        let element = self.names.model.graph.ports[port.index()].element;
        let info = &self.names.model.graph.elements[element.index()];
        let Law::Coupler { input, output, matrix } = &info.law else {
            return Vec::new();
        };
        let own = |port: PortId| match ((port.0 - info.ports.start) as usize) < matrix.columns {
            true => *input,
            false => *output,
        };
        // x and y depend on each other, and so do their conjugates.
        let is_own = variable == own(port);
        let others = info.ports.clone().map(PortId).filter(|other| *other != port);
        let signal = |other: PortId| {
            let wanted = if is_own { own(other) } else { own(other).conjugate() };
            let bond = graph.ports[other.index()].bond;
            let imposed = self.stroke(bond).map(|stroke| {
                let ends = &graph.bonds[bond as usize];
                stroke.imposed(ends, End::Port(other))
            });
            (imposed.is_none_or(|imposed| imposed == wanted)).then_some((bond, wanted))
        };
        others.filter_map(signal).collect()
    }
}
