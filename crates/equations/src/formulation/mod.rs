//! Formulation: rows of the reduced graph to equations and matrices, one run for each requested number system.

pub(crate) mod assemble;
pub(crate) mod blocks;
pub(crate) mod driver;
pub(crate) mod frame;
pub(crate) mod matrices;
pub(crate) mod numbers;
pub(crate) mod outputs;
pub(crate) mod over_given;
pub(crate) mod problem;
pub(crate) mod run;
pub(crate) mod shared_arena;
