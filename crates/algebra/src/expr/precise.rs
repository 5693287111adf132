//! Elementary functions of exact numbers to 384 bits, so that exact arithmetic rounds only once, at the end.
//!
//! Fixed-point series of 448 bits compute pi (arctangent), the exponential function, and sine and cosine after argument reduction. Other
//! functions follow from these, some by steps from the value in double precision.

use super::exact::to_f64;
use crate::expr::Function;
use num_bigint::BigInt;
use num_rational::BigRational;
use num_traits::{One, Signed, ToPrimitive, Zero};
use std::sync::OnceLock;

/// The number of fractional bits.
const BITS: u64 = 448;

/// The number of significant bits of a result.
const SIGNIFICANT: u64 = 384;

/// A sum smaller than its terms by this number of bits is 0 with the error of rounding to [`SIGNIFICANT`].
///
/// Eliminations multiply capacities such as 1e-11 m^3/Pa with each other, so sums of exact numbers reach a part in 1e60 of their terms. A
/// part in 1e90 is far below them.
const LOST: i64 = 300;

/// The largest argument for which sine and cosine keep their digits.
const LARGEST_ANGLE: i64 = 1 << 32;

/// The largest argument for which the exponential function is in the range of doubles.
const LARGEST_EXPONENT: i64 = 700;

/// Returns the sum, or 0 if the sum is the rounding error of two terms of opposite signs.
pub(crate) fn without_rounding(sum: BigRational, largest: &BigRational) -> BigRational {
    match !sum.is_zero() && magnitude(&sum) + LOST < magnitude(largest) {
        true => BigRational::zero(),
        false => sum,
    }
}

/// Returns the binary logarithm, accurate to 1.
fn magnitude(value: &BigRational) -> i64 {
    value.numer().bits() as i64 - value.denom().bits() as i64
}

fn fixed(value: &BigRational) -> BigInt {
    (value.numer() << BITS) / value.denom()
}

/// Returns a fixed-point number times a power of 2, rounded.
fn rational(value: &BigInt, exponent: i64) -> BigRational {
    let dropped = value.bits().saturating_sub(SIGNIFICANT);
    let kept = match dropped {
        0 => value.clone(),
        _ => ((value >> (dropped - 1)) + 1) >> 1u8,
    };
    let exponent = exponent + dropped as i64 - BITS as i64;
    let power = BigInt::one() << exponent.unsigned_abs();
    match exponent < 0 {
        true => BigRational::new(kept, power),
        false => BigRational::from_integer(kept * power),
    }
}

fn times(a: &BigInt, b: &BigInt) -> BigInt {
    (a * b) >> BITS
}

/// Returns the sum of `1/(n^k k)` over odd k, with alternating signs (the arctangent of 1/n) or without (the hyperbolic arctangent).
fn inverse_tangent(n: u32, alternates: bool) -> BigInt {
    let square = BigInt::from(n * n);
    let mut power = (BigInt::one() << BITS) / n;
    let (mut sum, mut k) = (BigInt::zero(), 1u32);
    while !power.is_zero() {
        let term = &power / k;
        match alternates && k % 4 == 3 {
            true => sum -= term,
            false => sum += term,
        }
        power /= &square;
        k += 2;
    }
    sum
}

fn fixed_pi() -> &'static BigInt {
    static PI: OnceLock<BigInt> = OnceLock::new();
    PI.get_or_init(|| inverse_tangent(5, true) * 16 - inverse_tangent(239, true) * 4)
}

/// Returns pi.
pub(crate) fn pi() -> BigRational {
    rational(fixed_pi(), 0)
}

/// Returns the sum of `x^k/k!` over every `step`-th k from `first` on, optionally with alternating signs.
fn series(x: &BigInt, first: u32, step: u32, alternates: bool) -> BigInt {
    let one = BigInt::one() << BITS;
    let (mut term, mut sum, mut k) = (one, BigInt::zero(), 0u32);
    let mut is_minus = false;
    // A shift of a negative number ends at -1, not at 0.
    while term.bits() > 1 {
        if k >= first && (k - first).is_multiple_of(step) {
            match is_minus {
                true => sum -= &term,
                false => sum += &term,
            }
            is_minus ^= alternates;
        }
        k += 1;
        term = times(&term, x) / k;
    }
    sum
}

/// Returns sine and cosine.
fn sine_and_cosine(angle: &BigRational) -> Option<(BigRational, BigRational)> {
    if angle.abs() >= BigRational::from_integer(LARGEST_ANGLE.into()) {
        return None;
    }
    let (angle, quarter) = (fixed(angle), fixed_pi() >> 1u8);
    let half: BigInt = &quarter >> 1u8;
    let quarters = num_integer::Integer::div_floor(&(&angle + &half), &quarter);
    let rest = &angle - &quarters * &quarter;
    let (sine, cosine) = (series(&rest, 1, 2, true), series(&rest, 0, 2, true));
    let turned = num_integer::Integer::mod_floor(&quarters, &BigInt::from(4)).to_u8();
    let (sine, cosine) = match turned {
        Some(0) => (sine, cosine),
        Some(1) => (cosine, -sine),
        Some(2) => (-sine, -cosine),
        _ => (-cosine, sine),
    };
    Some((rational(&sine, 0), rational(&cosine, 0)))
}

fn exponential(x: &BigRational) -> Option<BigRational> {
    if x.abs() > BigRational::from_integer(LARGEST_EXPONENT.into()) {
        return None;
    }
    static LOG_2: OnceLock<BigInt> = OnceLock::new();
    let unit = LOG_2.get_or_init(|| inverse_tangent(3, false) * 2);
    let x = fixed(x);
    let exponent = num_integer::Integer::div_floor(&x, unit);
    let rest = x - &exponent * unit;
    Some(rational(&series(&rest, 0, 1, false), exponent.to_i64()?))
}

/// Computes the logarithm by two third-order steps from the value in double precision.
fn logarithm(x: &BigRational) -> Option<BigRational> {
    let mut found = BigRational::from_float(to_f64(x).ln()).filter(|_| x.is_positive())?;
    for _ in 0..2 {
        let power = exponential(&found)?;
        let step = (x - &power) / (x + &power);
        found = trimmed(found + &step + step);
    }
    Some(found)
}

/// Returns the square root, which is exact for squares.
pub(crate) fn square_root(x: &BigRational) -> Option<BigRational> {
    if x.is_negative() {
        return None;
    }
    let (above, below) = (x.numer().sqrt(), x.denom().sqrt());
    if &above * &above == *x.numer() && &below * &below == *x.denom() {
        return Some(BigRational::new(above, below));
    }
    let wanted = 2 * (SIGNIFICANT as i64 + 4) - magnitude(x);
    let shift = (wanted.max(0) as u64).next_multiple_of(2);
    let root = ((x.numer() << shift) / x.denom()).sqrt();
    Some(rational(&root, BITS as i64 - (shift / 2) as i64))
}

/// Returns a power with a noninteger exponent.
pub(crate) fn power(base: &BigRational, exponent: &BigRational) -> Option<BigRational> {
    let doubled = exponent * BigRational::from_integer(2.into());
    if doubled.is_integer() && doubled.abs() <= BigRational::from_integer(8.into()) && !base.is_zero() {
        return Some(square_root(base)?.pow(doubled.to_i32()?));
    }
    exponential(&(exponent * logarithm(base)?))
}

/// Computes the arctangent by two third-order steps from the value in double precision.
fn arctangent(x: &BigRational) -> Option<BigRational> {
    let mut found = BigRational::from_float(to_f64(x).atan())?;
    for _ in 0..2 {
        let (sine, cosine) = sine_and_cosine(&found)?;
        let step = (x * &cosine - &sine) / (&cosine + x * &sine);
        let third = &step * &step * &step / BigRational::from_integer(3.into());
        found = trimmed(found + step - third);
    }
    Some(found)
}

/// Returns a number with [`SIGNIFICANT`] bits.
pub(crate) fn trimmed(value: BigRational) -> BigRational {
    let shift = SIGNIFICANT as i64 + 4 - magnitude(&value);
    let scaled = match shift > 0 {
        true => (value.numer() << shift as u64) / value.denom(),
        false => value.numer() / (value.denom() << shift.unsigned_abs()),
    };
    rational(&scaled, BITS as i64 - shift)
}

/// Returns the value of a function of one argument; `None` if it is not finite or out of range, or if the function is not supported here.
pub(crate) fn call(function: Function, x: &BigRational) -> Option<BigRational> {
    let one = BigRational::one;
    let half = BigRational::new(1.into(), 2.into());
    let pair = || Some((exponential(x)?, exponential(&-x)?));
    let found = match function {
        Function::Sqrt => return square_root(x),
        Function::Sin => return Some(sine_and_cosine(x)?.0),
        Function::Cos => return Some(sine_and_cosine(x)?.1),
        Function::Tan => {
            let (sine, cosine) = sine_and_cosine(x)?;
            (!cosine.is_zero()).then(|| sine / cosine)?
        }
        Function::Exp => return exponential(x),
        Function::Log => logarithm(x)?,
        Function::Sinh => pair().map(|(up, down)| (up - down) * half)?,
        Function::Cosh => pair().map(|(up, down)| (up + down) * half)?,
        Function::Tanh => pair().map(|(up, down)| (&up - &down) / (up + down))?,
        Function::Asinh => {
            let size = x.abs();
            let found = logarithm(&(&size + square_root(&(&size * &size + one()))?))?;
            if x.is_negative() { -found } else { found }
        }
        Function::Atan => arctangent(x)?,
        Function::Asin if x.abs() < one() => arctangent(&(x / square_root(&(one() - x * x))?))?,
        Function::Acos if x.abs() < one() => pi() * half - arctangent(&(x / square_root(&(one() - x * x))?))?,
        _ => return None,
    };
    Some(trimmed(found))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn number(text: &str) -> BigRational {
        let (whole, part) = text.split_once('.').expect("a decimal");
        let digits: BigInt = format!("{whole}{part}").parse().expect("digits");
        BigRational::new(digits, BigInt::from(10).pow(part.len() as u32))
    }

    #[test]
    fn values_are_right_to_36_digits() {
        // From tables with 40 digits.
        let known = [
            (Function::Sin, "1.0", "0.8414709848078965066525023216302989996226"),
            (Function::Cos, "100.0", "0.8623188722876839341019385139508425355101"),
            (Function::Exp, "1.0", "2.7182818284590452353602874713526624977572"),
            (Function::Log, "10.0", "2.3025850929940456840179914546843642076011"),
            (Function::Sqrt, "2.0", "1.4142135623730950488016887242096980785697"),
            (Function::Atan, "2.0", "1.1071487177940905030170654601785370400700"),
            (Function::Sinh, "1.0", "1.1752011936438014568823818505956008151557"),
        ];
        let error = number("0.0000000000000000000000000000000000010");
        for (function, x, wanted) in known {
            let found = call(function, &number(x)).expect("a value");
            assert!((found - number(wanted)).abs() < error, "{function:?} {x}");
        }
        assert!((pi() - number("3.1415926535897932384626433832795028841972")).abs() < error);
        let cube = power(&number("2.0"), &BigRational::new(1.into(), 3.into())).expect("a value");
        assert!((cube - number("1.2599210498948731647672106072782283505703")).abs() < error);
    }

    #[test]
    fn identities_hold_to_the_last_digits() {
        let of = |function, x: &str| call(function, &number(x)).expect("a value");
        let error = BigRational::new(BigInt::one(), BigInt::one() << 370u32);
        let log = |x| of(Function::Log, x);
        assert!((log("2.0") + log("3.0") - log("6.0")).abs() < error);
        let quarter =
            of(Function::Atan, "0.5") + call(Function::Atan, &BigRational::new(1.into(), 3.into())).expect("a value");
        assert!((quarter * BigRational::from_integer(4.into()) - pi()).abs() < error);
        let power = exponential(&log("7.0")).expect("a value");
        assert!((power - number("7.0")).abs() < error);
    }

    #[test]
    fn functions_agree_with_doubles() {
        for k in -40..40 {
            // Exactly representable as a double.
            let x = BigRational::new((7 * k + 1).into(), 64.into());
            for function in Function::ALL.map(|facts| facts.function) {
                if let Some(found) = call(function, &x) {
                    let wanted = crate::expr::doubles::call(function, &[to_f64(&x)]);
                    let error = (to_f64(&found) - wanted).abs();
                    assert!(
                        error <= 4e-15 * wanted.abs().max(1e-3),
                        "{function:?} {x}: {found} {wanted}"
                    );
                }
            }
        }
    }
}
