//! The options of batches of runs.

use super::runs::Runs;
use super::vary;
use crate::cli::files::disk::read_named;
use lgm_equations::StateSystem;
use lgm_source::SourceMap;
use lgm_source::csv::Records;
use lgm_source::diagnostic::Diagnostic;
use std::path::PathBuf;

/// Options for multiple runs.
#[derive(Debug, clap::Args)]
#[command(group = clap::ArgGroup::new("several_runs").args(["sweep", "sample", "monte_carlo"]).multiple(true))]
pub(in crate::cli::simulate) struct BatchArguments {
    /// Run with N values of a parameter from A to B, evenly spaced or by equal factors (`:log`); repeatable, for every
    /// combination
    #[arg(long, value_name = "NAME=FROM:TO:N[:log]", allow_hyphen_values = true)]
    pub(in crate::cli::simulate) sweep: Vec<String>,
    /// Run once for each row of a CSV table with parameters as columns
    #[arg(long, value_name = "FILE.csv", conflicts_with_all = ["sweep", "monte_carlo"])]
    pub(in crate::cli::simulate) sample: Option<PathBuf>,
    /// The number of runs with random parameters, which --vary defines
    #[arg(long, value_name = "N", requires = "vary", conflicts_with = "sweep", value_parser = clap::value_parser!(u64).range(1..=vary::MOST as u64))]
    pub(in crate::cli::simulate) monte_carlo: Option<u64>,
    /// How a parameter varies: normal(mean, deviation), uniform(from, to), loguniform(from, to), lognormal(median, factor) or
    /// triangular(from, peak, to)
    #[arg(
        long,
        value_name = "NAME=DISTRIBUTION",
        requires = "monte_carlo",
        allow_hyphen_values = true
    )]
    pub(in crate::cli::simulate) vary: Vec<String>,
    /// The seed of the random numbers; the same seed gives the same runs
    #[arg(long, value_name = "S", default_value_t = 0, requires = "monte_carlo")]
    pub(in crate::cli::simulate) seed: u64,
    /// Print mean, standard deviation, percentiles and extremes of all runs instead of the samples, and the parameters of the
    /// extreme runs
    #[arg(long, requires = "several_runs")]
    pub(in crate::cli::simulate) summary: bool,
}

impl BatchArguments {
    /// Returns true if a batch is requested.
    pub fn is_asked_for(&self) -> bool {
        !self.sweep.is_empty() || self.sample.is_some() || self.monte_carlo.is_some()
    }

    /// Returns the names of the parameters that vary, or options that start with them.
    pub fn varied(&self) -> Vec<String> {
        // A table that cannot be read is reported when its samples are read.
        let table = self.sample.as_ref().and_then(|path| read_named(path).ok());
        let header = table
            .iter()
            .flat_map(|text| Records::new(text).next().into_iter().flatten());
        let columns = header.map(|field| field.text);
        let options = self.sweep.iter().chain(&self.vary).cloned();
        options.chain(columns).collect()
    }

    /// Returns the requested runs; None if a single run is requested.
    pub fn runs(&self, system: &StateSystem, map: &mut SourceMap, diagnostics: &mut Vec<Diagnostic>) -> Option<Runs> {
        let found = if let Some(path) = &self.sample {
            vary::samples(path, system, map)
        } else if let Some(count) = self.monte_carlo {
            vary::drawn(&self.vary, count as usize, self.seed, system, map)
        } else if !self.sweep.is_empty() {
            vary::grid(&self.sweep, system, map)
        } else {
            return None;
        };
        match found {
            Ok(mut runs) => {
                diagnostics.append(&mut runs.warnings);
                Some(runs)
            }
            Err(diagnostic) => {
                diagnostics.push(*diagnostic);
                None
            }
        }
    }
}
