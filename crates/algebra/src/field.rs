//! The arithmetic that reduction is written over, once for all number systems.

use super::polynomials::integer::{PRIME, modulo_prime};
use crate::linear::row::{Row, Singular};
use num_rational::BigRational;
use num_traits::{One, Signed, Zero};

/// A field with a context: an arena, a budget, or nothing.
///
/// Operations never fail. A field with a size limit sets [`Field::exhausted`] when it is passed, and
/// from then on answers cheaply and wrongly; the caller looks at the flag before it believes a result.
pub trait Field {
    /// An element.
    type Element: Clone + std::fmt::Debug;

    /// 0
    fn zero(&self) -> Self::Element;
    /// 1
    fn one(&self) -> Self::Element;
    /// Whether the element is 0. Exact in every field but [`Doubles`].
    fn is_zero(&self, a: &Self::Element) -> bool;
    /// a + b
    fn add(&mut self, a: &Self::Element, b: &Self::Element) -> Self::Element;
    /// a - b
    fn sub(&mut self, a: &Self::Element, b: &Self::Element) -> Self::Element {
        let minus = self.neg(b);
        self.add(a, &minus)
    }
    /// a * b
    fn mul(&mut self, a: &Self::Element, b: &Self::Element) -> Self::Element;
    /// -a
    fn neg(&mut self, a: &Self::Element) -> Self::Element;
    /// 1/a of a nonzero element.
    fn invert(&mut self, a: &Self::Element) -> Self::Element;
    /// a/b, b nonzero.
    fn div(&mut self, a: &Self::Element, b: &Self::Element) -> Self::Element {
        let inverse = self.invert(b);
        self.mul(a, &inverse)
    }
    /// How bad a pivot the element is: less is better; 0 for 1 and -1 in exact fields; infinite for an element that is not
    /// 0 but vanishes for the values that the result will be used with.
    fn pivot_cost(&self, a: &Self::Element) -> f64;
    /// The absolute value, in a field that rounds, where small pivots must be avoided.
    fn magnitude(&self, _a: &Self::Element) -> Option<f64> {
        None
    }
    /// Whether the element, though not 0, may become 0 for values that symbols take later, so that it is no pivot to be evaluated then.
    fn may_vanish(&self, _a: &Self::Element) -> bool {
        false
    }
    /// Solves one block that does not fall apart, `A X = B`; the rows of X belong to the columns of A. [`crate::solve()`]
    /// is what to call; a field that knows a better way than elimination by its own operations overrides this.
    fn solve_block(&mut self, matrix: Vec<Row<Self::Element>>, right: Vec<Row<Self::Element>>) -> Block<Self::Element> {
        Block::ByElimination(matrix, right)
    }
    /// Whether a size limit was passed; results are then worthless.
    fn exhausted(&self) -> bool {
        false
    }
}

/// One block of equations `A X = B`, after a field was asked to solve it.
#[derive(Clone, Debug)]
pub enum Block<E> {
    /// The field's own solution, or why there is none.
    Solved(Result<Vec<Row<E>>, Singular>),
    /// The block as it was, matrix and right sides: the field knows no better way than elimination.
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

/// The integers modulo the Mersenne prime 2^61 - 1, where generic rank is decided: a rational function of
/// sampled parameters that is not identically zero vanishes here with probability about degree/2^61.
#[derive(Clone, Copy, Debug, Default)]
pub struct PrimeField;

impl PrimeField {
    /// The modulus.
    pub const MODULUS: u64 = PRIME;

    /// A rational number modulo the prime; where this divides the denominator, it counts as sampled.
    pub fn reduce(self, value: &BigRational) -> u64 {
        let (numerator, denominator) = (modulo_prime(value.numer()), modulo_prime(value.denom()));
        match denominator {
            0 => self.sample(numerator, 1),
            _ => multiply(numerator, self.power(denominator, PrimeField::MODULUS - 2)),
        }
    }

    /// a^exponent
    pub fn power(self, a: u64, exponent: u64) -> u64 {
        raised(a, exponent, 1, multiply)
    }

    /// A well-spread element for a key: the sampled value of a parameter or of a transcendental subexpression.
    pub fn sample(self, key: u64, seed: u64) -> u64 {
        // SplitMix64, whose output is equidistributed; 0 is avoided because a zero parameter is not generic.
        let key = key.wrapping_add(seed.wrapping_mul(0xD134_2543_DE82_EF95));
        spread(key) % (PrimeField::MODULUS - 1) + 1
    }
}

/// A power by repeated squares, in any structure with a product and a one.
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

/// A well-spread number for a key: a step of SplitMix64.
pub(crate) fn spread(key: u64) -> u64 {
    let mut x = key.wrapping_add(0x9E37_79B9_7F4A_7C15);
    x = (x ^ (x >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    x = (x ^ (x >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    x ^ (x >> 31)
}

fn multiply(a: u64, b: u64) -> u64 {
    let product = u128::from(a) * u128::from(b);
    let folded = (product & u128::from(PrimeField::MODULUS)) as u64 + (product >> 61) as u64;
    if folded >= PrimeField::MODULUS {
        folded - PrimeField::MODULUS
    } else {
        folded
    }
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
