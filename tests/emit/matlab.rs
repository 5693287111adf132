//! Emitted functions for MATLAB, in Octave: a page that reads like the equations, runs that are those of `lgm simulate`, legal names.
//!
//! The tests need Octave, named by `LGM_OCTAVE` or `octave-cli`; without it they print a message and pass.

use crate::support;

use lgm_emit::code::{CodeOptions, Target};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use support::cases::is_campaign;
use support::emitted::{
    RECTIFIED, RECTIFIED_ROWS, Rows, agree, assert_rectified_within, emit, examples, for_each, must, rectifier,
    session_of, simulated, stop, write_code,
};
use support::program::example;

/// The program, if available.
pub fn octave() -> Option<String> {
    let octave = std::env::var("LGM_OCTAVE").unwrap_or_else(|_| "octave-cli".to_string());
    if Command::new(&octave)
        .arg("--version")
        .output()
        .is_ok_and(|output| output.status.success())
    {
        return Some(octave);
    }
    eprintln!("skipped: there is no `{octave}`; name Octave by LGM_OCTAVE");
    None
}

/// The command that runs statements in a folder.
pub fn command(octave: &str, folder: &Path, statements: &str) -> Command {
    let script = folder.join("lgm_test_script.m");
    fs::write(&script, statements).unwrap();
    let mut command = Command::new(octave);
    command.current_dir(folder).args(["-q", "--norc"]).arg(script);
    command
}

/// The name of the model's file.
fn name(folder: &Path) -> String {
    let files = fs::read_dir(folder).unwrap();
    let names = files.map(|entry| entry.unwrap().file_name().into_string().unwrap());
    let mut found = names.filter_map(|name| Some(name.strip_suffix(".m")?.to_string()));
    found.find(|name| name != "lgm_test_script").expect("there is a model")
}

/// The command that runs a model with these parameters and options of a run, and prints its rows.
pub fn running(octave: &str, folder: &Path, parameters: &str, options: &str) -> Command {
    let statements = format!(
        "model = {}();
[t, y, x] = model.simulate(model.parameters({parameters}){options});
rows = [t, y, x];
[~, at] = unique(model.columns, 'first');
at = sort(at);
printf('\"%s\"\\n', strjoin(model.columns(at), '\",\"'));
printf([repmat('%.17g,', 1, numel(at) - 1), '%.17g\\n'], rows(:, at).');
",
        name(folder)
    );
    command(octave, folder, &statements)
}

/// The rows of a run.
pub fn rows(octave: &str, folder: &Path, parameters: &str, options: &str) -> Rows {
    Rows::read(&must(&mut running(octave, folder, parameters, options)))
}

/// A quarter of the examples, since Octave is slow; in a campaign all of them.
#[test]
fn examples_without_events_run_as_simulate_does() {
    let Some(octave) = octave() else { return };
    let files: Vec<PathBuf> = examples()
        .into_iter()
        .step_by(if is_campaign() { 1 } else { 4 })
        .collect();
    for_each(&files, |file| {
        let scratch = tempfile::tempdir().unwrap();
        if let Err(said) = write_code(
            &session_of(file),
            Target::Matlab,
            &CodeOptions::default(),
            scratch.path(),
        ) {
            return if said.contains("LGM0944") { Ok(()) } else { Err(said) };
        }
        let stop = stop(file);
        let further = if stop.is_empty() { "" } else { ", 'stop', 2" };
        let options = format!(", 'rtol', 1e-10, 'atol', 1e-12{further}");
        let rows = rows(&octave, scratch.path(), "", &options);
        agree(file, &stop, &simulated(file, &stop), &rows, 1e-5)
    });
}

#[test]
fn a_motor_takes_a_page_and_reads_like_its_equations() {
    let scratch = tempfile::tempdir().unwrap();
    let folder = scratch.path().join("code");
    emit(&example("dc_motor.lgm"), "matlab", &folder, &[]);
    let text = fs::read_to_string(folder.join("DcMotor.m")).unwrap();
    assert!(text.lines().count() <= 100, "{}", text.lines().count());
    for line in [
        "    dx(1) = (u_ - p.R_a*inductance_i - p.K_m*rotor_w)/p.L_a;  % der(inductance.i)",
        "    p.R_a = 1.2;  % [ohm]",
    ] {
        assert!(text.lines().any(|found| found == line), "{line} in\n{text}");
    }
    for word in ["Events", "unknowns", "jacobian", "moved", "switch_times"] {
        assert!(!text.contains(word), "{word} in\n{text}");
    }
}

#[test]
fn no_pulse_of_a_rectifier_is_stepped_over() {
    let Some(octave) = octave() else { return };
    let scratch = tempfile::tempdir().unwrap();
    let (file, folder) = (rectifier(scratch.path()), scratch.path().join("code"));
    emit(&file, "matlab", &folder, &[]);
    let set: Vec<String> = RECTIFIED.map(|(name, value)| format!("'{name}', {value}")).to_vec();
    let options: Vec<String> = RECTIFIED_ROWS
        .chunks(2)
        .map(|pair| format!(", '{}', {}", pair[0].trim_start_matches('-'), pair[1]))
        .collect();
    // Where the estimate of Octave's ode45 misses the beginning of a pulse, it is off by 1.3e-3 at the usual tolerance; at a tenth of
    // that tolerance by 1.5e-6.
    let rows = rows(&octave, &folder, &set.join(", "), &options.concat());
    assert_rectified_within(3e-3, &file, &RECTIFIED, &rows);
}

/// A model with keywords or functions of the language as names, names that differ only in case, and very long names.
const NAMES: &str = "
model zeros {
  param end [kg] = 2;
  param function [N/m] = 50;
  param eps = 1.5;
  param ones = [1, 2];
  param persistent [kg] = end*eps;
  param a_name_of_more_than_sixty_three_letters_which_is_too_long_for_it_1 = 0.25 [N.s/m];
  param a_name_of_more_than_sixty_three_letters_which_is_too_long_for_it_2 = 0.5 [N.s/m];
  param G = [[1, 2], [3, 4]];
  input while_ [N] = 1;
  input u = [0.5, 0.25] [N];
  node x, X : translational;
  p1 : ForceSource(while_ + u[1]*ones[2] + u[2]*G[2, 1]) gnd -> x;
  a : Mass(persistent) x -> gnd;
  A : Mass(end)  X -> gnd;
  b : Spring(function) x -> X;
  B : Damper(a_name_of_more_than_sixty_three_letters_which_is_too_long_for_it_1)    X -> gnd;
  D : Damper(a_name_of_more_than_sixty_three_letters_which_is_too_long_for_it_2)    X -> gnd;
  output return_ = across(a);
  output Return_ = across(A);
  output K = through(b);
  experiment { stop = 1 [s]; points = 11; }
}
";

#[test]
fn words_of_the_language_are_names_all_the_same_and_parameters_can_be_changed() {
    let Some(octave) = octave() else { return };
    let scratch = tempfile::tempdir().unwrap();
    let (file, folder) = (scratch.path().join("Größe 'one'.lgm"), scratch.path().join("code"));
    fs::write(&file, NAMES).unwrap();
    emit(&file, "matlab", &folder, &[]);
    assert_eq!(name(&folder), "zeros_");
    // What follows from a parameter follows, unless it is set itself.
    for (parameters, setting) in [
        ("", "eps=1.5"),
        ("'end_', 3", "end=3"),
        ("'ones_', [1; -4]", "ones=[1, -4]"),
        ("'G', [1, 2; 5, 4]", "G=[[1, 2], [5, 4]]"),
        ("'persistent_', 1.25", "persistent=1.25"),
    ] {
        let rows = rows(&octave, &folder, parameters, ", 'rtol', 1e-11, 'atol', 1e-13");
        let expected = simulated(&file, &["--set".into(), setting.into()]);
        let (difference, place) = expected.difference(&rows).unwrap();
        assert!(difference <= 1e-7, "{setting}: {difference:e} {place}");
    }
}
