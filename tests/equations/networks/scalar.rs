//! Arithmetic of the reference: complex double-double numbers (about 31 decimal digits) and a prime field.
//!
//! The first is so accurate that a comparison shows only the compiler's own round-off; the second determines ranks,
//! determinants and polynomial degrees without any tolerance.

/// The operations that elimination needs.
pub trait Scalar: Copy {
    /// The number 0.
    fn zero() -> Self;
    /// The number 1.
    fn one() -> Self;
    /// `mantissa * 10^exponent`, as exactly as the arithmetic can represent it.
    fn decimal(mantissa: i64, exponent: i32) -> Self;
    /// Sum.
    fn add(self, other: Self) -> Self;
    /// Difference.
    fn sub(self, other: Self) -> Self;
    /// Product.
    fn mul(self, other: Self) -> Self;
    /// Quotient of a nonzero divisor.
    fn div(self, other: Self) -> Self;
    /// Returns true if the number is exactly 0.
    fn is_zero(self) -> bool;
    /// Magnitude, used to choose pivots; 1 for every nonzero number of an exact field.
    fn size(self) -> f64;
    /// The negative.
    fn neg(self) -> Self {
        Self::zero().sub(self)
    }
}

/// A sum of two doubles, the second below half a unit in the last place of the first.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct DoubleDouble {
    high: f64,
    low: f64,
}

/// The exact sum of two doubles, the first of which is the larger.
fn quick_two_sum(a: f64, b: f64) -> DoubleDouble {
    let high = a + b;
    DoubleDouble {
        high,
        low: b - (high - a),
    }
}

/// The exact sum of two doubles.
fn two_sum(a: f64, b: f64) -> (f64, f64) {
    let sum = a + b;
    let part = sum - a;
    (sum, (a - (sum - part)) + (b - part))
}

/// The two halves of a double, each with at most 26 bits.
fn split(a: f64) -> (f64, f64) {
    let shifted = 134_217_729.0 * a;
    let high = shifted - (shifted - a);
    (high, a - high)
}

/// The exact product of two doubles, without a fused multiply-add, which some machines lack.
fn two_product(a: f64, b: f64) -> (f64, f64) {
    let product = a * b;
    let (a_high, a_low) = split(a);
    let (b_high, b_low) = split(b);
    let rest = ((a_high * b_high - product) + a_high * b_low + a_low * b_high) + a_low * b_low;
    (product, rest)
}

impl DoubleDouble {
    /// A double, converted exactly.
    pub fn new(value: f64) -> DoubleDouble {
        DoubleDouble { high: value, low: 0.0 }
    }

    /// The nearest double.
    pub fn to_double(self) -> f64 {
        self.high + self.low
    }

    /// The number 0.
    pub const ZERO: DoubleDouble = DoubleDouble { high: 0.0, low: 0.0 };

    /// Sum.
    pub fn add(self, other: DoubleDouble) -> DoubleDouble {
        let (high, mut rest) = two_sum(self.high, other.high);
        let (low, rest_low) = two_sum(self.low, other.low);
        rest += low;
        let first = quick_two_sum(high, rest);
        quick_two_sum(first.high, first.low + rest_low)
    }

    fn neg(self) -> DoubleDouble {
        DoubleDouble {
            high: -self.high,
            low: -self.low,
        }
    }

    fn sub(self, other: DoubleDouble) -> DoubleDouble {
        self.add(other.neg())
    }

    /// Product.
    pub fn mul(self, other: DoubleDouble) -> DoubleDouble {
        let (product, rest) = two_product(self.high, other.high);
        quick_two_sum(product, rest + (self.high * other.low + self.low * other.high))
    }

    fn div(self, other: DoubleDouble) -> DoubleDouble {
        let first = self.high / other.high;
        let rest = self.sub(other.mul(DoubleDouble::new(first)));
        let second = rest.high / other.high;
        let rest = rest.sub(other.mul(DoubleDouble::new(second)));
        let third = rest.high / other.high;
        quick_two_sum(first, second).add(DoubleDouble::new(third))
    }

    fn is_zero(self) -> bool {
        self.high == 0.0 && self.low == 0.0
    }
}

/// A complex double-double number.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Complex {
    /// Real part.
    pub re: DoubleDouble,
    /// Imaginary part.
    pub im: DoubleDouble,
}

impl Complex {
    /// A complex number of two doubles.
    pub fn new(re: f64, im: f64) -> Complex {
        Complex {
            re: DoubleDouble::new(re),
            im: DoubleDouble::new(im),
        }
    }
}

impl Scalar for Complex {
    fn zero() -> Complex {
        Complex::new(0.0, 0.0)
    }

    fn one() -> Complex {
        Complex::new(1.0, 0.0)
    }

    fn decimal(mantissa: i64, exponent: i32) -> Complex {
        // Powers of ten up to 10^22 are exact doubles, so one double-double operation rounds once.
        assert!(exponent.abs() <= 22, "decimal exponents of the generator are small");
        let power = DoubleDouble::new(10f64.powi(exponent.abs()));
        let mantissa = DoubleDouble::new(mantissa as f64);
        let re = if exponent < 0 {
            mantissa.div(power)
        } else {
            mantissa.mul(power)
        };
        Complex {
            re,
            im: DoubleDouble::new(0.0),
        }
    }

    fn add(self, other: Complex) -> Complex {
        Complex {
            re: self.re.add(other.re),
            im: self.im.add(other.im),
        }
    }

    fn sub(self, other: Complex) -> Complex {
        Complex {
            re: self.re.sub(other.re),
            im: self.im.sub(other.im),
        }
    }

    fn mul(self, other: Complex) -> Complex {
        Complex {
            re: self.re.mul(other.re).sub(self.im.mul(other.im)),
            im: self.re.mul(other.im).add(self.im.mul(other.re)),
        }
    }

    fn div(self, other: Complex) -> Complex {
        let square = other.re.mul(other.re).add(other.im.mul(other.im));
        let conjugate = Complex {
            re: other.re,
            im: other.im.neg(),
        };
        let product = self.mul(conjugate);
        Complex {
            re: product.re.div(square),
            im: product.im.div(square),
        }
    }

    fn is_zero(self) -> bool {
        self.re.is_zero() && self.im.is_zero()
    }

    fn size(self) -> f64 {
        self.re.to_double().hypot(self.im.to_double())
    }
}

/// The integers modulo the prime 2^61 - 1.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Prime(pub u64);

const MODULUS: u64 = (1 << 61) - 1;

impl Prime {
    /// An integer, reduced.
    pub fn integer(value: i64) -> Prime {
        let rest = value.unsigned_abs() % MODULUS;
        if value < 0 && rest != 0 {
            Prime(MODULUS - rest)
        } else {
            Prime(rest)
        }
    }

    /// A power.
    pub fn power(self, mut exponent: u64) -> Prime {
        let mut base = self;
        let mut result = Prime(1);
        while exponent > 0 {
            if exponent & 1 == 1 {
                result = result.mul(base);
            }
            base = base.mul(base);
            exponent >>= 1;
        }
        result
    }
}

impl Scalar for Prime {
    fn zero() -> Prime {
        Prime(0)
    }

    fn one() -> Prime {
        Prime(1)
    }

    fn decimal(mantissa: i64, exponent: i32) -> Prime {
        let power = Prime(10).power(u64::from(exponent.unsigned_abs()));
        let mantissa = Prime::integer(mantissa);
        if exponent < 0 {
            mantissa.div(power)
        } else {
            mantissa.mul(power)
        }
    }

    fn add(self, other: Prime) -> Prime {
        let sum = self.0 + other.0;
        Prime(if sum >= MODULUS { sum - MODULUS } else { sum })
    }

    fn sub(self, other: Prime) -> Prime {
        Prime(if self.0 >= other.0 {
            self.0 - other.0
        } else {
            self.0 + MODULUS - other.0
        })
    }

    fn mul(self, other: Prime) -> Prime {
        Prime((u128::from(self.0) * u128::from(other.0) % u128::from(MODULUS)) as u64)
    }

    fn div(self, other: Prime) -> Prime {
        self.mul(other.power(MODULUS - 2))
    }

    fn is_zero(self) -> bool {
        self.0 == 0
    }

    fn size(self) -> f64 {
        if self.0 == 0 { 0.0 } else { 1.0 }
    }
}
