//! Changes at events: modes of elements, discrete variables, and blocks of assignments.
//!
//! The flat model holds the laws of the modes in which the search at the start begins; [`in_modes`](crate::Model::in_modes) gives the model in
//! another combination of modes.

use crate::ids::{ElementId, NodeId, PortId, Variable};
use crate::law::Law;
use lgm_algebra::expr::{ExprId, SymbolId};
use lgm_source::Span;
use std::sync::Arc;

/// All that changes at events; empty for a model of fixed structure.
#[derive(Clone, Debug, Default)]
pub struct Switching {
    /// Elements with modes, in the order of the elements.
    pub elements: Vec<SwitchedElement>,
    /// Junctions that a condition turns on and off; behind elaboration each of them is an element with modes.
    pub junctions: Vec<ControlledJunction>,
    /// Discrete variables in the order of their declarations.
    pub discretes: Vec<Discrete>,
    /// Blocks of assignments in the order of the text.
    pub blocks: Vec<Block>,
}

impl Switching {
    /// Returns true for a model without events of its own.
    pub fn is_empty(&self) -> bool {
        self.elements.is_empty() && self.discretes.is_empty() && self.blocks.is_empty()
    }

    /// The modes in which the search at the start begins, one an element.
    pub fn first_modes(&self) -> Vec<usize> {
        self.elements.iter().map(|element| element.first).collect()
    }

    /// Every expression of changes and blocks, to be changed.
    pub fn expressions_mut(&mut self) -> impl Iterator<Item = &mut ExprId> {
        let modes = self.elements.iter_mut().flat_map(|element| &mut element.modes);
        let changes = modes.flat_map(|mode| &mut mode.changes).flat_map(|change| {
            let sets = change.sets.iter_mut().map(|set| &mut set.value);
            sets.chain([&mut change.condition])
        });
        let blocks = self.blocks.iter_mut().flat_map(|block| {
            let condition = match &mut block.trigger {
                Trigger::Becomes(condition) => Some(condition),
                Trigger::Initially | Trigger::Every { .. } => None,
            };
            let values = block.assignments.iter_mut().map(|assignment| &mut assignment.value);
            values.chain(condition)
        });
        changes.chain(blocks)
    }

    /// Every expression of changes and blocks.
    pub fn expressions(&self) -> impl Iterator<Item = ExprId> + '_ {
        let modes = self.elements.iter().flat_map(|element| &element.modes);
        let changes = modes.flat_map(|mode| &mode.changes).flat_map(|change| {
            let sets = change.sets.iter().map(|set| set.value);
            sets.chain([change.condition])
        });
        let blocks = self.blocks.iter().flat_map(|block| {
            let condition = match block.trigger {
                Trigger::Becomes(condition) => Some(condition),
                Trigger::Initially | Trigger::Every { .. } => None,
            };
            let values = block.assignments.iter().map(|assignment| assignment.value);
            values.chain(condition)
        });
        changes.chain(blocks)
    }
}

/// Remarks on events beside the equations of a system.
#[derive(Clone, Debug, Default)]
pub struct SystemEvents {
    /// Elements with modes, each with the mode that the equations hold in.
    pub modes: Vec<ModeInForce>,
    /// Names of the discrete variables, which stand among the inputs.
    pub discretes: Vec<Arc<str>>,
    /// Returns true if events happen in a run: without them, these equations say nothing about it.
    pub happen: bool,
}

/// An element with the mode in force.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ModeInForce {
    /// The element.
    pub element: Arc<str>,
    /// The mode that the equations hold in.
    pub mode: Arc<str>,
    /// All of its modes.
    pub all: Vec<Arc<str>>,
}

impl SystemEvents {
    /// The modes in words: `d1 conducting, d2 blocking`.
    pub fn words(&self) -> String {
        let words = self.modes.iter().map(|each| format!("{} {}", each.element, each.mode));
        words.collect::<Vec<_>>().join(", ")
    }
}

/// A junction that is on while a condition holds. Off, no flow passes through any bond of a 1-junction, and no bond of a 0-junction has
/// an effort.
#[derive(Clone, Debug)]
pub struct ControlledJunction {
    /// The junction.
    pub node: NodeId,
    /// Its condition.
    pub condition: ExprId,
    /// The place of the condition.
    pub span: Span,
}

/// An element of which one mode is in force at a time.
#[derive(Clone, Debug)]
pub struct SwitchedElement {
    /// The element.
    pub element: ElementId,
    /// Its modes in the order of its definition.
    pub modes: Vec<Mode>,
    /// The mode in which the search at the start begins.
    pub first: usize,
}

/// A mode of an element.
#[derive(Clone, Debug)]
pub struct Mode {
    /// Its name: `conducting`.
    pub name: Arc<str>,
    /// The law while it is in force.
    pub law: Law,
    /// The changes that leave it, in the order of the text.
    pub changes: Vec<Change>,
}

/// A change from one mode to another.
#[derive(Clone, Debug)]
pub struct Change {
    /// True if the mode that follows may be tried without the condition, since it shows by itself if it is wrong: the condition asks for
    /// variables of the ports alone, as that of a diode, or the change back has the contrary condition, as that of a switch. A thyristor
    /// stays on without its gate.
    pub is_free: bool,
    /// True if the condition cannot hold without variables of the ports. A thyristor asks for a voltage beside its gate, so that its other
    /// mode may stand in while nothing flows. A relay asks for its coil alone.
    pub asks_ports: bool,
    /// The condition, 1 where the change is taken: over measures, states, inputs, parameters and time.
    pub condition: ExprId,
    /// The mode that follows.
    pub to: usize,
    /// Variables of ports that are set at the instant of the change.
    pub sets: Vec<PortSetting>,
    /// Its place in the text.
    pub span: Span,
}

/// A variable of a port that a change sets.
#[derive(Clone, Debug)]
pub struct PortSetting {
    /// The port.
    pub port: PortId,
    /// Its variable, absorbing.
    pub variable: Variable,
    /// Its value just after the change, over values just before it.
    pub value: ExprId,
}

/// A discrete variable: constant but at events.
#[derive(Clone, Debug)]
pub struct Discrete {
    /// `hits` or `z[2]`.
    pub name: Arc<str>,
    /// Its place in [`Model::inputs`](crate::Model::inputs), where it is an internal input whose signal is its start.
    pub input: usize,
    /// Its name in the source.
    pub span: Span,
}

/// A `when` or an `every` block.
#[derive(Clone, Debug)]
pub struct Block {
    /// Its trigger.
    pub trigger: Trigger,
    /// Its assignments, in order; a choice in the block is a choice of the value.
    pub assignments: Vec<Assignment>,
    /// Its place in the text.
    pub span: Span,
}

/// The trigger of a block.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Trigger {
    /// Each time that a condition becomes true.
    Becomes(ExprId),
    /// Once, before the first row.
    Initially,
    /// At `first`, `first + period`, .., in seconds.
    Every {
        /// The period, in seconds.
        period: f64,
        /// The first instant, in seconds.
        first: f64,
    },
}

/// `target := value;`
#[derive(Clone, Debug)]
pub struct Assignment {
    /// The target.
    pub target: Target,
    /// The new value: continuous quantities as they are just before the instant, discrete ones as assigned so far.
    pub value: ExprId,
    /// Its place in the text.
    pub span: Span,
}

/// The target of an assignment.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Target {
    /// A discrete variable, by its place in [`Switching::discretes`].
    Discrete(usize),
    /// A declared state, by the symbol of its integral.
    State(SymbolId),
    /// The state that a storage carries at a port.
    Storage(PortId),
    /// Nothing of the model: a symbol of this one instant. It holds what a choice was decided by, or an entry of a vector until all
    /// entries are computed.
    Temporary(SymbolId),
}
