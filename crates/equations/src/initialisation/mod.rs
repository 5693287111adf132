//! Initialisation: consistent initial values of the states, from given initial values and from conservation.

pub(crate) mod conditions;
pub(crate) mod impulse_sources;
pub(crate) mod impulses;
pub(crate) mod start_values;
