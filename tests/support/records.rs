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

/// Parameter values, whole: numbers, vectors or matrices as JSON.
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

    /// The parameters with the record's values.
    pub fn parameters(&self) -> Parameters {
        let entries = self.json["parameters"].as_object().unwrap();
        entries
            .iter()
            .map(|(name, value)| (name.clone(), value.clone()))
            .collect()
    }

    /// A..F in numbers at the record's own parameters.
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
        first["omega"].as_array().unwrap().iter().map(number).collect()
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

/// Rows of numbers.
pub fn numbers(value: &Value) -> Vec<Vec<f64>> {
    let rows = value.as_array().unwrap().iter();
    rows.map(|row| row.as_array().unwrap().iter().map(number).collect())
        .collect()
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

/// A small generator of repeatable numbers (xorshift), the same on every machine.
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

/// Other values for parameters: every number between a half and double of what it is.
///
/// A vector or a matrix is scaled as a whole, so that it stays symmetric and positive where it was.
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
