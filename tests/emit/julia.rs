//! Emitted Julia, tested without Julia: `julia.py` parses every file with tree-sitter, translates the syntax tree to Python,
//! and runs it with the solvers of SciPy. The rows must be those of `lgm simulate`.
//!
//! The tests need a Python with NumPy, SciPy, tree_sitter and tree_sitter_julia, named by `LGM_PYTHON` or `python3`; without one
//! they print a message and pass.

use crate::support;

use lgm_emit::code::{CodeOptions, Target};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use support::emitted::{
    Rows, agree, assert_small, emit, examples, must, python, session_of, simulated, small, stop, write_code,
};
use support::program::example;

const NEEDED: &str = "numpy, scipy, tree_sitter, tree_sitter_julia";

/// The module of a folder.
fn module(folder: &Path) -> PathBuf {
    let mut files = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let found = files.find(|path| path.extension().is_some_and(|ending| ending == "jl"));
    found.expect("there is a module")
}

/// Runs modules in one process: each with a relative tolerance and perhaps a stop time.
fn run(python: &str, tasks: &[(PathBuf, String)]) -> Vec<Rows> {
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/emit/julia.py");
    let tasks_of = tasks
        .iter()
        .map(|(path, options)| format!("{},{options}", path.display()));
    must(Command::new(python).arg(script).args(tasks_of));
    let read = |path: &PathBuf| Rows::read(&fs::read_to_string(path.with_extension("csv")).unwrap());
    tasks.iter().map(|task| read(&task.0)).collect()
}

#[test]
fn every_example_without_events_runs_as_simulate_does() {
    let Some(python) = python(NEEDED) else { return };
    let scratch = tempfile::tempdir().unwrap();
    let (mut files, mut tasks) = (Vec::new(), Vec::new());
    for (at, file) in examples().into_iter().enumerate() {
        let folder = scratch.path().join(at.to_string());
        if let Err(said) = write_code(&session_of(&file), Target::Julia, &CodeOptions::default(), &folder) {
            assert!(said.contains("LGM0944"), "{said}");
            continue;
        }
        let module = module(&folder);
        let is_stiff = fs::read_to_string(&module).unwrap().contains("method = FBDF(");
        // The translation is slow: the many steps of this model take minutes.
        let stop = match file.ends_with("bar_fig4_5.lgm") {
            true => vec!["--stop".to_string(), "0.0005".to_string()],
            false => stop(&file),
        };
        // Between its steps, SciPy's `DOP853` interpolates to a lower order.
        let rtol = if is_stiff { "1e-8" } else { "1e-10" };
        tasks.push((
            module,
            stop.get(1).map_or(rtol.to_string(), |stop| format!("{rtol},{stop}")),
        ));
        files.push((file, stop));
    }
    assert!(files.len() > 60, "{}", files.len());
    let rows = run(&python, &tasks);
    let faults = files.iter().zip(&rows).filter_map(|((file, stop), rows)| {
        let found = agree(file, stop, &simulated(file, stop), rows, 1e-4);
        found.err().map(|fault| format!("{}: {fault}", file.display()))
    });
    let faults: Vec<String> = faults.collect();
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

#[test]
fn a_motor_takes_a_page_and_reads_like_its_equations() {
    let scratch = tempfile::tempdir().unwrap();
    let folder = scratch.path().join("code");
    emit(&example("dc_motor.lgm"), "julia", &folder, &[]);
    let text = fs::read_to_string(module(&folder)).unwrap();
    assert!(text.lines().count() <= 100, "{}", text.lines().count());
    for line in [
        "    dx[1] = (u_ - p.R_a*inductance_i - p.K_m*rotor_w)/p.L_a  # der(inductance.i)",
        "    inductance_i, rotor_w = x  # [A], [rad/s]",
        "    R_a::Float64 = 1.2  # [ohm]",
    ] {
        assert!(text.lines().any(|found| found == line), "{line} in\n{text}");
    }
    for word in ["Callback", "unknowns", "jacobian", "moved", "switch"] {
        assert!(!text.contains(word), "{word} in\n{text}");
    }
}

#[test]
fn small_charges_and_narrow_pulses_are_right() {
    let Some(python) = python(NEEDED) else { return };
    let scratch = tempfile::tempdir().unwrap();
    let folder = scratch.path().join("code");
    emit(&small(scratch.path()), "julia", &folder, &[]);
    assert_small(&run(&python, &[(module(&folder), "1e-6".into())])[0]);
}

/// A model with keywords or functions of Julia as names, names that differ only in case, a vector and a matrix.
const NAMES: &str = "
/// Costs $5 \"each\" \\ piece.
model simulate {
  param function [kg] = 2;
  param end [N/m] = 50;
  param NaN = 1.5;
  param let = [1, 2];
  param Inf [kg] = function*NaN;
  param G = [[1, 2], [3, 4]];
  input begin [N] = 1;
  node x, X : translational;
  p1 : ForceSource(begin + let[2] + G[2, 1]) gnd -> x;
  a : Mass(Inf) x -> gnd;
  A : Mass(function)  X -> gnd;
  b : Spring(end) x -> X;
  state abs = int(across(a)^1.5);
  output return = across(a);
  output Return = abs;
  experiment { stop = 1 [s]; points = 11; }
}
";

#[test]
fn words_of_the_language_are_names_all_the_same() {
    let scratch = tempfile::tempdir().unwrap();
    let (file, folder) = (scratch.path().join("Größe \"$1\".lgm"), scratch.path().join("code"));
    fs::write(&file, NAMES).unwrap();
    emit(&file, "julia", &folder, &[]);
    let text = fs::read_to_string(module(&folder)).unwrap();
    for line in [
        "module simulate_model",
        "    function_::Float64 = 2.0  # function [kg]",
        "    Inf_::Float64 = NaN  # Inf [kg] Inf = function*NaN",
        "    let_::Vector{Float64} = [1.0, 2.0]  # let",
        "    G::Matrix{Float64} = [1.0 2.0; 3.0 4.0]",
        "simulate: Costs \\$5 \\\"each\\\" \\\\ piece.",
    ] {
        assert!(text.lines().any(|found| found == line), "{line} in\n{text}");
    }
    let Some(python) = python(NEEDED) else { return };
    let rows = &run(&python, &[(module(&folder), "1e-10".into())])[0];
    agree(&file, &[], &simulated(&file, &[]), rows, 1e-6).unwrap();
}
