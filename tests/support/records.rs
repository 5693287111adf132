//! The known answers, and further parameter sets at which to evaluate their symbolic matrices.

use super::arithmetic::{Bindings, evaluate};
use super::linear::{Linear, matrix};
use nalgebra::DMatrix;
use num_complex::Complex64;
use serde_json::Value;
use std::path::Path;

/// One record of `tests/known-answers`.
pub struct Record {
    pub name: String,
    pub json: Value,
}

/// A run of a record: its settings, and the motion of its variables.
pub struct Trajectory {
    /// Parameters, and initial conditions as parameters of the models: `NAME_0`.
    pub settings: Vec<(String, f64)>,
    /// In seconds, evenly spaced.
    pub times: Vec<f64>,
    /// Values at these times, by the name of the model's output.
    pub columns: Vec<(String, Vec<f64>)>,
}

impl Trajectory {
    /// The largest difference of any column from the found output, relative to the column's range.
    pub fn error(&self, found: impl Fn(&str) -> Vec<f64>) -> f64 {
        let mut worst: f64 = 0.0;
        for (name, wanted) in &self.columns {
            let (low, high) = wanted.iter().fold((f64::MAX, f64::MIN), |(low, high), value| {
                (low.min(*value), high.max(*value))
            });
            let found = found(name);
            assert_eq!(found.len(), wanted.len(), "{name}");
            for (found, wanted) in found.iter().zip(wanted) {
                let error = (found - wanted).abs() / (high - low);
                worst = if error.is_nan() {
                    f64::INFINITY
                } else {
                    worst.max(error)
                };
            }
        }
        worst
    }
}

/// The largest difference of a time response from that of a record, relative to the largest value of the latter.
pub fn response_error(found: &[f64], expected: &[f64]) -> f64 {
    assert_eq!(found.len(), expected.len());
    let size = expected.iter().fold(0.0_f64, |most, value| most.max(value.abs()));
    let differences = found.iter().zip(expected).map(|(a, b)| (a - b).abs());
    let worst = differences.fold(
        0.0,
        |most: f64, value| {
            if value.is_nan() { f64::INFINITY } else { most.max(value) }
        },
    );
    if size > 0.0 { worst / size } else { worst }
}

/// Complete parameter values: numbers, vectors or matrices as JSON.
pub type Parameters = Vec<(String, Value)>;

impl Record {
    pub fn load(name: &str) -> Record {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("tests/known-answers/{name}.json"));
        let text = std::fs::read_to_string(&path).unwrap_or_else(|fault| panic!("{}: {fault}", path.display()));
        Record {
            name: name.to_owned(),
            json: serde_json::from_str(&text).unwrap(),
        }
    }

    /// Every record.
    pub fn all() -> Vec<Record> {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/known-answers");
        let files = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
        let mut names: Vec<String> = files
            .map(|path| path.file_stem().unwrap().to_string_lossy().into_owned())
            .collect();
        names.sort();
        names.iter().map(|name| Record::load(name)).collect()
    }

    /// Every record of a linear model with a time response.
    pub fn with_responses() -> Vec<Record> {
        let mut found = Record::all();
        found.retain(|record| record.json["linear"]["time_response"].is_object());
        assert!(found.len() >= 18, "{} records", found.len());
        found
    }

    /// The runs of a nonlinear model.
    pub fn trajectories(&self) -> Vec<Trajectory> {
        let keys = [
            "nonlinear",
            "nonlinear_conservative_run",
            "nonlinear_full_run_k1_nonzero",
        ];
        let runs = keys.map(|key| &self.json[key]).into_iter();
        runs.filter(|run| run.is_object())
            .map(|run| self.trajectory(run))
            .collect()
    }

    /// A run with its own parameters, or with those of the record.
    pub fn trajectory(&self, run: &Value) -> Trajectory {
        let parameters = if run["parameters"].is_object() {
            &run["parameters"]
        } else {
            &self.json["parameters"]
        };
        // A derived value is a text.
        let parameters = parameters.as_object().unwrap().iter();
        let mut settings: Vec<(String, f64)> = parameters
            .filter_map(|(name, value)| Some((name.clone(), value.as_f64()?)))
            .collect();
        for (state, value) in run["initial_conditions"].as_object().unwrap() {
            settings.push((format!("{state}_0"), number(value)));
        }
        let mut columns = Vec::new();
        for part in ["trajectory", "outputs"] {
            for (name, wanted) in run[part].as_object().into_iter().flatten() {
                // A description may follow the name in a record.
                let name = name.split([' ', '=']).next().unwrap();
                columns.push((name.to_string(), list(wanted)));
            }
        }
        Trajectory {
            settings,
            times: list(&run["t"]),
            columns,
        }
    }

    /// The parameters with the record's values.
    pub fn parameters(&self) -> Parameters {
        let entries = self.json["parameters"].as_object().unwrap();
        entries
            .iter()
            .map(|(name, value)| (name.clone(), value.clone()))
            .collect()
    }

    /// Numeric A..F at the record's own parameters.
    pub fn linear(&self) -> Linear {
        let linear = &self.json["linear"];
        self.matrices(|name| numbers(&linear[name]))
    }

    /// The record's symbolic A..F at the given parameters.
    pub fn symbolic(&self, parameters: &Parameters) -> Linear {
        let bindings = bindings(parameters);
        let symbolic = &self.json["symbolic"];
        self.matrices(|name| values(&symbolic[name], &bindings))
    }

    fn matrices(&self, rows: impl Fn(&str) -> Vec<Vec<f64>>) -> Linear {
        let linear = &self.json["linear"];
        let (states, inputs, outputs) = (
            names(&linear["states"]),
            names(&linear["inputs"]),
            names(&linear["outputs"]),
        );
        let (n, m) = (states.len(), inputs.len());
        Linear {
            a: matrix(&rows("A"), n),
            b: matrix(&rows("B"), m),
            c: matrix(&rows("C"), n),
            d: matrix(&rows("D"), m),
            e: matrix(&rows("E"), m),
            f: matrix(&rows("F"), m),
            states,
            inputs,
            outputs,
        }
    }

    /// The frequencies of the record.
    pub fn frequencies(&self) -> Vec<f64> {
        let first = &self.json["linear"]["transfer_functions"][0];
        list(&first["omega"])
    }

    /// The response at the frequency with the given index, outputs by inputs in the record's order.
    pub fn response(&self, index: usize) -> DMatrix<Complex64> {
        let linear = &self.json["linear"];
        let (inputs, outputs) = (names(&linear["inputs"]), names(&linear["outputs"]));
        let mut response = DMatrix::from_element(outputs.len(), inputs.len(), Complex64::new(f64::NAN, 0.0));
        for entry in linear["transfer_functions"].as_array().unwrap() {
            let place = |names: &[String], key: &str| {
                let name = entry[key].as_str().unwrap();
                names.iter().position(|other| other == name).unwrap()
            };
            let value = Complex64::new(number(&entry["re"][index]), number(&entry["im"][index]));
            response[(place(&outputs, "output"), place(&inputs, "input"))] = value;
        }
        response
    }

    pub fn poles(&self) -> Vec<Complex64> {
        let poles = self.json["linear"]["poles"].as_array().unwrap();
        poles
            .iter()
            .map(|pole| Complex64::new(number(&pole[0]), number(&pole[1])))
            .collect()
    }
}

pub fn number(value: &Value) -> f64 {
    value.as_f64().unwrap_or_else(|| panic!("{value} is no number"))
}

pub fn names(value: &Value) -> Vec<String> {
    let names = value.as_array().unwrap().iter();
    names.map(|name| name.as_str().unwrap().to_owned()).collect()
}

/// Numbers.
pub fn list(value: &Value) -> Vec<f64> {
    value.as_array().unwrap().iter().map(number).collect()
}

/// Rows of numbers.
pub fn numbers(value: &Value) -> Vec<Vec<f64>> {
    value.as_array().unwrap().iter().map(list).collect()
}

/// Rows of expressions.
pub fn values(value: &Value, bindings: &Bindings) -> Vec<Vec<f64>> {
    let entry = |entry: &Value| match entry.as_str() {
        Some(text) => evaluate(text, bindings),
        None => number(entry),
    };
    let rows = value
        .as_array()
        .unwrap_or_else(|| panic!("{value} is no matrix"))
        .iter();
    rows.map(|row| row.as_array().unwrap().iter().map(entry).collect())
        .collect()
}

/// Names of numbers, and of the entries of matrices.
pub fn bindings(parameters: &Parameters) -> Bindings {
    let mut bindings = Bindings::new();
    for (name, value) in parameters {
        match value {
            Value::Array(rows) => {
                for (row, entries) in rows.iter().enumerate() {
                    for (column, entry) in entries.as_array().unwrap().iter().enumerate() {
                        bindings.insert(format!("{name}[{}, {}]", row + 1, column + 1), number(entry));
                    }
                }
            }
            value => {
                bindings.insert(name.clone(), number(value));
            }
        }
    }
    bindings
}

/// A small reproducible random generator (xorshift), the same on every machine.
pub struct Dice(u64);

impl Dice {
    pub fn new(seed: u64) -> Dice {
        Dice(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1)
    }

    /// A number in `low..high` with three decimals, so that its text is short and exact.
    pub fn between(&mut self, low: f64, high: f64) -> f64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        let unit = (self.0 >> 11) as f64 / (1u64 << 53) as f64;
        ((low + (high - low) * unit) * 1000.0).round() / 1000.0
    }
}

/// Other values for parameters: every number between half and double its value.
///
/// A vector or a matrix is scaled as a whole, so that it stays symmetric and positive.
pub fn drawn(parameters: &Parameters, seed: u64) -> Parameters {
    let mut dice = Dice::new(seed);
    parameters
        .iter()
        .map(|(name, value)| {
            let factor = dice.between(0.5, 2.0);
            (name.clone(), scaled(value, factor))
        })
        .collect()
}

/// A number, or all numbers of a vector or a matrix, times a factor.
fn scaled(value: &Value, factor: f64) -> Value {
    match value {
        Value::Array(entries) => entries.iter().map(|entry| scaled(entry, factor)).collect(),
        value => Value::from(number(value) * factor),
    }
}
