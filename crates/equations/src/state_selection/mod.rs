//! State selection: which variables carry the states, by rule and as the user retains them.

pub(crate) mod conditioning;
pub(crate) mod conserved_quantities;
pub(crate) mod decision;
pub(crate) mod energies;
pub(crate) mod holders;
pub(crate) mod links;
pub(crate) mod quasi_velocities;
pub(crate) mod retain;
pub(crate) mod states;
pub(crate) mod ties;
