//! State selection: the variables that are the states, by rule and by the user's choice.

pub(crate) mod by_hand;
pub(crate) mod conditioning;
pub(crate) mod decision;
pub(crate) mod last_digits;
pub(crate) mod links;
pub(crate) mod quasi_velocities;
pub(crate) mod retain;
pub(crate) mod ties;
