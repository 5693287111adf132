//! Model to state equations, stage by stage. Each stage is a folder.
//!
//! | stage | takes | gives |
//! | --- | --- | --- |
//! | [`bond`] | the flat model | the junction structure: one graph of junctions, bonds and couplers |
//! | [`causality`] | the graph | which variable each port is solved for |
//! | [`index_reduction`] | graph and causality | the graph without dependent storage; the inputs whose rates are needed |
//! | `state_selection` | causality | which variables are the states |
//! | `formulation`, `nonlinear` | the reduced graph | equations: rows and matrices, or definitions in order and torn loops |
//! | `initialisation` | equations and starts | consistent initial values |
//! | `simplification` | definitions in order | the displayed form |
//!
//! A model with modes is formulated for one combination of modes at a time (`switching`).
//!
//! Two further modules are `verification` (the equations against the flat graph) and `diagnosis` (why no equations exist).
//!
//! AFTER THIS POINT see [`StateSystem`].

pub mod bond;
pub mod causality;
mod diagnosis;
mod formulation;
pub mod index_reduction;
mod initialisation;
mod nonlinear;
mod simplification;
mod state_selection;
pub mod switching;
mod verification;

mod cycles;
mod decimals;
mod options;
mod parameter_values;

#[cfg(test)]
mod tests;

pub use causality::assigned::{Assigned, Influences, assigned, port_causality};
pub use decimals::shortest_decimal;
pub use formulation::driver::formulate;
pub use formulation::numbers::with_numbers;
pub use formulation::over_given::OverGiven;
pub use index_reduction::time_inputs::formulate_with_time;
pub use initialisation::start_values::{AGREEMENT, search_starts};
pub use lgm_model::system::{
    AlgebraicLoop, Assignment, DependentStorage, Equations, LinearForm, MassEquation, MassForm, Matrices,
    OperatingPoint, PointValue, Quantity, RateBlock, SparseMatrix, StartConstraint, StartSearch, Starts, State,
    StateSystem, StateVariable,
};
pub use nonlinear::names::port_variable_name;
pub use options::Options;
pub use simplification::shorten::{is_large, lowest_terms};
pub use state_selection::decision::decide;
pub use state_selection::retain::retained;
pub use state_selection::states::StateRequest;
pub use verification::balance::power_balance;
pub use verification::flat_graph::{FlatGraph, Powers, Seen, Violation};
pub use verification::instants::Instant;
pub use verification::linear::verify;
pub use verification::reach::{Reach, Term, reaches};
