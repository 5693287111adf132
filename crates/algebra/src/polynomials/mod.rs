//! Polynomials with integer coefficients: arithmetic, division, common divisors.

pub(crate) mod division;
pub(crate) mod gcd;
pub(crate) mod images;
pub(crate) mod parts;
pub(crate) mod polynomial;
