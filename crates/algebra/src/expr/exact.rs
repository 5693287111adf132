//! Exact numbers up to a limited length.

use num_bigint::BigInt;
use num_rational::BigRational;
use num_traits::{One, ToPrimitive, Zero};

/// The maximum length, in bits, of exact numbers within expressions, which are printed and which elimination multiplies. A product of two
/// literals, and of a few doubles, is still exact.
pub(crate) const LONGEST_FOLDED: u64 = 4096;

/// Returns the length in bits of the longer of numerator and denominator.
pub(crate) fn length(value: &BigRational) -> u64 {
    value.numer().bits().max(value.denom().bits())
}

/// The work limit for the common denominators of one sum, in squared bits: some thousands of different denominators.
pub(crate) const LONGEST_WORK: u64 = 2_000_000_000;

/// Returns the nearest double of an exact number, as an exact number; `None` if that is 0 or infinite.
pub(crate) fn rounded(numerator: &BigInt, denominator: &BigInt) -> Option<BigRational> {
    // The lengths show whether the quotient is in the range of doubles, without dividing long numbers.
    let scale = numerator.bits() as i64 - denominator.bits() as i64;
    if !(-1080..=1030).contains(&scale) {
        return None;
    }
    let value = to_f64(&BigRational::new_raw(numerator.clone(), denominator.clone()));
    BigRational::from_float(value).filter(|value| !value.is_zero())
}

/// Returns the sum, exact up to the length limit and in doubles beyond; `None` if the double is not finite.
pub(crate) fn exact_sum<'n>(values: impl Iterator<Item = &'n BigRational>) -> Option<BigRational> {
    let mut sum = BigRational::zero();
    let mut work = 0;
    let mut values = values.into_iter();
    for value in values.by_ref() {
        sum += value;
        let length = sum.denom().bits();
        work += length * length;
        if sum.numer().bits().max(length) > LONGEST_FOLDED || work > LONGEST_WORK {
            let rest: f64 = values.map(to_f64).sum();
            return match rest == 0.0 {
                true => rounded(sum.numer(), sum.denom()),
                false => BigRational::from_float(to_f64(&sum) + rest),
            };
        }
    }
    Some(sum)
}

/// Returns the product, exact up to the length limit and in doubles beyond; `None` if the double is 0 or not finite.
pub(crate) fn exact_product<'n>(values: impl Iterator<Item = &'n BigRational>) -> Option<BigRational> {
    let mut values = values.into_iter();
    let Some(first) = values.next() else {
        return Some(BigRational::one());
    };
    let Some(second) = values.next() else {
        return Some(first.clone());
    };
    // Common factors are removed once, at the end.
    let (mut numerator, mut denominator) = (first.numer() * second.numer(), first.denom() * second.denom());
    for value in values.by_ref() {
        if numerator.bits().max(denominator.bits()) > LONGEST_FOLDED {
            let begun = rounded(&numerator, &denominator);
            let mut product = begun.as_ref().map_or(f64::NAN, to_f64);
            for value in std::iter::once(value).chain(values) {
                if value.is_zero() {
                    return Some(BigRational::zero());
                }
                product *= to_f64(value);
            }
            return BigRational::from_float(product).filter(|product| !product.is_zero());
        }
        numerator *= value.numer();
        denominator *= value.denom();
    }
    match numerator.bits().max(denominator.bits()) > LONGEST_FOLDED {
        false => Some(BigRational::new(numerator, denominator)),
        true => rounded(&numerator, &denominator),
    }
}

/// Splits a square root into a number and the integers whose roots multiply it: primes, and a rest without small factors. `None` for
/// numbers that are too long.
pub(crate) fn square_free(value: &BigRational) -> Option<(BigRational, Vec<u64>)> {
    let mut rest = (value.numer() * value.denom()).to_u64()?;
    let (mut outside, mut primes) = (1u64, Vec::new());
    let mut take = |factor: u64, rest: &mut u64| {
        while rest.is_multiple_of(factor * factor) {
            *rest /= factor * factor;
            outside *= factor;
        }
        if rest.is_multiple_of(factor) {
            *rest /= factor;
            primes.push(factor);
        }
    };
    if rest > 0 {
        for factor in 2..SMALL_FACTORS {
            if factor * factor > rest {
                break;
            }
            take(factor, &mut rest);
        }
        let root = rest.isqrt();
        if root > 1 && root * root == rest {
            (outside, rest) = (outside * root, 1);
        }
    } else {
        outside = 0;
    }
    if rest > 1 {
        primes.push(rest);
    }
    Some((BigRational::new(outside.into(), value.denom().clone()), primes))
}

/// Factors of a radicand are searched for below this limit.
const SMALL_FACTORS: u64 = 1 << 12;

/// Returns the nearest double, as an exact number, of a number that comes from rounded irrational numbers: no decimal literal has that many
/// binary digits.
pub fn in_double_precision(value: BigRational) -> BigRational {
    match value.denom().trailing_zeros() {
        Some(64..) => BigRational::from_float(to_f64(&value)).unwrap_or(value),
        _ => value,
    }
}

/// Returns the nearest double of an exact number; infinite only beyond the range of doubles.
pub fn to_f64(value: &BigRational) -> f64 {
    value.to_f64().unwrap_or(f64::NAN)
}
