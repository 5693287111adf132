//! Rational functions over the integers, always fully cancelled.

use crate::polynomials::polynomial::{Polynomial, Variable};
use crate::{Field, PrimeField};
use num_rational::BigRational;
use num_traits::Zero;

/// A quotient of polynomials without a common factor and with a positive leading coefficient in the denominator: equal functions are equal
/// values.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RationalFunction {
    pub(crate) numerator: Polynomial,
    pub(crate) denominator: Polynomial,
}

impl RationalFunction {
    /// Returns 0.
    pub fn zero() -> RationalFunction {
        RationalFunction::from(Polynomial::zero())
    }

    /// Returns 1.
    pub fn one() -> RationalFunction {
        RationalFunction::from(Polynomial::one())
    }

    /// Creates a number.
    pub fn number(value: &BigRational) -> RationalFunction {
        RationalFunction {
            numerator: Polynomial::constant(value.numer().clone()),
            denominator: Polynomial::constant(value.denom().clone()),
        }
    }

    /// Creates the function of a variable.
    pub fn variable(variable: Variable) -> RationalFunction {
        RationalFunction::from(Polynomial::variable(variable))
    }

    /// Returns the numerator.
    pub fn numerator(&self) -> &Polynomial {
        &self.numerator
    }

    /// Returns the denominator, which has a positive leading coefficient.
    pub fn denominator(&self) -> &Polynomial {
        &self.denominator
    }

    /// Returns numerator and denominator, for a caller that continues with polynomials.
    pub fn into_parts(self) -> (Polynomial, Polynomial) {
        (self.numerator, self.denominator)
    }

    /// Returns true if the function is 0.
    pub fn is_zero(&self) -> bool {
        self.numerator.is_zero()
    }

    /// Returns the value as a number if the function depends on no variable.
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

    /// Returns the value over the prime field; `None` if the denominator vanishes.
    pub fn evaluate_prime(&self, value: impl Fn(Variable) -> u64) -> Option<u64> {
        let denominator = self.denominator.evaluate_prime(&value);
        if denominator == 0 {
            return None;
        }
        Some(PrimeField.div(&self.numerator.evaluate_prime(&value), &denominator))
    }

    /// Creates a quotient that is known to be in lowest terms, except for the sign.
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
