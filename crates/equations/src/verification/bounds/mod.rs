//! Values with bounds of their rounding: they distinguish a fault of the equations from a loss of digits.
//!
//! A residual is judged by how large rounding alone could make it. Every operation adds its own rounding and passes on that of its
//! arguments, enlarged by its slope: a gain of 15000 before a clamp, a difference of nearly equal terms and the division by a term
//! that nearly vanishes all say for themselves how many digits are left.

mod ball;
mod field;
mod rated;

pub(crate) use ball::Ball;
pub(crate) use field::BallValues;
pub(crate) use rated::{Places, Rated, rated, size_of, value_of};
