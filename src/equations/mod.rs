//! Reduced graph to state equations.

mod system;

pub use system::{
    AlgebraicLoop, Assignment, DependentStorage, LinearForm, Quantity, SparseMatrix, State, StateSystem, StateVariable,
};
