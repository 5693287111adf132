//! Runs over time.

pub mod jumps;
mod library;
pub mod metamorphic;
mod ordinary;
mod plots;
pub mod run_verification;
pub mod second_integrator;
mod seeds;
pub mod simulate;
mod simulate_cli;
mod simulate_stop;
mod starts;
mod starts_conserved;
mod textbook;
mod time_functions;
