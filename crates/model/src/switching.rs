//! Changes at events: modes of elements, discrete variables, and blocks of assignments.
//!
//! The flat model contains the laws of the modes in which the search at the start begins; [`in_modes`](crate::Model::in_modes) returns the
//! model in another combination of modes.

use crate::ids::{ElementId, NodeId, PathId, PortId, Variable};
use crate::law::Law;
use crate::units::SiUnit;
use lgm_algebra::expr::{ExprId, SymbolId};
use lgm_source::Span;
use std::sync::Arc;

/// All changes at events; empty for a model of fixed structure.
#[derive(Clone, Debug, Default)]
pub struct Switching {
    /// Elements with modes, in the order of the elements.
    pub elements: Vec<SwitchedElement>,
    /// Junctions that a condition turns on and off; after elaboration each of them is an element with modes.
    pub junctions: Vec<ControlledJunction>,
    /// Discrete variables in declaration order.
    pub discretes: Vec<Discrete>,
    /// Blocks of assignments in the order of the text.
    pub blocks: Vec<EventBlock>,
    /// Delayed signals, `delay(x, T)`, whose values a run reads from its history.
    pub delays: Vec<Delay>,
}

impl Switching {
    /// Returns true for a model without events of its own.
    pub fn is_empty(&self) -> bool {
        self.elements.is_empty() && self.discretes.is_empty() && self.blocks.is_empty() && self.delays.is_empty()
    }

    /// Returns the modes in which the search at the start begins, one per element.
    pub fn first_modes(&self) -> Vec<usize> {
        self.elements.iter().map(|element| element.first).collect()
    }

    /// Returns every expression of changes, blocks and delays, mutably.
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
        let delays = self.delays.iter_mut().map(|delay| &mut delay.value);
        changes.chain(blocks).chain(delays)
    }

    /// Returns every expression of changes, blocks and delays.
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
        let delays = self.delays.iter().map(|delay| delay.value);
        changes.chain(blocks).chain(delays)
    }
}

/// Remarks on events in addition to the equations of a system.
#[derive(Clone, Debug, Default)]
pub struct SystemEvents {
    /// Elements with modes, each with the mode in which the equations hold.
    pub modes: Vec<ModeInForce>,
    /// Names of the discrete variables, which are part of the inputs.
    pub discretes: Vec<Arc<str>>,
    /// Delayed signals, which are part of the inputs.
    pub delays: Vec<DelayedInput>,
    /// True if events occur in a run: without them, these equations do not describe the run.
    pub happen: bool,
}

/// A delayed signal of a system.
#[derive(Clone, Debug, PartialEq)]
pub struct DelayedInput {
    /// The symbol of its input.
    pub symbol: SymbolId,
    /// The delay in seconds.
    pub seconds: f64,
    /// The name of the output with the value before the delay, for an analysis that closes the delay itself.
    pub output: Option<Arc<str>>,
}

/// An element with the mode in force.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ModeInForce {
    /// The element.
    pub element: Arc<str>,
    /// The mode in which the equations hold.
    pub mode: Arc<str>,
    /// All of its modes.
    pub all: Vec<Arc<str>>,
}

impl SystemEvents {
    /// Returns the modes in words: `d1 conducting, d2 blocking`.
    pub fn words(&self) -> String {
        let words = self.modes.iter().map(|each| format!("{} {}", each.element, each.mode));
        words.collect::<Vec<_>>().join(", ")
    }
}

/// A junction that is on while a condition holds. While it is off, the bonds of a 1-junction have zero flow, and those of a 0-junction zero
/// effort.
#[derive(Clone, Debug)]
pub struct ControlledJunction {
    /// The junction.
    pub node: NodeId,
    /// Its condition.
    pub condition: ExprId,
    /// The location of the condition.
    pub span: Span,
}

/// An element with exactly one active mode.
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
    /// True if the next mode may be tried without its condition, because a wrong choice shows in the result. This holds if the condition
    /// uses only port variables, like that of a diode, or if the change reverses such a change. A thyristor stays on without its gate.
    pub is_free: bool,
    /// True if the condition cannot hold without variables of the ports. A thyristor also requires a voltage at its
    /// gate, so its other mode may be active while nothing flows. The condition of a relay uses only its coil.
    pub asks_ports: bool,
    /// The condition, 1 if the change is taken; in terms of measures, states, inputs, parameters and time.
    pub condition: ExprId,
    /// The mode that follows.
    pub to: usize,
    /// Variables of ports that are set at the instant of the change.
    pub sets: Vec<PortSetting>,
    /// Its location in the text.
    pub span: Span,
}

/// A variable of a port that a change sets.
#[derive(Clone, Debug)]
pub struct PortSetting {
    /// The port.
    pub port: PortId,
    /// Its variable, absorbing.
    pub variable: Variable,
    /// Its value just after the change, in terms of values just before it.
    pub value: ExprId,
}

/// A discrete variable, constant between events.
#[derive(Clone, Debug)]
pub struct Discrete {
    /// `hits` or `z[2]`.
    pub name: Arc<str>,
    /// Its index in [`Model::inputs`](crate::Model::inputs), where it is an internal input whose signal is its initial value.
    pub input: usize,
    /// Its name in the source.
    pub span: Span,
}

/// A delayed signal: an internal input without a signal, whose value is that of an expression some time earlier.
#[derive(Clone, Debug)]
pub struct Delay {
    /// `delay(x, T)`, as the model writes it.
    pub name: Arc<str>,
    /// The symbol of its value (kind `Input`).
    pub symbol: SymbolId,
    /// The SI unit of its value, if known.
    pub unit: Option<SiUnit>,
    /// Its index in [`Model::inputs`](crate::Model::inputs).
    pub input: usize,
    /// The expression before the delay.
    pub value: ExprId,
    /// The delay in seconds, in terms of the parameters, and its value.
    pub time: (ExprId, f64),
    /// The name of the output with the value before the delay, for an analysis that closes the delay itself.
    pub output: Option<Arc<str>>,
    /// The location of the call.
    pub span: Span,
}

/// A `when` or an `every` block.
#[derive(Clone, Debug)]
pub struct EventBlock {
    /// Its trigger.
    pub trigger: Trigger,
    /// Its assignments, in order; a choice in the block is a choice of the value.
    pub assignments: Vec<Assignment>,
    /// The instance of a component to which it belongs; none in the model itself.
    pub instance: Option<PathId>,
    /// Its location in the text.
    pub span: Span,
}

/// The trigger of a block.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Trigger {
    /// Whenever a condition becomes true.
    Becomes(ExprId),
    /// Once, before the first sample.
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
    /// The new value: continuous quantities just before the instant, discrete ones as assigned so far.
    pub value: ExprId,
    /// Its location in the text.
    pub span: Span,
}

/// The target of an assignment.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Target {
    /// A discrete variable, by its index in [`Switching::discretes`].
    Discrete(usize),
    /// A declared state, by the symbol of its integral.
    State(SymbolId),
    /// The state of a storage at a port.
    Storage(PortId),
    /// A temporary symbol outside the model, used at this instant only. It holds the condition of a choice, or an entry of a vector until
    /// all entries are computed.
    Temporary(SymbolId),
}
