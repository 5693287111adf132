//! Tables of a model with events: its combinations of modes, its elements with modes, and its blocks.

/// All that a model with events holds beside its functions.
#[derive(Clone, Copy, Debug)]
pub struct Tables {
    /// The combinations of modes.
    pub combinations: &'static [Combination],
    /// The combination in which the search at the start begins.
    pub first: usize,
    /// The elements with modes.
    pub elements: &'static [Element],
    /// The blocks in the order of the text.
    pub blocks: &'static [Block],
    /// The inputs of discrete variables.
    pub discretes: &'static [usize],
    /// The first input that is an offset of a port.
    pub first_offset: usize,
    /// True for each state whose start is known.
    pub start_known: &'static [bool],
    /// True if the energy of storage is known in all modes.
    pub knows_energy: bool,
    /// The beginnings of the watched values.
    pub places: Places,
}

/// The beginnings of the watched values of each kind; in front are the values of states by their names.
#[derive(Clone, Copy, Debug)]
pub struct Places {
    /// Effort and flow of each port of elements with modes.
    pub ports: usize,
    /// The values that the modes in force give at ports.
    pub given: usize,
    /// The values that the law of each mode gives.
    pub laws: usize,
    /// The values that changes set.
    pub sets: usize,
    /// The values that blocks read.
    pub read: usize,
    /// The energy of storage.
    pub energy: usize,
}

/// A combination of modes.
#[derive(Clone, Copy, Debug)]
pub struct Combination {
    /// The mode of each element.
    pub modes: &'static [usize],
    /// The reason if there are no equations.
    pub conflict: Option<&'static str>,
    /// The kind of each state.
    pub known: &'static [Known],
    /// True for each margin that is looked at.
    pub watches: &'static [bool],
}

/// A state in a combination of modes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Known {
    /// It has no value.
    No,
    /// It is a state.
    State,
    /// Its value follows from others.
    Follows,
}

/// An element with modes.
#[derive(Clone, Copy, Debug)]
pub struct Element {
    /// Its name.
    pub name: &'static str,
    /// True if it is a junction with a condition.
    pub is_junction: bool,
    /// Its modes.
    pub modes: &'static [Mode],
    /// Its first mode among those of all elements.
    pub first_mode: usize,
    /// Its first port among those of all elements.
    pub first_port: usize,
    /// The number of its ports.
    pub ports: usize,
}

/// A mode of an element.
#[derive(Clone, Copy, Debug)]
pub struct Mode {
    /// Its name.
    pub name: &'static str,
    /// The variable that it gives at each port: 0 for effort, 1 for flow.
    pub given: &'static [Option<usize>],
    /// The changes that leave it.
    pub changes: &'static [Change],
}

/// A change from one mode to another.
#[derive(Clone, Copy, Debug)]
pub struct Change {
    /// The place of its condition among all conditions.
    pub condition: usize,
    /// The mode that follows.
    pub to: usize,
    /// True if the mode that follows may be tried without the condition: it is left by itself if it is wrong.
    pub is_free: bool,
    /// True if the condition does not hold without variables of the element's ports.
    pub asks_ports: bool,
    /// The values that it sets.
    pub sets: &'static [Set],
    /// The margin of a condition that is one comparison, and whether it holds above 0.
    pub margin: Option<(usize, bool)>,
}

/// A value that a change sets.
#[derive(Clone, Copy, Debug)]
pub struct Set {
    /// Its place among all set values.
    pub place: usize,
    /// The port among those of all elements.
    pub port: usize,
    /// The variable of the port: 0 for effort, 1 for flow.
    pub variable: usize,
}

/// A block of assignments.
#[derive(Clone, Copy, Debug)]
pub struct Block {
    /// `every:12`
    pub name: &'static str,
    /// The time at which it runs.
    pub trigger: Trigger,
    /// The place of its condition among all conditions.
    pub condition: usize,
    /// The place of its first assignment among those of all blocks.
    pub first_assignment: usize,
    /// The targets of its assignments.
    pub targets: &'static [Target],
}

/// The time at which a block runs.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Trigger {
    /// When its condition becomes true.
    When,
    /// Once before the first row.
    Initially,
    /// At a first instant, and once a period from then on.
    Every {
        /// The period in seconds.
        period: f64,
        /// The first instant.
        first: f64,
    },
}

/// The target of an assignment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Target {
    /// A discrete variable.
    Discrete(usize),
    /// A value that the assignments behind it read: the condition of an `if`, an entry of a vector.
    Temporary(usize),
    /// A state.
    State(usize),
}

/// An element that is complementary in a combination of modes.
#[derive(Clone, Copy, Debug)]
pub struct Pair {
    pub(crate) element: usize,
    pub(crate) port: usize,
    /// The mode that it would change to.
    pub(crate) to: usize,
    /// The watched values of the variable that is free, and of what the other mode gives it.
    pub(crate) free: usize,
    pub(crate) other: usize,
    /// The margin of the change, and whether it is taken above 0.
    pub(crate) margin: usize,
    pub(crate) is_above: bool,
}

impl Pair {
    /// The place of a pair that is not there.
    pub(crate) const NONE: Pair = Pair {
        element: 0,
        port: 0,
        to: 0,
        free: 0,
        other: 0,
        margin: 0,
        is_above: false,
    };
}

impl Tables {
    /// The input of a value that is held between events: discrete variables come first, then offsets.
    pub fn held_input(&self, at: usize) -> usize {
        match self.discretes.get(at) {
            Some(input) => *input,
            None => self.first_offset + at - self.discretes.len(),
        }
    }

    /// The combination of these modes, if the model holds it.
    pub fn combination_of(&self, modes: &[usize]) -> Option<usize> {
        self.combinations
            .iter()
            .position(|combination| combination.modes == modes)
    }

    /// The mode of an element in a combination.
    pub fn mode(&self, combination: usize, element: usize) -> &'static Mode {
        &self.elements[element].modes[self.combinations[combination].modes[element]]
    }
}
