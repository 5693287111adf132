//! Numbers with error bounds.

use lgm_algebra::expr::{Function, Relation, doubles};
use std::f64::consts::PI;
use std::ops::{Add, Mul, Neg, Sub};

/// The relative round-off of one operation.
const UNIT: f64 = f64::EPSILON / 2.0;

/// The relative round-off of a function of the mathematics library, a generous bound for usual implementations.
const LIBRARY: f64 = 8.0 * UNIT;

/// A double and the maximum distance from the number that it represents.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Ball {
    /// The results.
    pub(crate) value: f64,
    /// A bound on its error; infinite if it is unknown.
    pub(crate) error: f64,
}

impl Ball {
    /// Returns a number without error.
    pub(crate) fn exact(value: f64) -> Ball {
        Ball { value, error: 0.0 }
    }

    /// Returns a number that was rounded once.
    pub(crate) fn rounded(value: f64) -> Ball {
        Ball::new(value, UNIT * value.abs())
    }

    /// Returns an unknown number.
    pub(crate) fn unknown() -> Ball {
        Ball {
            value: 0.0,
            error: f64::INFINITY,
        }
    }

    /// Returns a number with a bound; a NaN bound becomes infinite. A number below the smallest normal one has no digits.
    pub(crate) fn new(value: f64, error: f64) -> Ball {
        let error = if error.is_nan() { f64::INFINITY } else { error };
        let error = if value.is_subnormal() {
            error.max(f64::MIN_POSITIVE)
        } else {
            error
        };
        Ball { value, error }
    }

    /// Returns true if it is certainly zero.
    pub(crate) fn is_zero(self) -> bool {
        self.value == 0.0 && self.error == 0.0
    }

    fn least(self) -> f64 {
        self.value - self.error
    }

    fn most(self) -> f64 {
        self.value + self.error
    }

    /// Applies a monotone function, using its values at the ends.
    fn monotone(self, function: impl Fn(f64) -> f64, slope: f64) -> Ball {
        let value = function(self.value);
        let ends = [self.least(), self.most()].map(|end| (function(end) - value).abs());
        // The ends may be too close to be distinguished; the slope is then more accurate.
        let spread = if self.error == 0.0 {
            0.0
        } else {
            ends[0].max(ends[1]).max((slope * self.error).abs())
        };
        Ball::new(value, spread + LIBRARY * value.abs())
    }

    /// Returns this value with the larger of two bounds, for a result that may be either.
    pub(crate) fn or(self, other: Ball) -> Ball {
        let reach = (self.value - other.value).abs() + other.error;
        Ball::new(self.value, self.error.max(reach))
    }

    /// Returns `self^exponent`.
    pub(crate) fn power(self, exponent: Ball) -> Ball {
        let value = doubles::power(self.value, exponent.value);
        let n = exponent.value;
        let size = self.value.abs();
        let spread = if self.error == 0.0 {
            0.0
        } else if n == 1.0 {
            self.error
        } else {
            let is_whole = n == n.trunc();
            match (is_whole || self.least() > 0.0, n < 1.0) {
                // The slope is largest at the end next to zero.
                (true, true) if size > self.error => n.abs() * (size - self.error).powf(n - 1.0) * self.error,
                (true, false) => n.abs() * (size + self.error).powf(n - 1.0) * self.error,
                (false, _) if n > 0.0 && self.value >= 0.0 => self.most().powf(n).max(value),
                _ => f64::INFINITY,
            }
        };
        let mut error = spread + (n.abs().min(64.0) * UNIT + LIBRARY) * value.abs();
        if exponent.error > 0.0 {
            error += (value * self.value.ln()).abs() * exponent.error;
        }
        if n == 1.0 && exponent.error == 0.0 {
            return self;
        }
        Ball::new(value, error)
    }

    /// Returns the reciprocal.
    pub(crate) fn invert(self) -> Ball {
        self.power(Ball::exact(-1.0))
    }

    /// Returns -1, 0 or 1, or a range if the sign is in doubt.
    pub(crate) fn sign(self) -> Ball {
        let is_sure = self.value.abs() > self.error || self.is_zero();
        Ball::new(doubles::sign(self.value), if is_sure { 0.0 } else { 2.0 })
    }

    /// Returns 1 if a relation is true, 0 if it is false, or a range if it is in doubt.
    pub(crate) fn holds(relation: Relation, a: Ball, b: Ball) -> Ball {
        let value = f64::from(doubles::holds(relation, a.value, b.value));
        let doubt = match relation {
            Relation::And | Relation::Or => {
                let decides = relation == Relation::Or;
                let is_decided = |side: Ball| side.error == 0.0 && (side.value != 0.0) == decides;
                (a.error > 0.0 || b.error > 0.0) && !is_decided(a) && !is_decided(b)
            }
            _ => {
                let error = a.error + b.error;
                error > 0.0 && (a.value - b.value).abs() <= error
            }
        };
        Ball::new(value, if doubt { 1.0 } else { 0.0 })
    }

    /// Returns the negation of a condition.
    pub(crate) fn negation(self) -> Ball {
        Ball::new(f64::from(self.value == 0.0), self.error)
    }

    /// Applies a function of the language.
    pub(crate) fn call(function: Function, arguments: &[Ball]) -> Ball {
        // Functions of time.
        let time = arguments.last().map_or(f64::NAN, |last| last.value);
        let x = arguments.first().copied().unwrap_or(Ball::exact(f64::NAN));
        let plain = |value: f64, spread: f64| Ball::new(value, spread + LIBRARY * value.abs());
        match function {
            Function::Sin => plain(x.value.sin(), x.error.min(2.0)),
            Function::Cos => plain(x.value.cos(), x.error.min(2.0)),
            Function::Tan => {
                let to_pole = (0.5 * PI - x.value.rem_euclid(PI)).abs();
                match to_pole > x.error {
                    true => x.monotone(f64::tan, 1.0 / x.value.cos().powi(2)),
                    false => Ball::new(x.value.tan(), f64::INFINITY),
                }
            }
            Function::Asin => x.within(f64::asin),
            Function::Acos => x.within(f64::acos),
            Function::Atan => x.monotone(f64::atan, 1.0 / (1.0 + x.value * x.value)),
            Function::Sinh => x.monotone(f64::sinh, x.value.cosh()),
            Function::Cosh => Ball::new(x.value.abs(), x.error).monotone(f64::cosh, x.value.sinh()),
            Function::Tanh => x.monotone(f64::tanh, 1.0 - x.value.tanh().powi(2)),
            Function::Asinh => x.monotone(f64::asinh, 1.0 / 1.0f64.hypot(x.value)),
            Function::Exp => x.monotone(f64::exp, x.value.exp()),
            Function::Log if x.least() > 0.0 => {
                let found = x.monotone(f64::ln, 1.0 / x.value);
                Ball::new(found.value, found.error)
            }
            Function::Log => Ball::new(x.value.ln(), f64::INFINITY),
            Function::Sqrt => {
                let value = x.value.sqrt();
                let slope = if value > 0.0 { 0.5 / value } else { 0.0 };
                let ends = [x.least().max(0.0), x.most()].map(|end| (end.sqrt() - value).abs());
                let spread = ends[0]
                    .max(ends[1])
                    .max(if x.least() > 0.0 { slope * x.error } else { 0.0 });
                plain(value, spread)
            }
            Function::Abs => Ball::new(x.value.abs(), x.error),
            Function::Sign => x.sign(),
            Function::Floor => {
                let ends = x.most().floor() - x.least().floor();
                Ball::new(x.value.floor(), if x.error == 0.0 { 0.0 } else { ends })
            }
            Function::Atan2 => x.angle(arguments.get(1).copied().unwrap_or(Ball::exact(f64::NAN))),
            Function::Min | Function::Max => Ball::extreme(function, arguments),
            Function::Step => Ball::new(f64::from(time >= x.value), x.is_at(time)),
            Function::Pulse => {
                let end = x + arguments.get(1).copied().unwrap_or(Ball::exact(f64::NAN));
                let value = f64::from(time >= x.value && time < end.value);
                Ball::new(value, x.is_at(time).max(end.is_at(time)))
            }
            Function::Ramp => {
                let value = doubles::maximum(time - x.value, 0.0);
                Ball::new(
                    value,
                    if value > 0.0 || x.is_at(time) > 0.0 {
                        x.error
                    } else {
                        0.0
                    } + UNIT * value,
                )
            }
            Function::Int | Function::Der => Ball::new(f64::NAN, f64::INFINITY),
        }
    }

    /// Applies a function with values only between -1 and 1.
    fn within(self, function: impl Fn(f64) -> f64) -> Ball {
        let value = function(self.value);
        let ends = [self.least().max(-1.0), self.most().min(1.0)].map(|end| (function(end) - value).abs());
        Ball::new(value, ends[0].max(ends[1]) + LIBRARY * (value.abs() + 1.0))
    }

    /// Returns the angle of a point, of which this is the opposite side.
    fn angle(self, beside: Ball) -> Ball {
        let value = self.value.atan2(beside.value);
        let size = self.value.hypot(beside.value);
        let moved = self.error.hypot(beside.error);
        // The angle jumps by a full turn if the opposite side changes its sign on the far side of the origin.
        let jumps = self.error >= self.value.abs() && beside.least() < 0.0;
        let spread = if moved == 0.0 {
            0.0
        } else if moved < 0.5 * size && !jumps {
            2.0 * moved / size
        } else {
            2.0 * PI
        };
        Ball::new(value, spread + LIBRARY * value.abs())
    }

    /// Returns the minimum or maximum of the arguments.
    fn extreme(function: Function, arguments: &[Ball]) -> Ball {
        let values: Vec<f64> = arguments.iter().map(|argument| argument.value).collect();
        let value = doubles::call(function, &values);
        let near = arguments.iter().filter(|argument| argument.may_be(value, arguments));
        let error = near.fold(0.0, |most: f64, argument| most.max(argument.error));
        Ball::new(value, error)
    }

    /// Returns true if this argument may be the minimum or maximum with this value.
    pub(crate) fn may_be(self, value: f64, arguments: &[Ball]) -> bool {
        let widest = arguments.iter().filter(|other| other.value == value);
        let widest = widest.fold(0.0, |most: f64, other| most.max(other.error));
        (self.value - value).abs() <= self.error + widest
    }

    /// Returns 1 if the order of two times is in doubt; equal doubles are not in doubt.
    pub(crate) fn is_at(self, time: f64) -> f64 {
        let apart = (time - self.value).abs();
        f64::from(apart > 0.0 && apart <= self.error)
    }
}

impl Add for Ball {
    type Output = Ball;

    fn add(self, other: Ball) -> Ball {
        let value = self.value + other.value;
        let own = if self.is_zero() || other.is_zero() {
            0.0
        } else {
            UNIT * value.abs()
        };
        Ball::new(value, self.error + other.error + own)
    }
}

impl Neg for Ball {
    type Output = Ball;

    fn neg(self) -> Ball {
        Ball {
            value: -self.value,
            error: self.error,
        }
    }
}

impl Sub for Ball {
    type Output = Ball;

    fn sub(self, other: Ball) -> Ball {
        self + -other
    }
}

impl Mul for Ball {
    type Output = Ball;

    fn mul(self, other: Ball) -> Ball {
        // Zero times an unknown value is zero.
        if self.is_zero() && other.value.is_finite() || other.is_zero() && self.value.is_finite() {
            return Ball::exact(0.0);
        }
        let value = self.value * other.value;
        let is_unit = |side: Ball| side.error == 0.0 && side.value.abs() == 1.0;
        let own = if is_unit(self) || is_unit(other) {
            0.0
        } else if value == 0.0 && self.value != 0.0 && other.value != 0.0 {
            f64::MIN_POSITIVE
        } else {
            UNIT * value.abs()
        };
        let passed = self.value.abs() * other.error + other.value.abs() * self.error + self.error * other.error;
        Ball::new(value, passed + own)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns a pseudo-random number between -1 and 1.
    fn scattered(seed: u64) -> f64 {
        let mut x = seed.wrapping_mul(0x9E37_79B9_7F4A_7C15);
        x = (x ^ (x >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        x = (x ^ (x >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        ((x >> 11) as f64 / (1u64 << 53) as f64) * 2.0 - 1.0
    }

    #[test]
    fn bounds_hold_for_every_number_of_a_ball() {
        let functions = Function::ALL
            .iter()
            .filter(|facts| !matches!(facts.function, Function::Int | Function::Der));
        let mut tried = 0;
        for (at, facts) in functions.enumerate() {
            let (function, name) = (&facts.function, facts.name);
            for trial in 0..4000u64 {
                let key = trial + 10_000 * at as u64;
                let error = 10f64.powi(-(1 + (trial % 14) as i32));
                let x = Ball::new(3.0 * scattered(key), error);
                let y = Ball::new(3.0 * scattered(key + 5_000), error);
                let moved = |ball: Ball, by: u64| ball.value + 0.999 * ball.error * scattered(key + by);
                let (a, b) = (moved(x, 11), moved(y, 12));
                let time = 3.0 * scattered(key + 13);
                let now = Ball::exact(time);
                let (balls, doubles) = match function {
                    Function::Pulse => (vec![x, y, now], vec![a, b, time]),
                    Function::Step | Function::Ramp => (vec![x, now], vec![a, time]),
                    _ => (vec![x, y], vec![a, b]),
                };
                let found = Ball::call(*function, &balls);
                let there = lgm_algebra::expr::doubles::call(*function, &doubles);
                let pairs = [
                    (found, there),
                    (x + y, a + b),
                    (x * y, a * b),
                    (x.invert(), 1.0 / a),
                    (x.power(Ball::exact(3.0)), a.powi(3)),
                    (x.power(Ball::exact(-2.0)), a.powi(-2)),
                    (x.power(Ball::exact(0.5)), a.powf(0.5)),
                    (Ball::holds(Relation::Less, x, y), f64::from(a < b)),
                ];
                for (found, there) in pairs {
                    if found.value.is_finite() && there.is_finite() {
                        tried += 1;
                        let apart = (found.value - there).abs();
                        assert!(
                            apart <= found.error * 1.000_001,
                            "{name} {x:?} {y:?}: {found:?} {there}"
                        );
                    }
                }
            }
        }
        assert!(tried > 400_000, "{tried}");
    }

    #[test]
    fn what_is_exact_stays_exact() {
        let (two, half) = (Ball::exact(2.0), Ball::exact(0.5));
        assert_eq!(Ball::exact(0.0) * Ball::new(3.0, f64::INFINITY), Ball::exact(0.0));
        assert_eq!((two * half).value, 1.0);
        assert_eq!(two + Ball::exact(0.0), two);
        assert!(Ball::new(1e-17, 1e-16).invert().error.is_infinite());
        assert_eq!(
            Ball::holds(Relation::Less, Ball::exact(0.0), Ball::exact(0.0)),
            Ball::exact(0.0)
        );
    }
}
