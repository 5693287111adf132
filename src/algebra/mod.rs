//! Exact arithmetic over the parameters: fields, polynomials, rational functions, sparse linear solves.

mod convert;
mod division;
mod express;
mod field;
mod gcd;
mod images;
mod integer;
mod parts;
mod polynomial;
mod rational_function;
mod values;

pub use convert::{FromExpression, Kernels, Meaning, Sampled};
pub use field::{Doubles, Field, PrimeField, Rationals};
pub use gcd::{Budget, gcd, gcd_list};
pub use polynomial::{Polynomial, Variable};
pub use rational_function::{RationalFunction, RationalFunctions};
pub use values::{DoubleValues, ExactValues, Shared, SharedExpressions};
