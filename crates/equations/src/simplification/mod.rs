//! Simplification: the displayed form of the equations.

pub(crate) mod angles;
pub(crate) mod factor;
pub(crate) mod shorten;
