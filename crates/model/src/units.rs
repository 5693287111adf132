//! The displayed units of quantities.

use lgm_algebra::expr::to_f64;
use lgm_algebra::units::{Dimension, Unit};
use std::fmt;
use std::ops::Deref;
use std::sync::Arc;

/// The unit of a quantity: its dimension and its notation. It is an SI unit, except for an output with its own unit.
///
/// The notation is that of the dimension or of a declaration: `rad/s` is clearer than `1/s`, and `N.m` clearer than `kg.m^2/s^2`.
#[derive(Clone, Debug, PartialEq)]
pub struct SiUnit {
    words: Arc<str>,
    /// The conversion to SI.
    pub scale: Scale,
    /// The quantity of the unit.
    pub dimension: Dimension,
}

impl SiUnit {
    /// Returns a unit of a dimension with the given notation.
    pub fn new(words: &str, dimension: Dimension) -> SiUnit {
        SiUnit {
            words: words.into(),
            scale: Scale::SI,
            dimension,
        }
    }

    /// Returns a unit such as `degC`, in which an output is shown.
    pub fn scaled(words: &str, unit: &Unit) -> SiUnit {
        SiUnit {
            scale: Scale::of(unit),
            ..SiUnit::new(words, unit.dimension)
        }
    }

    /// Returns the unit of a dimension in SI base units and similar.
    pub fn of(dimension: Dimension) -> SiUnit {
        SiUnit::new(&dimension.text(), dimension)
    }

    /// Returns the unit of the same quantity in SI; an SI unit keeps its notation.
    pub fn in_si(&self) -> SiUnit {
        match self.scale == Scale::SI {
            true => self.clone(),
            false => SiUnit::of(self.dimension),
        }
    }

    /// Returns the unit of time.
    pub fn second() -> SiUnit {
        SiUnit::of(Dimension::TIME)
    }
}

/// The conversion of numbers in a unit to SI.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Scale {
    /// The SI value of a difference of one unit.
    pub step: f64,
    /// The SI value of zero.
    pub zero: f64,
    /// True for decibels.
    pub is_logarithmic: bool,
}

impl Scale {
    /// The scale of SI units.
    pub const SI: Scale = Scale {
        step: 1.0,
        zero: 0.0,
        is_logarithmic: false,
    };

    /// Returns the scale of a unit.
    pub fn of(unit: &Unit) -> Scale {
        Scale {
            step: to_f64(&unit.step()),
            zero: to_f64(&unit.offset),
            is_logarithmic: unit.is_logarithmic,
        }
    }

    /// Returns the SI value of a number.
    pub fn to_si(self, value: f64) -> f64 {
        match self.is_logarithmic {
            true => 10f64.powf(value / 20.0),
            false => self.step * value + self.zero,
        }
    }

    /// Returns the number for an SI value.
    pub fn from_si(self, value: f64) -> f64 {
        match self.is_logarithmic {
            true => 20.0 * value.abs().log10(),
            false => (value - self.zero) / self.step,
        }
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
