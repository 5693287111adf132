//! Physical dimensions, and units in the notation of the language.
//!
//! AFTER THIS POINT a unit is a [`Dimension`] and an exact factor to SI; the user's notation is gone.

mod dimension;
mod table;

use num_bigint::BigInt;
use num_rational::BigRational;
use num_traits::{One, ToPrimitive, Zero};

pub use dimension::Dimension;
pub use table::{Unit, UnitFault, UnitPower, joined_units, named_units, nearest_unit, unit_of};

/// Computes `value * factor` for a factor with a power of pi: with fifty digits of pi, rounded once to a double, and exact from then on.
fn times_pi_power(value: BigRational, power: i32) -> BigRational {
    if power == 0 {
        return value;
    }
    let pi = BigRational::new(
        "314159265358979323846264338327950288419716939937510582097494459230781640628620899"
            .parse::<BigInt>()
            .expect("invariant: digits are a number"),
        BigInt::from(10).pow(80),
    );
    let exact = value * pi.pow(power);
    let rounded = exact.to_f64().and_then(BigRational::from_float);
    rounded.unwrap_or(exact)
}

impl Unit {
    /// Converts a value in this unit to SI. A value in decibels is rounded to a double.
    pub fn to_si(&self, value: &BigRational) -> BigRational {
        if self.is_si() {
            return value.clone();
        }
        if self.is_logarithmic {
            let ratio = value.to_f64().map(|decibels| 10f64.powf(decibels / 20.0));
            return ratio.and_then(BigRational::from_float).unwrap_or_else(BigRational::one);
        }
        times_pi_power(value * &self.factor, self.pi_power) + &self.offset
    }

    /// Returns true for a unit whose values are those in SI.
    pub fn is_si(&self) -> bool {
        self.factor.is_one() && self.pi_power == 0 && self.is_multiple()
    }

    /// Returns true for a multiple of an SI unit: without an offset, and not logarithmic.
    pub fn is_multiple(&self) -> bool {
        self.offset.is_zero() && !self.is_logarithmic
    }

    /// Returns the SI value of a difference of one unit; 1 for decibels.
    pub fn step(&self) -> BigRational {
        times_pi_power(self.factor.clone(), self.pi_power)
    }
}

#[cfg(test)]
mod tests;
mod written;
