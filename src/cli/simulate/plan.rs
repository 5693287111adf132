//! When, how often, how exactly and by which method: the model's experiment, and options in its place.

use super::misuse;
use crate::diagnostic::Diagnostic;
use crate::elaborate::did_you_mean;
use crate::equations::StateSystem;
use crate::simulate::{Method, Plan};

/// Options of the run itself.
#[derive(Debug, clap::Args)]
pub(super) struct PlanArguments {
    /// The last time, in seconds
    #[arg(long, value_name = "T", value_parser = finite, allow_hyphen_values = true)]
    stop: Option<f64>,
    /// The first time, in seconds; starts hold here, 0 unless given
    #[arg(long, value_name = "T", value_parser = finite, allow_hyphen_values = true)]
    start: Option<f64>,
    /// How many rows at equal distances, both ends counted; 501 unless given
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(2..=1_000_000_000))]
    points: Option<u64>,
    /// The relative tolerance, 1e-6 unless given
    #[arg(long, value_name = "R", value_parser = positive)]
    rtol: Option<f64>,
    /// The absolute tolerance, in each state's unit, 1e-9 unless given
    #[arg(long, value_name = "A", value_parser = positive)]
    atol: Option<f64>,
    /// auto, tsit45 (explicit), bdf, sdirk or tr-bdf2 (implicit, for stiff equations)
    #[arg(long, value_name = "METHOD", value_parser = method)]
    method: Option<Method>,
    /// Further rows where an input steps or a condition changes
    #[arg(long)]
    events: bool,
    /// Start at rest: where all derivatives are zero with the inputs of the first instant
    #[arg(long)]
    from_equilibrium: bool,
}

fn finite(text: &str) -> Result<f64, String> {
    match text.trim().parse::<f64>() {
        Ok(value) if value.is_finite() => Ok(value),
        _ => Err("a time is a finite number of seconds".to_string()),
    }
}

fn positive(text: &str) -> Result<f64, String> {
    match text.trim().parse::<f64>() {
        Ok(value) if value.is_finite() && value > 0.0 => Ok(value),
        _ => Err("a tolerance is a number above zero".to_string()),
    }
}

fn words() -> Vec<&'static str> {
    Method::ALL.iter().map(|entry| entry.1).collect()
}

fn method(text: &str) -> Result<Method, String> {
    Method::of_word(text).ok_or_else(|| format!("the methods are {}", words().join(", ")))
}

impl PlanArguments {
    /// The plan; none where something is missing or contradicts, which is reported.
    pub(super) fn plan(&self, system: &StateSystem, diagnostics: &mut Vec<Diagnostic>) -> Option<Plan> {
        let asked = &system.experiment;
        let model = &system.model;
        let default = Plan::default();
        let start = self.start.or(asked.start).unwrap_or(default.start);
        let Some(stop) = self.stop.or(asked.stop) else {
            diagnostics.push(misuse(
                "LGM0926",
                format!("it is not said how long `{model}` is to run"),
                "write `--stop 10`, or `experiment { stop = 10 [s]; }` in the model",
            ));
            return None;
        };
        if !(start.is_finite() && stop.is_finite() && stop > start) {
            diagnostics.push(misuse(
                "LGM0926",
                format!("the run of `{model}` would begin at {start} s and end at {stop} s"),
                "let the stop be later than the start",
            ));
            return None;
        }
        let points = match (self.points, asked.points, asked.step) {
            (Some(points), _, _) => points as usize,
            (None, Some(points), _) => points as usize,
            (None, None, Some(step)) => {
                let count = ((stop - start) / step).round() + 1.0;
                // Too many, none, or no number: told below as a number of points.
                if count.is_finite() && count < 1e9 {
                    count.max(0.0) as usize
                } else {
                    0
                }
            }
            (None, None, None) => default.points,
        };
        if points < 2 {
            diagnostics.push(misuse(
                "LGM0926",
                format!("the run of `{model}` would have no rows between its start and its stop"),
                "write `--points 501`, or `points = 501;` in the experiment; both ends are counted",
            ));
            return None;
        }
        let method = match (self.method, asked.method) {
            (Some(method), _) => method,
            (None, None) => default.method,
            (None, Some(word)) => match Method::of_word(word) {
                Some(method) => method,
                None => {
                    let mut diagnostic = misuse("LGM0926", format!("`{model}` asks for the method `{word}`"), "");
                    diagnostic.help = did_you_mean(word, words());
                    diagnostics.push(diagnostic);
                    return None;
                }
            },
        };
        let tolerance = |option: Option<f64>, asked: Option<f64>, default: f64| {
            option.or(asked.filter(|value| *value > 0.0)).unwrap_or(default)
        };
        Some(Plan {
            start,
            stop,
            points,
            rtol: tolerance(self.rtol, asked.rtol, default.rtol),
            atol: tolerance(self.atol, asked.atol, default.atol),
            method,
            events: self.events || asked.events.unwrap_or(false),
            from_equilibrium: self.from_equilibrium,
            ..default
        })
    }
}
