//! The numbers that the equations are computed in.

use core::fmt::Debug;
use core::ops::{Add, Div, Mul, Neg, Sub};

/// A real number with the functions that equations need.
pub trait Real:
    Copy
    + Debug
    + PartialOrd
    + Add<Output = Self>
    + Sub<Output = Self>
    + Mul<Output = Self>
    + Div<Output = Self>
    + Neg<Output = Self>
{
    /// The distance from 1 to the next number.
    const EPSILON: f64;
    /// The nearest number.
    fn c(value: f64) -> Self;
    /// The same as a double.
    fn to_f64(self) -> f64;
    /// Whether this is a number, and not infinite.
    fn is_finite(self) -> bool;
    /// Whether this is not a number.
    fn is_nan(self) -> bool;
    /// Whether the sign is minus, that of zero too.
    fn is_negative(self) -> bool;
    /// The largest number below.
    fn next_down(self) -> Self;
    /// The absolute value.
    fn abs(self) -> Self;
    /// The largest integer that is not above.
    fn floor(self) -> Self;
    /// The square root.
    fn sqrt(self) -> Self;
    /// The sine of an angle in radians.
    fn sin(self) -> Self;
    /// The cosine.
    fn cos(self) -> Self;
    /// The tangent.
    fn tan(self) -> Self;
    /// The inverse sine.
    fn asin(self) -> Self;
    /// The inverse cosine.
    fn acos(self) -> Self;
    /// The inverse tangent.
    fn atan(self) -> Self;
    /// The angle of a point of which this is the ordinate.
    fn atan2(self, abscissa: Self) -> Self;
    /// The hyperbolic sine.
    fn sinh(self) -> Self;
    /// The hyperbolic cosine.
    fn cosh(self) -> Self;
    /// The hyperbolic tangent.
    fn tanh(self) -> Self;
    /// The inverse hyperbolic sine.
    fn asinh(self) -> Self;
    /// The exponential function.
    fn exp(self) -> Self;
    /// The exponential function less 1, without cancellation near 0.
    fn exp_m1(self) -> Self;
    /// The natural logarithm.
    fn ln(self) -> Self;
    /// A power with any exponent.
    fn powf(self, exponent: Self) -> Self;

    /// -1, 0 or 1; not a number of what is none.
    fn sign(self) -> Self {
        if self > Self::c(0.0) {
            Self::c(1.0)
        } else if self < Self::c(0.0) {
            Self::c(-1.0)
        } else {
            self.abs()
        }
    }

    /// The smaller; not a number where either is none; -0 is below 0.
    fn minimum(self, other: Self) -> Self {
        if self < other {
            self
        } else if other < self {
            other
        } else if self.is_nan() || other.is_nan() {
            Self::c(f64::NAN)
        } else if self.is_negative() {
            self
        } else {
            other
        }
    }

    /// The greater; not a number where either is none; 0 is above -0.
    fn maximum(self, other: Self) -> Self {
        -(-self).minimum(-other)
    }

    /// A power, by multiplications where the exponent is an integer below 1024 in size.
    fn power(self, exponent: Self) -> Self {
        if !(exponent.abs() < Self::c(1024.0) && exponent.floor() == exponent) {
            return self.powf(exponent);
        }
        let mut left = exponent.abs().to_f64() as u32;
        let (mut square, mut result) = (self, Self::c(1.0));
        loop {
            if left % 2 != 0 {
                result = result * square;
            }
            left /= 2;
            if left == 0 {
                break;
            }
            square = square * square;
        }
        if exponent < Self::c(0.0) {
            Self::c(1.0) / result
        } else {
            result
        }
    }
}

macro_rules! real {
    ($kind:ident: $($method:ident = $function:ident),*) => {
        impl Real for $kind {
            const EPSILON: f64 = $kind::EPSILON as f64;
            fn c(value: f64) -> $kind {
                value as $kind
            }
            fn to_f64(self) -> f64 {
                f64::from(self)
            }
            fn is_finite(self) -> bool {
                $kind::is_finite(self)
            }
            fn is_nan(self) -> bool {
                $kind::is_nan(self)
            }
            fn is_negative(self) -> bool {
                $kind::is_sign_negative(self)
            }
            fn next_down(self) -> $kind {
                $kind::next_down(self)
            }
            $(fn $method(self) -> $kind {
                libm::$function(self)
            })*
            real!(two $kind);
        }
    };
    (two f64) => {
        fn atan2(self, abscissa: f64) -> f64 {
            libm::atan2(self, abscissa)
        }
        fn powf(self, exponent: f64) -> f64 {
            libm::pow(self, exponent)
        }
    };
    (two f32) => {
        fn atan2(self, abscissa: f32) -> f32 {
            libm::atan2f(self, abscissa)
        }
        fn powf(self, exponent: f32) -> f32 {
            libm::powf(self, exponent)
        }
    };
}

real!(f64: abs = fabs, floor = floor, sqrt = sqrt, sin = sin, cos = cos, tan = tan, asin = asin, acos = acos, atan = atan,
    sinh = sinh, cosh = cosh, tanh = tanh, asinh = asinh, exp = exp, exp_m1 = expm1, ln = log);
real!(f32: abs = fabsf, floor = floorf, sqrt = sqrtf, sin = sinf, cos = cosf, tan = tanf, asin = asinf, acos = acosf,
    atan = atanf, sinh = sinhf, cosh = coshf, tanh = tanhf, asinh = asinhf, exp = expf, exp_m1 = expm1f, ln = logf);
