//! The options of the run itself.

use crate::cli::times::time;
use lgm_session::run::plan::RunOptions;
use lgm_simulate::Method;
use std::path::{Path, PathBuf};

/// Options of the run itself.
#[derive(Debug, Default, clap::Args)]
pub(super) struct PlanArguments {
    /// The stop time, in seconds or with a unit, such as `--stop "20 [ms]"`. Without a stop time, a run lasts five time
    /// constants or ten periods of the slowest mode, whichever is less, rounded up to 1, 2 or 5 times a power of ten,
    /// and reports this. Nonlinear equations are linearised at the initial values. Integrals do not count as modes;
    /// without modes, or with more than 300 states, a missing stop time is an error
    #[arg(long, value_name = "T", value_parser = time, allow_hyphen_values = true)]
    stop: Option<f64>,
    /// The start time, at which the initial values apply; 0 by default
    #[arg(long, value_name = "T", value_parser = time, allow_hyphen_values = true)]
    start: Option<f64>,
    /// The number of equally spaced samples, including both ends; 501 by default
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(2..=1_000_000_000))]
    points: Option<u64>,
    /// The relative tolerance, between 0 and 1; 1e-6 by default
    #[arg(long, value_name = "R", value_parser = positive, allow_hyphen_values = true)]
    rtol: Option<f64>,
    /// The absolute tolerance for all states, in SI units; by default a thousandth of the relative one times the scale
    /// of each state
    #[arg(long, value_name = "A", value_parser = positive, allow_hyphen_values = true)]
    atol: Option<f64>,
    /// auto, tsit45 (explicit), bdf, sdirk or tr-bdf2 (implicit, for stiff equations)
    #[arg(long, value_name = "METHOD", value_parser = method)]
    method: Option<Method>,
    /// The maximum number of steps; 1e9 by default
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    max_steps: Option<u64>,
    /// Add samples at input steps, condition changes and events; with a file, also write a list of the events to it
    #[arg(long, value_name = "FILE", num_args = 0..=1, require_equals = true)]
    events: Option<Option<PathBuf>>,
    /// Start at rest, where all derivatives are zero for the inputs at the start time
    #[arg(long)]
    from_equilibrium: bool,
}

impl PlanArguments {
    /// Returns the file for the list of events.
    pub(super) fn events_file(&self) -> Option<&Path> {
        self.events.as_ref()?.as_deref()
    }

    /// Returns the options as run options.
    pub(super) fn options(&self) -> RunOptions {
        RunOptions {
            stop: self.stop,
            start: self.start,
            points: self.points,
            rtol: self.rtol,
            atol: self.atol,
            method: self.method,
            max_steps: self.max_steps,
            events: matches!(self.events, Some(None)),
            from_equilibrium: self.from_equilibrium,
        }
    }
}

fn positive(text: &str) -> Result<f64, String> {
    match text.trim().parse::<f64>() {
        Ok(value) if value.is_finite() && value > 0.0 => Ok(value),
        _ => Err("a tolerance must be a number above zero".to_string()),
    }
}

fn method(text: &str) -> Result<Method, String> {
    let words = Method::ALL.map(|entry| entry.1);
    Method::of_word(text).ok_or_else(|| format!("the methods are {}", words.join(", ")))
}
