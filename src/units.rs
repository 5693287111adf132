//! Physical dimensions, and units as the language writes them.

/// Exponents of the seven SI base units, in the order m, kg, s, A, K, mol, cd.
///
/// Each exponent is a rational, stored as numerator and positive denominator in lowest terms.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Dimension {
    /// m, kg, s, A, K, mol, cd.
    pub exponents: [(i16, i16); 7],
}

impl Dimension {
    /// The dimension of a pure number.
    pub const NONE: Dimension = Dimension { exponents: [(0, 1); 7] };
}
