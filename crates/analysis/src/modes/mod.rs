//! Poles with their shapes, energies and sensitivities, and the duration of a motion.

pub mod duration;
mod find;
mod integrals;
mod multiple;
mod near;
pub mod poles;
mod range;
mod rounding;
mod sensitivity;
mod storage;
mod vectors;
mod zero;

pub use find::{Mode, ModeRequest, modes};
pub use integrals::integrals_of_outputs;
pub(crate) use storage::energy_matrix;
pub use storage::{StorageOutputs, with_storage_outputs};
pub(crate) use vectors::vectors_of;
pub(crate) use zero::{poles_with_zeros, without_conserved};
