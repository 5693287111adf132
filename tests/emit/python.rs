//! Emitted Python: runs with the trajectories of `lgm simulate`, matrices of linear models, and SymPy expressions.
//!
//! The tests need a Python with NumPy and SciPy, named by `LGM_PYTHON` or `python3`; without one they print a message
//! and pass.

use crate::support;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use support::emitted::{
    RECTIFIED, RECTIFIED_ROWS, Rows, WAITING, WAITING_RTOL, agree, assert_rectified, assert_small, assert_waited, emit,
    must, python, rectifier, simulated, small, stop,
};

/// The module of a folder.
fn module(folder: &Path) -> PathBuf {
    let mut files = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let found = files.find(|path| path.extension().is_some_and(|ending| ending == "py"));
    found.expect("there is a module")
}

#[test]
fn modules_run_as_simulate_does() {
    let Some(python) = python("numpy, scipy") else { return };
    // Steps of inputs, a loop, conditions on time, states moved by E, no inputs, a derived parameter, a vector.
    for name in [
        "speed_loop.lgm",
        "diode_rectifier.lgm",
        "milling_machine.lgm",
        "seeds/lg2ss_sewing_EF.lgm",
        "pendulum.lgm",
        "motor_drive.lgm",
        "four_bar.lgm",
        "seeds/five_mass_seven_spring.lgm",
    ] {
        let scratch = tempfile::tempdir().unwrap();
        let (file, folder) = (support::program::example(name), scratch.path().join("code"));
        emit(&file, "python", &folder, &[]);
        let mut run = Command::new(&python);
        // SciPy's error test is less strict than that of `lgm simulate` at the same tolerance: it uses the mean over
        // the states.
        run.arg(module(&folder)).args(["--rtol", "1e-13", "--atol", "1e-15"]);
        let stop = stop(&file);
        let rows = Rows::read(&must(run.args(&stop)));
        let agreed = agree(&file, &stop, &simulated(&file, &stop), &rows, 1e-9);
        agreed.unwrap_or_else(|fault| panic!("{name}: {fault}"));
    }
}

#[test]
fn no_pulse_of_a_rectifier_is_stepped_over() {
    let Some(python) = python("numpy, scipy") else { return };
    let scratch = tempfile::tempdir().unwrap();
    let (file, folder) = (rectifier(scratch.path()), scratch.path().join("code"));
    emit(&file, "python", &folder, &[]);
    let mut run = Command::new(&python);
    run.arg(module(&folder))
        .args(RECTIFIED_ROWS)
        .args(RECTIFIED.map(|(name, value)| format!("{name}={value}")));
    assert_rectified(&file, &RECTIFIED, &Rows::read(&must(&mut run)));
}

#[test]
fn rows_of_a_model_without_states_are_at_their_own_times() {
    let Some(python) = python("numpy, scipy") else { return };
    let scratch = tempfile::tempdir().unwrap();
    let (file, folder) = (scratch.path().join("divider.lgm"), scratch.path().join("code"));
    let text = "model Divider { input u [V] = sin(300*time) + step(0.01); node a, b : electrical; s : VoltageSource(u) a -> gnd; \
        r1 : Resistor(1000) a -> b; r2 : Resistor(1000) b -> gnd; output y = across(r2); }";
    std::fs::write(&file, text).unwrap();
    emit(&file, "python", &folder, &[]);
    let rows = Rows::read(&must(
        Command::new(&python)
            .arg(module(&folder))
            .args(["--stop", "0.02", "--points", "9"]),
    ));
    assert_eq!(rows.values.len(), 9);
    for row in &rows.values {
        let expected = 0.5 * ((300.0 * row[0]).sin() + f64::from(row[0] >= 0.01));
        assert!((row[1] - expected).abs() < 1e-12, "{row:?} {expected}");
    }
}

#[test]
fn small_charges_and_narrow_pulses_are_right() {
    let Some(python) = python("numpy, scipy") else { return };
    let scratch = tempfile::tempdir().unwrap();
    let folder = scratch.path().join("code");
    emit(&small(scratch.path()), "python", &folder, &[]);
    assert_small(&Rows::read(&must(Command::new(&python).arg(module(&folder)))));
}

#[test]
fn an_integral_that_waits_is_released() {
    let Some(python) = python("numpy, scipy") else { return };
    let scratch = tempfile::tempdir().unwrap();
    let (file, folder) = (scratch.path().join("waiting.lgm"), scratch.path().join("code"));
    fs::write(&file, WAITING).unwrap();
    emit(&file, "python", &folder, &[]);
    let mut run = Command::new(&python);
    assert_waited(&Rows::read(&must(run.arg(module(&folder)).args(WAITING_RTOL))));
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
        // With numbers substituted, the expressions equal the functions.
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

/// A model with keywords or functions of Python as names, names that coincide in lower case, and names that are not
/// identifiers.
const NAMES: &str = "
model None {
  param lambda [kg] = 2;
  param def [N/m] = 50;
  param self = 1.5;
  param np = [1, 2];
  param math [kg] = lambda*self;
  param Lambda = 0.25 [N.s/m];
  input u [N] = 1;
  node x, X : translational;
  p1 : ForceSource(u + np[2]) gnd -> x;
  a : Mass(math) x -> gnd;
  A : Mass(lambda)  X -> gnd;
  b : Spring(def) x -> X;
  B : Damper(Lambda)    X -> gnd;
  output return = across(a);
  output Return = across(A);
  experiment { stop = 1 [s]; points = 11; }
}
";

#[test]
fn words_of_the_language_are_names_all_the_same_and_parameters_can_be_changed() {
    let Some(python) = python("numpy, scipy") else { return };
    let scratch = tempfile::tempdir().unwrap();
    let (file, folder) = (scratch.path().join("Größe \"1\" \\n.lgm"), scratch.path().join("code"));
    fs::write(&file, NAMES).unwrap();
    emit(&file, "python", &folder, &[]);
    // Derived parameters follow, unless they are set themselves.
    for (word, setting) in [
        ("self=1.5", "self=1.5"),
        ("lambda=3", "lambda=3"),
        ("np[2]=-4", "np=[1, -4]"),
        ("math=1.25", "math=1.25"),
    ] {
        let mut run = Command::new(&python);
        // SciPy's error test is less strict than that of `lgm simulate` at the same tolerance: it uses the mean over
        // the states.
        run.arg(module(&folder)).args(["--rtol", "1e-13", "--atol", "1e-15"]);
        let rows = Rows::read(&must(run.arg(word)));
        let expected = simulated(&file, &["--set".into(), setting.into()]);
        let (difference, place) = expected.difference(&rows).unwrap();
        assert!(difference <= 1e-9, "{word}: {difference:e} {place}");
    }
}

#[test]
fn a_state_space_has_the_matrices_and_names_of_the_model() {
    let Some(python) = python("numpy, control") else { return };
    // The states of the second model contain a share of an input: it is written in terms of their remainder.
    for name in ["oscillator.lgm", "dc_motor.lgm", "seeds/lg2ss_EF_cap_loop.lgm"] {
        let scratch = tempfile::tempdir().unwrap();
        let folder = scratch.path().join("code");
        emit(&support::program::example(name), "python", &folder, &[]);
        let module = module(&folder);
        let module = module.file_stem().unwrap().to_str().unwrap();
        let script = format!(
            "
import numpy as np, {module} as m
model = m.Model()
a, b, c, d, e, f = model.matrices()
if np.any(f):
    try:
        model.state_space()
    except m.Fault:
        raise SystemExit
    raise AssertionError('no state space says what needs the derivative of an input')
found = model.state_space()
assert found.input_labels == m.INPUTS and found.output_labels == m.OUTPUTS and found.state_labels == m.STATES
for s in (0.3j, 2j, 1 + 7j):
    rest = s*np.eye(len(a)) - a
    expected = c @ np.linalg.solve(rest, b + s*e) + d + s*f
    assert np.allclose(found(s, squeeze=False), expected, rtol=1e-9, atol=1e-12), (found(s), expected)
"
        );
        must(Command::new(&python).current_dir(&folder).args(["-c", &script]));
    }
}

#[test]
fn a_condition_at_rest_is_no_change() {
    let Some(python) = python("numpy, scipy") else { return };
    let scratch = tempfile::tempdir().unwrap();
    let (file, folder) = (scratch.path().join("rest.lgm"), scratch.path().join("rest"));
    let rest = "model Rest {
  input u [N] = step(1);
  node x : translational;
  push : ForceSource(u) gnd -> x;
  m : Mass(1) x -> gnd;
  d : Damper(1) x -> gnd;
  state z = int(if across(m) > 0 then 1 else 0);
  output v = across(m);
  experiment { stop = 2 [s]; points = 3; }
}";
    fs::write(&file, rest).unwrap();
    emit(&file, "python", &folder, &[]);
    let rows = Rows::read(&must(
        Command::new(&python)
            .arg(module(&folder))
            .args(["--rtol", "1e-9", "--atol", "1e-12"]),
    ));
    let (difference, place) = simulated(&file, &[]).difference(&rows).unwrap();
    assert!(difference <= 1e-6, "{place}");
}
