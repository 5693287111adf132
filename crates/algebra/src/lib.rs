//! Units, expressions, and exact arithmetic over the parameters: fields, polynomials, rational functions, sparse linear solves.

#[cfg(feature = "symbolica")]
mod atoms;
mod blocks;
pub mod conserved;
mod convert;
mod diagonal;
mod division;
pub mod expr;
mod express;
mod field;
mod fraction_free;
mod gcd;
mod images;
mod integer;
mod minors;
pub mod newton;
mod normal_form;
mod parts;
mod polynomial;
mod ranges;
mod rational_function;
pub mod search;
mod solve;
mod sparse;
pub mod units;
mod values;

pub use convert::{FromExpression, Kernels, Meaning, Sampled};
pub use diagonal::solve_on_diagonal;
pub use field::{Doubles, Field, PrimeField, Rationals};
pub use fraction_free::solve_rational_functions;
pub use gcd::{Budget, gcd, gcd_list};
pub use normal_form::NormalForms;
pub use polynomial::{Polynomial, Variable};
pub use rational_function::{RationalFunction, RationalFunctions};
pub use solve::{Row, Singular, solve, solve_sharing};
pub use sparse::{SHARED, Sharing, eliminate};
pub use values::{DoubleValues, ExactValues, Shared, SharedExpressions};
