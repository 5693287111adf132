//! Reinitialisation: the states at the start, in a steady state, and after a step of an input.

pub(crate) mod initial_states;
pub(crate) mod jump;
pub(crate) mod steady_states;
