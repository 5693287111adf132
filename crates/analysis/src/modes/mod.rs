//! Modes: poles with their shapes, energies and sensitivities, and the duration of a motion.

pub mod duration;
mod find;
mod integrals;
mod near;
mod range;
mod sensitivity;

pub use find::{Mode, ModeRequest, modes};
pub use integrals::integrals_of_outputs;
