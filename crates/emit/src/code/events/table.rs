//! All data of a program with events.

use crate::code::subject::{Further, HeldBetween};
use lgm_algebra::expr::{ExprId, SymbolId, print};
use lgm_equations::switching::{Condition, Inside};
use lgm_model::system::StateSystem;
use std::ops::Range;

/// Longer equations are not repeated in comments.
const LONGEST_EQUATION: usize = 160;

/// All data of a program with events.
pub(crate) struct Gathered {
    /// The equations of the first combination over the states and inputs of all combinations.
    pub(crate) system: StateSystem,
    /// The number of states with a column: those of the initial equations.
    pub(crate) columns: usize,
    /// The combinations.
    pub(crate) rows: Vec<Row>,
    /// The index of the combination from which the initial search starts.
    pub(crate) first: usize,
    /// The number of margins, with turns and phases.
    pub(crate) margins: usize,
    /// The maximum numbers of turns and of phases in a combination, which follow the margins of conditions.
    pub(crate) turns: usize,
    pub(crate) phases: usize,
    /// The conditions over margins of all changes, followed by those of all blocks.
    pub(crate) conditions: Vec<Condition>,
    /// The elements with modes.
    pub(crate) elements: Vec<Element>,
    /// The blocks in source order.
    pub(crate) blocks: Vec<EmittedBlock>,
    /// The inputs of discrete variables.
    pub(crate) discretes: Vec<usize>,
    /// The first input that is an offset.
    pub(crate) first_offset: usize,
    /// Symbols for the values that blocks read, and for the intermediate values of their assignments.
    pub(crate) held: Vec<SymbolId>,
    pub(crate) temporaries: Vec<SymbolId>,
    /// For each state, true if its initial value is known.
    pub(crate) start_known: Vec<bool>,
}

impl Gathered {
    /// Returns the number of ports of elements with modes.
    pub(crate) fn ports(&self) -> usize {
        self.elements.iter().map(|element| element.ports).sum()
    }

    /// Returns the inputs that are offsets of ports.
    pub(crate) fn offsets(&self) -> Range<usize> {
        self.first_offset..self.first_offset + self.ports()
    }

    /// Returns the modes of all elements.
    pub(crate) fn modes(&self) -> impl Iterator<Item = &Mode> {
        self.elements.iter().flat_map(|element| &element.modes)
    }

    /// Returns the changes of all modes.
    pub(crate) fn changes(&self) -> impl Iterator<Item = &Change> {
        self.modes().flat_map(|mode| &mode.changes)
    }

    /// Returns the maximum total number of bounds over all elements.
    pub(crate) fn bounds(&self) -> usize {
        let of_mode = |mode: &Mode| mode.changes.len().max(2);
        let most = |element: &Element| element.modes.iter().map(of_mode).max().unwrap_or(0);
        self.elements.iter().map(most).sum()
    }

    /// Returns the number of values that changes set.
    pub(crate) fn sets(&self) -> usize {
        self.changes().map(|change| change.sets.len()).sum()
    }

    /// Describes the modes of a combination: `chop: on, diode: blocking`.
    pub(crate) fn modes_in_words(&self, row: &Row) -> String {
        let words = self.elements.iter().zip(&row.modes);
        let words: Vec<String> = words
            .map(|(element, mode)| format!("{}: {}", element.name, element.modes[*mode].name))
            .collect();
        words.join(", ")
    }

    /// Returns the short equations of a combination in the modelling language.
    pub(crate) fn equations_of(&self, row: &InCombination) -> Vec<String> {
        let states = self.system.states.iter().zip(&row.derivatives);
        let text = |rate: &ExprId| print::text(&self.system.exprs, *rate);
        let lines = states.map(|(state, rate)| format!("der({}) = {}", state.name, text(rate)));
        lines.filter(|line| line.len() <= LONGEST_EQUATION).collect()
    }

    /// Returns the equations of each combination that has equations.
    pub(crate) fn systems(&self) -> impl Iterator<Item = StateSystem> + '_ {
        let with = self.rows.iter().filter_map(|row| row.equations.as_ref().ok());
        with.map(|row| {
            let mut system = self.system.clone();
            system.equations.derivatives.clone_from(&row.derivatives);
            system.equations.output_values.clone_from(&row.outputs);
            system
        })
    }

    /// Returns the results in addition to the equations of the first combination.
    pub(crate) fn further(&self) -> Further {
        let with = || self.rows.iter().filter_map(|row| row.equations.as_ref().ok());
        let margins = with().flat_map(|row| {
            row.margins
                .iter()
                .flatten()
                .chain(&row.inside.turns)
                .chain(&row.inside.phases)
        });
        Further {
            roots: with()
                .flat_map(|row| &row.derivatives)
                .chain(margins)
                .copied()
                .collect(),
            shown: with().flat_map(|row| &row.outputs).copied().collect(),
            crossings: with().flat_map(|row| &row.crossings).copied().collect(),
            columns: Some(self.columns),
            held: Some(HeldBetween {
                combinations: self.rows.len(),
                discretes: self.discretes.clone(),
                offsets: self.offsets(),
                indicators: self.elements.len() + self.blocks.len(),
            }),
            sampled: None,
        }
    }
}

/// A combination of modes.
pub(crate) struct Row {
    pub(crate) modes: Vec<usize>,
    /// The equations, or the reason why the combination has none.
    pub(crate) equations: Result<InCombination, String>,
}

/// The equations of a combination over the symbols of all combinations.
pub(crate) struct InCombination {
    /// Right-hand sides for all states; 0 for entries that are not states in this combination.
    pub(crate) derivatives: Vec<ExprId>,
    pub(crate) outputs: Vec<ExprId>,
    /// Watched values, in the order of `lgm_run.h`.
    pub(crate) watched: Vec<ExprId>,
    /// The margins that conditions read in this combination.
    pub(crate) margins: Vec<Option<ExprId>>,
    /// True for margins that depend only on time, parameters and discrete variables; their signs have no round-off.
    pub(crate) timed: Vec<bool>,
    /// Parts of the margins.
    pub(crate) inside: Inside,
    /// For each margin, 1 if it is nonnegative and 0 otherwise.
    pub(crate) crossings: Vec<ExprId>,
    /// For each state, 1 if it is a state here, 2 if its value follows from others, 0 if it has no value.
    pub(crate) known: Vec<usize>,
    /// True for each element whose mode is redundant.
    pub(crate) redundant: Vec<bool>,
}

impl InCombination {
    /// Returns for each margin true if a condition reads it in this combination; no condition reads turns and phases.
    pub(crate) fn watches(&self, gathered: &Gathered) -> impl Iterator<Item = bool> {
        let read = self.margins.iter().map(Option::is_some);
        read.chain(std::iter::repeat_n(false, gathered.turns + gathered.phases))
    }

    /// Returns for each margin true if it depends only on time, parameters and discrete variables.
    pub(crate) fn timed(&self, gathered: &Gathered) -> impl Iterator<Item = bool> {
        let timed = self.timed.iter().copied();
        timed.chain(std::iter::repeat_n(false, gathered.turns + gathered.phases))
    }
}

/// An element with modes.
pub(crate) struct Element {
    pub(crate) name: String,
    pub(crate) is_junction: bool,
    /// The indices of the first port and the first mode, counted over all elements.
    pub(crate) first_port: usize,
    pub(crate) first_mode: usize,
    pub(crate) ports: usize,
    pub(crate) modes: Vec<Mode>,
}

/// A mode: its name, the variable that it imposes at each port (0 for effort, 1 for flow), and its changes.
pub(crate) struct Mode {
    pub(crate) name: String,
    pub(crate) given: Vec<Option<usize>>,
    pub(crate) changes: Vec<Change>,
}

/// A change of the mode.
pub(crate) struct Change {
    /// The index of the condition.
    pub(crate) condition: usize,
    /// The next mode.
    pub(crate) to: usize,
    /// True if the mode may be tried without the condition.
    pub(crate) is_free: bool,
    /// The comparison of the condition that bounds the free variable of the element's port.
    pub(crate) bound: Option<Bound>,
    pub(crate) sets: Vec<Set>,
}

/// A bound on a free variable, given by its margin: see [`lgm_equations::switching::WatchedBound`].
#[derive(Clone, Copy)]
pub(crate) struct Bound {
    pub(crate) margin: usize,
    pub(crate) is_positive: bool,
    pub(crate) is_above: bool,
    pub(crate) far: Option<usize>,
}

/// A value that a change sets.
pub(crate) struct Set {
    /// The index in the list of values that all changes set.
    pub(crate) place: usize,
    /// The index of the port, counted over all elements, and its variable.
    pub(crate) port: usize,
    pub(crate) variable: usize,
}

/// A block.
pub(crate) struct EmittedBlock {
    /// `every:12`
    pub(crate) name: String,
    /// The period and first instant of a sampled block; 0 for a `when` block, -1 for a block that runs initially.
    pub(crate) period: f64,
    pub(crate) first: f64,
    /// For each assignment, the kind of target (0 discrete variable, 1 temporary, 2 state), its index, and the value.
    pub(crate) assignments: Vec<(usize, usize, ExprId)>,
}
