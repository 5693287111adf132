//! Emitted CasADi: functions with the numbers of the kernels, also through algebraic loops and in derivatives, and a problem of optimal
//! control with a known solution.
//!
//! The tests need a Python with CasADi, named by `LGM_PYTHON` or `python3`; without one they print a message and pass.

use crate::support;

use lgm_emit::code::{CodeOptions, Target};
use std::fs;
use std::path::Path;
use std::process::Command;
use support::emitted::{emit, examples, must, python, session_of, write_code};
use support::pages::blocks;
use support::points::{Found, Point};
use support::program::example;

/// Evaluates the functions of all models in one process.
const FUNCTIONS: &str = r#"
import importlib.util, json, sys
import casadi as ca
import numpy as np


def numbers(value):
    return [float(entry) for entry in np.ravel(ca.DM(value).full())]


def found(task):
    spec = importlib.util.spec_from_file_location("model", task["module"])
    model = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(model)
    functions, p = model.functions(), list(model.PARAMETERS.values())
    t, x, u, du = task["t"], task["x"], task["u"], task["du"]
    given = [t, x, u, du, p] if "du" in functions.outputs.name_in() else [t, x, u, p]
    signals = []
    if u:
        time = ca.SX.sym("t")
        value = functions.inputs(time, p)
        both = ca.Function("both", [time], [value, ca.jacobian(value, time)])
        signals = [numbers(part) for part in both(t)]
        signals = signals[0] + [rate if value == value else value for value, rate in zip(*signals)]
    by_state = functions.right_side.jacobian()(*given, ca.DM(len(x), 1))
    slopes = (by_state if isinstance(by_state, tuple) else [by_state])[1] if x else ca.DM(0, 0)
    rows, columns = np.nonzero(ca.DM(slopes).full())
    return {
        "unknowns": numbers(functions.unknowns(*given)) if hasattr(functions, "unknowns") else [],
        "derivatives": numbers(functions.right_side(*given)), "outputs": numbers(functions.outputs(*given)),
        "jacobian": [[int(row), int(column), float(slopes[int(row), int(column)])] for row, column in zip(rows, columns)],
        "signals": signals, "starts": numbers(functions.initial_state(p)) if x else [],
    }


for task in json.load(open(sys.argv[1])):
    try:
        print(json.dumps(found(task)))
    except Exception as fault:
        raise Exception(task["module"]) from fault
"#;

/// The module of a folder.
fn module(folder: &Path) -> String {
    let mut files = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let found = files.find(|path| path.extension().is_some_and(|ending| ending == "py"));
    found.expect("there is a module").display().to_string()
}

#[test]
fn every_example_without_events_computes_what_the_kernels_do() {
    let Some(python) = python("casadi, numpy") else { return };
    let scratch = tempfile::tempdir().unwrap();
    let (mut points, mut tasks) = (Vec::new(), Vec::new());
    for (at, file) in examples().into_iter().enumerate() {
        let folder = scratch.path().join(at.to_string());
        if let Err(said) = write_code(&session_of(&file), Target::Casadi, &CodeOptions::default(), &folder) {
            assert!(said.contains("LGM0944"), "{said}");
            continue;
        }
        let point = Point::new(session_of(&file).equations().clone());
        tasks.push(serde_json::json!({
            "module": module(&folder), "t": point.time, "x": point.states, "u": point.inputs, "du": point.rates,
        }));
        points.push((file, point));
    }
    assert!(points.len() > 60, "{}", points.len());
    let file = scratch.path().join("tasks.json");
    fs::write(&file, serde_json::to_string(&tasks).unwrap()).unwrap();
    let printed = must(Command::new(&python).args(["-c", FUNCTIONS]).arg(file));
    let faults = points.iter().zip(printed.lines()).filter_map(|((file, point), line)| {
        let found: serde_json::Value = serde_json::from_str(&line.replace("NaN", "null")).unwrap();
        let fault = point.compare(&values(&found)).err();
        fault.map(|fault| format!("{}: {fault}", file.display()))
    });
    let faults: Vec<String> = faults.collect();
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

/// The values that a process has printed.
fn values(found: &serde_json::Value) -> Found {
    let numbers = |key: &str| -> Vec<f64> {
        let list = found[key].as_array().unwrap().iter();
        list.map(|value| value.as_f64().unwrap_or(f64::NAN)).collect()
    };
    let place = |value: &serde_json::Value| value.as_u64().unwrap() as usize;
    let entries = found["jacobian"].as_array().unwrap().iter();
    Found {
        unknowns: numbers("unknowns"),
        derivatives: numbers("derivatives"),
        outputs: numbers("outputs"),
        jacobian: entries
            .map(|entry| (place(&entry[0]), place(&entry[1]), entry[2].as_f64().unwrap()))
            .collect(),
        signals: numbers("signals"),
        starts: numbers("starts"),
    }
}

#[test]
fn a_motor_takes_a_page_and_reads_like_its_equations() {
    let scratch = tempfile::tempdir().unwrap();
    let folder = scratch.path().join("code");
    emit(&example("dc_motor.lgm"), "casadi", &folder, &[]);
    let text = fs::read_to_string(module(&folder)).unwrap();
    assert!(text.lines().count() <= 90, "{}", text.lines().count());
    for line in [
        "    dx[0] = (u_ - p.R_a*inductance_i - p.K_m*rotor_w)/p.L_a  # der(inductance.i)",
        "    \"R_a\": 1.2,  # [ohm]",
    ] {
        assert!(text.lines().any(|found| found == line), "{line} in\n{text}");
    }
}

#[test]
fn the_page_on_optimal_control_finds_the_closed_form() {
    let Some(python) = python("casadi") else { return };
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/how-to/optimal-control.md");
    let page = fs::read_to_string(page).unwrap();
    let scratch = tempfile::tempdir().unwrap();
    for block in blocks(&page) {
        if let Some(path) = block.path() {
            fs::write(scratch.path().join(path), &block.text).unwrap();
        }
    }
    let folder = scratch.path().join("charger");
    emit(&scratch.path().join("charger.lgm"), "casadi", &folder, &[]);
    let optimum = scratch.path().join("optimum.py");
    let printed = must(
        Command::new(&python)
            .env("PYTHONPATH", &folder)
            .current_dir(&folder)
            .arg(optimum),
    );
    let numbers: Vec<f64> = printed
        .split_whitespace()
        .filter_map(|word| word.parse().ok())
        .collect();
    // A constant current of C*V/T; a voltage that is constant during each step loses more by (h/RC)^2/12.
    let (r, c, v, t, h) = (2.0_f64, 0.5, 10.0, 2.0, 0.04);
    let current = c * v / t;
    let loss = current * current * r * t * (1.0 + (h / (r * c)).powi(2) / 12.0);
    assert!((numbers[0] / loss - 1.0).abs() < 1e-6, "{printed}");
    assert!((numbers[1] - current * r).abs() < 0.2, "{printed}");
    assert!((numbers[2] - current * r - v).abs() < 0.2, "{printed}");
}
