//! Model to state equations, stage by stage. Each stage is a folder, and uses only the folders above it in this table.
//!
//! | stage | takes | gives |
//! | --- | --- | --- |
//! | [`bond`] | the flat model | the junction structure: one graph of junctions, bonds and couplers |
//! | [`causality`] | the graph | which variable each port is solved for |
//! | [`index_reduction`] | graph and causality | the graph without dependent storage |
//! | `assembly` | the reduced graph | the rows of all state rates and outputs, over one number system |
//! | `state_selection` | causality; rows, to compare their conditioning | which variables are the states |
//! | `formulation` | rows | linear equations and matrices, in their shortest form |
//! | `nonlinear` | the reduced graph | nonlinear equations: definitions in order, and torn loops |
//! | `initialisation` | equations and starts | consistent initial values |
//! | `diagnosis` | a model without equations | the reason, and the responsible elements |
//! | `pipeline` | the flat model | its state system: it runs the stages in order |
//! | [`switching`] | a model with modes | the equations of one combination of modes at a time |
//! | `verification` | model and equations | the residuals of the equations in the flat graph |
//!
//! AFTER THIS POINT see [`StateSystem`].

mod assembly;
pub mod bond;
pub mod causality;
mod diagnosis;
mod formulation;
pub mod index_reduction;
mod initialisation;
mod nonlinear;
mod pipeline;
mod state_selection;
pub mod switching;
mod verification;

mod cycles;
mod decimals;
mod instants;
mod options;
mod parameter_values;

#[cfg(test)]
mod tests;

pub use assembly::states::StateRequest;
pub use decimals::shortest_decimal;
pub use formulation::numbers::with_numbers;
pub use initialisation::start_values::{AGREEMENT, search_starts};
pub use instants::Instant;
pub use lgm_model::system::{
    AlgebraicLoop, Assignment, DependentStorage, Equations, LinearForm, MassEquation, MassForm, Matrices,
    OperatingPoint, PointValue, Quantity, RateBlock, SparseMatrix, StartConstraint, StartSearch, Starts, State,
    StateSystem, StateVariable,
};
pub use lgm_readable::{is_large, lowest_terms};
pub use nonlinear::names::port_variable_name;
pub use options::Options;
pub use pipeline::assigned::{Assigned, Influences, assigned, assigned_by_hand, port_causality};
pub use pipeline::driver::formulate;
pub use pipeline::over_given::OverGiven;
pub use pipeline::time_inputs::formulate_with_time;
pub use state_selection::decision::decide;
pub use state_selection::retain::retained;
pub use verification::flat_graph::{FlatGraph, Powers, Seen, Violation};
pub use verification::linear::verify;
pub use verification::reach::{Reach, Term, reaches};
