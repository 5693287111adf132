//! Inputs: expressions of time and parameters, and tables.

pub(crate) mod expressions;
pub(crate) mod signals;
pub(crate) mod table;
