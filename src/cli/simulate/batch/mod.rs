//! Batches of runs over parameter values: sweeps, samples from a table, and random draws.

pub(super) mod arguments;
mod run;
mod runs;
mod summary;
mod vary;

pub(super) use run::run;
pub(in crate::cli) use vary::grid;
