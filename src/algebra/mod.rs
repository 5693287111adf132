//! Exact arithmetic over the parameters: fields, polynomials, rational functions, sparse linear solves.

mod field;

pub use field::{Doubles, Field, PrimeField, Rationals};
