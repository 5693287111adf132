//! Discontinuities of expressions: their conditions, known instants, and narrow pulses.

pub(crate) mod bends;
pub(crate) mod condition;
pub(crate) mod corners;
pub(crate) mod interval;
pub(crate) mod looks;
pub(crate) mod roots;
pub(crate) mod signs;
pub(crate) mod timed;
