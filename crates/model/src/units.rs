//! Units of quantities as they are shown.

use lgm_algebra::units::Dimension;
use std::fmt;
use std::ops::Deref;
use std::sync::Arc;

/// The SI unit of a quantity: what it is, and how it is written.
///
/// It reads as its words. These are the dimension's own text or those of a declaration: `rad/s` says more than `1/s`, and `N.m`
/// more than `kg.m^2/s^2`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SiUnit {
    words: Arc<str>,
    /// What it is a unit of.
    pub dimension: Dimension,
}

impl SiUnit {
    /// A unit of a dimension, written in these words.
    pub fn new(words: &str, dimension: Dimension) -> SiUnit {
        SiUnit {
            words: words.into(),
            dimension,
        }
    }

    /// The unit of a dimension in SI base units and their like.
    pub fn of(dimension: Dimension) -> SiUnit {
        SiUnit::new(&dimension.text(), dimension)
    }

    /// That of the time.
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
