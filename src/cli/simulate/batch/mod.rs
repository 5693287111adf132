//! Batches of runs over parameter values: sweeps, samples from a table, and random draws.

pub(super) mod arguments;
pub(super) mod runs;
mod vary;

pub(in crate::cli) use vary::grid;
