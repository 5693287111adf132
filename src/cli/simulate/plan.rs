//! When, how often, how exactly and by which method: the model's experiment, and options in its place.

use crate::cli::report::misuse;
use crate::cli::times::time;
use lgm_algebra::expr::ExprId;
use lgm_analysis::{LinearizeRequest, MOST_STATES, duration, linearize};
use lgm_equations::StateSystem;
use lgm_kernels::{Arguments, Kernel, KernelOptions, Layout, expression};
use lgm_model::{Experiment, Model};
use lgm_simulate::{Method, Plan};
use lgm_source::codes::Code;
use lgm_source::diagnostic::{Diagnostic, six_digits};
use lgm_source::nearest::did_you_mean;
use std::path::{Path, PathBuf};

/// Options of the run itself.
#[derive(Debug, Default, clap::Args)]
pub(super) struct PlanArguments {
    /// The last time, in seconds or with a unit as in `--stop "20 [ms]"`. If neither this nor the experiment says it, the run lasts for
    /// five time constants of the slowest mode, or ten of its periods if those are less, rounded up to 1, 2 or 5 times a power of ten,
    /// and a remark says so; modes of nonlinear equations are those of small motions about their start. Integrals are no modes; without
    /// modes, or with more than 300 states, it is an error
    #[arg(long, value_name = "T", value_parser = time, allow_hyphen_values = true)]
    stop: Option<f64>,
    /// The first time, likewise; starts hold here, 0 unless given
    #[arg(long, value_name = "T", value_parser = time, allow_hyphen_values = true)]
    start: Option<f64>,
    /// How many rows at equal distances, both ends counted; 501 unless given
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(2..=1_000_000_000))]
    points: Option<u64>,
    /// The relative tolerance, above 0 and below 1, 1e-6 unless given
    #[arg(long, value_name = "R", value_parser = positive, allow_hyphen_values = true)]
    rtol: Option<f64>,
    /// One absolute tolerance for all states, in SI units; unless given, a thousandth of the relative one times the scale of each state
    #[arg(long, value_name = "A", value_parser = positive, allow_hyphen_values = true)]
    atol: Option<f64>,
    /// auto, tsit45 (explicit), bdf, sdirk or tr-bdf2 (implicit, for stiff equations)
    #[arg(long, value_name = "METHOD", value_parser = method)]
    method: Option<Method>,
    /// The run fails after this many steps, a thousand million unless given
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    max_steps: Option<u64>,
    /// Further rows where an input steps, a condition changes or an event happens; with a file, a list of the events goes there
    #[arg(long, value_name = "FILE", num_args = 0..=1, require_equals = true)]
    events: Option<Option<PathBuf>>,
    /// Start at rest: where all derivatives are zero with the inputs of the first instant
    #[arg(long)]
    from_equilibrium: bool,
}

impl PlanArguments {
    /// The file that a list of the events is to be written to.
    pub(super) fn events_file(&self) -> Option<&Path> {
        self.events.as_ref()?.as_deref()
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
    /// Whether neither an option nor the experiment says when the run stops.
    pub(super) fn is_endless(&self, asked: &Experiment) -> bool {
        self.stop.or(asked.stop).is_none()
    }

    /// When the run starts.
    pub(super) fn start(&self, asked: &Experiment) -> f64 {
        self.start.or(asked.start).unwrap_or(Plan::default().start)
    }

    /// The plan of an experiment, where an option says nothing else; what is missing or contradicts is the error.
    ///
    /// `chosen` is the length of the run if nobody says when it stops.
    pub(super) fn plan(
        &self,
        asked: &Experiment,
        model: &str,
        chosen: &Result<f64, String>,
    ) -> Result<Plan, Box<Diagnostic>> {
        let refuse = |message: String, help: &str| Err(Box::new(misuse(Code::LGM0926, message, help)));
        let default = Plan::default();
        let start = self.start(asked);
        let stop = match (self.stop.or(asked.stop), chosen) {
            (Some(stop), _) => stop,
            (None, Ok(length)) => start + length,
            (None, Err(reason)) => {
                let help = "write `--stop 10`, or `experiment { stop = 10 [s]; }` in the model";
                let fault = misuse(Code::LGM0926, format!("no stop time is given for `{model}`"), help);
                return Err(Box::new(fault.note(reason.clone())));
            }
        };
        if !(start.is_finite() && stop.is_finite() && stop > start) {
            return refuse(
                format!("the run of `{model}` would begin at {start} s and end at {stop} s"),
                "let the stop be later than the start",
            );
        }
        let points = match (self.points, asked.points, asked.step) {
            (Some(points), _, _) => points as usize,
            (None, Some(points), _) => points as usize,
            (None, None, Some(step)) => {
                let count = ((stop - start) / step).round() + 1.0;
                // Too many, none, or no number: reported below as a number of points.
                if count.is_finite() && count < 1e9 {
                    count.max(0.0) as usize
                } else {
                    0
                }
            }
            (None, None, None) => default.points,
        };
        if points < 2 {
            return refuse(
                format!("the run of `{model}` would have no rows between its start and its stop"),
                "write `--points 501`, or `points = 501;` in the experiment; both ends are counted",
            );
        }
        let method = match (self.method, asked.method) {
            (Some(method), _) => method,
            (None, None) => default.method,
            (None, Some(word)) => match Method::of_word(word) {
                Some(method) => method,
                None => {
                    let help = did_you_mean(word, words()).unwrap_or_default();
                    return refuse(format!("`{model}` asks for the method `{word}`"), &help);
                }
            },
        };
        let rtol = self.rtol.or(asked.rtol).unwrap_or(default.rtol);
        let atol = self.atol.or(asked.atol);
        let near_zero = atol.unwrap_or(1.0);
        for (name, value, allowed) in [
            ("rtol", rtol, rtol > 0.0 && rtol < 1.0),
            ("atol", near_zero, near_zero > 0.0),
        ] {
            if !(allowed && value.is_finite()) {
                return refuse(
                    format!("`{name}` is {value}, and the run of `{model}` would have no tolerance to keep"),
                    "write a small number above 0, as in `--rtol 1e-6` and `--atol 1e-9`",
                );
            }
        }
        Ok(Plan {
            start,
            stop,
            points,
            rtol,
            atol,
            method,
            events: matches!(self.events, Some(None)) || asked.events.unwrap_or(false),
            from_equilibrium: self.from_equilibrium,
            max_steps: self.max_steps.unwrap_or(default.max_steps),
        })
    }
}

/// How long a run is to be of which nobody says when it stops, with a remark that says so; or why that cannot be found.
pub(in crate::cli) fn length_by_modes(
    model: &Model,
    system: &StateSystem,
    start: f64,
    diagnostics: &mut Vec<Diagnostic>,
) -> Result<f64, String> {
    if system.states.is_empty() {
        return Err("the model has no states, so it has no modes to choose a time by".to_string());
    }
    if system.states.len() > MOST_STATES {
        return Err(format!(
            "with more than {MOST_STATES} states, no time is chosen by the modes"
        ));
    }
    let linearized = match &system.matrices.numeric {
        Some(_) => None,
        None => {
            let (found, faults) = linearize(model, system, &LinearizeRequest::default());
            let fault = faults.into_iter().find(Diagnostic::is_error);
            if let Some(fault) = fault {
                let reason = fault.message;
                return Err(format!("no time can be chosen by the modes about the start: {reason}"));
            }
            found
        }
    };
    let form = linearized.as_ref().unwrap_or(system).matrices.numeric.as_ref();
    let Some(found) = form.and_then(|form| duration(&form.a)) else {
        return Err("the model has no mode with a time of its own to choose a time by, only integrals".to_string());
    };
    let pole = found.pole;
    let why = match found.counts_periods {
        true => {
            let period = std::f64::consts::TAU / pole.im.abs();
            format!("ten periods of the slowest mode, {} s each", six_digits(period))
        }
        false if pole.re > 0.0 => {
            let constant = 1.0 / pole.re;
            format!(
                "five times the {} s in which the slowest mode grows by e",
                six_digits(constant)
            )
        }
        false => {
            let constant = 1.0 / pole.re.abs();
            format!(
                "five time constants of the slowest mode, {} s each",
                six_digits(constant)
            )
        }
    };
    let about = match linearized.is_some() {
        true => "; its modes are those of small motions about the start",
        false => "",
    };
    let message = format!(
        "`{}` runs for {} s, because no stop time is given",
        system.model, found.seconds
    );
    let stop = six_digits(start + found.seconds);
    let help = format!("write `--stop {stop}`, or another time, or `experiment {{ stop = {stop} [s]; }}` in the model");
    let remark = Diagnostic::information(Code::LGM0936, message).note(format!("{why}, rounded up{about}"));
    diagnostics.push(remark.help(help));
    Ok(found.seconds)
}

/// The plans of many runs: what the experiment says in parameters is another number in each of them.
pub(super) struct Plans<'a> {
    arguments: &'a PlanArguments,
    system: &'a StateSystem,
    /// The dependent entries of the experiment; none where there are none.
    dependent: Option<Kernel>,
    /// The plan with the parameters of the model.
    plan: &'a Plan,
}

impl<'a> Plans<'a> {
    pub(super) fn new(arguments: &'a PlanArguments, system: &'a StateSystem, plan: &'a Plan) -> Plans<'a> {
        let roots: Vec<ExprId> = system.experiment.dependent.iter().map(|entry| entry.1).collect();
        let make = || {
            expression(
                &system.exprs,
                &roots,
                &Layout::new(system),
                &KernelOptions { native: false },
            )
        };
        Plans {
            arguments,
            system,
            dependent: (!roots.is_empty()).then(make),
            plan,
        }
    }

    /// The plan of the run with these parameters ([`lgm_kernels::Kernels::parameters`]); why there is none, in words.
    pub(super) fn with(&self, parameters: &[f64]) -> Result<Plan, String> {
        let Some(dependent) = &self.dependent else {
            return Ok(self.plan.clone());
        };
        let values = dependent.values(&Arguments {
            parameters,
            ..Arguments::default()
        });
        let asked = self.system.experiment.with_values(&values);
        // All runs of a table are as long as the first one if nobody says how long they are.
        let length = Ok(self.plan.stop - self.plan.start);
        let plan = self.arguments.plan(&asked, &self.system.model, &length);
        plan.map_err(|diagnostic| diagnostic.message)
    }
}
