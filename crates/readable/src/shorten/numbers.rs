//! The numbers of a sum: the common number to extract, and its scale.

use num_bigint::BigInt;
use num_integer::Integer as _;
use num_rational::BigRational;
use num_traits::{One, Signed, Zero};

/// The number of a sum's numbers that are tried as its scale.
const SCALES: usize = 8;

/// Returns the number to extract from a sum: a common sign, and a factor that makes the numbers shorter.
pub(super) fn common_number(numbers: &[&BigRational]) -> BigRational {
    let is_negative = numbers.iter().all(|number| number.is_negative());
    let sign = BigRational::from_integer(BigInt::from(if is_negative { -1 } else { 1 }));
    let numerators = numbers
        .iter()
        .fold(BigInt::zero(), |gcd, number| gcd.gcd(number.numer()));
    let denominators = numbers
        .iter()
        .fold(BigInt::one(), |lcm, number| lcm.lcm(number.denom()));
    if numerators.is_one() && denominators.is_one() {
        return sign;
    }
    let within = |factor: &BigRational| -> usize {
        let inside: usize = numbers
            .iter()
            .map(|number| number_length(&(*number / factor).abs()))
            .sum();
        inside + number_length(factor)
    };
    let mut best = BigRational::one();
    for factor in [
        BigRational::from_integer(numerators.clone()),
        BigRational::new(BigInt::one(), denominators.clone()),
        BigRational::new(numerators, denominators),
    ] {
        if within(&factor) < within(&best) {
            best = factor;
        }
    }
    sign * best
}

/// Returns the positive number by which to divide a sum, so that its numbers are few and short, independent of its original scale.
pub(super) fn scale(numbers: &[&BigRational]) -> BigRational {
    let content = content(numbers);
    if content.is_zero() {
        return BigRational::one();
    }
    let whole = numbers.iter().filter(|number| !number.is_zero());
    let whole: Vec<BigRational> = whole.map(|number| (*number / &content).abs()).collect();
    let length = |scale: &BigRational| {
        let lengths = whole.iter().map(|number| number_length(&(number / scale)));
        lengths.fold((0, 0), |sum, length| (sum.0 + usize::from(length > 0), sum.1 + length))
    };
    let mut best = BigRational::one();
    let mut least = length(&best);
    let mut others = whole.clone();
    others.sort_unstable();
    others.dedup();
    for scale in others.into_iter().take(SCALES) {
        let found = length(&scale);
        if found < least {
            (least, best) = (found, scale);
        }
    }
    content * best
}

/// Returns the largest number that leaves integers when all numbers are divided by it.
fn content(numbers: &[&BigRational]) -> BigRational {
    let above = numbers
        .iter()
        .fold(BigInt::zero(), |gcd, number| gcd.gcd(number.numer()));
    let below = numbers
        .iter()
        .fold(BigInt::one(), |lcm, number| lcm.lcm(number.denom()));
    BigRational::new(above, below)
}

/// Returns the approximate number of characters of a positive number as a factor; 0 if it is 1.
pub(super) fn number_length(number: &BigRational) -> usize {
    match number.is_one() {
        true => 0,
        false => lgm_algebra::expr::print::number(number).len() + 1,
    }
}
