//! Tables of a model with events: its combinations of modes, its elements with modes, and its blocks.

/// The data of a model with events, in addition to its functions.
#[derive(Clone, Copy, Debug)]
pub struct Tables {
    /// The combinations of modes.
    pub combinations: &'static [Combination],
    /// The combination in which the search at the start begins.
    pub first: usize,
    /// The elements with modes.
    pub elements: &'static [Element],
    /// The blocks in source order.
    pub blocks: &'static [AssignmentBlock],
    /// The inputs of discrete variables.
    pub discretes: &'static [usize],
    /// The first input that is an offset of a port.
    pub first_offset: usize,
    /// True for each state with a known initial value.
    pub start_known: &'static [bool],
    /// The number of turns, which follow the margins of conditions: numbers at whose zeros a margin may have a peak or a bend.
    pub turns: usize,
    /// The number of phases, which follow the turns: arguments of periodic functions within margins, in radians.
    pub phases: usize,
    /// The offsets of each kind of watched values.
    pub places: Places,
}

/// The first index of each kind of watched values; the values of states by name come first.
#[derive(Clone, Copy, Debug)]
pub struct Places {
    /// Effort and flow of each port of elements with modes.
    pub ports: usize,
    /// The values that the modes in force set at ports.
    pub given: usize,
    /// The values given by the law of each mode.
    pub laws: usize,
    /// The values set by changes.
    pub sets: usize,
    /// The values read by blocks.
    pub read: usize,
}

/// A combination of modes.
#[derive(Clone, Copy, Debug)]
pub struct Combination {
    /// The mode of each element.
    pub modes: &'static [usize],
    /// The reason if the combination has no equations.
    pub conflict: Option<&'static str>,
    /// The kind of each state.
    pub known: &'static [Known],
    /// True for each margin that is evaluated.
    pub watches: &'static [bool],
    /// True for each margin that depends only on time, parameters and discrete variables; their signs have no round-off.
    pub timed: &'static [bool],
    /// True for each element with a redundant mode: its port shares what the other modes leave undetermined.
    pub redundant: &'static [bool],
}

/// A state in a combination of modes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Known {
    /// The state has no value.
    No,
    /// The variable is a state.
    State,
    /// The value follows from other states.
    Follows,
}

/// An element with modes.
#[derive(Clone, Copy, Debug)]
pub struct Element {
    /// The name of the element.
    pub name: &'static str,
    /// True if it is a junction with a condition.
    pub is_junction: bool,
    /// The modes of the element.
    pub modes: &'static [Mode],
    /// The index of its first mode in the list of all modes.
    pub first_mode: usize,
    /// The index of its first port in the list of all ports.
    pub first_port: usize,
    /// The number of its ports.
    pub ports: usize,
}

/// A mode of an element.
#[derive(Clone, Copy, Debug)]
pub struct Mode {
    /// The name of the mode.
    pub name: &'static str,
    /// The variable that the mode sets at each port: 0 for effort, 1 for flow.
    pub given: &'static [Option<usize>],
    /// The changes from this mode to others.
    pub changes: &'static [Change],
}

/// A change from one mode to another.
#[derive(Clone, Copy, Debug)]
pub struct Change {
    /// The index of its condition in the list of all conditions.
    pub condition: usize,
    /// The next mode.
    pub to: usize,
    /// True if the next mode may be tried without the condition, because the element leaves it if it is wrong.
    pub is_free: bool,
    /// The values set by the change.
    pub sets: &'static [Set],
    /// The comparison in the condition that bounds the free variable of the element's port.
    pub bound: Option<Bound>,
}

/// The comparison in a condition on the port variable that the mode in force leaves free.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bound {
    /// The margin of the comparison.
    pub margin: usize,
    /// True if the comparison holds for a positive margin.
    pub is_positive: bool,
    /// True if the comparison holds for a variable above the bound.
    pub is_above: bool,
    /// The mode after the next bound in the same direction.
    pub far: Option<usize>,
}

/// A value that a change sets.
#[derive(Clone, Copy, Debug)]
pub struct Set {
    /// The index in the list of all set values.
    pub place: usize,
    /// The index of the port in the list of all ports.
    pub port: usize,
    /// The variable of the port: 0 for effort, 1 for flow.
    pub variable: usize,
}

/// A block of assignments.
#[derive(Clone, Copy, Debug)]
pub struct AssignmentBlock {
    /// The name of the block, such as `every:12`.
    pub name: &'static str,
    /// The times at which the block runs.
    pub trigger: Trigger,
    /// The index of its condition in the list of all conditions.
    pub condition: usize,
    /// The index of its first assignment in the list of all assignments.
    pub first_assignment: usize,
    /// The targets of the assignments.
    pub targets: &'static [Target],
}

/// The times at which a block runs.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Trigger {
    /// When its condition becomes true.
    When,
    /// Once before the first row.
    Initially,
    /// At a first instant, and periodically from then on.
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
    /// A value read by the following assignments: the condition of an `if`, or an entry of a vector.
    Temporary(usize),
    /// A state.
    State(usize),
}

impl Tables {
    /// Returns the input of a value that is held between events: discrete variables come first, then offsets.
    pub fn held_input(&self, at: usize) -> usize {
        match self.discretes.get(at) {
            Some(input) => *input,
            None => self.first_offset + at - self.discretes.len(),
        }
    }

    /// Returns the combination of these modes, if the model has one.
    pub fn combination_of(&self, modes: &[usize]) -> Option<usize> {
        self.combinations
            .iter()
            .position(|combination| combination.modes == modes)
    }

    /// Returns the mode of an element in a combination.
    pub fn mode(&self, combination: usize, element: usize) -> &'static Mode {
        &self.elements[element].modes[self.combinations[combination].modes[element]]
    }
}
