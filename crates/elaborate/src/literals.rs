//! Names and decimal numbers as they are written in a text.

use num_rational::BigRational;
use std::sync::Arc;

/// The maximum power of ten, and the maximum number of characters, of a literal: beyond the range and the digits of doubles.
pub(crate) const LARGEST_EXPONENT: u32 = 400;
pub(crate) const LONGEST_LITERAL: usize = 1000;

/// Returns the exact value of a decimal literal such as `1.5e-3`; `None` if it exceeds the limits.
pub(crate) fn decimal(text: &str) -> Option<BigRational> {
    let (mantissa, exponent) = match text.find(['e', 'E']) {
        Some(at) => (&text[..at], text[at + 1..].parse::<i32>().ok()?),
        None => (text, 0),
    };
    if exponent.unsigned_abs() > LARGEST_EXPONENT || mantissa.len() > LONGEST_LITERAL {
        return None;
    }
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let digits: num_bigint::BigInt = format!("{whole}{fraction}").parse().ok()?;
    let power = exponent - i32::try_from(fraction.len()).ok()?;
    let ten = || num_bigint::BigInt::from(10).pow(power.unsigned_abs());
    Some(match power {
        0 => BigRational::from_integer(digits),
        1.. => BigRational::from_integer(digits * ten()),
        _ => BigRational::new(digits, ten()),
    })
}

/// A name shared with the syntax tree.
pub(crate) type Text = Arc<str>;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn decimals_are_exact() {
        let half = BigRational::new(1.into(), 2.into());
        assert_eq!(decimal("0.5"), Some(half.clone()));
        assert_eq!(decimal("5e-1"), Some(half.clone()));
        assert_eq!(decimal("0.0005E+3"), Some(half));
        assert_eq!(decimal("12e3"), Some(BigRational::from_integer(12_000.into())));
        assert_eq!(decimal("1e999999"), None);
        assert_eq!(decimal("1e-2147483648"), None);
        assert!(decimal(&"9".repeat(LONGEST_LITERAL)).is_some());
        assert_eq!(decimal(&"9".repeat(LONGEST_LITERAL + 1)), None);
    }
}
