//! Interval arithmetic: bounds of the values and rates of a function of time between two instants.

use lgm_algebra::expr::{Function, Relation, doubles};
use std::f64::consts::{FRAC_PI_2, PI};

/// All numbers from one to another, both included.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Interval {
    pub low: f64,
    pub high: f64,
}

impl Interval {
    pub const ALL: Interval = Interval {
        low: f64::NEG_INFINITY,
        high: f64::INFINITY,
    };
    pub const ZERO: Interval = Interval { low: 0.0, high: 0.0 };

    pub fn point(value: f64) -> Interval {
        Interval::new(value, value)
    }

    /// Creates an interval from both ends in either order; all numbers if an end is NaN.
    pub fn new(a: f64, b: f64) -> Interval {
        match a.is_nan() || b.is_nan() {
            true => Interval::ALL,
            false => Interval {
                low: a.min(b),
                high: a.max(b),
            },
        }
    }

    pub fn hull(self, other: Interval) -> Interval {
        Interval {
            low: self.low.min(other.low),
            high: self.high.max(other.high),
        }
    }

    /// Returns the largest magnitude.
    pub fn size(self) -> f64 {
        self.low.abs().max(self.high.abs())
    }

    pub fn is_point(self) -> bool {
        self.low == self.high
    }

    pub fn add(self, other: Interval) -> Interval {
        Interval::new(self.low + other.low, self.high + other.high)
    }

    pub fn negative(self) -> Interval {
        Interval::new(-self.high, -self.low)
    }

    pub fn times(self, other: Interval) -> Interval {
        // Zero times an unbounded value is zero, because the bound itself is not one of the values.
        let times = |a: f64, b: f64| if a == 0.0 || b == 0.0 { 0.0 } else { a * b };
        let corners = [
            times(self.low, other.low),
            times(self.low, other.high),
            times(self.high, other.low),
            times(self.high, other.high),
        ];
        let hull = |all: Interval, value: f64| all.hull(Interval::new(value, value));
        corners[1..]
            .iter()
            .fold(Interval::new(corners[0], corners[0]), |all, value| hull(all, *value))
    }

    fn inverse(self) -> Interval {
        match self.low > 0.0 || self.high < 0.0 {
            true => Interval::new(1.0 / self.low, 1.0 / self.high),
            false => Interval::ALL,
        }
    }

    /// Returns the values of an increasing function, within its domain.
    fn rising(self, function: impl Fn(f64) -> f64) -> Interval {
        Interval::new(function(self.low), function(self.high))
    }

    fn within(self, low: f64, high: f64) -> Interval {
        Interval::new(self.low.clamp(low, high), self.high.clamp(low, high))
    }

    fn integer_power(self, exponent: i32) -> Interval {
        if exponent < 0 {
            return self.integer_power(-exponent).inverse();
        }
        let ends = self.rising(|a| a.powi(exponent));
        let holds_zero = self.low < 0.0 && self.high > 0.0;
        if exponent % 2 == 0 && holds_zero && exponent > 0 {
            return ends.hull(Interval::ZERO);
        }
        ends
    }

    /// Returns true if one of the points `first + k period` is inside.
    fn holds_one_of(self, first: f64, period: f64) -> bool {
        ((self.low - first) / period).ceil() * period + first <= self.high
    }

    fn sine(self) -> Interval {
        let is_part_of_a_turn = self.high - self.low < 2.0 * PI;
        if !is_part_of_a_turn {
            return Interval::new(-1.0, 1.0);
        }
        let mut found = Interval::new(self.low.sin(), self.high.sin());
        if self.holds_one_of(FRAC_PI_2, 2.0 * PI) {
            found.high = 1.0;
        }
        if self.holds_one_of(-FRAC_PI_2, 2.0 * PI) {
            found.low = -1.0;
        }
        found
    }
}

/// Bounds of the values of a function between two instants, and of its rate.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Bounds {
    pub value: Interval,
    pub rate: Interval,
}

impl Bounds {
    pub fn constant(value: f64) -> Bounds {
        Bounds {
            value: Interval::point(value),
            rate: Interval::ZERO,
        }
    }

    /// Returns the bounds of time itself.
    pub fn time(from: f64, to: f64) -> Bounds {
        Bounds {
            value: Interval::new(from, to),
            rate: Interval::point(1.0),
        }
    }

    /// Returns the bounds of a value that is constant between corners and in `values`.
    fn one_of(values: Interval) -> Bounds {
        Bounds {
            value: values,
            rate: Interval::ZERO,
        }
    }

    fn hull(self, other: Bounds) -> Bounds {
        Bounds {
            value: self.value.hull(other.value),
            rate: self.rate.hull(other.rate),
        }
    }

    pub fn add(self, other: Bounds) -> Bounds {
        Bounds {
            value: self.value.add(other.value),
            rate: self.rate.add(other.rate),
        }
    }

    pub fn times(self, other: Bounds) -> Bounds {
        Bounds {
            value: self.value.times(other.value),
            rate: self.rate.times(other.value).add(self.value.times(other.rate)),
        }
    }

    /// Applies a function with the given value and derivative.
    fn chain(self, value: Interval, derivative: Interval) -> Bounds {
        Bounds {
            value,
            rate: derivative.times(self.rate),
        }
    }

    pub fn power(self, exponent: Bounds) -> Bounds {
        let (base, by) = (self.value, exponent.value);
        if !by.is_point() || exponent.rate != Interval::ZERO {
            let positive = self.call(Function::Log);
            return positive.times(exponent).call(Function::Exp);
        }
        let constant = Interval::point(by.low);
        if by.low == by.low.trunc() && by.low.abs() < 1024.0 {
            let exponent = by.low as i32;
            let derivative = match exponent {
                0 => Interval::ZERO,
                _ => constant.times(base.integer_power(exponent - 1)),
            };
            return self.chain(base.integer_power(exponent), derivative);
        }
        let base = base.within(0.0, f64::INFINITY);
        let power = |exponent: f64| base.rising(|a| a.powf(exponent));
        self.chain(power(by.low), constant.times(power(by.low - 1.0)))
    }

    /// Applies a function of one argument.
    fn call(self, function: Function) -> Bounds {
        let x = self.value;
        let one = Interval::point(1.0);
        let cosine = |x: Interval| x.add(Interval::point(FRAC_PI_2)).sine();
        let less_square = |a: Interval| one.add(a.integer_power(2).negative());
        match function {
            Function::Sin => self.chain(x.sine(), cosine(x)),
            Function::Cos => self.chain(cosine(x), x.sine().negative()),
            Function::Tan if x.holds_one_of(FRAC_PI_2, PI) => self.chain(Interval::ALL, Interval::ALL),
            Function::Tan => self.chain(x.rising(f64::tan), cosine(x).integer_power(2).inverse()),
            Function::Asin | Function::Acos => {
                let slope = less_square(x.within(-1.0, 1.0)).rising(f64::sqrt).inverse();
                let arc = x.within(-1.0, 1.0).rising(f64::asin);
                match function {
                    Function::Asin => self.chain(arc, slope),
                    _ => self.chain(Interval::point(FRAC_PI_2).add(arc.negative()), slope.negative()),
                }
            }
            Function::Atan => self.chain(x.rising(f64::atan), one.add(x.integer_power(2)).inverse()),
            Function::Sinh => self.chain(x.rising(f64::sinh), hyperbolic_cosine(x)),
            Function::Cosh => self.chain(hyperbolic_cosine(x), x.rising(f64::sinh)),
            Function::Tanh => self.chain(x.rising(f64::tanh), hyperbolic_cosine(x).integer_power(2).inverse()),
            Function::Asinh => {
                let slope = one.add(x.integer_power(2)).rising(f64::sqrt).inverse();
                self.chain(x.rising(f64::asinh), slope)
            }
            Function::Exp => self.chain(x.rising(f64::exp), x.rising(f64::exp)),
            Function::Log => self.chain(x.within(0.0, f64::INFINITY).rising(f64::ln), x.inverse()),
            Function::Sqrt => {
                let root = x.within(0.0, f64::INFINITY).rising(f64::sqrt);
                self.chain(root, Interval::point(0.5).times(root.inverse()))
            }
            Function::Abs => {
                let sign = x.rising(doubles::sign);
                let ends = x.rising(f64::abs);
                let holds_zero = x.low <= 0.0 && x.high >= 0.0;
                self.chain(if holds_zero { ends.hull(Interval::ZERO) } else { ends }, sign)
            }
            Function::Sign => Bounds::one_of(x.rising(doubles::sign)),
            Function::Floor => Bounds::one_of(x.rising(f64::floor)),
            // `call` handles functions of several arguments or of time.
            Function::Atan2 | Function::Min | Function::Max => self.chain(Interval::ALL, Interval::ALL),
            Function::Step | Function::Pulse | Function::Ramp => self.chain(Interval::ALL, Interval::ALL),
            Function::Int | Function::Der => self.chain(Interval::ALL, Interval::ALL),
        }
    }
}

fn hyperbolic_cosine(x: Interval) -> Interval {
    let ends = x.rising(f64::cosh);
    match x.low < 0.0 && x.high > 0.0 {
        true => ends.hull(Interval::point(1.0)),
        false => ends,
    }
}

/// Returns the bounds of a function of the language between two instants.
pub(crate) fn call(function: Function, arguments: &[Bounds], time: Bounds) -> Bounds {
    let (Some(first), second) = (arguments.first(), arguments.get(1)) else {
        return Bounds::one_of(Interval::ALL);
    };
    let passed = |instant: Bounds| holds(Relation::GreaterEqual, time.value, instant.value);
    match (function, second) {
        (Function::Step, _) => Bounds::one_of(passed(*first)),
        (Function::Pulse, Some(width)) => {
            let (begun, ended) = (passed(*first), passed(first.add(*width)));
            Bounds::one_of(begun.times(Interval::point(1.0).add(ended.negative())))
        }
        (Function::Ramp, _) => {
            let since = time.add(first.times(Bounds::constant(-1.0)));
            greatest(&[since, Bounds::constant(0.0)])
        }
        (Function::Max, _) => greatest(arguments),
        (Function::Min, _) => {
            let opposite = |bounds: &Bounds| bounds.times(Bounds::constant(-1.0));
            let all: Vec<Bounds> = arguments.iter().map(opposite).collect();
            opposite(&greatest(&all))
        }
        (Function::Atan2, Some(x)) => {
            let across = first.rate.times(x.value).add(first.value.times(x.rate).negative());
            let square = first.value.integer_power(2).add(x.value.integer_power(2));
            Bounds {
                value: Interval::new(-PI, PI),
                rate: across.times(square.inverse()),
            }
        }
        _ => first.call(function),
    }
}

fn greatest(all: &[Bounds]) -> Bounds {
    let low = all.iter().map(|each| each.value.low).fold(f64::NEG_INFINITY, f64::max);
    let high = all.iter().map(|each| each.value.high).fold(f64::NEG_INFINITY, f64::max);
    let rates = all.iter().filter(|each| each.value.high >= low).map(|each| each.rate);
    Bounds {
        value: Interval::new(low, high),
        rate: rates.reduce(Interval::hull).unwrap_or(Interval::ALL),
    }
}

/// Returns 1 if a relation holds at all values, 0 if it holds at none, and both if it may change.
pub(crate) fn holds(relation: Relation, a: Interval, b: Interval) -> Interval {
    let (always, never) = match relation {
        Relation::Less => (a.high < b.low, a.low >= b.high),
        Relation::LessEqual => (a.high <= b.low, a.low > b.high),
        Relation::Greater => (a.low > b.high, a.high <= b.low),
        Relation::GreaterEqual => (a.low >= b.high, a.high < b.low),
        Relation::Equal | Relation::NotEqual => {
            let same = a.is_point() && b.is_point() && a.low == b.low;
            let apart = a.high < b.low || a.low > b.high;
            match relation {
                Relation::Equal => (same, apart),
                _ => (apart, same),
            }
        }
        Relation::And | Relation::Or => {
            let (first, second) = (truth(a), truth(b));
            match relation {
                Relation::And => (first.0 && second.0, first.1 || second.1),
                _ => (first.0 || second.0, first.1 && second.1),
            }
        }
    };
    Interval {
        low: f64::from(always),
        high: f64::from(!never),
    }
}

/// Returns whether all values are true, and whether all are false.
fn truth(value: Interval) -> (bool, bool) {
    (value.low > 0.0 || value.high < 0.0, value == Interval::ZERO)
}

/// Returns the bounds of `not condition`.
pub(crate) fn opposite(condition: Interval) -> Bounds {
    let (always, never) = truth(condition);
    Bounds::one_of(Interval {
        low: f64::from(never),
        high: f64::from(!always),
    })
}

/// Returns the bounds of `if condition then a else b`.
pub(crate) fn choice(condition: Interval, a: Bounds, b: Bounds) -> Bounds {
    match truth(condition) {
        (true, _) => a,
        (_, true) => b,
        _ => a.hull(b),
    }
}

/// Returns a relation as a value.
pub(crate) fn relation(relation: Relation, a: Bounds, b: Bounds) -> Bounds {
    Bounds::one_of(holds(relation, a.value, b.value))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Checks that all values and slopes at many points between two instants are within the bounds.
    fn check(function: Function, from: f64, to: f64) {
        let bounds = Bounds::time(from, to).call(function);
        let value = |time: f64| doubles::call(function, &[time]);
        let (count, mut last) = (1000, value(from));
        for k in 1..=count {
            let step = (to - from) / f64::from(count);
            let now = value(from + step * f64::from(k));
            let tolerance = 1e-9 * (1.0 + now.abs());
            assert!(
                now >= bounds.value.low - tolerance && now <= bounds.value.high + tolerance,
                "{function:?}"
            );
            let slope = (now - last) / step;
            let tolerance = 1e-6 * (1.0 + slope.abs());
            assert!(
                slope >= bounds.rate.low - tolerance && slope <= bounds.rate.high + tolerance,
                "{function:?}"
            );
            last = now;
        }
    }

    #[test]
    fn values_and_slopes_are_within_their_bounds() {
        use Function::*;
        for function in [Sin, Cos, Atan, Sinh, Cosh, Tanh, Asinh, Exp, Abs] {
            for (from, to) in [(-0.4, 0.3), (0.1, 0.2), (-3.0, 4.0), (2.0, 2.5), (-9.0, -1.0)] {
                check(function, from, to);
            }
        }
        for function in [Asin, Acos] {
            check(function, -0.9, 0.95);
        }
        for function in [Log, Sqrt] {
            check(function, 0.01, 3.0);
        }
        check(Tan, -1.2, 1.4);
        check(Tan, 2.0, 4.0);
    }

    #[test]
    fn powers_know_their_least_value() {
        let square = Bounds::time(-1.0, 3.0).power(Bounds::constant(2.0));
        assert_eq!(
            (square.value, square.rate),
            (Interval::new(0.0, 9.0), Interval::new(-2.0, 6.0))
        );
        let inverse = Bounds::time(2.0, 4.0).power(Bounds::constant(-1.0));
        assert_eq!(inverse.value, Interval::new(0.25, 0.5));
    }
}
