//! Doubles as exact decimals.

use num_bigint::BigInt;
use num_rational::BigRational;
use num_traits::Zero;

/// Returns the shortest decimal that reads back as the same double: 0.1, although the double itself has 55 digits.
pub fn shortest_decimal(value: f64) -> BigRational {
    let text = format!("{value:e}");
    if let Some(short) = short_decimal(&text) {
        return short;
    }
    let parts = text.split_once('e').and_then(|(mantissa, exponent)| {
        let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
        let digits: BigInt = format!("{whole}{fraction}").parse().ok()?;
        let exponent = exponent.parse::<i32>().ok()? - fraction.len() as i32;
        Some((digits, exponent))
    });
    // Only non-finite values have no digits; the reduction has rejected them earlier.
    parts.map_or_else(BigRational::zero, |(digits, exponent)| {
        BigRational::from_integer(digits) * BigRational::from_integer(BigInt::from(10)).pow(exponent)
    })
}

/// Converts digits and a power of ten that fit machine words to a fraction in lowest terms. The only possible common
/// factors are 2 and 5, so none are searched for.
fn short_decimal(text: &str) -> Option<BigRational> {
    let (mantissa, exponent) = text.split_once('e')?;
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let (sign, whole) = match whole.strip_prefix('-') {
        Some(rest) => (-1, rest),
        None => (1, whole),
    };
    let mut digits: u64 = 0;
    for digit in whole.bytes().chain(fraction.bytes()) {
        let digit = u64::from(digit.checked_sub(b'0').filter(|digit| *digit < 10)?);
        digits = digits.checked_mul(10)?.checked_add(digit)?;
    }
    let exponent = exponent.parse::<i32>().ok()? - fraction.len() as i32;
    let places = exponent.unsigned_abs();
    if digits == 0 || places > 27 {
        return None;
    }
    let (mut numerator, mut denominator) = (u128::from(digits), 1);
    if exponent >= 0 {
        numerator = numerator.checked_mul(10u128.pow(places))?;
    } else {
        let twos = digits.trailing_zeros().min(places);
        digits >>= twos;
        let mut fives = 0;
        while fives < places && digits.is_multiple_of(5) {
            digits /= 5;
            fives += 1;
        }
        numerator = u128::from(digits);
        denominator = 2u128.pow(places - twos) * 5u128.pow(places - fives);
    }
    let numerator = BigInt::from(numerator) * sign;
    Some(BigRational::new_raw(numerator, BigInt::from(denominator)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use lgm_algebra::expr::to_f64;

    #[test]
    fn a_double_is_written_as_the_shortest_decimal_in_lowest_terms() {
        let ratio = |a: i64, b: i64| BigRational::new(BigInt::from(a), BigInt::from(b));
        assert_eq!(shortest_decimal(0.1), ratio(1, 10));
        assert_eq!(shortest_decimal(-0.1), ratio(-1, 10));
        assert_eq!(shortest_decimal(2.5e-3), ratio(1, 400));
        assert_eq!(shortest_decimal(-1.6e6), ratio(-1_600_000, 1));
        assert_eq!(shortest_decimal(12.0), ratio(12, 1));
        assert_eq!(shortest_decimal(0.0), ratio(0, 1));
        let beyond = [
            1e300,
            5e-324,
            1.7976931348623157e308,
            1.234_567_891_234_568e-22,
            3e20,
            1e23,
        ];
        for value in beyond {
            assert_eq!(to_f64(&shortest_decimal(value)), value);
            assert_eq!(to_f64(&shortest_decimal(-value)), -value);
        }
    }

    /// Both ways of reading a decimal give the same fraction, in lowest terms.
    #[test]
    fn short_decimals_are_in_lowest_terms() {
        let mut state = 1u64;
        for _ in 0..2_000 {
            state = state
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1_442_695_040_888_963_407);
            let value = (state >> 44) as f64 * 10f64.powi((state % 31) as i32 - 20);
            if let Some(short) = short_decimal(&format!("{value:e}")) {
                assert_eq!(
                    short,
                    BigRational::new(short.numer().clone(), short.denom().clone()),
                    "{value}"
                );
                assert_eq!(short.denom(), short.reduced().denom(), "{value}");
                assert_eq!(to_f64(&short), value);
            }
        }
    }
}
