//! The runs of a batch.

use lgm_model::{Scale, SiUnit};
use lgm_source::diagnostic::Diagnostic;
use std::sync::Arc;

/// The values of parameters in each run, in SI units.
#[derive(Clone, Debug, Default)]
pub(in crate::cli) struct Runs {
    /// The varied parameters.
    pub parameters: Vec<Target>,
    /// For each run, a value of each varied parameter.
    pub values: Vec<Vec<f64>>,
    /// Warnings about the options.
    pub warnings: Vec<Diagnostic>,
}

/// A varied parameter or a varied entry of a parameter.
#[derive(Clone, Debug)]
pub(in crate::cli) struct Target {
    /// `k` or `K[1, 2]`
    pub name: String,
    /// The SI unit of the parameter.
    pub unit: Option<SiUnit>,
    /// The index of the entry in the list of all entries of all parameters.
    pub position: usize,
    /// The conversion from the declared unit.
    pub(in crate::cli) scale: Scale,
    /// The unit of the parameter's literal, if its numbers are not those in SI and the parameter has no declared unit.
    pub(in crate::cli) literal_unit: Option<Arc<str>>,
}
