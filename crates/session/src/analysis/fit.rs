//! Parameters estimated from measured data, as data and as JSON.

use crate::analysis::modes::parameter_entry;
use lgm_algebra::expr::{SymbolId, to_f64};
use lgm_analysis::{Estimate, NoEstimate, Residuals, least_squares, with_sensitivities};
use lgm_equations::StateSystem;
use lgm_kernels::{KernelOptions, Kernels};
use lgm_model::Scale;
use lgm_simulate::{Inputs, Plan, Signal, Silent, Simulator, Table as Samples, read_samples};
use lgm_source::SourceMap;
use lgm_source::codes::Code;
use lgm_source::diagnostic::Diagnostic;
use serde_json::{Value, json};
use std::path::Path;

/// A table of measured values: a column `time`, columns of inputs, and columns of outputs, each under its name.
#[derive(Clone, Debug)]
pub struct Measured {
    /// The name of the table in messages.
    pub name: String,
    /// Its columns.
    pub columns: Vec<(String, Vec<f64>)>,
    /// True if inputs are in SI units. Inputs of files are in the units of their declarations.
    pub is_si: bool,
}

impl Measured {
    /// Reads a CSV table.
    ///
    /// # Errors
    ///
    /// If the file cannot be read, or an entry is not a number.
    pub fn read(path: &Path, map: &mut SourceMap) -> Result<Measured, Box<Diagnostic>> {
        let text = lgm_files::read_named(path).and_then(lgm_files::as_text);
        let text = text.map_err(|reason| {
            let fault = Diagnostic::error(Code::LGM0909, format!("cannot read `{}`: {reason}", path.display()));
            Box::new(fault.help("name a table with a column `time`"))
        })?;
        let name = path.display().to_string();
        let source = map.add(name.clone(), text, Some(path.to_path_buf()));
        let (columns, rows) = read_samples(map, source).map_err(Box::new)?;
        let columns = columns.into_iter().enumerate();
        let columns = columns.map(|(place, (name, _))| (name, rows.iter().map(|row| row[place]).collect()));
        Ok(Measured {
            columns: columns.collect(),
            name,
            is_si: false,
        })
    }
}

/// Relative tolerance of the runs, tight enough to estimate derivatives by finite differences.
const TOLERANCE: f64 = 1e-10;

/// Maximum number of samples of a run from which values at the times of the table are taken.
const MOST_ROWS: usize = 200_000;

/// Measured values.
struct Data {
    times: Vec<f64>,
    /// The measured signal of each input of the system, if one exists.
    signals: Vec<Option<Signal>>,
    /// Indices of the outputs, with their values.
    outputs: Vec<(usize, Vec<f64>)>,
    /// For each time, the index of its sample in a uniform grid of this size.
    rows: Vec<usize>,
    points: usize,
}

fn refused(message: String, help: &str) -> Box<Diagnostic> {
    Box::new(Diagnostic::error(Code::LGM0721, message).help(help))
}

/// Estimates parameters of equations over symbolic parameters ([`Session::parametric`](crate::Session::parametric)). The search starts
/// from the values of the parameters; all samples have equal weights.
///
/// # Errors
///
/// If the table does not fit the model, or the data do not determine the parameters.
///
/// ```
/// use lgm_session::analysis::fit::{Measured, fit};
/// use lgm_session::{Choice, Session, States};
///
/// let text = "model M { param R = 1 [ohm]; node a : electrical; c : Capacitor(1 [F]) a -> gnd, start = 1;
///     r : Resistor(R) a -> gnd; output u = across(c); }";
/// let session = Session::of_text("rc.lgm", text, &Choice::default(), &States::default())?;
/// let times: Vec<f64> = (0..11).map(f64::from).collect();
/// let values = times.iter().map(|time| (-time / 2.0).exp()).collect();
/// let columns = vec![("time".to_string(), times), ("u".to_string(), values)];
/// let data = Measured { name: "data".to_string(), columns, is_si: true };
/// let found = fit(session.parametric(&[])?.system().unwrap(), &data, &["R".to_string()]).unwrap();
/// assert!((found.values[0] - 2.0).abs() < 1e-6);
/// # Ok::<(), lgm_session::Faults>(())
/// ```
pub fn fit(system: &StateSystem, measured: &Measured, vary: &[String]) -> Result<Estimate, Box<Diagnostic>> {
    if system.events.happen {
        let message = format!("`{}` has events, which `fit` does not support", system.model);
        return Err(refused(
            message,
            "fit a part of the model without modes and blocks, or compare runs of `lgm simulate --sweep` with the data",
        ));
    }
    let data = data(measured, system)?;
    let found: Result<Vec<(usize, SymbolId)>, _> = vary
        .iter()
        .map(|name| parameter_entry(system, name, "--vary"))
        .collect();
    let (places, symbols): (Vec<usize>, Vec<SymbolId>) = found?.into_iter().unzip();
    let entries = system.parameters.iter().flat_map(|parameter| &parameter.entries);
    let values: Vec<f64> = entries.map(|entry| to_f64(&entry.value)).collect();
    let sensitive = with_sensitivities(system, &symbols);
    let kernels = Kernels::new(system, &KernelOptions::default());
    let sensitive_kernels = sensitive
        .as_ref()
        .map(|system| Kernels::new(system, &KernelOptions::default()));
    let mut runs = MeasuredRuns {
        data: &data,
        places: &places,
        plain: Runs::new(system, &kernels, &data),
        sensitive: sensitive
            .as_ref()
            .zip(sensitive_kernels.as_ref())
            .map(|(system, kernels)| Runs::new(system, kernels, &data)),
        outputs: system.outputs.len(),
    };
    let first: Vec<f64> = places.iter().map(|place| values[*place]).collect();
    least_squares(&mut runs, &first).map_err(|reason| match reason {
        NoEstimate::TooFewValues => refused(
            "the table must have more values than there are parameters to estimate".to_string(),
            "measure more samples, or vary fewer parameters",
        ),
        NoEstimate::NoModel => refused(
            "a run of the model fails near the values that were tried".to_string(),
            "inspect it with `lgm simulate`, and choose parameters closer to the data with `--set`",
        ),
        NoEstimate::NoInfluence(at) => refused(
            format!(
                "the data do not determine `{}` independently of the other parameters",
                vary[at]
            ),
            "remove it from `--vary`, or measure another output",
        ),
        NoEstimate::NoConvergence => refused(
            "the least-squares search does not converge".to_string(),
            "choose initial parameters closer to the data with `--set`",
        ),
    })
}

/// Runs of one system at the times of the table.
struct Runs<'a> {
    simulator: Simulator<'a>,
    kernels: &'a Kernels,
    inputs: Inputs,
    plan: Plan,
}

impl<'a> Runs<'a> {
    fn new(system: &'a StateSystem, kernels: &'a Kernels, data: &Data) -> Runs<'a> {
        let plan = Plan {
            start: data.times[0],
            stop: data.times[data.times.len() - 1],
            points: data.points,
            rtol: TOLERANCE,
            ..Plan::default()
        };
        let base = kernels.parameters(&[]);
        Runs {
            simulator: Simulator::new(system, kernels),
            inputs: Inputs::new(system, kernels, &base, data.signals.clone(), plan.start),
            kernels,
            plan,
        }
    }

    /// Returns the outputs at all times of the grid; None if a run fails.
    fn rows(&self, set: &[(usize, f64)]) -> Option<Vec<Vec<f64>>> {
        let parameters = self.kernels.parameters(set);
        let inputs = self.inputs.with_parameters(&parameters, self.plan.start);
        let mut rows: Vec<Vec<f64>> = Vec::with_capacity(self.plan.points);
        let mut sink = |_: f64, outputs: &[f64], _: &[f64]| rows.push(outputs.to_vec());
        self.simulator
            .run(&parameters, &inputs, &self.plan, &mut sink, &Silent)
            .ok()?;
        Some(rows)
    }
}

/// Runs compared with measurements.
struct MeasuredRuns<'a> {
    data: &'a Data,
    /// Indices of the varied parameters.
    places: &'a [usize],
    plain: Runs<'a>,
    /// Runs with derivatives as additional outputs, if these are known.
    sensitive: Option<Runs<'a>>,
    /// The number of outputs of the system.
    outputs: usize,
}

impl MeasuredRuns<'_> {
    fn set(&self, values: &[f64]) -> Vec<(usize, f64)> {
        self.places.iter().copied().zip(values.iter().copied()).collect()
    }

    /// Returns the values of one kind of output at the samples of the data, minus `measured` if a difference is requested.
    fn picked(&self, rows: &[Vec<f64>], first: usize, is_difference: bool) -> Option<Vec<f64>> {
        let mut all = Vec::with_capacity(self.data.times.len() * self.data.outputs.len());
        for (output, measured) in &self.data.outputs {
            for (row, measured) in self.data.rows.iter().zip(measured) {
                let value = rows.get(*row)?.get(first + output)?;
                all.push(if is_difference { value - measured } else { *value });
            }
        }
        all.iter().all(|value| value.is_finite()).then_some(all)
    }
}

impl Residuals for MeasuredRuns<'_> {
    fn residuals(&mut self, parameters: &[f64]) -> Option<Vec<f64>> {
        let rows = self.plain.rows(&self.set(parameters))?;
        self.picked(&rows, 0, true)
    }

    fn slopes(&mut self, parameters: &[f64]) -> Option<Vec<Vec<f64>>> {
        let rows = self.sensitive.as_ref()?.rows(&self.set(parameters))?;
        let kinds = 1..=self.places.len();
        kinds
            .map(|kind| self.picked(&rows, kind * self.outputs, false))
            .collect()
    }
}

/// Sorts the columns of the table.
fn data(measured: &Measured, system: &StateSystem) -> Result<Data, Box<Diagnostic>> {
    let name = &measured.name;
    let column = |wanted: &str| {
        let found = measured.columns.iter().find(|column| column.0.trim() == wanted)?;
        Some(found.1.clone())
    };
    let times = column("time").ok_or_else(|| {
        let message = format!("`{name}` has no column `time`");
        refused(
            message,
            "name the column of times `time`, and the others after inputs and outputs of the model",
        )
    })?;
    if times.len() < 2 || !times.windows(2).all(|pair| pair[0] < pair[1]) {
        return Err(refused(
            "the times of the table do not increase".to_string(),
            "sort its rows and remove duplicates",
        ));
    }
    let signals = system.inputs.iter().map(|input| {
        let values = column(&input.name).filter(|_| !input.is_internal)?;
        let scale = if measured.is_si { Scale::SI } else { input.scale };
        let table = Samples::new(times.clone(), values, false);
        Some(table.converted(|value| scale.to_si(value)).into())
    });
    let signals = signals.collect();
    let outputs = system.outputs.iter().enumerate();
    let outputs: Vec<(usize, Vec<f64>)> = outputs
        .filter_map(|(at, output)| Some((at, column(&output.name)?)))
        .collect();
    if outputs.is_empty() {
        return Err(refused(
            format!("`{name}` has no column of an output of the model"),
            "name its columns after outputs, as `lgm simulate -o` does",
        ));
    }
    let (rows, points) = grid(&times).ok_or_else(|| {
        refused(
            "the times of the table are not multiples of a common step".to_string(),
            "write them with fewer digits, or resample them with equal steps",
        )
    })?;
    Ok(Data {
        times,
        signals,
        outputs,
        rows,
        points,
    })
}

/// Returns the samples of a uniform grid that contains all times; None if this requires too many samples.
fn grid(times: &[f64]) -> Option<(Vec<usize>, usize)> {
    let (first, last) = (times[0], times[times.len() - 1]);
    let least = times
        .windows(2)
        .map(|pair| pair[1] - pair[0])
        .fold(f64::INFINITY, f64::min);
    for parts in 1..=1000 {
        let count = (last - first) / least * f64::from(parts);
        if count.round() + 1.0 > MOST_ROWS as f64 {
            return None;
        }
        let step = (last - first) / count.round();
        let places: Vec<f64> = times.iter().map(|time| (time - first) / step).collect();
        // A time offset below this fraction of a step changes outputs by less than the numerical errors of the runs.
        if places.iter().all(|place| (place - place.round()).abs() < 1e-6) {
            let rows = places.iter().map(|place| place.round() as usize).collect();
            return Some((rows, count.round() as usize + 1));
        }
    }
    None
}

/// Returns the 95 % confidence interval of a parameter.
pub fn interval(found: &Estimate, at: usize) -> (f64, f64) {
    let half = found.quantile * found.standard_errors[at];
    (found.values[at] - half, found.values[at] + half)
}

/// Returns the JSON of `lgm fit`.
pub fn fit_json(vary: &[String], found: &Estimate) -> Value {
    let each = vary.iter().enumerate().map(|(at, name)| {
        let (low, high) = interval(found, at);
        json!({
            "name": name,
            "value": found.values[at],
            "standard_error": found.standard_errors[at],
            "confidence": [low, high],
        })
    });
    json!({"schema": "lgm-fit/1", "parameters": each.collect::<Vec<Value>>(), "sum_of_squares": found.squares})
}
