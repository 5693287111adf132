//! Simplification: the displayed form of the equations.

pub(crate) mod angles;
pub(crate) mod factor;
pub(crate) mod inline;
pub(crate) mod masses;
pub(crate) mod present;
pub(crate) mod shorten;
