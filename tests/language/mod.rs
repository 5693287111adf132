//! Texts: valid models, and diagnostics of invalid ones.

mod bond_messages;
mod delays;
mod distributed;
mod documented_snippets;
mod elaborate;
mod every_place;
mod everyday;
pub mod format;
mod imports;
mod modelica;
mod mutated;
mod ordinary_slips;
mod robustness;
mod syntax_errors;
mod tables;
mod wrong_models;
