//! Physical dimensions.

/// Exponents of the seven SI base units, in the order m, kg, s, A, K, mol, cd.
///
/// Each exponent is a rational number, stored as numerator and positive denominator in lowest terms.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Dimension {
    /// m, kg, s, A, K, mol, cd.
    pub exponents: [(i16, i16); 7],
}

/// Reduces an exponent to lowest terms with a positive denominator; `None` if it is out of range.
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

    /// The dimension of temperature.
    pub const TEMPERATURE: Dimension = Dimension::integers([0, 0, 0, 0, 1, 0, 0]);

    /// Creates a dimension from integer exponents of m, kg, s, A, K, mol, cd.
    pub const fn integers(list: [i16; 7]) -> Dimension {
        let mut exponents = [(0, 1); 7];
        let mut at = 0;
        while at < 7 {
            exponents[at] = (list[at], 1);
            at += 1;
        }
        Dimension { exponents }
    }

    /// Returns true for the dimension of a pure number.
    pub fn is_none(&self) -> bool {
        *self == Dimension::NONE
    }

    /// Returns the product of `self` and `other` to the power `numerator/denominator`; `None` if an exponent is out of range.
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

    /// Returns the product of two dimensions.
    pub fn times(&self, other: &Dimension) -> Option<Dimension> {
        self.times_power(other, 1, 1)
    }

    /// Returns the quotient of two dimensions.
    pub fn over(&self, other: &Dimension) -> Option<Dimension> {
        self.times_power(other, -1, 1)
    }

    /// Raises a dimension to a rational power.
    pub fn power(&self, numerator: i64, denominator: i64) -> Option<Dimension> {
        Dimension::NONE.times_power(self, numerator, denominator)
    }
}
