//! Numbers as text: exact decimals if they are short, otherwise fractions.

use crate::expr::to_f64;
use num_bigint::BigInt;
use num_integer::Integer as _;
use num_rational::BigRational;
use num_traits::{One, Signed, ToPrimitive, Zero};

/// Formats a number: a decimal if that is exact and short, otherwise a fraction.
pub fn number(value: &BigRational) -> String {
    decimal(value).unwrap_or_else(|| format!("{}/{}", value.numer(), value.denom()))
}

/// Splits a positive coefficient into numerator and denominator. Halves and quarters of numbers below 10 and eighths of numbers below 100
/// are fractions, as in handwriting; other terminating decimals stay decimals, as typed.
pub(super) fn number_parts(value: &BigRational) -> (Option<String>, Option<String>) {
    let is_common =
        |(below, most): &(u32, u32)| *value.denom() == BigInt::from(*below) && *value.numer() < BigInt::from(*most);
    let common = [(2, 10), (4, 10), (8, 100)].iter().any(is_common);
    let shown = |text: String| (text != "1").then_some(text);
    if !common && let Some(text) = decimal(value) {
        return (shown(text), None);
    }
    let whole = |value: &BigInt| shown(number(&BigRational::from_integer(value.clone())));
    (whole(value.numer()), whole(value.denom()))
}

/// Fractions with more binary digits than this on either side are written as the nearest double. The numbers that people write as
/// fractions are shorter, and those of computed doubles are longer.
const LONGEST_FRACTION: u64 = 52;

/// Returns the decimal of the number: the exact one if it has at most 17 digits, and that of the nearest double if the fraction is long.
/// Integers are always exact.
pub(super) fn decimal(value: &BigRational) -> Option<String> {
    exact_decimal(value).or_else(|| {
        let is_long = value.numer().bits().max(value.denom().bits()) > LONGEST_FRACTION;
        let text = format!(
            "{:?}",
            Some(to_f64(value)).filter(|double| is_long && double.is_normal())?
        );
        Some(text.strip_suffix(".0").map_or(text.clone(), str::to_string))
    })
}

fn exact_decimal(value: &BigRational) -> Option<String> {
    if value.is_zero() {
        return Some("0".to_string());
    }
    let (digits, exponent) = match short_decimal_parts(value) {
        Some((mantissa, exponent)) => (mantissa.to_string(), exponent),
        None => {
            let (mantissa, exponent) = decimal_parts(value)?;
            (mantissa.to_string(), exponent)
        }
    };
    let sign = if value.is_negative() { "-" } else { "" };
    if digits.len() > 17 && !value.is_integer() {
        return None;
    }
    let length = digits.len() as i64;
    // The position of the decimal point, counted from the left of the digits.
    let point = length + exponent;
    let text = if exponent >= 0 && point <= 15 && (exponent < 5 || point <= 6) {
        format!("{digits}{}", "0".repeat(exponent as usize))
    } else if exponent < 0 && point > 0 {
        format!("{}.{}", &digits[..point as usize], &digits[point as usize..])
    } else if exponent < 0 && point > -4 {
        format!("0.{}{digits}", "0".repeat(-point as usize))
    } else if (0..5).contains(&exponent) {
        format!("{digits}{}", "0".repeat(exponent as usize))
    } else if length == 1 {
        format!("{digits}e{exponent}")
    } else {
        format!("{}.{}e{}", &digits[..1], &digits[1..], point - 1)
    };
    Some(format!("{sign}{text}"))
}

/// Computes [`decimal_parts`] for a number that fits machine words, as most numbers do; `None` if it does not fit or does not terminate.
fn short_decimal_parts(value: &BigRational) -> Option<(u128, i64)> {
    let (numerator, denominator) = (value.numer().to_i64()?, value.denom().to_u64()?);
    let mut mantissa = u128::from(numerator.unsigned_abs());
    let twos = denominator.trailing_zeros();
    let mut rest = denominator >> twos;
    let mut fives = 0;
    while rest.is_multiple_of(5) {
        rest /= 5;
        fives += 1;
    }
    if rest != 1 {
        return None;
    }
    let places = twos.max(fives);
    let factor = 5u128
        .checked_pow(places - fives)?
        .checked_mul(2u128.checked_pow(places - twos)?)?;
    mantissa = mantissa.checked_mul(factor)?;
    let mut exponent = -i64::from(places);
    while mantissa.is_multiple_of(10) {
        mantissa /= 10;
        exponent += 1;
    }
    Some((mantissa, exponent))
}

/// Returns the positive mantissa without trailing zeros and the power of ten, if the number terminates.
fn decimal_parts(value: &BigRational) -> Option<(BigInt, i64)> {
    let mut mantissa = value.numer().abs();
    let mut exponent = 0i64;
    if !value.denom().is_one() {
        let mut rest = value.denom().clone();
        // Every factor 2 in the denominator becomes a factor 5 over a power of ten, and vice versa.
        let twos = rest.trailing_zeros().unwrap_or(0);
        rest >>= twos;
        let five = BigInt::from(5);
        let mut fives = 0u64;
        // No number written as a decimal has more than a thousand digits after the point.
        while rest.is_multiple_of(&five) && fives < 1100 {
            rest /= &five;
            fives += 1;
        }
        if !rest.is_one() || twos > 1100 {
            return None;
        }
        let places = twos.max(fives);
        mantissa *= five.pow((places - fives).to_u32()?) * BigInt::from(2).pow((places - twos).to_u32()?);
        exponent = -(places as i64);
    }
    let ten = BigInt::from(10);
    loop {
        let (quotient, remainder) = mantissa.div_rem(&ten);
        if !remainder.is_zero() {
            return Some((mantissa, exponent));
        }
        mantissa = quotient;
        exponent += 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn machine_words_and_large_numbers_give_the_same_decimals() {
        let numerators = [1i64, 3, 7, 10, 12_500, 99_999, 1 << 40, i64::MAX, -48];
        let denominators = [1u64, 2, 3, 8, 10, 125, 1_000_000, 1 << 50, 5u64.pow(20), u64::MAX];
        for numerator in numerators {
            for denominator in denominators {
                let value = BigRational::new(BigInt::from(numerator), BigInt::from(denominator));
                if let Some((mantissa, exponent)) = short_decimal_parts(&value) {
                    assert_eq!(
                        decimal_parts(&value),
                        Some((BigInt::from(mantissa), exponent)),
                        "{value}"
                    );
                }
            }
        }
        let rounded = BigRational::from_float(1.875_104_068_711_961_1).unwrap();
        assert_eq!(number(&rounded), "1.8751040687119611");
        assert_eq!(number(&rounded.pow(4)), "12.36236336832619");
        assert_eq!(number(&BigRational::new(1.into(), 3.into())), "1/3");
        let eighths = |numerator: i64| number_parts(&BigRational::new(numerator.into(), 8.into()));
        assert_eq!(eighths(25), (Some("25".to_string()), Some("8".to_string())));
        assert_eq!(eighths(801), (Some("100.125".to_string()), None));
        let half = BigRational::new(BigInt::from(-1), BigInt::from(2));
        assert_eq!(short_decimal_parts(&half), Some((5, -1)));
    }
}
