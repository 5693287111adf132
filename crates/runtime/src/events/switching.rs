//! The functions and sizes of a model with events beside those of [`System`].

use super::super::array::Array;
use super::super::real::Real;
use super::super::system::{At, System};
use super::cause::Happening;
use super::tables::{Change, Pair, Tables};
use core::fmt::Debug;

/// The combination of modes in force, and the values that are held between events.
#[derive(Clone, Copy, Debug)]
pub struct Held<H> {
    /// The combination.
    pub combination: usize,
    /// Discrete variables, and behind them the offsets of ports; none before a run has begun.
    pub values: Option<H>,
}

impl<T: Real, H: Array<Item = T>> Held<H> {
    /// Writes what is held over the signals of the inputs, behind which their rates stand.
    pub fn give<B: Array<Item = T>>(&self, tables: &Tables, both: &mut B) {
        for (at, value) in self.values.iter().flat_map(Array::entries).enumerate() {
            let input = tables.held_input(at);
            both[input] = *value;
            both[B::LENGTH / 2 + input] = T::c(0.0);
        }
    }
}

/// A model with events. Functions of a point are those of the combination in force.
pub trait Switching: System {
    /// Discrete variables and offsets of ports.
    type Held: Array<Item = Self::Real>;
    /// One number for each discrete variable.
    type Discretes: Array<Item = Self::Real>;
    /// One number for each port of elements with modes.
    type Ports: Array<Item = Self::Real>;
    /// A row of ports for each port.
    type PortRows: Array<Item = Self::Ports>;
    /// A row of ports for each state.
    type Joined: Array<Item = Self::Ports>;
    /// Effort and flow of each port.
    type Powers: Array<Item = Self::Real>;
    /// All watched values.
    type Watched: Array<Item = Self::Real>;
    /// The values that changes set.
    type Sets: Array<Item = Self::Real>;
    /// One number for each margin.
    type Margins: Array<Item = Self::Real>;
    /// One number for each temporary of blocks.
    type Temporaries: Array<Item = Self::Real>;
    /// One number for each block.
    type Numbers: Array<Item = Self::Real>;
    /// A flag for each block.
    type Flags: Array<Item = bool>;
    /// A flag for each state.
    type Knowns: Array<Item = bool>;
    /// A place of a state for each state.
    type Places: Array<Item = usize>;
    /// A flag for each combination.
    type Visited: Array<Item = bool>;
    /// A mode for each element.
    type Modes: Array<Item = usize>;
    /// A flag for each element.
    type Opens: Array<Item = bool>;
    /// A change for each element.
    type Acting: Array<Item = Option<&'static Change>>;
    /// The events of an instant that are reported.
    type Happened: Array<Item = Happening>;
    /// A complementary element for each port.
    type Pairs: Array<Item = Pair>;
    /// A square matrix over the ports, the table of Lemke's method, and its basis.
    type Matrix: Array<Item = Self::Real>;
    /// See [`Switching::Matrix`].
    type Table: Array<Item = Self::Real>;
    /// See [`Switching::Matrix`].
    type Basis: Array<Item = usize>;

    /// The tables.
    const TABLES: &'static Tables;

    /// The combination in force, and what is held.
    fn held(&self) -> &Held<Self::Held>;
    /// The same to be changed.
    fn held_mut(&mut self) -> &mut Held<Self::Held>;
    /// Returns true if a condition holds; those of changes come first, then those of blocks.
    fn holds(condition: usize, margins: &Self::Margins) -> bool;

    /// The watched values, see [`super::tables::Places`].
    fn watched(&mut self, at: At<'_, Self>, w: &Self::Unknowns, watched: &mut Self::Watched) {
        let _ = (at, w, watched);
    }
    /// The margins of conditions.
    fn margins(&mut self, at: At<'_, Self>, w: &Self::Unknowns, margins: &mut Self::Margins) {
        let _ = (at, w, margins);
    }
    /// The value of an assignment.
    fn assigned(&mut self, assignment: usize, given: Given<'_, Self>, value: &mut [Self::Real; 1]) {
        let _ = (assignment, given, value);
    }
}

/// The values that assignments read.
#[derive(Clone, Copy, Debug)]
pub struct Given<'a, S: Switching> {
    /// The time.
    pub t: S::Real,
    /// The watched values just before the instant.
    pub watched: &'a S::Watched,
    /// The inputs, discrete variables among them.
    pub u: &'a S::Inputs,
    /// The conditions of `if` as they were decided.
    pub temporaries: &'a S::Temporaries,
}
