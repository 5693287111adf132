//! Emitted Python: a page that reads like the equations, runs with the rows of `lgm simulate`, and is clean to its tools.
//!
//! The tests need a Python with NumPy and SciPy, named by `LGM_PYTHON` or `python3`; without one they print a message
//! and pass.

use crate::support;

use lgm_emit::code::{CodeOptions, Target};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use support::emitted::{
    RECTIFIED, RECTIFIED_ROWS, Rows, WAITING, WAITING_RTOL, agree, assert_small, assert_waited, emit, examples,
    for_each, must, python, rectifier, session_of, simulated, small, stop, write_code,
};
use support::program::example;

/// The module of a folder.
fn module(folder: &Path) -> PathBuf {
    let mut files = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let found = files.find(|path| path.extension().is_some_and(|ending| ending == "py"));
    found.expect("there is a module")
}

/// The rows of the outputs with these parameters.
fn outputs(python: &str, folder: &Path, parameters: &str, options: &str) -> Rows {
    let module = module(folder);
    let name = module.file_stem().unwrap().to_str().unwrap();
    let script = format!(
        "
import sys, numpy as np, {name} as m
times, values, states = m.simulate(m.Parameters({parameters}), {options})
np.savetxt(sys.stdout, np.column_stack([times, values]), '%.17g', ',', header='time,' + ','.join(m.OUTPUTS), comments='')
"
    );
    Rows::read(&must(Command::new(python).current_dir(folder).args(["-c", &script])))
}

/// The columns of rows that other rows have too.
fn shared(rows: &Rows, like: &Rows) -> Rows {
    let places: Vec<usize> = like
        .names
        .iter()
        .map(|name| rows.names.iter().position(|other| other == name).unwrap())
        .collect();
    Rows {
        names: like.names.clone(),
        values: rows
            .values
            .iter()
            .map(|row| places.iter().map(|at| row[*at]).collect())
            .collect(),
    }
}

#[test]
fn every_example_without_events_runs_as_simulate_does() {
    let Some(python) = python("numpy, scipy") else { return };
    for_each(&examples(), |file| {
        let scratch = tempfile::tempdir().unwrap();
        if let Err(said) = write_code(
            &session_of(file),
            Target::Python,
            &CodeOptions::default(),
            scratch.path(),
        ) {
            return if said.contains("LGM0944") { Ok(()) } else { Err(said) };
        }
        let module = module(scratch.path());
        // Between its steps, SciPy's `DOP853` interpolates to a lower order; `Radau` takes many steps.
        let is_stiff = fs::read_to_string(&module).unwrap().contains("method=\"Radau\"");
        let rtol = if is_stiff { "1e-9" } else { "1e-12" };
        let stop = stop(file);
        let rows = Rows::read(&must(
            Command::new(&python).arg(module).args(["--rtol", rtol]).args(&stop),
        ));
        agree(file, &stop, &simulated(file, &stop), &rows, 1e-6)
    });
}

#[test]
fn a_motor_takes_a_page_and_reads_like_its_equations() {
    let scratch = tempfile::tempdir().unwrap();
    let folder = scratch.path().join("code");
    emit(&example("dc_motor.lgm"), "python", &folder, &[]);
    let text = fs::read_to_string(module(&folder)).unwrap();
    assert!(text.lines().count() <= 90, "{}", text.lines().count());
    for line in [
        "    dx[0] = (u_ - p.R_a*inductance_i - p.K_m*rotor_w)/p.L_a  # der(inductance.i)",
        "    inductance_i, rotor_w = x  # [A], [rad/s]",
        "    R_a: float = 1.2  # [ohm]",
    ] {
        assert!(text.lines().any(|found| found == line), "{line} in\n{text}");
    }
    for word in ["events", "unknowns", "jacobian", "moved", "switch"] {
        assert!(!text.contains(word), "{word} in\n{text}");
    }
}

#[test]
fn modules_are_clean_to_flake8_and_mypy() {
    let Some(python) = python("numpy, scipy, flake8, mypy") else {
        return;
    };
    let scratch = tempfile::tempdir().unwrap();
    // Instants, conditions, loops, moving states, a stiff model, vectors and derived parameters.
    let names = [
        "dc_motor",
        "motor_drive",
        "four_bar",
        "milling_machine",
        "seeds/lg2ss_sewing_EF",
        "seeds/five_mass_seven_spring",
    ];
    let modules: Vec<PathBuf> = (names.iter())
        .map(|name| {
            let folder = scratch.path().join(name.replace('/', "_"));
            emit(&example(&format!("{name}.lgm")), "python", &folder, &[]);
            module(&folder)
        })
        .collect();
    let run = |words: &[&str]| {
        must(
            Command::new(&python)
                .current_dir(scratch.path())
                .args(words)
                .args(&modules),
        )
    };
    // The names `l`, `O` and `I` are the user's.
    run(&["-m", "flake8", "--max-line-length=240", "--extend-ignore=E741,E12,E131"]);
    run(&["-m", "mypy", "--ignore-missing-imports", "--cache-dir=mypy"]);
}

#[test]
fn no_pulse_of_a_rectifier_is_stepped_over() {
    let Some(python) = python("numpy, scipy") else { return };
    let scratch = tempfile::tempdir().unwrap();
    let (file, folder) = (rectifier(scratch.path()), scratch.path().join("code"));
    emit(&file, "python", &folder, &[]);
    let parameters = RECTIFIED.map(|(name, value)| format!("{name}={value}")).join(", ");
    let options: Vec<String> = (RECTIFIED_ROWS.chunks(2))
        .map(|pair| format!("{}={}", pair[0].trim_start_matches('-'), pair[1]))
        .collect();
    let rows = outputs(&python, &folder, &parameters, &options.join(", "));
    let further: Vec<String> = (RECTIFIED.iter())
        .flat_map(|(name, value)| ["--set".to_string(), format!("{name}={value}")])
        .chain(RECTIFIED_ROWS.map(String::from))
        .collect();
    let expected = shared(&simulated(&file, &further), &rows);
    let (difference, place) = expected.difference(&rows).unwrap();
    assert!(difference <= 1e-3, "{difference:e} {place}");
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

/// A model whose names are words or functions of Python, become the same in small letters, or are no names at all.
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
    // What follows from a parameter follows, unless it is set itself.
    for (parameters, setting) in [
        ("", "self=1.5"),
        ("lambda_=3.0", "lambda=3"),
        ("np_=np.array([1.0, -4.0])", "np=[1, -4]"),
        ("math=1.25", "math=1.25"),
    ] {
        let rows = outputs(&python, &folder, parameters, "rtol=1e-13, atol=1e-15");
        let expected = shared(&simulated(&file, &["--set".into(), setting.into()]), &rows);
        let (difference, place) = expected.difference(&rows).unwrap();
        assert!(difference <= 1e-8, "{parameters}: {difference:e} {place}");
    }
}

#[test]
fn modules_hide_none_of_python_and_names_stay_apart() {
    let Some(python) = python("numpy, scipy") else { return };
    for name in ["Random", "Time", "Numpy"] {
        let scratch = tempfile::tempdir().unwrap();
        let file = scratch.path().join("m.lgm");
        // A parameter and a state have one name.
        let text = format!(
            "model {name} {{ param b = 3; param z = 2; state z_ = int(-b*z_), start = z; output y = z_; \
             experiment {{ stop = 1 [s]; points = 3; }} }}"
        );
        fs::write(&file, text).unwrap();
        let folder = scratch.path().join("code");
        emit(&file, "python", &folder, &[]);
        let rows = Rows::read(&must(Command::new(&python).arg("-I").arg(module(&folder))));
        let expected = 2.0 * (-3.0f64).exp();
        assert!((rows.values[2][1] - expected).abs() < 1e-5, "{:?}", rows.values);
        // With the folder on its path, as a script is run.
        must(Command::new(&python).current_dir(&folder).arg(module(&folder)));
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
