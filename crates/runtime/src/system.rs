//! The components of a model: the functions of its equations, the sizes of its arrays, and its tables.

use super::array::Array;
use super::real::Real;
use core::fmt::Debug;

/// The reason why a call has no result.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    /// A result is not finite: the arguments are outside the domain of the equations.
    NotFinite,
    /// Newton's iteration finds no solution of an algebraic loop.
    LoopNotSolved,
    /// The initial values of interdependent storage elements are contradictory.
    StartsDisagree,
    /// A condition on states changes repeatedly in almost no time.
    Chatter,
    /// An input steps, and the equations do not determine the states after the step.
    JumpNotKnown,
    /// At an event the modes are inconsistent, or an assignment has no value.
    EventNotKnown,
}

/// Properties of the equations of a model, in addition to its sizes.
#[derive(Clone, Copy, Debug)]
pub struct Features {
    /// True if a step of an input moves states.
    pub moves: bool,
    /// True if a step of an input moves the states by the same amount at every point.
    pub linear: bool,
    /// True if algebraic loops may have several solutions, one of which a run follows.
    pub branches: bool,
    /// True if a state is a conserved quantity with possibly several distributions.
    pub totals: bool,
    /// True if oscillations in time limit the step size.
    pub bounds_steps: bool,
    /// True if the model has events.
    pub events: bool,
    /// True if the equations are those of several combinations of modes; packages then contain no Jacobian.
    pub several: bool,
}

/// Tables of each state.
#[derive(Clone, Copy, Debug)]
pub struct StateTables {
    /// The names given by the user.
    pub names: &'static [&'static str],
    /// The scales of the states before the run has found any; the model gives the negative ones, which remain in force.
    pub scales: &'static [f64],
    /// The kind of each state as a number.
    pub kinds: &'static [usize],
    /// True if the model gives the initial value: the state keeps it if an input steps at the start.
    pub start_given: &'static [bool],
}

/// Tables of the unknowns of the algebraic loops.
#[derive(Clone, Copy, Debug)]
pub struct LoopTables {
    /// The elements of the loops, as named in messages.
    pub elements: &'static str,
    /// The points from which the search for solutions begins.
    pub guesses: [&'static [f64]; 5],
    /// True for unknowns with one continuous solution: linear loops have one solution, and displacements of closed chains
    /// are continuous up to a dead centre.
    pub settled: &'static [bool],
    /// True for unknowns that determine stored quantities, which do not jump.
    pub stored: &'static [bool],
    /// The maximum number of sideways moves of an iteration away from points at which the loops have no slopes.
    pub asides: usize,
}

/// The positions of the nonzero entries of a sparse matrix.
#[derive(Clone, Copy, Debug)]
pub struct Pattern {
    /// The entries of row r have the indices `rows[r] .. rows[r + 1]`.
    pub rows: &'static [usize],
    /// The column of each entry.
    pub columns: &'static [usize],
}

impl Pattern {
    /// Creates a matrix without rows.
    pub const NONE: Pattern = Pattern {
        rows: &[0],
        columns: &[],
    };

    /// Returns the entries of a row, each with its index.
    pub fn row(&self, row: usize) -> impl Iterator<Item = (usize, usize)> {
        let (first, end) = (self.rows[row], self.rows[row + 1]);
        let columns = &self.columns[first..end];
        (first..end).zip(columns.iter().copied())
    }
}

/// The sparsity patterns of the partial derivatives.
#[derive(Clone, Copy, Debug)]
pub struct Patterns {
    /// Derivatives of the rates with respect to the states, with the loops solved.
    pub jacobian: Pattern,
    /// Derivatives of the loop residuals with respect to the unknowns.
    pub loops: Pattern,
    /// Derivatives of the rates with respect to the states at constant unknowns.
    pub direct: Pattern,
    /// Derivatives of the rates with respect to the unknowns.
    pub by_unknowns: Pattern,
    /// Derivatives of the loop residuals with respect to the states.
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

/// The functions of a model, with the memory that they need. Each writes its results to its last argument. A function
/// without results is omitted. The unknowns of the loops are solved before a function reads them.
pub trait System: Copy + Debug {
    /// The number type.
    type Real: Real;
    /// The parameters as the user gives them.
    type Parameters;
    /// All entries of all parameters.
    type Entries: Array<Item = Self::Real>;
    /// One number for each state.
    type States: Array<Item = Self::Real>;
    /// One number for each input.
    type Inputs: Array<Item = Self::Real>;
    /// The inputs, followed by their time derivatives.
    type Signals: Array<Item = Self::Real>;
    /// One number for each output.
    type Outputs: Array<Item = Self::Real>;
    /// One number for each unknown of the algebraic loops.
    type Unknowns: Array<Item = Self::Real>;
    /// One row of unknowns for each unknown.
    type Factors: Array<Item = Self::Unknowns>;
    /// One index for each unknown.
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
    /// Given and implied initial values of dependent storage, in pairs.
    type Constraints: Array<Item = Self::Real>;
    /// Instants at which a signal or a function of time steps or has a derivative discontinuity.
    type Instants: Array<Item = Self::Real>;
    /// Values that are constant between instants that are not known in advance.
    type Switches: Array<Item = Self::Real>;
    /// The phases of oscillations in time.
    type Phases: Array<Item = Self::Real>;
    /// All conditions on states.
    type Crossings: Array<Item = Self::Real>;
    /// Conditions at which the equations are discontinuous.
    type Conditions: Array<Item = Self::Real>;
    /// Conditions at which the equations have a derivative discontinuity.
    type Bends: Array<Item = Self::Real>;

    /// Properties of the equations.
    const FEATURES: Features;
    /// Tables of the states.
    const STATES: StateTables;
    /// Tables of the loops.
    const LOOPS: LoopTables;
    /// The names of the outputs.
    const OUTPUT_NAMES: &'static [&'static str];
    /// The index of each condition of [`System::Conditions`] in the list of all conditions.
    const JUMPING: &'static [usize];
    /// The index of each condition of [`System::Bends`] in the list of all conditions.
    const BENDING: &'static [usize];

    /// Returns the sparsity patterns of the partial derivatives.
    fn patterns() -> Patterns;
    /// Stores the parameters and computes those derived from them.
    fn new(parameters: &Self::Parameters) -> Self;
    /// Returns all entries of all parameters.
    fn entries(&self) -> &Self::Entries;

    /// Computes the initial states.
    fn starts(&mut self, x: &mut Self::States) {
        let _ = x;
    }
    /// Computes the given and the implied initial values of dependent storage.
    fn constraints(&mut self, pairs: &mut Self::Constraints) {
        let _ = pairs;
    }
    /// Computes the inputs at a time, and their time derivatives.
    fn inputs(&mut self, t: Self::Real, both: &mut Self::Signals) {
        let _ = (t, both);
    }
    /// Computes the time derivatives of the states.
    fn derivatives(&mut self, at: At<'_, Self>, w: &Self::Unknowns, dx: &mut Self::States) {
        let _ = (at, w, dx);
    }
    /// Computes the outputs.
    fn outputs(&mut self, at: At<'_, Self>, w: &Self::Unknowns, y: &mut Self::Outputs) {
        let _ = (at, w, y);
    }
    /// Computes the residuals of the loops.
    fn residuals(&mut self, at: At<'_, Self>, w: &Self::Unknowns, residuals: &mut Self::Unknowns) {
        let _ = (at, w, residuals);
    }
    /// Computes the derivatives of the loop residuals with respect to the unknowns.
    fn loop_matrix(&mut self, at: At<'_, Self>, w: &Self::Unknowns, entries: &mut Self::LoopMatrix) {
        let _ = (at, w, entries);
    }
    /// Computes the derivatives of the rates with respect to the states; omitted if there are loops.
    fn jacobian(&mut self, at: At<'_, Self>, w: &Self::Unknowns, entries: &mut Self::Jacobian) {
        let _ = (at, w, entries);
    }
    /// Computes the derivatives of the rates with respect to the states at constant unknowns.
    fn direct(&mut self, at: At<'_, Self>, w: &Self::Unknowns, entries: &mut Self::Direct) {
        let _ = (at, w, entries);
    }
    /// Computes the derivatives of the rates with respect to the unknowns.
    fn by_unknowns(&mut self, at: At<'_, Self>, w: &Self::Unknowns, entries: &mut Self::ByUnknowns) {
        let _ = (at, w, entries);
    }
    /// Computes the derivatives of the loop residuals with respect to the states.
    fn by_states(&mut self, at: At<'_, Self>, w: &Self::Unknowns, entries: &mut Self::ByStates) {
        let _ = (at, w, entries);
    }
    /// Computes all conditions on states.
    fn crossings(&mut self, at: At<'_, Self>, w: &Self::Unknowns, crossings: &mut Self::Crossings) {
        let _ = (at, w, crossings);
    }
    /// Computes the instants that are known in advance.
    fn instants(&mut self, instants: &mut Self::Instants) {
        let _ = instants;
    }
    /// Computes the values that are constant between instants.
    fn switches(&mut self, t: Self::Real, values: &mut Self::Switches) {
        let _ = (t, values);
    }
    /// Computes the phases of oscillations in time, in radians.
    fn phases(&mut self, t: Self::Real, phases: &mut Self::Phases) {
        let _ = (t, phases);
    }
}
