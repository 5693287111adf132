//! Runs the program and parses its JSON.

use super::arithmetic::evaluate;
use super::linear::{Linear, matrix};
use super::records::{Parameters, bindings, names, number, numbers, values};
use nalgebra::DMatrix;
use num_complex::Complex64;
use serde_json::Value;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// The file of an example, from the package's folder.
pub fn example(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("examples").join(name)
}

/// Runs the program to its end.
pub fn run(arguments: &[String]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_lgm"))
        .args(arguments)
        .output()
        .expect("the program was built")
}

/// Standard output, standard error and exit code of `lgm COMMAND ..`.
pub fn said(command: &str, arguments: &[&str]) -> (String, String, Option<i32>) {
    let arguments: Vec<String> = [&[command], arguments]
        .concat()
        .iter()
        .map(ToString::to_string)
        .collect();
    let output = run(&arguments);
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    (text(&output.stdout), text(&output.stderr), output.status.code())
}

/// Standard output of a run that must succeed.
pub fn succeed(arguments: &[String]) -> String {
    let output = run(arguments);
    assert!(
        output.status.success(),
        "lgm {}\n{}",
        arguments.join(" "),
        String::from_utf8_lossy(&output.stderr)
    );
    String::from_utf8(output.stdout).unwrap()
}

/// `--set name=value` for every parameter.
pub fn settings(parameters: &Parameters) -> Vec<String> {
    let one = |(name, value): &(String, Value)| ["--set".to_owned(), format!("{name}={value}")];
    parameters.iter().flat_map(one).collect()
}

/// Runs `lgm COMMAND FILE ..` and parses its JSON.
pub fn json(command: &str, file: &Path, further: &[String]) -> Value {
    let mut arguments = vec![command.to_owned(), file.display().to_string()];
    arguments.extend_from_slice(further);
    arguments.extend(["--format".to_owned(), "json".to_owned()]);
    serde_json::from_str(&succeed(&arguments)).unwrap()
}

/// Numeric A..F at the given parameters.
pub fn numeric(file: &Path, parameters: &Parameters) -> Linear {
    let mut further = settings(parameters);
    further.push("--numeric".to_owned());
    let equations = json("equations", file, &further);
    assert_eq!(equations["linear"], Value::Bool(true), "{}", file.display());
    read(&equations, |name| numbers(&equations[name]))
}

/// The symbolic form of a model, for evaluation at many points.
pub struct Symbolic(Value);

impl Symbolic {
    pub fn of(file: &Path) -> Symbolic {
        Symbolic(json("equations", file, &[]))
    }

    /// A..F at the given parameters; derived parameters follow from them.
    pub fn at(&self, parameters: &Parameters) -> Linear {
        let mut bindings = bindings(parameters);
        let constants = self.0.get("constants").and_then(Value::as_array);
        let all = self.0["parameters"].as_array().unwrap().iter();
        for parameter in all.chain(constants.into_iter().flatten()) {
            if let Some(expression) = parameter.get("expr").and_then(Value::as_str) {
                let value = evaluate(expression, &bindings);
                bindings.insert(parameter["name"].as_str().unwrap().to_owned(), value);
            } else if let Some(value) = parameter["value"].as_f64() {
                bindings
                    .entry(parameter["name"].as_str().unwrap().to_owned())
                    .or_insert(value);
            }
        }
        read(&self.0, |name| values(&self.0[name], &bindings))
    }

    /// The text of one entry, both indices from 1.
    pub fn entry(&self, matrix: &str, row: usize, column: usize) -> &str {
        self.0[matrix][row - 1][column - 1].as_str().unwrap()
    }

    /// The JSON itself.
    pub fn json(&self) -> &Value {
        &self.0
    }
}

fn read(equations: &Value, rows: impl Fn(&str) -> Vec<Vec<f64>>) -> Linear {
    let listed = |key: &str| {
        let entries = equations[key].as_array().unwrap().iter();
        names(&entries.map(|entry| entry["name"].clone()).collect::<Value>())
    };
    let (states, inputs, outputs) = (listed("states"), listed("inputs"), listed("outputs"));
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

/// `lgm response` at the given frequencies: one matrix (outputs by inputs) for each frequency.
pub fn response(file: &Path, frequencies: &[f64], inputs: &[String], outputs: &[String]) -> Vec<DMatrix<Complex64>> {
    let listed: Vec<String> = frequencies.iter().map(f64::to_string).collect();
    let answer = json("response", file, &["--omega".to_owned(), listed.join(",")]);
    let entry = |output: usize, input: usize, at: usize| {
        let pair = &answer["H"][format!("{}->{}", inputs[input], outputs[output])][at];
        Complex64::new(number(&pair[0]), number(&pair[1]))
    };
    let at_one = |at: usize| DMatrix::from_fn(outputs.len(), inputs.len(), |row, column| entry(row, column, at));
    (0..frequencies.len()).map(at_one).collect()
}
