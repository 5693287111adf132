//! The arithmetic interface of the reduction, common to all number systems.

use crate::integer::{PRIME, modulo_prime};
use crate::row::{Row, Singular};
use num_rational::BigRational;
use num_traits::{One, Signed, Zero};
use rustc_hash::FxHasher;
use std::hash::{Hash, Hasher};

/// A field with a context: an arena, a budget, or nothing.
///
/// Operations never fail. A field with a size limit sets [`Field::exhausted`] when the limit is exceeded. From then on its operations are
/// fast but wrong, so the caller must check the flag before using a result.
pub trait Field {
    /// An element.
    type Element: Clone + std::fmt::Debug;

    /// Returns 0.
    fn zero(&self) -> Self::Element;
    /// Returns 1.
    fn one(&self) -> Self::Element;
    /// Returns true if the element is 0; exact in every field except [`Doubles`].
    fn is_zero(&self, a: &Self::Element) -> bool;
    /// Computes a + b.
    fn add(&mut self, a: &Self::Element, b: &Self::Element) -> Self::Element;
    /// Computes a - b.
    fn sub(&mut self, a: &Self::Element, b: &Self::Element) -> Self::Element {
        let minus = self.neg(b);
        self.add(a, &minus)
    }
    /// Computes a * b.
    fn mul(&mut self, a: &Self::Element, b: &Self::Element) -> Self::Element;
    /// Computes -a.
    fn neg(&mut self, a: &Self::Element) -> Self::Element;
    /// Computes 1/a for a nonzero element.
    fn invert(&mut self, a: &Self::Element) -> Self::Element;
    /// Computes a/b for a nonzero b.
    fn div(&mut self, a: &Self::Element, b: &Self::Element) -> Self::Element {
        let inverse = self.invert(b);
        self.mul(a, &inverse)
    }
    /// Returns the cost of the element as a pivot: lower is better. 0 for 1 and -1 in exact fields; infinite for an element that is not 0
    /// but vanishes for the values used later.
    fn pivot_cost(&self, a: &Self::Element) -> f64;
    /// Returns the absolute value in a field with round-off, in which small pivots must be avoided.
    fn magnitude(&self, _a: &Self::Element) -> Option<f64> {
        None
    }
    /// Returns true if the nonzero element may become 0 for later values of symbols, so that it is unsafe as a pivot.
    fn may_vanish(&self, _a: &Self::Element) -> bool {
        false
    }
    /// Solves one irreducible block, `A X = B`; the rows of X belong to the columns of A. Call [`crate::solve()`] instead; a field with a
    /// better method than elimination by its own operations overrides this.
    fn solve_block(
        &mut self,
        matrix: Vec<Row<Self::Element>>,
        right: Vec<Row<Self::Element>>,
    ) -> BlockSolution<Self::Element> {
        BlockSolution::ByElimination(matrix, right)
    }
    /// Returns true if a size limit was exceeded; results are then invalid.
    fn exhausted(&self) -> bool {
        false
    }
}

/// The result of asking a field to solve one block of equations `A X = B`.
#[derive(Clone, Debug)]
pub enum BlockSolution<E> {
    /// The field's own solution, or the reason why none exists.
    Solved(Result<Vec<Row<E>>, Singular>),
    /// The unchanged block, matrix and right-hand sides: the field has no better method than elimination.
    ByElimination(Vec<Row<E>>, Vec<Row<E>>),
}

/// Double precision.
#[derive(Clone, Copy, Debug, Default)]
pub struct Doubles;

impl Field for Doubles {
    type Element = f64;

    fn zero(&self) -> f64 {
        0.0
    }
    fn one(&self) -> f64 {
        1.0
    }
    fn is_zero(&self, a: &f64) -> bool {
        *a == 0.0
    }
    fn add(&mut self, a: &f64, b: &f64) -> f64 {
        a + b
    }
    fn mul(&mut self, a: &f64, b: &f64) -> f64 {
        a * b
    }
    fn neg(&mut self, a: &f64) -> f64 {
        -a
    }
    fn invert(&mut self, a: &f64) -> f64 {
        1.0 / a
    }
    fn div(&mut self, a: &f64, b: &f64) -> f64 {
        a / b
    }
    fn pivot_cost(&self, a: &f64) -> f64 {
        1.0 / a.abs()
    }
    fn magnitude(&self, a: &f64) -> Option<f64> {
        Some(a.abs())
    }
}

/// Exact rational numbers.
#[derive(Clone, Copy, Debug, Default)]
pub struct Rationals;

impl Field for Rationals {
    type Element = BigRational;

    fn zero(&self) -> BigRational {
        BigRational::zero()
    }
    fn one(&self) -> BigRational {
        BigRational::one()
    }
    fn is_zero(&self, a: &BigRational) -> bool {
        a.is_zero()
    }
    fn add(&mut self, a: &BigRational, b: &BigRational) -> BigRational {
        a + b
    }
    fn sub(&mut self, a: &BigRational, b: &BigRational) -> BigRational {
        a - b
    }
    fn mul(&mut self, a: &BigRational, b: &BigRational) -> BigRational {
        a * b
    }
    fn neg(&mut self, a: &BigRational) -> BigRational {
        -a
    }
    fn invert(&mut self, a: &BigRational) -> BigRational {
        a.recip()
    }
    fn div(&mut self, a: &BigRational, b: &BigRational) -> BigRational {
        a / b
    }
    fn pivot_cost(&self, a: &BigRational) -> f64 {
        if a.abs().is_one() {
            0.0
        } else {
            (a.numer().bits() + a.denom().bits()) as f64
        }
    }
}

/// The integers modulo a prime of 62 bits, in which generic rank is decided: a rational function of sampled parameters that is not
/// identically zero vanishes here with probability about degree/2^62.
#[derive(Clone, Copy, Debug, Default)]
pub struct PrimeField;

impl PrimeField {
    /// The modulus.
    pub const MODULUS: u64 = PRIME;

    /// Reduces a rational number modulo the prime; if the prime divides the denominator, the number counts as sampled.
    pub fn reduce(self, value: &BigRational) -> u64 {
        let (numerator, denominator) = (modulo_prime(value.numer()), modulo_prime(value.denom()));
        match denominator {
            0 => self.sample(numerator, 1),
            _ => multiply(numerator, self.power(denominator, PrimeField::MODULUS - 2)),
        }
    }

    /// Computes a^exponent.
    pub fn power(self, a: u64, exponent: u64) -> u64 {
        raised(a, exponent, 1, multiply)
    }

    /// Returns the square root that is itself a square, if one exists. The roots of rational numbers match their cyclotomic fields: the
    /// root of 2 is twice the cosine of pi/4.
    pub fn root(self, a: u64) -> Option<u64> {
        let root = self.power(a, PrimeField::MODULUS.div_ceil(4));
        (multiply(root, root) == a).then_some(root)
    }

    /// Returns a pseudo-random element for a key: the sampled value of a parameter or of a transcendental subexpression.
    pub fn sample(self, key: u64, seed: u64) -> u64 {
        // SplitMix64, whose output is equidistributed; 0 is avoided because a zero parameter is not generic.
        let key = key.wrapping_add(seed.wrapping_mul(0xD134_2543_DE82_EF95));
        spread(key) % (PrimeField::MODULUS - 1) + 1
    }
}

/// Computes a power by repeated squaring, in any structure with a product and a one.
pub(crate) fn raised<T: Copy>(mut base: T, mut exponent: u64, one: T, product: impl Fn(T, T) -> T) -> T {
    let mut result = one;
    while exponent > 0 {
        if exponent & 1 == 1 {
            result = product(result, base);
        }
        base = product(base, base);
        exponent >>= 1;
    }
    result
}

/// Returns a pseudo-random number for a key: a step of SplitMix64.
pub(crate) fn spread(key: u64) -> u64 {
    let mut x = key.wrapping_add(0x9E37_79B9_7F4A_7C15);
    x = (x ^ (x >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    x = (x ^ (x >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    x ^ (x >> 31)
}

/// Returns a pseudo-random number for a hashable key.
pub(crate) fn hashed(key: impl Hash) -> u64 {
    let mut hasher = FxHasher::default();
    key.hash(&mut hasher);
    spread(hasher.finish())
}

/// 2^125 divided by the modulus, which has 62 bits.
const RECIPROCAL: u64 = ((1u128 << 125) / PRIME as u128) as u64;

/// Multiplies with Barrett reduction: the quotient by the reciprocal is at most 2 too small.
fn multiply(a: u64, b: u64) -> u64 {
    let product = u128::from(a) * u128::from(b);
    let quotient = ((product >> 61) * u128::from(RECIPROCAL)) >> 64;
    let mut rest = (product as u64).wrapping_sub((quotient as u64).wrapping_mul(PRIME));
    while rest >= PRIME {
        rest -= PRIME;
    }
    rest
}

impl Field for PrimeField {
    type Element = u64;

    fn zero(&self) -> u64 {
        0
    }
    fn one(&self) -> u64 {
        1
    }
    fn is_zero(&self, a: &u64) -> bool {
        *a == 0
    }
    fn add(&mut self, a: &u64, b: &u64) -> u64 {
        let sum = a + b;
        if sum >= PrimeField::MODULUS {
            sum - PrimeField::MODULUS
        } else {
            sum
        }
    }
    fn mul(&mut self, a: &u64, b: &u64) -> u64 {
        multiply(*a, *b)
    }
    fn neg(&mut self, a: &u64) -> u64 {
        if *a == 0 { 0 } else { PrimeField::MODULUS - a }
    }
    fn invert(&mut self, a: &u64) -> u64 {
        self.power(*a, PrimeField::MODULUS - 2)
    }
    fn pivot_cost(&self, a: &u64) -> f64 {
        if *a == 1 || *a == PrimeField::MODULUS - 1 {
            0.0
        } else {
            1.0
        }
    }
}
