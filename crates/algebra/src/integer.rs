//! Integers stored in a machine word if they fit, as nearly all coefficients do.

use num_bigint::BigInt;
use num_integer::Integer as _;
use num_traits::{Signed, ToPrimitive, Zero};

/// The modulus of [`PrimeField`](crate::PrimeField): a prime, 3 modulo 4, one less than a multiple of [`WHOLE_TURN`](crate::rotations),
/// modulo which 2 and all odd primes below 79 are squares.
pub(crate) const PRIME: u64 = 4_610_326_955_571_136_799;

/// An integer; `Big` only if it does not fit `Small`, so that equality is structural.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Integer {
    Small(i64),
    Big(Box<BigInt>),
}

impl From<BigInt> for Integer {
    fn from(value: BigInt) -> Integer {
        match value.to_i64() {
            Some(small) => Integer::Small(small),
            None => Integer::Big(Box::new(value)),
        }
    }
}

impl From<i128> for Integer {
    fn from(value: i128) -> Integer {
        match i64::try_from(value) {
            Ok(small) => Integer::Small(small),
            Err(_) => Integer::Big(Box::new(BigInt::from(value))),
        }
    }
}

impl Integer {
    pub(crate) const ONE: Integer = Integer::Small(1);

    pub(crate) fn big(&self) -> BigInt {
        match self {
            Integer::Small(small) => BigInt::from(*small),
            Integer::Big(big) => (**big).clone(),
        }
    }

    /// Returns the number of words of the integer, 0 if it fits one word.
    pub(crate) fn long_words(&self) -> u64 {
        match self {
            Integer::Small(_) => 0,
            Integer::Big(big) => big.bits().div_ceil(64),
        }
    }

    pub(crate) fn is_zero(&self) -> bool {
        *self == Integer::Small(0)
    }

    pub(crate) fn is_one(&self) -> bool {
        *self == Integer::Small(1)
    }

    pub(crate) fn is_negative(&self) -> bool {
        match self {
            Integer::Small(small) => *small < 0,
            Integer::Big(big) => big.is_negative(),
        }
    }

    pub(crate) fn add(&self, other: &Integer) -> Integer {
        match (self, other) {
            (Integer::Small(a), Integer::Small(b)) => Integer::from(i128::from(*a) + i128::from(*b)),
            _ => Integer::from(self.big() + other.big()),
        }
    }

    pub(crate) fn sub(&self, other: &Integer) -> Integer {
        match (self, other) {
            (Integer::Small(a), Integer::Small(b)) => Integer::from(i128::from(*a) - i128::from(*b)),
            _ => Integer::from(self.big() - other.big()),
        }
    }

    pub(crate) fn mul(&self, other: &Integer) -> Integer {
        match (self, other) {
            (Integer::Small(a), Integer::Small(b)) => Integer::from(i128::from(*a) * i128::from(*b)),
            _ => Integer::from(self.big() * other.big()),
        }
    }

    pub(crate) fn neg(&self) -> Integer {
        match self {
            Integer::Small(a) => Integer::from(-i128::from(*a)),
            Integer::Big(a) => Integer::from(-(**a).clone()),
        }
    }

    /// Divides by a nonzero divisor; `None` if the quotient is not an integer.
    pub(crate) fn divide_exact(&self, divisor: &Integer) -> Option<Integer> {
        match (self, divisor) {
            (Integer::Small(a), Integer::Small(b)) => {
                let (a, b) = (i128::from(*a), i128::from(*b));
                (a % b == 0).then(|| Integer::from(a / b))
            }
            _ => {
                let (quotient, remainder) = self.big().div_rem(&divisor.big());
                remainder.is_zero().then(|| Integer::from(quotient))
            }
        }
    }

    /// Returns the nonnegative greatest common divisor.
    pub(crate) fn gcd(&self, other: &Integer) -> Integer {
        match (self, other) {
            (Integer::Small(a), Integer::Small(b)) => {
                Integer::from(i128::from(a.unsigned_abs().gcd(&b.unsigned_abs())))
            }
            _ => Integer::from(self.big().gcd(&other.big())),
        }
    }

    /// The remainder modulo [`PRIME`].
    pub(crate) fn modulo_prime(&self) -> u64 {
        match self {
            Integer::Small(small) => small.rem_euclid(PRIME as i64) as u64,
            Integer::Big(big) => modulo_prime(big),
        }
    }
}

/// The remainder of an integer modulo [`PRIME`].
pub(crate) fn modulo_prime(value: &BigInt) -> u64 {
    value
        .mod_floor(&BigInt::from(PRIME))
        .to_u64()
        .expect("invariant: a remainder is below the modulus, which fits 64 bits")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arithmetic_crosses_the_word_boundary_both_ways() {
        let edge = Integer::Small(i64::MAX);
        let beyond = edge.add(&Integer::ONE);
        assert_eq!(beyond, Integer::from(BigInt::from(i64::MAX) + 1));
        assert!(matches!(beyond, Integer::Big(_)));
        assert_eq!(beyond.sub(&Integer::ONE), edge);
        let square = edge.mul(&edge);
        assert_eq!(square.divide_exact(&edge), Some(edge.clone()));
        assert_eq!(square.add(&Integer::ONE).divide_exact(&edge), None);
        assert_eq!(square.gcd(&edge), edge);
        assert_eq!(Integer::Small(i64::MIN).neg().neg(), Integer::Small(i64::MIN));
        assert_eq!(Integer::Small(-1).modulo_prime(), PRIME - 1);
        assert_eq!(
            square.neg().modulo_prime(),
            modulo_prime(&-(BigInt::from(i64::MAX) * i64::MAX))
        );
        assert_eq!(Integer::Small(i64::MIN).divide_exact(&Integer::Small(-1)), Some(beyond));
    }
}
