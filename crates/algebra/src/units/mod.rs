//! Physical dimensions, and units in the notation of the language.
//!
//! AFTER THIS POINT a unit is a [`Dimension`] and an exact factor to SI; the user's notation is gone.

mod dimension;
mod table;

use num_bigint::BigInt;
use num_rational::BigRational;
use num_traits::{One, ToPrimitive};

pub use dimension::Dimension;
pub use table::{Unit, UnitFault, UnitPower, has_offset, joined_units, named_units, nearest_unit, unit_of};

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
    /// Converts a value in this unit to SI.
    pub fn to_si(&self, value: &BigRational) -> BigRational {
        if self.factor.is_one() && self.pi_power == 0 {
            return value.clone();
        }
        times_pi_power(value * &self.factor, self.pi_power)
    }
}

#[cfg(test)]
mod tests;
mod written;
