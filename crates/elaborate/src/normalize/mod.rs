//! The form of the flat model that all later stages read: storage of full rank, integrals as symbols, and the counts.

mod counts;
mod delays;
mod displacements;
mod energy_variables;
mod free_changes;
mod integrals;
mod junctions;
mod pulses;
mod sampled_times;
mod stiffness;

pub(crate) use counts::counts;
pub(crate) use delays::form_delays;
pub(crate) use free_changes::mark_free_changes;
pub(crate) use integrals::{hold_integrals, integrate_for_events};
pub(crate) use junctions::control_junctions;
pub(crate) use pulses::watch_pulses;
pub(crate) use sampled_times::sample_times;
pub(crate) use stiffness::split_singular_stiffness;
