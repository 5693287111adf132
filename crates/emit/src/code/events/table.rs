//! All that a program with events holds, as data.

use crate::code::subject::{Further, HeldBetween};
use lgm_algebra::expr::{ExprId, Relation, SymbolId};
use lgm_equations::switching::Condition;
use lgm_model::system::StateSystem;
use std::ops::Range;

/// All that a program with events holds.
pub(crate) struct Gathered {
    /// The equations of the first combination over the states and the inputs of all.
    pub(crate) system: StateSystem,
    /// The number of states with a column: those of the equations at the start.
    pub(crate) columns: usize,
    /// The combinations.
    pub(crate) rows: Vec<Row>,
    /// The place of the one in which the search at the start begins.
    pub(crate) first: usize,
    /// The number of margins.
    pub(crate) margins: usize,
    /// The conditions of all changes, then those of all blocks, over margins.
    pub(crate) conditions: Vec<Condition>,
    /// The elements with modes.
    pub(crate) elements: Vec<Element>,
    /// The blocks in the order of the text.
    pub(crate) blocks: Vec<Block>,
    /// The inputs of discrete variables.
    pub(crate) discretes: Vec<usize>,
    /// The first input that is an offset.
    pub(crate) first_offset: usize,
    /// Symbols that hold what blocks read, and what their assignments hold meanwhile.
    pub(crate) held: Vec<SymbolId>,
    pub(crate) temporaries: Vec<SymbolId>,
    /// Of each state, whether its start is known.
    pub(crate) start_known: Vec<bool>,
    /// True if the energy of storage is known in all modes.
    pub(crate) knows_energy: bool,
}

impl Gathered {
    /// The number of ports of elements with modes.
    pub(crate) fn ports(&self) -> usize {
        self.elements.iter().map(|element| element.ports).sum()
    }

    /// The inputs that are offsets of ports.
    pub(crate) fn offsets(&self) -> Range<usize> {
        self.first_offset..self.first_offset + self.ports()
    }

    /// The modes of all elements.
    pub(crate) fn modes(&self) -> impl Iterator<Item = &Mode> {
        self.elements.iter().flat_map(|element| &element.modes)
    }

    /// The changes of all modes.
    pub(crate) fn changes(&self) -> impl Iterator<Item = &Change> {
        self.modes().flat_map(|mode| &mode.changes)
    }

    /// The number of values that changes set.
    pub(crate) fn sets(&self) -> usize {
        self.changes().map(|change| change.sets.len()).sum()
    }

    /// The equations of each combination that has some.
    pub(crate) fn systems(&self) -> impl Iterator<Item = StateSystem> + '_ {
        let with = self.rows.iter().filter_map(|row| row.equations.as_ref().ok());
        with.map(|row| {
            let mut system = self.system.clone();
            system.equations.derivatives.clone_from(&row.derivatives);
            system.equations.output_values.clone_from(&row.outputs);
            system
        })
    }

    /// The results beside the equations of the first combination.
    pub(crate) fn further(&self) -> Further {
        let with = || self.rows.iter().filter_map(|row| row.equations.as_ref().ok());
        let margins = with().flat_map(|row| row.margins.iter().flatten());
        Further {
            roots: with()
                .flat_map(|row| &row.derivatives)
                .chain(margins)
                .copied()
                .collect(),
            shown: with().flat_map(|row| &row.outputs).copied().collect(),
            columns: Some(self.columns),
            held: Some(HeldBetween {
                combinations: self.rows.len(),
                discretes: self.discretes.clone(),
                offsets: self.offsets(),
                indicators: self.elements.len() + self.blocks.len(),
            }),
        }
    }
}

/// A combination of modes.
pub(crate) struct Row {
    pub(crate) modes: Vec<usize>,
    /// Its equations, or the reason that it has none.
    pub(crate) equations: Result<InCombination, String>,
}

/// The equations of a combination over the symbols of all.
pub(crate) struct InCombination {
    /// Right sides of all states; 0 where a state is none here.
    pub(crate) derivatives: Vec<ExprId>,
    pub(crate) outputs: Vec<ExprId>,
    /// Watched values, in the order of `lgm_run.h`.
    pub(crate) watched: Vec<ExprId>,
    /// Margins, where conditions read them here.
    pub(crate) margins: Vec<Option<ExprId>>,
    /// Of each state, 1 where it is one, 2 where its value follows, 0 where it has none.
    pub(crate) known: Vec<usize>,
}

/// An element with modes.
pub(crate) struct Element {
    pub(crate) name: String,
    pub(crate) is_junction: bool,
    /// Its first port and its first mode among those of all elements.
    pub(crate) first_port: usize,
    pub(crate) first_mode: usize,
    pub(crate) ports: usize,
    pub(crate) modes: Vec<Mode>,
}

/// A mode: its name, the variable that it gives at each port, 0 for effort and 1 for flow, and its changes.
pub(crate) struct Mode {
    pub(crate) name: String,
    pub(crate) given: Vec<Option<usize>>,
    pub(crate) changes: Vec<Change>,
}

/// A change of the mode.
pub(crate) struct Change {
    /// The number of its condition.
    pub(crate) condition: usize,
    /// The mode that follows.
    pub(crate) to: usize,
    /// True if the mode may be tried without the condition.
    pub(crate) is_free: bool,
    /// True if the condition does not hold without variables of the element's ports.
    pub(crate) asks_ports: bool,
    pub(crate) sets: Vec<Set>,
}

/// A value that a change sets.
pub(crate) struct Set {
    /// Its place among the values that all changes set.
    pub(crate) place: usize,
    /// The port among those of all elements, and its variable.
    pub(crate) port: usize,
    pub(crate) variable: usize,
}

/// A block.
pub(crate) struct Block {
    /// `every:12`
    pub(crate) name: String,
    /// Period and first instant of a sampled one; 0 of a `when` block, -1 of one that runs initially.
    pub(crate) period: f64,
    pub(crate) first: f64,
    /// Targets, 0 for discrete variables, 1 for temporaries, 2 for states, with their places, and values.
    pub(crate) assignments: Vec<(usize, usize, ExprId)>,
}

/// The margin of a condition that is one comparison, and whether it holds above 0.
pub(crate) fn only_margin(condition: &Condition) -> Option<(usize, bool)> {
    match condition {
        Condition::Margin(at, Relation::Greater | Relation::GreaterEqual) => Some((*at, true)),
        Condition::Margin(at, Relation::Less | Relation::LessEqual) => Some((*at, false)),
        _ => None,
    }
}
