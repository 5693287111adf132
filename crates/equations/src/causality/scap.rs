//! Sequential causality assignment with propagation, as published (Karnopp and Rosenberg): strokes for every bond, and the
//! order in which each came about.
//!
//! The choice at each port is the one that the exact criterion made, so strokes and equations always agree. On a graph without
//! loops propagation alone fixes everything else. In a loop of junctions propagation can reach a port before
//! its turn and contradict the exact choice; the bond then keeps the exact stroke and is listed as `overruled`.

use super::Causality;
use crate::bond::{BondGraph, End};
use lgm_model::{ElementId, JunctionKind, Law, Model, PortId, Variable};
use std::collections::VecDeque;

/// Where a bond's causal stroke stands: at the end that effort is imposed on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stroke {
    /// At the tail.
    Tail,
    /// At the head.
    Head,
}

impl Stroke {
    fn at(bond: &crate::bond::Bond, end: End) -> Stroke {
        if bond.head == end { Stroke::Head } else { Stroke::Tail }
    }

    fn other(self) -> Stroke {
        match self {
            Stroke::Tail => Stroke::Head,
            Stroke::Head => Stroke::Tail,
        }
    }
}

/// Why a bond got its stroke.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cause {
    /// The port has priority and chose.
    Chosen(PortId),
    /// The junction's other bonds leave one possibility.
    Junction(u32),
    /// The coupler's other bond leaves one possibility.
    Coupler(ElementId),
    /// Nothing forces it: an inner bond of a loop.
    Free,
}

/// One step of the assignment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Step {
    /// The bond.
    pub bond: u32,
    /// Where its stroke went.
    pub stroke: Stroke,
    /// Why.
    pub cause: Cause,
}

/// Strokes of all bonds in the order in which they were assigned.
#[derive(Clone, Debug, Default)]
pub struct Assignment {
    /// The stroke of each bond.
    pub strokes: Vec<Option<Stroke>>,
    /// The steps.
    pub steps: Vec<Step>,
    /// Ports whose exact choice contradicts propagation around a loop.
    pub overruled: Vec<PortId>,
    /// Junctions that end with no bond, or more than one, setting their common variable: they lie in a loop whose
    /// equations are solved together.
    pub solved_together: Vec<u32>,
}

/// Assigns strokes: sources, then storage, then dissipators, propagating after each.
pub fn strokes(model: &Model, graph: &BondGraph, causality: &Causality) -> Assignment {
    let mut work = StrokeAssigner {
        model,
        graph,
        result: Assignment {
            strokes: vec![None; graph.bonds.len()],
            ..Assignment::default()
        },
        open: graph.junctions.iter().map(|junction| junction.bonds.len()).collect(),
        setting: vec![0; graph.junctions.len()],
        queue: VecDeque::new(),
    };
    let priority = [
        &causality.sources,
        &causality.independent,
        &causality.dependent,
        &causality.dissipators,
    ];
    for port in priority.into_iter().flatten() {
        let Some(solved) = causality.solved[port.index()] else {
            continue;
        };
        let side = graph.ports[port.index()];
        let bond = &graph.bonds[side.bond as usize];
        let here = Stroke::at(bond, End::Port(*port));
        let stroke = match solved {
            Variable::Effort => here,
            Variable::Flow => here.other(),
        };
        match work.result.strokes[side.bond as usize] {
            None => {
                work.set(side.bond, stroke, Cause::Chosen(*port));
                work.propagate();
            }
            Some(forced) if forced != stroke => {
                work.result.overruled.push(*port);
                work.overrule(side.bond, stroke);
            }
            Some(_) => {}
        }
    }
    for bond in 0..graph.bonds.len() as u32 {
        if work.result.strokes[bond as usize].is_none() {
            work.set(bond, Stroke::Head, Cause::Free);
            work.propagate();
        }
    }
    for (index, junction) in graph.junctions.iter().enumerate() {
        if work.setting[index] != 1 && !junction.bonds.is_empty() {
            work.result.solved_together.push(index as u32);
        }
    }
    work.result
}

struct StrokeAssigner<'a> {
    model: &'a Model,
    graph: &'a BondGraph,
    result: Assignment,
    /// How many bonds of each junction have no stroke yet, kept up so that a junction of many bonds is not searched again for
    /// each of them.
    open: Vec<usize>,
    /// How many bonds of each junction set its common variable.
    setting: Vec<usize>,
    queue: VecDeque<u32>,
}

impl StrokeAssigner<'_> {
    fn set(&mut self, bond: u32, stroke: Stroke, cause: Cause) {
        self.result.strokes[bond as usize] = Some(stroke);
        for junction in self.junctions_of(bond) {
            self.open[junction as usize] -= 1;
            self.setting[junction as usize] += usize::from(self.sets_common(junction, bond) == Some(true));
        }
        self.result.steps.push(Step { bond, stroke, cause });
        self.queue.push_back(bond);
    }

    /// Turns a stroke round.
    fn overrule(&mut self, bond: u32, stroke: Stroke) {
        for junction in self.junctions_of(bond) {
            self.setting[junction as usize] -= usize::from(self.sets_common(junction, bond) == Some(true));
        }
        self.result.strokes[bond as usize] = Some(stroke);
        for junction in self.junctions_of(bond) {
            self.setting[junction as usize] += usize::from(self.sets_common(junction, bond) == Some(true));
        }
    }

    /// The junctions at the ends of a bond, twice the same where it returns to its own.
    fn junctions_of(&self, bond: u32) -> impl Iterator<Item = u32> + use<> {
        let ends = &self.graph.bonds[bond as usize];
        [ends.tail, ends.head].into_iter().filter_map(|end| match end {
            End::Junction(junction) => Some(junction),
            End::Port(_) => None,
        })
    }

    fn propagate(&mut self) {
        while let Some(bond) = self.queue.pop_front() {
            let ends = &self.graph.bonds[bond as usize];
            for end in [ends.tail, ends.head] {
                match end {
                    End::Junction(junction) => self.propagate_junction(junction),
                    End::Port(port) => self.propagate_coupler(port),
                }
            }
        }
    }

    /// Whether a bond sets the common variable of a junction; none while it has no stroke.
    fn sets_common(&self, junction: u32, bond: u32) -> Option<bool> {
        let stroke = self.result.strokes[bond as usize]?;
        let here = Stroke::at(&self.graph.bonds[bond as usize], End::Junction(junction));
        Some(match self.graph.junctions[junction as usize].kind {
            JunctionKind::Zero => stroke == here,
            JunctionKind::One => stroke != here,
        })
    }

    fn propagate_junction(&mut self, junction: u32) {
        let sets = match (self.setting[junction as usize], self.open[junction as usize]) {
            (_, 0) => return,
            (0, 1) => true,
            (0, _) => return,
            _ => false,
        };
        let graph = self.graph;
        for &bond in &graph.junctions[junction as usize].bonds {
            if self.result.strokes[bond as usize].is_some() {
                continue;
            }
            let here = Stroke::at(&self.graph.bonds[bond as usize], End::Junction(junction));
            let at_junction = (self.graph.junctions[junction as usize].kind == JunctionKind::Zero) == sets;
            let stroke = if at_junction { here } else { here.other() };
            self.set(bond, stroke, Cause::Junction(junction));
        }
    }

    /// A two-port passes causality on: from one port's effort to the other's, or to its flow, as its law says.
    fn propagate_coupler(&mut self, port: PortId) {
        let id = self.model.ports[port.index()].element;
        let element = &self.model.elements[id.index()];
        let Law::Coupler { input, output, matrix } = &element.law else {
            return;
        };
        if matrix.rows != 1 || matrix.columns != 1 {
            return;
        }
        let (x, y) = (PortId(element.ports.start), PortId(element.ports.start + 1));
        let other = if port == x { y } else { x };
        let effort_imposed = |work: &StrokeAssigner, port: PortId| {
            let bond = work.graph.ports[port.index()].bond;
            let stroke = work.result.strokes[bond as usize]?;
            Some(stroke == Stroke::at(&work.graph.bonds[bond as usize], End::Port(port)))
        };
        let Some(imposed) = effort_imposed(self, port) else {
            return;
        };
        if effort_imposed(self, other).is_some() {
            return;
        }
        // y = M x and conj(x) = -M conj(y): where x is imposed, y is determined, so conj(y) is imposed there.
        let imposed_here = if imposed { Variable::Effort } else { Variable::Flow };
        let (own, others) = if port == x {
            (*input, *output)
        } else {
            (*output, *input)
        };
        let imposed_there = if imposed_here == own {
            others.conjugate()
        } else {
            others
        };
        let bond = self.graph.ports[other.index()].bond;
        let here = Stroke::at(&self.graph.bonds[bond as usize], End::Port(other));
        let stroke = if imposed_there == Variable::Effort {
            here
        } else {
            here.other()
        };
        self.set(bond, stroke, Cause::Coupler(id));
    }
}
