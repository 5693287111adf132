//! Pipeline: the stages in order, from a model to its state system, and with functions of time as inputs.

pub(crate) mod assigned;
pub(crate) mod dependence;
pub(crate) mod driver;
pub(crate) mod over_given;
pub(crate) mod switched;
pub(crate) mod time_inputs;
pub(crate) mod time_terms;
