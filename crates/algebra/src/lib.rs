//! Units, expressions, and exact arithmetic over the parameters: fields, polynomials, rational functions, sparse linear solves.

mod convert;
mod equality;
pub mod expr;
mod field;
mod from_expression;
mod integer;
mod linear;
mod polynomials;
mod ranges;
mod rational;
mod rotations;
mod row;
mod sampled;
pub mod units;
mod values;

pub use equality::are_equal;
pub use field::{BlockSolution, Doubles, Field, PrimeField, Rationals};
pub use from_expression::FromExpression;
pub use linear::connected::{DisjointSets, strongly_connected};
pub use linear::diagonal::solve_on_diagonal;
pub use linear::solve::{solve, solve_sharing};
pub use linear::sparse::{SHARED, Sharing, eliminate};
pub use polynomials::gcd::{Budget, gcd, gcd_list};
pub use polynomials::images::{Image, image_division, image_gcd};
pub use polynomials::polynomial::{Polynomial, Variable};
pub use rational::fraction_free::{eliminate_unknowns, solve_rational_functions};
pub use rational::kernels::{Kernels, Meaning};
pub use rational::normal_form::NormalForms;
pub use rational::rational_function::RationalFunction;
pub use rational::rational_functions::RationalFunctions;
pub use rational::settle::{in_lowest_terms, settled, settled_on};
pub use row::{Row, Singular};
pub use sampled::Sampled;
pub use values::{DoubleValues, ExactValues, Shared, SharedExpressions};
