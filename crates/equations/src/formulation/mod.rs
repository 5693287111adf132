//! Formulation: the rows of a linear model to equations, matrices and block form.

pub(crate) mod blocks;
pub(crate) mod dependent_starts;
pub(crate) mod dependents;
pub(crate) mod frame;
pub(crate) mod matrices;
pub(crate) mod numbers;
pub(crate) mod shared_arena;
