//! The form of the flat model that all later stages read: storages of full rank, integrals by symbols, and what was counted.

mod counts;
mod displacements;
mod energy_variables;
mod integrals;
mod junctions;
mod stiffness;

pub(crate) use counts::counts;
pub(crate) use integrals::hold_integrals;
pub(crate) use junctions::control_junctions;
pub(crate) use stiffness::split_singular_stiffness;
