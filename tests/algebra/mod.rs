//! Expressions, polynomials and kernels.

mod cancellation;
mod corners;
mod derivative;
mod expression;
mod kernels;
mod polynomial;
pub mod random_expressions;
mod solve;
