//! Solvers: the interface for a run, diffsol, implicit equations and their linear factors, stiffness.

pub(crate) mod diffsol;
pub(crate) mod implicit;
pub(crate) mod interpolation;
pub(crate) mod solver;
pub(crate) mod stiffness;
