//! Reduced graph to state equations.
//!
//! Each number system that is asked for makes one run of reduction and assembly: rational functions of the parameters
//! for the symbolic matrices (or shared expressions where those grow too large), exact rationals or doubles for
//! the numeric ones. AFTER THIS POINT see [`StateSystem`].

pub mod analysis;
mod assemble;
mod assigned;
mod balance;
mod blame;
mod blocks;
pub mod bond;
mod bounds;
mod build;
pub mod causality;
mod checker;
mod conditioning;
mod conditions;
mod cycles;
mod decimals;
mod decision;
mod dependents;
mod equation;
mod flat_graph;
mod flat_run;
mod formulate;
mod holders;
mod impulses;
mod input_owner;
mod instants;
mod jumps;
mod links;
mod matrices;
mod nonlinear;
mod numbers;
mod options;
mod outputs;
mod parameter_values;
mod points;
mod problem;
mod pushes;
pub mod reduce;
mod refusal;
mod residuals;
mod retain;
mod run;
mod shared;
mod singular;
mod start_values;
mod starts;
mod states;
mod switched;
mod ties;
mod time_inputs;
mod time_terms;
mod values;
mod verification;
mod verify;

#[cfg(test)]
mod tests;

pub use assigned::{Assigned, Influences, assigned, port_causality};
pub use balance::power_balance;
pub use decimals::shortest_decimal;
pub use decision::decide;
pub use flat_graph::{FlatGraph, Powers, Seen, Violation};
pub use formulate::formulate;
pub use instants::Instant;
pub use lgm_model::system::{
    AlgebraicLoop, Assignment, DependentStorage, LinearForm, MassEquation, MassForm, OperatingPoint, PointValue,
    Quantity, RateBlock, SparseMatrix, StartConstraint, StartSearch, State, StateSystem, StateVariable,
};
pub(crate) use nonlinear::{is_large, lowest_terms};
pub use numbers::with_numbers;
pub use options::Options;
pub use retain::retained;
pub use start_values::search_starts;
pub use states::StateRequest;
pub use time_inputs::formulate_with_time;
pub use verify::verify;
