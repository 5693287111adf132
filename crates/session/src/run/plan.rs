//! The time span, sampling, tolerances and method of a run: the model's experiment, overridden by options.

use lgm_algebra::expr::ExprId;
use lgm_analysis::{LinearizeRequest, MOST_STATES, duration, linearize};
use lgm_equations::StateSystem;
use lgm_kernels::{Arguments, Kernel, KernelOptions, Layout, expression};
use lgm_model::{Experiment, Model};
use lgm_simulate::{Method, Plan};
use lgm_source::codes::Code;
use lgm_source::diagnostic::{Diagnostic, six_digits};
use lgm_source::nearest::did_you_mean;

/// The requested options of a run. Missing options default to the experiment of the model, and then to [`Plan::default`].
///
/// Times are in seconds.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct RunOptions {
    /// The stop time. Without one, a run lasts five time constants or ten periods of the slowest mode ([`length_by_modes`]).
    pub stop: Option<f64>,
    /// The start time, at which the initial values apply.
    pub start: Option<f64>,
    /// The number of equally spaced samples, including both ends.
    pub points: Option<u64>,
    /// The relative tolerance, between 0 and 1.
    pub rtol: Option<f64>,
    /// The absolute tolerance for all states, in SI units.
    pub atol: Option<f64>,
    /// The integration method.
    pub method: Option<Method>,
    /// The maximum number of steps.
    pub max_steps: Option<u64>,
    /// True if samples are also taken at input steps, condition changes and events.
    pub events: bool,
    /// True if the run starts from equilibrium, with all derivatives zero for the inputs at the start time.
    pub from_equilibrium: bool,
}

impl RunOptions {
    /// Returns true if neither an option nor the experiment sets a stop time.
    pub fn is_endless(&self, asked: &Experiment) -> bool {
        self.stop.or(asked.stop).is_none()
    }

    /// Returns the start time.
    pub fn start(&self, asked: &Experiment) -> f64 {
        self.start.or(asked.start).unwrap_or(Plan::default().start)
    }

    /// Returns the plan of an experiment, overridden by these options. The error describes a missing or contradictory entry.
    ///
    /// `chosen` is the duration of a run without a stop time.
    pub fn plan(&self, asked: &Experiment, model: &str, chosen: &Result<f64, String>) -> Result<Plan, Box<Diagnostic>> {
        let fault = |message: String, help: &str| Box::new(Diagnostic::error(Code::LGM0926, message).help(help));
        let refuse = |message: String, help: &str| Err(fault(message, help));
        let default = Plan::default();
        let start = self.start(asked);
        let stop = match (self.stop.or(asked.stop), chosen) {
            (Some(stop), _) => stop,
            (None, Ok(length)) => start + length,
            (None, Err(reason)) => {
                let help = "write `--stop 10`, or `experiment { stop = 10 [s]; }` in the model";
                let fault = fault(format!("no stop time is given for `{model}`"), help);
                return Err(Box::new(fault.note(reason.clone())));
            }
        };
        if !(start.is_finite() && stop.is_finite() && stop > start) {
            return refuse(
                format!("the run of `{model}` would start at {start} s and stop at {stop} s"),
                "choose a stop time later than the start time",
            );
        }
        let points = match (self.points, asked.points, asked.step) {
            (Some(points), _, _) => points as usize,
            (None, Some(points), _) => points as usize,
            (None, None, Some(step)) => {
                let count = ((stop - start) / step).round() + 1.0;
                // Excessive, zero or undefined: reported below as a number of points.
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
                format!("the run of `{model}` would have no samples between its start and its stop"),
                "write `--points 501`, or `points = 501;` in the experiment; this includes both ends",
            );
        }
        let method = match (self.method, asked.method) {
            (Some(method), _) => method,
            (None, None) => default.method,
            (None, Some(word)) => match Method::of_word(word) {
                Some(method) => method,
                None => {
                    let help = did_you_mean(word, Method::ALL.iter().map(|entry| entry.1)).unwrap_or_default();
                    return refuse(format!("`{model}` requests the method `{word}`"), &help);
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
                    format!("`{name}` is {value}, which leaves the run of `{model}` without a tolerance"),
                    "write a small number above 0, such as `--rtol 1e-6` and `--atol 1e-9`",
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
            events: self.events || asked.events.unwrap_or(false),
            from_equilibrium: self.from_equilibrium,
            max_steps: self.max_steps.unwrap_or(default.max_steps),
        })
    }
}

/// Returns the duration of a run without a stop time, with a remark, or the reason why the duration is unknown.
pub fn length_by_modes(
    model: &Model,
    system: &StateSystem,
    start: f64,
    diagnostics: &mut Vec<Diagnostic>,
) -> Result<f64, String> {
    if !model.switching.delays.is_empty() {
        return Err("the model has a delay, so no finite number of modes defines a time scale".to_string());
    }
    if system.states.is_empty() {
        return Err("the model has no states, so no mode defines a time scale".to_string());
    }
    if system.states.len() > MOST_STATES {
        return Err(format!(
            "with more than {MOST_STATES} states, the modes are not used to choose a stop time"
        ));
    }
    let linearized = match &system.matrices.numeric {
        Some(_) => None,
        None => {
            let (found, faults) = linearize(model, system, &LinearizeRequest::default());
            let fault = faults.into_iter().find(Diagnostic::is_error);
            if let Some(fault) = fault {
                let reason = fault.message;
                return Err(format!(
                    "no stop time follows from the modes at the initial values: {reason}"
                ));
            }
            found
        }
    };
    let form = linearized.as_ref().unwrap_or(system).matrices.numeric.as_ref();
    let Some(found) = form.and_then(|form| duration(&form.a)) else {
        return Err("the model has only integrals and no mode that defines a time scale".to_string());
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
        true => "; its modes are those of the linearisation at the initial values",
        false => "",
    };
    let message = format!(
        "`{}` runs for {} s, because no stop time is given",
        system.model, found.seconds
    );
    let stop = six_digits(start + found.seconds);
    let help = format!("write `experiment {{ stop = {stop} [s]; }}` in the model, or run it with `--stop {stop}`");
    let remark = Diagnostic::information(Code::LGM0936, message).note(format!("{why}, rounded up{about}"));
    diagnostics.push(remark.help(help));
    Ok(found.seconds)
}

/// The plans of many runs. Entries of the experiment that depend on parameters vary from run to run.
pub struct Plans<'a> {
    options: &'a RunOptions,
    system: &'a StateSystem,
    /// The entries of the experiment that depend on parameters; None if no such entry exists.
    dependent: Option<Kernel>,
    /// The plan for the parameter values of the model.
    plan: &'a Plan,
}

impl<'a> Plans<'a> {
    /// Prepares the plans of runs with these options. `plan` is the plan for the parameter values of the model.
    pub fn new(options: &'a RunOptions, system: &'a StateSystem, plan: &'a Plan) -> Plans<'a> {
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
            options,
            system,
            dependent: (!roots.is_empty()).then(make),
            plan,
        }
    }

    /// Returns the plan for these parameters ([`lgm_kernels::Kernels::parameters`]), or a message that explains why no plan exists.
    pub fn with(&self, parameters: &[f64]) -> Result<Plan, String> {
        let Some(dependent) = &self.dependent else {
            return Ok(self.plan.clone());
        };
        let values = dependent.values(&Arguments {
            parameters,
            ..Arguments::default()
        });
        let asked = self.system.experiment.with_values(&values);
        // Without a stop time, all runs of a table last as long as the first run.
        let length = Ok(self.plan.stop - self.plan.start);
        let plan = self.options.plan(&asked, &self.system.model, &length);
        plan.map_err(|diagnostic| diagnostic.message)
    }
}
