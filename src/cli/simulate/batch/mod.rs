//! Batches of runs over parameter values: sweeps, samples from a table, and random draws.

pub(super) mod arguments;
pub(super) mod runs;
pub(super) mod summary;
mod vary;

pub(in crate::cli) use vary::grid;
