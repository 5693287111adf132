//! Rational functions over the integers, always fully cancelled.

use crate::polynomials::polynomial::{Polynomial, Variable};
use crate::{Field, PrimeField};
use num_rational::BigRational;
use num_traits::Zero;

/// A quotient of polynomials without a common factor, the denominator's leading coefficient positive: equal
/// functions are equal values.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RationalFunction {
    pub(crate) numerator: Polynomial,
    pub(crate) denominator: Polynomial,
}

impl RationalFunction {
    /// 0
    pub fn zero() -> RationalFunction {
        RationalFunction::from(Polynomial::zero())
    }

    /// 1
    pub fn one() -> RationalFunction {
        RationalFunction::from(Polynomial::one())
    }

    /// A number.
    pub fn number(value: &BigRational) -> RationalFunction {
        RationalFunction {
            numerator: Polynomial::constant(value.numer().clone()),
            denominator: Polynomial::constant(value.denom().clone()),
        }
    }

    /// A variable.
    pub fn variable(variable: Variable) -> RationalFunction {
        RationalFunction::from(Polynomial::variable(variable))
    }

    /// The numerator.
    pub fn numerator(&self) -> &Polynomial {
        &self.numerator
    }

    /// The denominator, its leading coefficient positive.
    pub fn denominator(&self) -> &Polynomial {
        &self.denominator
    }

    /// The two, for a caller that goes on with polynomials.
    pub fn into_parts(self) -> (Polynomial, Polynomial) {
        (self.numerator, self.denominator)
    }

    /// Whether it is 0.
    pub fn is_zero(&self) -> bool {
        self.numerator.is_zero()
    }

    /// The number that it is, if it depends on no variable.
    pub fn as_number(&self) -> Option<BigRational> {
        if !self.numerator.is_constant() || !self.denominator.is_constant() {
            return None;
        }
        if self.is_zero() {
            return Some(BigRational::zero());
        }
        Some(BigRational::new(
            self.numerator.coefficient(0),
            self.denominator.coefficient(0),
        ))
    }

    /// The value over the rational numbers; none where the denominator vanishes.
    pub fn evaluate(&self, value: impl Fn(Variable) -> BigRational) -> Option<BigRational> {
        let denominator = self.denominator.evaluate(&value);
        if denominator.is_zero() {
            return None;
        }
        Some(self.numerator.evaluate(&value) / denominator)
    }

    /// The value over the prime field; none where the denominator vanishes.
    pub fn evaluate_prime(&self, value: impl Fn(Variable) -> u64) -> Option<u64> {
        let denominator = self.denominator.evaluate_prime(&value);
        if denominator == 0 {
            return None;
        }
        Some(PrimeField.div(&self.numerator.evaluate_prime(&value), &denominator))
    }

    /// A quotient that is known to be in lowest terms, but for the sign.
    pub(crate) fn reduced(numerator: Polynomial, denominator: Polynomial) -> RationalFunction {
        if numerator.is_zero() {
            return RationalFunction::zero();
        }
        if denominator.is_negative() {
            return RationalFunction {
                numerator: numerator.neg(),
                denominator: denominator.neg(),
            };
        }
        RationalFunction { numerator, denominator }
    }
}

impl From<Polynomial> for RationalFunction {
    fn from(numerator: Polynomial) -> RationalFunction {
        RationalFunction {
            numerator,
            denominator: Polynomial::one(),
        }
    }
}
