//! Inputs: expressions of time and parameters, tables, and functions.

pub(crate) mod expressions;
pub(crate) mod given;
pub(crate) mod history;
pub(crate) mod signals;
pub(crate) mod table;
