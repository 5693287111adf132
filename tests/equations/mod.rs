//! Equations of linear networks, their forms, and their verification.

mod declaration_order;
mod derivation;
mod equivalence;
mod exact_ranks;
mod forms;
mod held_integrals;
pub mod networks;
mod random_networks;
mod repeated_rows;
mod shared_assignments;
mod shortened;
mod stretched;
mod vector_networks;
mod verification;
mod written_equations;
