//! The number types of the equations.

use core::fmt::Debug;
use core::ops::{Add, Div, Mul, Neg, Sub};

/// A real number type with the functions that equations need.
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
    /// The distance from 1 to the next larger number.
    const EPSILON: f64;
    /// Returns the nearest number.
    fn c(value: f64) -> Self;
    /// Converts to a double.
    fn to_f64(self) -> f64;
    /// Returns true if the value is neither NaN nor infinite.
    fn is_finite(self) -> bool;
    /// Returns true if the value is NaN.
    fn is_nan(self) -> bool;
    /// Returns true if the sign bit is set, also for -0.
    fn is_negative(self) -> bool;
    /// Returns the next smaller number.
    fn next_down(self) -> Self;
    /// Returns the absolute value.
    fn abs(self) -> Self;
    /// Returns the largest integer that is not greater.
    fn floor(self) -> Self;
    /// Returns the square root.
    fn sqrt(self) -> Self;
    /// Returns the sine of an angle in radians.
    fn sin(self) -> Self;
    /// Returns the cosine.
    fn cos(self) -> Self;
    /// Returns the tangent.
    fn tan(self) -> Self;
    /// Returns the inverse sine.
    fn asin(self) -> Self;
    /// Returns the inverse cosine.
    fn acos(self) -> Self;
    /// Returns the inverse tangent.
    fn atan(self) -> Self;
    /// Returns the angle of a point with this ordinate.
    fn atan2(self, abscissa: Self) -> Self;
    /// Returns the hyperbolic sine.
    fn sinh(self) -> Self;
    /// Returns the hyperbolic cosine.
    fn cosh(self) -> Self;
    /// Returns the hyperbolic tangent.
    fn tanh(self) -> Self;
    /// Returns the inverse hyperbolic sine.
    fn asinh(self) -> Self;
    /// Returns the exponential function.
    fn exp(self) -> Self;
    /// Returns the exponential function minus 1, without cancellation near 0.
    fn exp_m1(self) -> Self;
    /// Returns the natural logarithm.
    fn ln(self) -> Self;
    /// Raises to a power with any exponent.
    fn powf(self, exponent: Self) -> Self;

    /// Returns -1, 0 or 1; NaN for NaN.
    fn sign(self) -> Self {
        if self > Self::c(0.0) {
            Self::c(1.0)
        } else if self < Self::c(0.0) {
            Self::c(-1.0)
        } else {
            self.abs()
        }
    }

    /// Returns the smaller number; NaN if either is NaN. -0 is less than 0.
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

    /// Returns the greater number; NaN if either is NaN. 0 is greater than -0.
    fn maximum(self, other: Self) -> Self {
        -(-self).minimum(-other)
    }

    /// Raises to a power, by multiplications for integer exponents of magnitude below 1024.
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
