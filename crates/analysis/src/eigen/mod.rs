//! Eigenvalues and eigenvectors of a system's matrices, and the outputs of its storage.

pub(crate) mod multiple;
pub(crate) mod poles;
pub(crate) mod rounding;
pub(crate) mod storage;
pub(crate) mod vectors;
