//! Units, expressions, and exact arithmetic over the parameters: fields, polynomials, rational functions, sparse linear solves.

#[cfg(feature = "symbolica")]
mod atoms;
mod blocks;
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
mod kernels;
mod minors;
mod normal_form;
mod parts;
mod polynomial;
mod ranges;
mod rational_field;
mod rational_function;
mod rational_functions;
mod row;
mod settle;
mod solve;
mod sparse;
pub mod units;
mod values;

pub use convert::{FromExpression, Sampled};
pub use diagonal::solve_on_diagonal;
pub use field::{Block, Doubles, Field, PrimeField, Rationals};
pub use fraction_free::{eliminate_unknowns, solve_rational_functions};
pub use gcd::{Budget, gcd, gcd_list};
pub use kernels::{Kernels, Meaning};
pub use normal_form::NormalForms;
pub use polynomial::{Polynomial, Variable};
pub use rational_function::RationalFunction;
pub use rational_functions::RationalFunctions;
pub use row::{Row, Singular};
pub use settle::{in_lowest_terms, settled, settled_on};
pub use solve::{solve, solve_sharing};
pub use sparse::{SHARED, Sharing, eliminate};
pub use values::{DoubleValues, ExactValues, Shared, SharedExpressions};
