//! Angles and their sines and cosines modulo the prime, in a single group of rotations.
//!
//! Rotations are pairs of a cosine and a sine whose squares add up to 1. The order of their group is the prime plus 1, a multiple of
//! [`WHOLE_TURN`] times [`ANGLES`]. A rational fraction of a whole turn is a power of a root of unity, so that cosines and sines match
//! cyclotomic fields. Any other angle is a power of a rotation of the order [`ANGLES`]. The addition theorems hold for all angles.

use crate::Field;
use crate::field::{PrimeField, raised};
use num_bigint::BigInt;
use num_integer::Integer;
use num_rational::BigRational;
use num_traits::{One, ToPrimitive, Zero};

/// The order of the root of unity: 2^5 3^3 5^2 7 11 13 17. Other fractions of a whole turn are treated like any other angle.
pub(crate) const WHOLE_TURN: u64 = 367_567_200;

/// The prime modulo which angles are computed.
pub(crate) const ANGLES: u64 = 12_542_813_819;

/// A rotation: cosine and sine.
type Rotation = (u64, u64);

/// The root of unity, chosen so that its Gauss sums are squares: roots of integers agree with [`PrimeField::root`].
const ROOT_OF_UNITY: Rotation = (2_711_568_214_933_551_069, 2_539_389_038_773_391_640);

/// A rotation of the order [`ANGLES`].
const GENERATOR: Rotation = (2_158_831_613_756_665_695, 76_387_510_857_320_933);

fn product(a: Rotation, b: Rotation) -> Rotation {
    let field = &mut PrimeField;
    let mut of = |x, y| field.mul(&x, &y);
    let (cosines, sines, first, second) = (of(a.0, b.0), of(a.1, b.1), of(a.0, b.1), of(a.1, b.0));
    (field.sub(&cosines, &sines), field.add(&first, &second))
}

/// Returns the rotation by an angle that is not a fraction of a turn, modulo [`ANGLES`].
pub(crate) fn turned(angle: u64) -> Rotation {
    raised(GENERATOR, angle, (1, 0), product)
}

/// An angle: its value modulo [`ANGLES`], and its constant part, which is its value if all nonnumeric parts are 0.
#[derive(Clone, Debug)]
pub(crate) struct Angle {
    residue: u64,
    /// A number and a multiple of pi; higher powers of pi are dropped. None if this divides by 0.
    constant: Option<(BigRational, BigRational)>,
}

impl Angle {
    /// Creates a nonnumeric angle.
    pub(crate) fn other(key: u64) -> Angle {
        Angle {
            residue: key % ANGLES,
            constant: Some((BigRational::zero(), BigRational::zero())),
        }
    }

    /// Creates the angle of a rational number.
    pub(crate) fn number(value: &BigRational) -> Angle {
        let of = |whole: &BigInt| {
            let rest = whole.mod_floor(&BigInt::from(ANGLES)).to_u64();
            rest.expect("invariant: a remainder is below its modulus")
        };
        let below = raised(of(value.denom()), ANGLES - 2, 1, times);
        Angle {
            residue: times(of(value.numer()), below),
            constant: Some((value.clone(), BigRational::zero())),
        }
    }

    /// Creates pi, whose residue follows from a key.
    pub(crate) fn pi(key: u64) -> Angle {
        Angle {
            residue: key % ANGLES,
            constant: Some((BigRational::zero(), BigRational::one())),
        }
    }

    /// Returns the sum.
    pub(crate) fn add(&self, other: &Angle) -> Angle {
        let constants = self.constant.as_ref().zip(other.constant.as_ref());
        Angle {
            residue: (self.residue + other.residue) % ANGLES,
            constant: constants.map(|(a, b)| (&a.0 + &b.0, &a.1 + &b.1)),
        }
    }

    /// Returns the product.
    pub(crate) fn mul(&self, other: &Angle) -> Angle {
        let constants = self.constant.as_ref().zip(other.constant.as_ref());
        Angle {
            residue: times(self.residue, other.residue),
            constant: constants.map(|(a, b)| (&a.0 * &b.0, &a.0 * &b.1 + &a.1 * &b.0)),
        }
    }

    /// Returns an integer power; `None` for a negative power of 0.
    pub(crate) fn power(&self, exponent: i32) -> Option<Angle> {
        if exponent < 0 && self.residue == 0 {
            return None;
        }
        let base = match exponent < 0 {
            false => self.clone(),
            true => Angle {
                residue: raised(self.residue, ANGLES - 2, 1, times),
                constant: self
                    .constant
                    .as_ref()
                    .filter(|value| !value.0.is_zero())
                    .map(|(number, pi)| {
                        let inverse = number.recip();
                        let slope = -(pi * &inverse * &inverse);
                        (inverse, slope)
                    }),
            },
        };
        let mut found = Angle::number(&BigRational::one());
        for _ in 0..exponent.unsigned_abs() {
            found = found.mul(&base);
        }
        Some(found)
    }

    /// Returns cosine and sine; `pi` must be the value from which the angle was built.
    pub(crate) fn rotation(&self, pi: &Angle) -> Rotation {
        let half_turns = self.constant.as_ref().map(|value| &value.1);
        let steps = half_turns.map(|turns| turns * BigRational::from_integer(BigInt::from(WHOLE_TURN / 2)));
        let Some(steps) = steps.filter(|steps| steps.is_integer() && !steps.is_zero()) else {
            return turned(self.residue);
        };
        let part = steps.to_integer().mod_floor(&BigInt::from(WHOLE_TURN)).to_u64();
        let part = part.expect("invariant: a remainder is below its modulus");
        let turns = steps / BigRational::from_integer(BigInt::from(WHOLE_TURN / 2));
        let taken = pi.mul(&Angle::number(&turns)).residue;
        let rest = (self.residue + ANGLES - taken) % ANGLES;
        product(raised(ROOT_OF_UNITY, part, (1, 0), product), turned(rest))
    }
}

fn times(a: u64, b: u64) -> u64 {
    (u128::from(a) * u128::from(b) % u128::from(ANGLES)) as u64
}
