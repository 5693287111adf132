//! The runs of a batch.

use lgm_model::SiUnit;

/// The values of parameters in each run, in SI units.
#[derive(Clone, Debug, Default)]
pub(in crate::cli) struct Runs {
    /// The parameters that vary.
    pub parameters: Vec<Target>,
    /// For each run a value of each of them.
    pub values: Vec<Vec<f64>>,
}

/// A parameter, or an entry of one, that varies.
#[derive(Clone, Debug)]
pub(in crate::cli) struct Target {
    /// `k` or `K[1, 2]`
    pub name: String,
    /// Its SI unit.
    pub unit: Option<SiUnit>,
    /// Its place among all entries of all parameters.
    pub position: usize,
    /// The SI value of 1 in the unit in which it is given.
    pub(in crate::cli) scale: f64,
}
