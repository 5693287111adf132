//! Modal blocks in expressions: the names in their bodies, their shapes, their tables, and their measurements.

mod constants;
mod measures;
mod scope;
mod table;

pub(crate) mod residual;
