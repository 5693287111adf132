//! One combination of modes as a model of fixed structure, with the outputs that a run watches.

use super::conditions::Condition;
use lgm_algebra::expr::{ExprId, SymbolId};
use lgm_model::system::StateSystem;
use lgm_model::{ElementId, Model, Variable};
use rustc_hash::{FxHashMap, FxHashSet};
use std::sync::Arc;

/// A combination of modes.
#[derive(Clone, Debug)]
pub struct Combination {
    /// The model in these modes. Outputs after the declared ones are watched by a run.
    pub model: Model,
    /// Number of declared outputs.
    pub shown: usize,
    /// The changes of the modes in force, one entry for each element with modes.
    pub changes: Vec<Vec<WatchedChange>>,
    /// The conditions of `when` blocks, one entry for each block.
    pub blocks: Vec<Option<Condition>>,
    /// Names of the states that storage has if it is independent, each with the output of its value.
    pub storage: Vec<(Arc<str>, usize)>,
    /// Effort and flow of the ports of elements with modes, as outputs.
    pub ports: Vec<Vec<(usize, usize)>>,
    /// For elements with one port, an entry for each mode: the variable that the mode gives, and the output with its value.
    pub laws: Vec<Vec<Option<(Variable, usize)>>>,
    /// Offsets of the ports whose variable the mode in force gives.
    pub offsets: Vec<Offset>,
    /// Elements whose mode in force is redundant, each followed by the elements with which it shares a load, by least norm.
    pub redundant: Vec<Vec<ElementId>>,
    /// The two sides of each margin, by its output: the same in all combinations.
    pub sides: FxHashMap<usize, (ExprId, ExprId)>,
    /// The margins, by output, that depend on no port and no state.
    pub free: FxHashSet<usize>,
    /// Outputs with the values that blocks read, in the order of [`held`](super::Events::held).
    pub read: Vec<usize>,
    /// Outputs with the values before the delays, in the order of the model.
    pub delayed: Vec<usize>,
    /// Outputs with the co-energy and the energy variables of storage ports: half of the sum of the products is the
    /// energy in joules. None if a storage element has a nonlinear law or no power.
    pub energy: Option<Vec<(usize, usize)>>,
    /// Outputs with effort and flow of the ports of sources, and of the ports of dissipators and elements with modes;
    /// none unless [`watching_powers`](super::Events::watching_powers) requests them.
    pub power: Option<(PowerOutputs, PowerOutputs)>,
}

impl Combination {
    /// Returns for each element with modes true if its mode is redundant.
    pub fn is_redundant(&self) -> impl Iterator<Item = bool> + '_ {
        let elements = self.model.switching.elements.iter();
        elements.map(|switched| self.redundant.iter().any(|sharing| sharing[0] == switched.element))
    }
}

/// Pairs of outputs with the effort and the flow of ports.
pub type PowerOutputs = Vec<(usize, usize)>;

/// A change of the mode in force.
#[derive(Clone, Debug)]
pub struct WatchedChange {
    /// Its condition.
    pub condition: Condition,
    /// The mode that follows.
    pub to: usize,
    /// The comparison in the condition that bounds the free variable of the element's port.
    pub bound: Option<WatchedBound>,
    /// The port variables that it sets: the port of the element, the variable, and the output with its value.
    pub sets: Vec<(usize, Variable, usize)>,
}

/// The comparison in a condition that contains the port variable left free by the mode in force.
#[derive(Clone, Copy, Debug)]
pub struct WatchedBound {
    /// The output with its margin.
    pub margin: usize,
    /// True if it holds when the margin is positive.
    pub is_positive: bool,
    /// True if it holds when the variable is above the bound.
    pub is_above: bool,
    /// The mode beyond the next bound in the same direction. For dry friction, which sticks in between, backward motion is
    /// beyond forward motion.
    pub far: Option<usize>,
}

/// The offset of a port: an input added to the variable that the mode in force gives.
#[derive(Clone, Copy, Debug)]
pub struct Offset {
    /// The element, by index in the list of elements with modes, and its port.
    pub port: (usize, usize),
    /// The given variable.
    pub given: Variable,
    /// The symbol of the input.
    pub symbol: SymbolId,
    /// The output with the value of the law, without the offset.
    pub value: usize,
}

/// The equations of a combination of modes.
#[derive(Clone, Debug)]
pub struct InModes {
    /// The model with its watched outputs.
    pub combination: Arc<Combination>,
    /// The model with functions of time as inputs from which the equations were derived, if any became inputs.
    pub own: Option<Model>,
    /// Its equations, with the declared outputs only.
    pub system: StateSystem,
    /// Values of the watched outputs, from [`Combination::shown`] on, over the symbols of the system.
    pub watched: Vec<ExprId>,
}
