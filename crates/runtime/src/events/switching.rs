//! The functions and sizes of a model with events, in addition to those of [`System`].

use super::super::array::Array;
use super::super::real::Real;
use super::super::system::{At, System};
use super::cause::Happening;
use super::complementarity::Bounded;
use super::tables::{Change, Tables};
use core::fmt::Debug;

/// The combination of modes in force, and the values held between events.
#[derive(Clone, Copy, Debug)]
pub struct Held<H> {
    /// The combination in force.
    pub combination: usize,
    /// Discrete variables, followed by the offsets of ports; none before a run has begun.
    pub values: Option<H>,
}

impl<T: Real, H: Array<Item = T>> Held<H> {
    /// Replaces the signals of inputs by the held values. The rates of the inputs follow the inputs.
    pub fn give<B: Array<Item = T>>(&self, tables: &Tables, both: &mut B) {
        for (at, value) in self.values.iter().flat_map(Array::entries).enumerate() {
            let input = tables.held_input(at);
            both[input] = *value;
            both[B::LENGTH / 2 + input] = T::c(0.0);
        }
    }
}

/// A model with events. Functions of a point evaluate the combination in force.
pub trait Switching: System {
    /// Discrete variables and offsets of ports.
    type Held: Array<Item = Self::Real>;
    /// One number for each discrete variable.
    type Discretes: Array<Item = Self::Real>;
    /// One number for each port of elements with modes.
    type Ports: Array<Item = Self::Real>;
    /// One row of ports for each port.
    type PortRows: Array<Item = Self::Ports>;
    /// One row of ports for each state.
    type Joined: Array<Item = Self::Ports>;
    /// Effort and flow of each port.
    type Powers: Array<Item = Self::Real>;
    /// One number for each watched value.
    type Watched: Array<Item = Self::Real>;
    /// One number for each value set by changes.
    type Sets: Array<Item = Self::Real>;
    /// One number for each margin.
    type Margins: Array<Item = Self::Real>;
    /// One number for each temporary variable of blocks.
    type Temporaries: Array<Item = Self::Real>;
    /// One number for each block.
    type Numbers: Array<Item = Self::Real>;
    /// A flag for each block.
    type Flags: Array<Item = bool>;
    /// A flag for each state.
    type Knowns: Array<Item = bool>;
    /// One state index for each state.
    type Places: Array<Item = usize>;
    /// A flag for each combination.
    type Visited: Array<Item = bool>;
    /// One mode for each element.
    type Modes: Array<Item = usize>;
    /// One flag for each element.
    type Opens: Array<Item = bool>;
    /// One change for each element.
    type Acting: Array<Item = Option<&'static Change>>;
    /// The reported events of an instant.
    type Happened: Array<Item = Happening>;
    /// The bounds of all elements in any combination.
    type Bounds: Array<Item = Bounded>;
    /// One number for each bound.
    type Distances: Array<Item = Self::Real>;
    /// A square matrix over the bounds; the table and the basis of Lemke's method follow.
    type Matrix: Array<Item = Self::Real>;
    /// See [`Switching::Matrix`].
    type Table: Array<Item = Self::Real>;
    /// See [`Switching::Matrix`].
    type Basis: Array<Item = usize>;

    /// The tables of the model.
    const TABLES: &'static Tables;

    /// Returns the combination in force, and the held values.
    fn held(&self) -> &Held<Self::Held>;
    /// Returns the combination in force and the held values for changes.
    fn held_mut(&mut self) -> &mut Held<Self::Held>;
    /// Returns true if a condition holds; conditions of changes come first, then those of blocks.
    fn holds(condition: usize, margins: &Self::Margins) -> bool;

    /// Computes the watched values, see [`super::tables::Places`].
    fn watched(&mut self, at: At<'_, Self>, w: &Self::Unknowns, watched: &mut Self::Watched) {
        let _ = (at, w, watched);
    }
    /// Computes the margins of conditions.
    fn margins(&mut self, at: At<'_, Self>, w: &Self::Unknowns, margins: &mut Self::Margins) {
        let _ = (at, w, margins);
    }
    /// Computes the value of an assignment.
    fn assigned(&mut self, assignment: usize, given: AssignmentReads<'_, Self>, value: &mut [Self::Real; 1]) {
        let _ = (assignment, given, value);
    }
}

/// The values read by assignments.
#[derive(Clone, Copy, Debug)]
pub struct AssignmentReads<'a, S: Switching> {
    /// The time.
    pub t: S::Real,
    /// The watched values just before the instant.
    pub watched: &'a S::Watched,
    /// The inputs, including discrete variables.
    pub u: &'a S::Inputs,
    /// The decided conditions of `if` statements.
    pub temporaries: &'a S::Temporaries,
}
