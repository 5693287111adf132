//! Nonlinear laws, mechanisms, and switching models.

mod chains;
mod faults;
mod ideal_elements;
mod law_ranges;
mod laws;
pub mod laws_in_pieces;
mod limit_points;
mod linearize;
mod loop_solutions;
mod mechanisms;
mod passing_zero;
mod random_switching;
mod rectifiers;
mod steep_laws;
mod switching;
