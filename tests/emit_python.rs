//! Emitted Python: runs with the trajectories of `lgm simulate`, has matrices where the model is linear, and speaks to SymPy.
//!
//! Needs a Python with NumPy and SciPy, named by `LGM_PYTHON` or `python3`; without one these tests say so and pass.

mod support;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use support::emitted::{Rows, emit, must, simulated, stop};

/// A Python with these modules.
fn python(modules: &str) -> Option<String> {
    let python = std::env::var("LGM_PYTHON").unwrap_or_else(|_| "python3".to_string());
    let has = Command::new(&python)
        .args(["-c", &format!("import {modules}")])
        .output();
    if has.is_ok_and(|output| output.status.success()) {
        return Some(python);
    }
    eprintln!("skipped: `{python}` has not all of {modules}; name another one by LGM_PYTHON");
    None
}

/// The module of a folder.
fn module(folder: &Path) -> PathBuf {
    let mut files = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let found = files.find(|path| path.extension().is_some_and(|ending| ending == "py"));
    found.expect("there is a module")
}

#[test]
fn modules_run_as_simulate_does() {
    let Some(python) = python("numpy, scipy") else { return };
    // Steps of inputs, a loop, conditions on time, moving states by E, no inputs, a derived parameter, a vector.
    for name in [
        "speed_loop.lgm",
        "diode_rectifier.lgm",
        "milling_machine.lgm",
        "seeds/lg2ss_sewing_EF.lgm",
        "pendulum.lgm",
        "seeds/five_mass_seven_spring.lgm",
    ] {
        let scratch = tempfile::tempdir().unwrap();
        let (file, folder) = (support::program::example(name), scratch.path().join("code"));
        emit(&file, "python", &folder, &[]);
        let mut run = Command::new(&python);
        run.arg(module(&folder))
            .args(["--method", "DOP853", "--rtol", "1e-11", "--atol", "1e-13"]);
        let rows = Rows::read(&must(run.args(stop(&file))));
        let (difference, place) = simulated(&file, &stop(&file)).difference(&rows).unwrap();
        assert!(difference <= 1e-9, "{name}: {difference:e} of the range ({place})");
    }
}

#[test]
fn expressions_of_sympy_are_the_right_sides() {
    let Some(python) = python("numpy, sympy") else { return };
    for name in [
        "oscillator.lgm",
        "diode_rectifier.lgm",
        "seeds/two_link_manipulator.lgm",
    ] {
        let scratch = tempfile::tempdir().unwrap();
        let (file, folder) = (support::program::example(name), scratch.path().join("code"));
        emit(&file, "python", &folder, &[]);
        let module = module(&folder);
        let module = module.file_stem().unwrap().to_str().unwrap();
        // At numbers, the expressions are what the functions compute.
        let script = format!(
            "
import numpy as np, {module} as m
model, found = m.Model(), m.symbolic()
x = np.array([0.3 + 0.1*k for k in range(len(m.STATES))])
u = np.array([0.7 + 0.1*k for k in range(len(m.INPUTS))])
expected = model.rhs(0.2, x, u)
at = {{name: model.parameters[name] for name in model.parameters}}
at.update(zip(m.STATES, x)); at.update(zip(m.INPUTS, u)); at['time'] = 0.2
at.update({{f'w{{k + 1}}': value for k, value in enumerate(model._w)}})
at.update({{f'der({{name}})': 0.0 for name in m.INPUTS}})
for value, expression in zip(expected, found['derivatives']):
    number = float(expression.subs({{symbol: at[name] for name, symbol in found['symbols'].items()}}))
    assert abs(number - value) <= 1e-9*max(abs(value), 1), (number, value)
"
        );
        must(Command::new(&python).current_dir(&folder).args(["-c", &script]));
    }
}
