//! Physical dimensions, and units as the language writes them.
//!
//! AFTER THIS POINT a unit is a [`Dimension`] and an exact factor to SI; the words of the user are gone.

mod table;

use num_bigint::BigInt;
use num_rational::BigRational;
use num_traits::{One, ToPrimitive};

pub use table::{Unit, UnitFault, UnitPower, has_offset, named_units, nearest_unit, unit_of};

/// Exponents of the seven SI base units, in the order m, kg, s, A, K, mol, cd.
///
/// Each exponent is a rational, stored as numerator and positive denominator in lowest terms.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Dimension {
    /// m, kg, s, A, K, mol, cd.
    pub exponents: [(i16, i16); 7],
}

/// An exponent in lowest terms with a positive denominator; `None` beyond the range of an exponent.
fn lowest(numerator: i64, denominator: i64) -> Option<(i16, i16)> {
    let divisor = num_integer::gcd(numerator, denominator).max(1);
    let sign = if denominator < 0 { -1 } else { 1 };
    let numerator = i16::try_from(sign * numerator / divisor).ok()?;
    let denominator = i16::try_from(sign * denominator / divisor).ok()?;
    Some((numerator, denominator))
}

impl Dimension {
    /// The dimension of a pure number.
    pub const NONE: Dimension = Dimension { exponents: [(0, 1); 7] };

    /// The dimension of time.
    pub const TIME: Dimension = Dimension::integers([0, 0, 1, 0, 0, 0, 0]);

    /// A dimension from whole exponents of m, kg, s, A, K, mol, cd.
    pub const fn integers(list: [i16; 7]) -> Dimension {
        let mut exponents = [(0, 1); 7];
        let mut at = 0;
        while at < 7 {
            exponents[at] = (list[at], 1);
            at += 1;
        }
        Dimension { exponents }
    }

    /// Whether it is the dimension of a pure number.
    pub fn is_none(&self) -> bool {
        *self == Dimension::NONE
    }

    /// The product of `self` and `other` to the power `numerator/denominator`; `None` when an exponent
    /// leaves the range that a dimension can hold.
    pub fn times_power(&self, other: &Dimension, numerator: i64, denominator: i64) -> Option<Dimension> {
        let mut exponents = [(0, 1); 7];
        for (at, exponent) in exponents.iter_mut().enumerate() {
            let (a, b) = (self.exponents[at].0 as i64, self.exponents[at].1 as i64);
            let (c, d) = (other.exponents[at].0 as i64, other.exponents[at].1 as i64);
            let (c, d) = (c.checked_mul(numerator)?, d.checked_mul(denominator)?);
            let top = a.checked_mul(d)?.checked_add(c.checked_mul(b)?)?;
            *exponent = lowest(top, b.checked_mul(d)?)?;
        }
        Some(Dimension { exponents })
    }

    /// The product of two dimensions.
    pub fn times(&self, other: &Dimension) -> Option<Dimension> {
        self.times_power(other, 1, 1)
    }

    /// The quotient of two dimensions.
    pub fn over(&self, other: &Dimension) -> Option<Dimension> {
        self.times_power(other, -1, 1)
    }

    /// A dimension to a rational power.
    pub fn power(&self, numerator: i64, denominator: i64) -> Option<Dimension> {
        Dimension::NONE.times_power(self, numerator, denominator)
    }

    /// The dimension as a readable SI unit: `N/m`, `ohm`, `kg.m^2`, `1` for a pure number.
    pub fn text(&self) -> String {
        if self.is_none() {
            return "1".to_string();
        }
        if let Some(name) = table::READABLE.iter().find(|entry| table::derived(entry.1) == *self) {
            return name.0.to_string();
        }
        // A named unit times or over a few base units, where that takes fewer factors: `V.s/m`.
        let mut best = (base_factors(self).len(), base_text(self));
        for (name, exponents) in table::PREFERRED {
            let unit = table::derived(*exponents);
            for power in [1, -1, 2, -2] {
                let Some(rest) = self.times_power(&unit, -power, 1) else {
                    continue;
                };
                let count = base_factors(&rest).len() + 1;
                // `V^2` is readable by itself; mixed with other factors it is not.
                if count < best.0 && (power.abs() == 1 || count == 1) {
                    best = (count, with_head(name, power, &rest));
                }
            }
        }
        best.1
    }
}

fn base_factors(dimension: &Dimension) -> Vec<(&'static str, i16, i16)> {
    // The customary order: mass before length.
    const ORDER: [(usize, &str); 7] = [(1, "kg"), (0, "m"), (2, "s"), (3, "A"), (4, "K"), (5, "mol"), (6, "cd")];
    ORDER
        .iter()
        .map(|(at, name)| (*name, dimension.exponents[*at].0, dimension.exponents[*at].1))
        .filter(|factor| factor.1 != 0)
        .collect()
}

fn factor_text(name: &str, numerator: i16, denominator: i16) -> String {
    match (numerator, denominator) {
        (1, 1) => name.to_string(),
        (numerator, 1) => format!("{name}^{numerator}"),
        (numerator, denominator) => format!("{name}^{numerator}/{denominator}"),
    }
}

fn fraction(top: Vec<String>, bottom: Vec<String>) -> String {
    let above = if top.is_empty() { "1".to_string() } else { top.join(".") };
    match bottom.len() {
        0 => above,
        1 => format!("{above}/{}", bottom[0]),
        _ => format!("{above}/({})", bottom.join(".")),
    }
}

fn split(dimension: &Dimension) -> (Vec<String>, Vec<String>) {
    let mut top = Vec::new();
    let mut bottom = Vec::new();
    for (name, numerator, denominator) in base_factors(dimension) {
        if numerator > 0 {
            top.push(factor_text(name, numerator, denominator));
        } else {
            bottom.push(factor_text(name, -numerator, denominator));
        }
    }
    (top, bottom)
}

fn base_text(dimension: &Dimension) -> String {
    let (top, bottom) = split(dimension);
    fraction(top, bottom)
}

fn with_head(head: &str, power: i64, rest: &Dimension) -> String {
    let (mut top, mut bottom) = split(rest);
    let head = match power.abs() {
        1 => head.to_string(),
        power => format!("{head}^{power}"),
    };
    if power > 0 {
        top.insert(0, head);
    } else {
        bottom.insert(0, head);
    }
    fraction(top, bottom)
}

/// `value * factor`, where the factor holds pi to a power: computed with fifty digits of pi and rounded
/// to a double once, and exact from there on.
fn times_pi_power(value: BigRational, power: i32) -> BigRational {
    if power == 0 {
        return value;
    }
    let pi = BigRational::new(
        "314159265358979323846264338327950288419716939937510582097494459230781640628620899"
            .parse::<BigInt>()
            .expect("invariant: digits are a number"),
        BigInt::from(10).pow(80),
    );
    let exact = value * pi.pow(power);
    let rounded = exact.to_f64().and_then(BigRational::from_float);
    rounded.unwrap_or(exact)
}

impl Unit {
    /// A value in this unit, in SI.
    pub fn to_si(&self, value: &BigRational) -> BigRational {
        if self.factor.is_one() && self.pi_power == 0 {
            return value.clone();
        }
        times_pi_power(value * &self.factor, self.pi_power)
    }
}

#[cfg(test)]
mod tests;
