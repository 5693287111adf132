//! The displayed units of quantities.

use lgm_algebra::units::Dimension;
use std::fmt;
use std::ops::Deref;
use std::sync::Arc;

/// The SI unit of a quantity: its dimension and its notation.
///
/// The notation is that of the dimension or of a declaration: `rad/s` is clearer than `1/s`, and `N.m` clearer than `kg.m^2/s^2`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SiUnit {
    words: Arc<str>,
    /// The quantity of the unit.
    pub dimension: Dimension,
}

impl SiUnit {
    /// Returns a unit of a dimension with the given notation.
    pub fn new(words: &str, dimension: Dimension) -> SiUnit {
        SiUnit {
            words: words.into(),
            dimension,
        }
    }

    /// Returns the unit of a dimension in SI base units and similar.
    pub fn of(dimension: Dimension) -> SiUnit {
        SiUnit::new(&dimension.text(), dimension)
    }

    /// Returns the unit of time.
    pub fn second() -> SiUnit {
        SiUnit::of(Dimension::TIME)
    }
}

impl Deref for SiUnit {
    type Target = str;

    fn deref(&self) -> &str {
        &self.words
    }
}

impl fmt::Display for SiUnit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.words)
    }
}
