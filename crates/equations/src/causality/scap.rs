//! Sequential causality assignment with propagation, as published (Karnopp and Rosenberg): the strokes of bonds, and
//! the reasons for each in order.
//!
//! The choice at each port, and the order of the choices, come from the exact criterion, so strokes and equations
//! always agree. Junctions and couplers propagate a choice if only one possibility remains. On a graph without loops of
//! bonds this settles every bond. In a loop several assignments may fit the same choices, each with a causal cycle: the
//! equations of the loop are solved together, and its bonds have no stroke here. Bonds with an undetermined effort or
//! flow have no stroke either.
//!
//! Propagation never contradicts the exact choices. If the structure determines all of its variables, its solution for
//! the chosen ones is a sum of products, one for each consistent assignment of strokes. At least one such assignment
//! therefore exists.

use super::Causality;
use super::coupled::Groups;
use super::structure::column_port;
use crate::bond::{Bond, BondGraph, End};
use lgm_model::{ElementId, JunctionKind, Model, PortId, Variable};
use std::collections::VecDeque;

/// The position of a bond's causal stroke: the end at which effort is imposed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stroke {
    /// At the tail.
    Tail,
    /// At the head.
    Head,
}

impl Stroke {
    fn at(bond: &Bond, end: End) -> Stroke {
        if bond.head == end { Stroke::Head } else { Stroke::Tail }
    }

    fn other(self) -> Stroke {
        match self {
            Stroke::Tail => Stroke::Head,
            Stroke::Head => Stroke::Tail,
        }
    }

    /// Returns the stroke that imposes this variable of the bond on one of its ends.
    fn imposing(variable: Variable, bond: &Bond, end: End) -> Stroke {
        let here = Stroke::at(bond, end);
        match variable {
            Variable::Effort => here,
            Variable::Flow => here.other(),
        }
    }

    /// Returns the variable of the bond that is imposed on one of its ends.
    pub fn imposed(self, bond: &Bond, end: End) -> Variable {
        match self == Stroke::at(bond, end) {
            true => Variable::Effort,
            false => Variable::Flow,
        }
    }
}

/// Why a bond got its stroke.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cause {
    /// The choice at this port.
    Chosen(PortId),
    /// The other bonds of this junction leave one possibility.
    Junction(u32),
    /// The other bonds of this coupler leave one possibility.
    Coupler(ElementId),
}

/// One step of the assignment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Step {
    /// The bond.
    pub bond: u32,
    /// The position of its stroke.
    pub stroke: Stroke,
    /// Why.
    pub cause: Cause,
}

/// Strokes of bonds in the order in which they were assigned.
#[derive(Clone, Debug, Default)]
pub struct Assignment {
    /// The stroke of each bond; `None` if the bond is part of a loop that is solved as a whole.
    pub strokes: Vec<Option<Stroke>>,
    /// The steps.
    pub steps: Vec<Step>,
    /// Junctions without a bond that sets their common variable: they are part of a loop whose equations are solved together.
    pub solved_together: Vec<u32>,
    /// Junctions of floating nodes: the references for the across variables of their parts of the graph.
    pub references: Vec<u32>,
    /// True for each bond with an undetermined effort or flow; empty if no such bond exists.
    pub undetermined: Vec<bool>,
}

/// The variables that the structure does not determine.
#[derive(Clone, Debug, Default)]
pub struct Undetermined {
    /// True for each bond with an undetermined effort or flow; empty if no such bond exists.
    pub bonds: Vec<bool>,
    /// Junctions of floating nodes, one for each part of the graph without a reference.
    pub references: Vec<u32>,
}

/// Assigns strokes: those of ports in the order of the exact criterion, propagating after each.
pub fn strokes(model: &Model, graph: &BondGraph, causality: &Causality, undetermined: &Undetermined) -> Assignment {
    let mut work = StrokeAssigner {
        model,
        graph,
        result: Assignment {
            strokes: vec![None; graph.bonds.len()],
            references: undetermined.references.clone(),
            undetermined: undetermined.bonds.clone(),
            ..Assignment::default()
        },
        undetermined: &undetermined.bonds,
        open: graph.junctions.iter().map(|junction| junction.bonds.len()).collect(),
        setting: vec![0; graph.junctions.len()],
        groups: Groups::of(model),
        queue: VecDeque::new(),
    };
    for junction in &undetermined.references {
        work.setting[*junction as usize] += 1;
        work.propagate_junction(*junction);
    }
    work.propagate();
    for port in order(model, causality) {
        let Some(solved) = causality.solved[port.index()] else {
            continue;
        };
        let bond = graph.ports[port.index()].bond;
        let stroke = Stroke::imposing(solved, &graph.bonds[bond as usize], End::Port(port));
        if work.result.strokes[bond as usize].is_none() {
            work.set(bond, stroke, Cause::Chosen(port));
            work.propagate();
        }
    }
    // Elements on a single bond were not reached.
    for junction in 0..graph.junctions.len() as u32 {
        work.propagate_junction(junction);
        work.propagate();
    }
    for port in 0..model.graph.ports.len() as u32 {
        work.propagate_coupler(PortId(port));
        work.propagate();
    }
    for (index, junction) in graph.junctions.iter().enumerate() {
        if work.setting[index] == 0 && !junction.bonds.is_empty() {
            work.result.solved_together.push(index as u32);
        }
    }
    work.result
}

/// Returns the ports whose causality was decided, in order of decision.
fn order(model: &Model, causality: &Causality) -> Vec<PortId> {
    let ports = causality.pivots.iter().map(|(_, column)| column_port(*column).0);
    let decided = |port: &PortId| causality.solved.get(port.index()).copied().flatten().is_some();
    let mut seen = vec![false; model.graph.ports.len()];
    ports
        .filter(|port| decided(port) && !std::mem::replace(&mut seen[port.index()], true))
        .collect()
}

struct StrokeAssigner<'a> {
    model: &'a Model,
    graph: &'a BondGraph,
    result: Assignment,
    undetermined: &'a [bool],
    /// The number of bonds of each junction without a stroke, maintained to avoid repeated searches at junctions with
    /// many bonds.
    open: Vec<usize>,
    /// The number of bonds of each junction that set its common variable.
    setting: Vec<usize>,
    groups: Groups,
    queue: VecDeque<u32>,
}

impl StrokeAssigner<'_> {
    fn set(&mut self, bond: u32, stroke: Stroke, cause: Cause) {
        self.result.strokes[bond as usize] = Some(stroke);
        let ends = &self.graph.bonds[bond as usize];
        for end in [ends.tail, ends.head] {
            match end {
                End::Junction(junction) => {
                    self.open[junction as usize] -= 1;
                    self.setting[junction as usize] += usize::from(self.sets_common(junction, bond) == Some(true));
                }
                End::Port(port) => self.groups.impose(port, stroke.imposed(ends, end)),
            }
        }
        self.result.steps.push(Step { bond, stroke, cause });
        self.queue.push_back(bond);
    }

    /// Returns true if a bond has no stroke yet.
    fn is_open(&self, bond: u32) -> bool {
        let is_determined = !self.undetermined.get(bond as usize).copied().unwrap_or(false);
        is_determined && self.result.strokes[bond as usize].is_none()
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

    /// Returns true if a bond sets the common variable of a junction; `None` if it has no stroke yet.
    fn sets_common(&self, junction: u32, bond: u32) -> Option<bool> {
        let stroke = self.result.strokes[bond as usize]?;
        let kind = self.graph.junctions[junction as usize].kind;
        let imposed = stroke.imposed(&self.graph.bonds[bond as usize], End::Junction(junction));
        Some(imposed == kind.common())
    }

    fn propagate_junction(&mut self, junction: u32) {
        let sets = match (self.setting[junction as usize], self.open[junction as usize]) {
            (_, 0) => return,
            (0, 1) => true,
            (0, _) => return,
            _ => false,
        };
        let graph = self.graph;
        let common = match graph.junctions[junction as usize].kind {
            JunctionKind::Zero => Variable::Effort,
            JunctionKind::One => Variable::Flow,
        };
        let imposed = if sets { common } else { common.conjugate() };
        for &bond in &graph.junctions[junction as usize].bonds {
            if !self.is_open(bond) {
                continue;
            }
            let stroke = Stroke::imposing(imposed, &graph.bonds[bond as usize], End::Junction(junction));
            self.set(bond, stroke, Cause::Junction(junction));
        }
    }

    /// Propagates causality through a coupler: once its required inputs are set, it sets all other variables.
    fn propagate_coupler(&mut self, port: PortId) {
        let element = self.model.graph.ports[port.index()].element;
        for (port, imposed) in self.groups.forced(port) {
            let bond = self.graph.ports[port.index()].bond;
            if self.is_open(bond) {
                let stroke = Stroke::imposing(imposed, &self.graph.bonds[bond as usize], End::Port(port));
                self.set(bond, stroke, Cause::Coupler(element));
            }
        }
    }
}
