//! Physical dimensions.

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

    /// That of a temperature.
    pub const TEMPERATURE: Dimension = Dimension::integers([0, 0, 0, 0, 1, 0, 0]);

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
}
