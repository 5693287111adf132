//! Exact numbers, as long as these are worth it.

use num_bigint::BigInt;
use num_rational::BigRational;
use num_traits::{One, ToPrimitive, Zero};

/// The same of the numbers within expressions, which are written down, and which elimination multiplies. A product of
/// two literals, and of a few doubles, is still exact.
pub(crate) const LONGEST_FOLDED: u64 = 4096;

/// The bits of the longer part of an exact number.
pub(crate) fn length(value: &BigRational) -> u64 {
    value.numer().bits().max(value.denom().bits())
}

/// What may be spent on the common denominators of one sum, in squared bits: some thousands of different ones.
pub(crate) const LONGEST_WORK: u64 = 2_000_000_000;

/// The nearest double of an exact number, as an exact number; `None` where that is 0 or infinite.
pub(crate) fn rounded(numerator: &BigInt, denominator: &BigInt) -> Option<BigRational> {
    // The lengths say whether they are in the range of doubles, without a division of long numbers.
    let scale = numerator.bits() as i64 - denominator.bits() as i64;
    if !(-1080..=1030).contains(&scale) {
        return None;
    }
    let value = to_f64(&BigRational::new_raw(numerator.clone(), denominator.clone()));
    BigRational::from_float(value).filter(|value| !value.is_zero())
}

/// The exact sum, as long as it is worth it, beyond that in doubles; `None` where these are not finite.
pub(crate) fn exact_sum<'n>(values: impl Iterator<Item = &'n BigRational>, longest: u64) -> Option<BigRational> {
    let mut sum = BigRational::zero();
    let mut work = 0;
    let mut values = values.into_iter();
    for value in values.by_ref() {
        sum += value;
        let length = sum.denom().bits();
        work += length * length;
        if sum.numer().bits().max(length) > longest || work > LONGEST_WORK {
            let rest: f64 = values.map(to_f64).sum();
            return match rest == 0.0 {
                true => rounded(sum.numer(), sum.denom()),
                false => BigRational::from_float(to_f64(&sum) + rest),
            };
        }
    }
    Some(sum)
}

/// The exact product, as long as it is worth it, beyond that in doubles; `None` where these are 0 or not finite.
pub(crate) fn exact_product<'n>(values: impl Iterator<Item = &'n BigRational>, longest: u64) -> Option<BigRational> {
    let mut values = values.into_iter();
    let Some(first) = values.next() else {
        return Some(BigRational::one());
    };
    let Some(second) = values.next() else {
        return Some(first.clone());
    };
    // Common factors are looked for once, in the end.
    let (mut numerator, mut denominator) = (first.numer() * second.numer(), first.denom() * second.denom());
    for value in values.by_ref() {
        if numerator.bits().max(denominator.bits()) > longest {
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
    match numerator.bits().max(denominator.bits()) > longest {
        false => Some(BigRational::new(numerator, denominator)),
        true => rounded(&numerator, &denominator),
    }
}

/// The nearest double of an exact number; infinite only beyond the range of doubles.
pub fn to_f64(value: &BigRational) -> f64 {
    value.to_f64().unwrap_or(f64::NAN)
}
