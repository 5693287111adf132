//! Parts of a model: the functions of its equations, the sizes of its arrays, and its tables.

use super::array::Array;
use super::real::Real;
use core::fmt::Debug;

/// The reason of a call without a result.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    /// A result is not a finite number: the arguments are outside the domain of the equations.
    NotFinite,
    /// An algebraic loop has no solution that Newton's iteration finds.
    LoopNotSolved,
    /// The starts of storage elements that depend on each other contradict.
    StartsDisagree,
    /// A condition on states changes again and again within no time.
    Chatter,
    /// An input steps, and what the states are after that does not follow from the equations.
    JumpNotKnown,
    /// At an event no modes agree, or an assignment has no value.
    EventNotKnown,
}

/// Traits of the equations of a model, beside its sizes.
#[derive(Clone, Copy, Debug)]
pub struct Features {
    /// If a step of an input moves states.
    pub moves: bool,
    /// If it moves them by the same at every point.
    pub linear: bool,
    /// If algebraic loops may have several solutions, of which a run follows one.
    pub branches: bool,
    /// If a state is a conserved quantity, of which stored quantities may have several solutions.
    pub totals: bool,
    /// If oscillations of time alone bound the steps.
    pub bounds_steps: bool,
    /// If events happen.
    pub events: bool,
    /// If the equations are those of several combinations of modes, whose Jacobians no package holds.
    pub several: bool,
}

/// Tables of each state.
#[derive(Clone, Copy, Debug)]
pub struct StateTables {
    /// The user's names.
    pub names: &'static [&'static str],
    /// Scales before the states were seen; a negative one was given by the model, and stays.
    pub scales: &'static [f64],
    /// States of one kind have the same number.
    pub kinds: &'static [usize],
    /// True if the model gives the start: the state keeps its value if an input steps at the start.
    pub start_given: &'static [bool],
}

/// Tables of the unknowns of the algebraic loops.
#[derive(Clone, Copy, Debug)]
pub struct LoopTables {
    /// The elements of the loops, as a sentence names them.
    pub elements: &'static str,
    /// The point at which the search for solutions begins.
    pub guesses: [&'static [f64]; 5],
    /// Linear loops have one solution; displacements of closed chains go on without leaps, to where they end at a dead centre.
    pub settled: &'static [bool],
    /// Unknowns that give stored quantities do not jump.
    pub stored: &'static [bool],
    /// The number of times that an iteration may go aside where the loops have no slopes.
    pub asides: usize,
}

/// The places of the entries of a sparse matrix.
#[derive(Clone, Copy, Debug)]
pub struct Pattern {
    /// Row r has the entries `rows[r] .. rows[r + 1]`.
    pub rows: &'static [usize],
    /// The column of each entry.
    pub columns: &'static [usize],
}

impl Pattern {
    /// A matrix without rows.
    pub const NONE: Pattern = Pattern {
        rows: &[0],
        columns: &[],
    };

    /// The entries of a row, each with its place.
    pub fn row(&self, row: usize) -> impl Iterator<Item = (usize, usize)> {
        let (first, end) = (self.rows[row], self.rows[row + 1]);
        let columns = &self.columns[first..end];
        (first..end).zip(columns.iter().copied())
    }
}

/// The places of the partial derivatives.
#[derive(Clone, Copy, Debug)]
pub struct Patterns {
    /// Derivatives of states by states, with the loops resolved.
    pub jacobian: Pattern,
    /// Residuals of the loops by their unknowns.
    pub loops: Pattern,
    /// Derivatives of states by states alone.
    pub direct: Pattern,
    /// Derivatives of states by the unknowns.
    pub by_unknowns: Pattern,
    /// Residuals by states.
    pub by_states: Pattern,
}

/// A point at which the equations are evaluated.
#[derive(Clone, Copy, Debug)]
pub struct At<'a, S: System> {
    /// The time in seconds.
    pub t: S::Real,
    /// The states.
    pub x: &'a S::States,
    /// The inputs.
    pub u: &'a S::Inputs,
    /// Their time derivatives.
    pub du: &'a S::Inputs,
}

/// The functions of a model, with the memory that they need. Each writes its results to its last argument; a function that computes
/// nothing is left out. Before a function reads unknowns of loops, these are solved.
pub trait System: Copy + Debug {
    /// The numbers.
    type Real: Real;
    /// The parameters as a user gives them.
    type Parameters;
    /// All entries of all parameters.
    type Entries: Array<Item = Self::Real>;
    /// One number for each state.
    type States: Array<Item = Self::Real>;
    /// One number for each input.
    type Inputs: Array<Item = Self::Real>;
    /// The inputs, and their time derivatives behind them.
    type Signals: Array<Item = Self::Real>;
    /// One number for each output.
    type Outputs: Array<Item = Self::Real>;
    /// One number for each unknown of the algebraic loops.
    type Unknowns: Array<Item = Self::Real>;
    /// A row of unknowns for each unknown.
    type Factors: Array<Item = Self::Unknowns>;
    /// A place for each unknown.
    type Pivots: Array<Item = usize>;
    /// Entries of [`Patterns::jacobian`].
    type Jacobian: Array<Item = Self::Real>;
    /// Entries of [`Patterns::loops`].
    type LoopMatrix: Array<Item = Self::Real>;
    /// Entries of [`Patterns::direct`].
    type Direct: Array<Item = Self::Real>;
    /// Entries of [`Patterns::by_unknowns`].
    type ByUnknowns: Array<Item = Self::Real>;
    /// Entries of [`Patterns::by_states`].
    type ByStates: Array<Item = Self::Real>;
    /// Given and following starts of dependent storage, in pairs.
    type Constraints: Array<Item = Self::Real>;
    /// Instants at which a signal or an expression of time steps or bends.
    type Instants: Array<Item = Self::Real>;
    /// Values that are constant between instants that are not known beforehand.
    type Switches: Array<Item = Self::Real>;
    /// The phases of what oscillates with time alone.
    type Phases: Array<Item = Self::Real>;
    /// All conditions on states.
    type Crossings: Array<Item = Self::Real>;
    /// Conditions at which the equations jump.
    type Conditions: Array<Item = Self::Real>;
    /// Conditions at which they have a derivative discontinuity.
    type Bends: Array<Item = Self::Real>;

    /// Traits of the equations.
    const FEATURES: Features;
    /// Tables of the states.
    const STATES: StateTables;
    /// Tables of the loops.
    const LOOPS: LoopTables;
    /// The names of the outputs.
    const OUTPUT_NAMES: &'static [&'static str];
    /// The place of each condition of [`System::Conditions`] among all.
    const JUMPING: &'static [usize];
    /// The place of each condition of [`System::Bends`] among all.
    const BENDING: &'static [usize];

    /// The places of the partial derivatives.
    fn patterns() -> Patterns;
    /// Takes over parameters and computes those that follow from them.
    fn new(parameters: &Self::Parameters) -> Self;
    /// All entries of all parameters.
    fn entries(&self) -> &Self::Entries;

    /// The states that a run begins with.
    fn starts(&mut self, x: &mut Self::States) {
        let _ = x;
    }
    /// Given and following starts of dependent storage.
    fn constraints(&mut self, pairs: &mut Self::Constraints) {
        let _ = pairs;
    }
    /// The inputs at a time, and their time derivatives.
    fn inputs(&mut self, t: Self::Real, both: &mut Self::Signals) {
        let _ = (t, both);
    }
    /// The time derivatives of the states.
    fn derivatives(&mut self, at: At<'_, Self>, w: &Self::Unknowns, dx: &mut Self::States) {
        let _ = (at, w, dx);
    }
    /// The outputs.
    fn outputs(&mut self, at: At<'_, Self>, w: &Self::Unknowns, y: &mut Self::Outputs) {
        let _ = (at, w, y);
    }
    /// The residuals of the loops.
    fn residuals(&mut self, at: At<'_, Self>, w: &Self::Unknowns, residuals: &mut Self::Unknowns) {
        let _ = (at, w, residuals);
    }
    /// Their derivatives by the unknowns.
    fn loop_matrix(&mut self, at: At<'_, Self>, w: &Self::Unknowns, entries: &mut Self::LoopMatrix) {
        let _ = (at, w, entries);
    }
    /// The derivatives of the time derivatives by the states, if there are no loops.
    fn jacobian(&mut self, at: At<'_, Self>, w: &Self::Unknowns, entries: &mut Self::Jacobian) {
        let _ = (at, w, entries);
    }
    /// The same without those that loops add.
    fn direct(&mut self, at: At<'_, Self>, w: &Self::Unknowns, entries: &mut Self::Direct) {
        let _ = (at, w, entries);
    }
    /// The derivatives of the time derivatives by the unknowns.
    fn by_unknowns(&mut self, at: At<'_, Self>, w: &Self::Unknowns, entries: &mut Self::ByUnknowns) {
        let _ = (at, w, entries);
    }
    /// The derivatives of the residuals by the states.
    fn by_states(&mut self, at: At<'_, Self>, w: &Self::Unknowns, entries: &mut Self::ByStates) {
        let _ = (at, w, entries);
    }
    /// All conditions on states.
    fn crossings(&mut self, at: At<'_, Self>, w: &Self::Unknowns, crossings: &mut Self::Crossings) {
        let _ = (at, w, crossings);
    }
    /// Instants that are known beforehand.
    fn instants(&mut self, instants: &mut Self::Instants) {
        let _ = instants;
    }
    /// Values that are constant between instants.
    fn switches(&mut self, t: Self::Real, values: &mut Self::Switches) {
        let _ = (t, values);
    }
    /// The phases of what oscillates with time alone, in radians.
    fn phases(&mut self, t: Self::Real, phases: &mut Self::Phases) {
        let _ = (t, phases);
    }
}
