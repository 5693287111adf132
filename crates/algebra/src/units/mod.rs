//! Physical dimensions, and units as the language writes them.
//!
//! AFTER THIS POINT a unit is a [`Dimension`] and an exact factor to SI; the words of the user are gone.

mod dimension;
mod table;

use num_bigint::BigInt;
use num_rational::BigRational;
use num_traits::{One, ToPrimitive};

pub use dimension::Dimension;
pub use table::{Unit, UnitFault, UnitPower, has_offset, joined_units, named_units, nearest_unit, unit_of};

/// `value * factor`, where the factor holds pi to a power: computed with fifty digits of pi and rounded
/// to a double once, and exact from there on.
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
    /// A value in this unit, in SI.
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
