//! Simplification: the form of the equations that people read.

pub(crate) mod angles;
pub(crate) mod factor;
pub(crate) mod inline;
pub(crate) mod masses;
pub(crate) mod present;
pub(crate) mod shorten;
