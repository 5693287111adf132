//! Values with bounds on their round-off, which distinguish an error in the equations from a loss of digits.
//!
//! A residual is compared with the largest possible round-off. Every operation adds its own round-off and propagates
//! that of its arguments, amplified by its slope. The bounds therefore reveal the number of remaining digits, for
//! example after a large gain before a clamp, a difference of nearly equal terms, or a division by a nearly vanishing
//! term.

mod ball;
mod field;
mod rated;

pub(crate) use ball::Ball;
pub(crate) use field::BallValues;
pub(crate) use rated::{Places, Rated, rated, size_of, value_of};
