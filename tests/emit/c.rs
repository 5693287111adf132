//! Emitted C: clean under strict flags and sanitizers, and with the trajectories of `lgm simulate`.

use crate::support;

use lgm_emit::code::{CodeOptions, Target};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use support::emitted::{
    CPP, RECTIFIED, RECTIFIED_ROWS, Rows, SANITIZED, STRICT, TIGHT, WAITING, WAITING_RTOL, agree, assert_rectified,
    assert_small, assert_waited, compile, emit, examples, for_each, joined, must, rectifier, session_of, simulated,
    small, sources, stop, write_code,
};

/// Includes fixed steps, which are valid C and C++ too.
#[test]
fn every_example_runs_in_c_as_it_does_here_and_is_also_cpp() {
    for_each(&examples(), |file| {
        let scratch = tempfile::tempdir().unwrap();
        let folder = scratch.path();
        let options = CodeOptions {
            fixed_step: Some(1e-3),
            ..CodeOptions::default()
        };
        write_code(&session_of(file), Target::C, &options, folder)?;
        let run = fs::read_dir(folder.join("run"))
            .unwrap()
            .map(|entry| entry.unwrap().path());
        let fixed: Vec<PathBuf> = run
            .filter(|path| path.display().to_string().ends_with("_fixed.c"))
            .collect();
        must(Command::new("g++").args(CPP).args(joined(folder)).args(&fixed));
        // Each file alone, so that it includes what it uses.
        let alone = [sources(folder), fixed].concat();
        must(Command::new("gcc").args(STRICT).arg("-fsyntax-only").args(alone));
        // The seeds are linear and share one code path: the sanitizers run on the other examples.
        let is_seed = file.parent().is_some_and(|folder| folder.ends_with("seeds"));
        let program = compile(folder, if is_seed { &["-O0"] } else { &SANITIZED });
        let stop = stop(file);
        let rows = Rows::read(&must(Command::new(program).args(TIGHT).args(&stop)));
        agree(file, &stop, &simulated(file, &stop), &rows, 1e-9)
    });
}

#[test]
fn no_pulse_of_a_rectifier_is_stepped_over() {
    let scratch = tempfile::tempdir().unwrap();
    let (file, folder) = (rectifier(scratch.path()), scratch.path().join("code"));
    emit(&file, "c", &folder, &[]);
    let mut run = Command::new(compile(&folder, &SANITIZED));
    run.args(RECTIFIED_ROWS)
        .args(RECTIFIED.map(|(name, value)| format!("{name}={value}")));
    assert_rectified(&file, &RECTIFIED, &Rows::read(&must(&mut run)));
}

#[test]
fn small_charges_and_narrow_pulses_are_right() {
    let scratch = tempfile::tempdir().unwrap();
    let folder = scratch.path().join("code");
    emit(&small(scratch.path()), "c", &folder, &[]);
    assert_small(&Rows::read(&must(&mut Command::new(compile(&folder, &SANITIZED)))));
}

/// The libraries with which the CVODE driver is linked.
const SUNDIALS: [&str; 5] = [
    "-lsundials_cvode",
    "-lsundials_nvecserial",
    "-lsundials_sunlinsoldense",
    "-lsundials_sunmatrixdense",
    "-lm",
];

#[test]
fn an_integral_that_waits_is_released() {
    let scratch = tempfile::tempdir().unwrap();
    let (file, folder) = (write(scratch.path(), WAITING), scratch.path().join("code"));
    emit(&file, "c", &folder, &[]);
    assert_waited(&Rows::read(&must(
        Command::new(compile(&folder, &["-O2"])).args(WAITING_RTOL),
    )));
}

#[test]
fn the_driver_for_cvode_sees_every_pulse_too() {
    let scratch = tempfile::tempdir().unwrap();
    let folder = scratch.path().join("code");
    // The driver runs the model unchanged, with its own load. A method that checks only the ends of its steps needs
    // pulses of at least about their length.
    let file = rectifier(scratch.path());
    let mut text = fs::read_to_string(&file).unwrap();
    for (old, new) in [("f = 5 [Hz]", "f = 50 [Hz]"), ("points = 2001", "points = 21")] {
        assert!(text.contains(old), "{old}");
        text = text.replace(old, new);
    }
    fs::write(&file, text).unwrap();
    emit(&file, "c", &folder, &[]);
    let program = folder.join("cvode");
    let mut files = sources(&folder);
    files.retain(|path| !path.ends_with("main.c"));
    files.push(folder.join("run/lgm_cvode.c"));
    let mut gcc = Command::new("gcc");
    gcc.args(files).arg("-o").arg(&program).args(SUNDIALS);
    let built = gcc.output().unwrap();
    let said = String::from_utf8_lossy(&built.stderr);
    if said.contains("cvode/cvode.h") || said.contains("cannot find -lsundials") {
        eprintln!("skipped: SUNDIALS is not there");
        return;
    }
    assert!(built.status.success(), "{said}");
    assert_rectified(&file, &[], &Rows::read(&must(Command::new(program).arg("0.4"))));
}

/// A model with keywords of C, C++, Rust or Python as names, and names that differ only in case.
const NAMES: &str = "
model class {
  param int [kg] = 2;
  param double [N/m] = 50;
  param lambda = 1.5;
  param fn = [1, 2];
  param self [kg] = int*lambda;
  param NAN = 0.25 [N.s/m];
  input while [N] = 1;
  input u = [0.5, 0.25] [N];
  node x, X : translational;
  p1 : ForceSource(while + u[1]*fn[2] + u[2]) gnd -> x;
  a : Mass(self) x -> gnd;
  A : Mass(int)  X -> gnd;
  b : Spring(double) x -> X;
  B : Damper(NAN)    X -> gnd;
  output return = across(a);
  output Return = across(A);
  output K = through(b);
  output y = [across(a), across(A)];
  experiment { stop = 5 [s]; points = 101; }
}
";

/// A model in a file whose name is not an identifier.
fn write(folder: &Path, text: &str) -> PathBuf {
    let file = folder.join("Größe \"1\" *.lgm");
    fs::write(&file, text).unwrap();
    file
}

#[test]
fn words_of_the_language_and_vectors_are_names_all_the_same() {
    let scratch = tempfile::tempdir().unwrap();
    let (file, folder) = (write(scratch.path(), NAMES), scratch.path().join("code"));
    emit(&file, "c", &folder, &[]);
    let program = compile(&folder, &SANITIZED);
    let rows = Rows::read(&must(Command::new(&program).args(TIGHT)));
    let (difference, place) = simulated(&file, &[]).difference(&rows).unwrap();
    assert!(difference <= 1e-9, "{place}");
    // Every parameter can be changed at run time; derived parameters follow unless they are set themselves.
    for set in ["int=3", "fn[2]=-4", "self=1.25"] {
        let rows = Rows::read(&must(Command::new(&program).args(TIGHT).arg(set)));
        let setting = match set {
            "fn[2]=-4" => "fn=[1, -4]",
            set => set,
        };
        let expected = simulated(&file, &["--set".into(), setting.into()]);
        let (difference, place) = expected.difference(&rows).unwrap();
        assert!(difference <= 1e-9, "{set}: {place}");
    }
}

#[test]
fn single_precision_and_steps_of_fixed_length() {
    let scratch = tempfile::tempdir().unwrap();
    let folder = scratch.path().join("code");
    let file = support::program::example("quarter_car.lgm");
    emit(&file, "c", &folder, &["--float", "--fixed-step", "0.001"]);
    let rows = Rows::read(&must(&mut Command::new(compile(&folder, &SANITIZED))));
    let expected = simulated(&file, &[]);
    let (difference, place) = expected.difference(&rows).unwrap();
    assert!(difference < 1e-3, "{place}");
    // The same run in steps of a millisecond: every fifth step is a sample of the plan.
    let mut files = sources(&folder);
    files.retain(|path| !path.ends_with("main.c"));
    files.push(folder.join("run/lgm_fixed.c"));
    let program = folder.join("fixed");
    must(
        Command::new("gcc")
            .args(STRICT)
            .args(SANITIZED)
            .args(files)
            .arg("-o")
            .arg(&program)
            .arg("-lm"),
    );
    let mut rows = Rows::read(&must(Command::new(program).arg("3000")));
    rows.values = rows.values.into_iter().step_by(5).collect();
    let (difference, place) = expected.difference(&rows).unwrap();
    assert!(difference < 1e-2, "{place}");
    // The bound on operations is in the README.
    let readme = fs::read_to_string(folder.join("README.md")).unwrap();
    assert!(readme.contains("takes at most"), "{readme}");
    assert!(
        readme.contains("\nfloat x[") && !readme.contains("\ndouble x["),
        "{readme}"
    );
}

/// All files of a folder with their contents.
fn contents(folder: &Path) -> Vec<(PathBuf, Vec<u8>)> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        match path.is_dir() {
            true => found.extend(contents(&path)),
            false => found.push((path.file_name().unwrap().into(), fs::read(&path).unwrap())),
        }
    }
    found.sort();
    found
}

#[test]
fn the_same_model_gives_the_same_bytes_and_says_what_it_was_made_of() {
    let scratch = tempfile::tempdir().unwrap();
    let file = support::program::example("milling_machine.lgm");
    let (a, b) = (scratch.path().join("a"), scratch.path().join("b"));
    emit(&file, "c", &a, &[]);
    emit(&file, "c", &b, &[]);
    assert_eq!(contents(&a), contents(&b));
    let own = ["Makefile", "MillingMachine.c", "MillingMachine.h", "README.md"];
    for (path, text) in contents(&a)
        .into_iter()
        .filter(|(path, _)| own.iter().any(|name| path == Path::new(name)))
    {
        let text = String::from_utf8(text).unwrap();
        let version = format!(
            "Made by lgm {} from milling_machine.lgm, SHA-256 ",
            env!("CARGO_PKG_VERSION")
        );
        assert!(
            text.split_whitespace().collect::<Vec<_>>().join(" ").contains(&version),
            "{path:?}"
        );
    }
    // No other file contains the hash of the model.
    let others = contents(&a)
        .into_iter()
        .filter(|(path, _)| !own.iter().any(|name| path == Path::new(name)));
    let others: Vec<String> = others.map(|(_, text)| String::from_utf8(text).unwrap()).collect();
    assert!(others.len() > 10 && others.iter().all(|text| !text.contains("SHA-256")));
}

#[test]
fn a_folder_is_replaced_where_that_is_asked_for_and_never_half() {
    let scratch = tempfile::tempdir().unwrap();
    let folder = scratch.path().join("code");
    let file = support::program::example("oscillator.lgm");
    let into = |folder: &Path, further: &[&str]| {
        let mut words = vec!["emit".to_string(), file.display().to_string()];
        words.extend(["--target", "c", "-o"].map(String::from));
        words.push(folder.display().to_string());
        words.extend(further.iter().map(|word| word.to_string()));
        support::program::run(&words)
    };
    assert!(into(&folder, &[]).status.success());
    let before = contents(&folder);
    // The folder exists: nothing is changed.
    let refused = into(&folder, &["--set", "m=3"]);
    assert_eq!(refused.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&refused.stderr).contains("LGM0928"));
    assert_eq!(contents(&folder), before);
    // The folder is replaced as a whole.
    fs::write(folder.join("left over"), "").unwrap();
    assert!(into(&folder, &["--force", "--set", "m=3"]).status.success());
    let after = contents(&folder);
    assert_eq!(after.len(), before.len());
    assert_ne!(after, before);
    // A folder of another origin is not a package.
    let other = scratch.path().join("other");
    fs::create_dir(&other).unwrap();
    fs::write(other.join("letter.txt"), "dear").unwrap();
    assert_eq!(into(&other, &["--force"]).status.code(), Some(2));
    assert_eq!(contents(&other).len(), 1);
    // In a read-only folder nothing is left behind, and neither if the parent folder is missing.
    assert_eq!(into(&scratch.path().join("nowhere/code"), &[]).status.code(), Some(2));
    let blocked = scratch.path().join("file");
    fs::write(&blocked, "").unwrap();
    assert_eq!(into(&blocked.join("code"), &[]).status.code(), Some(2));
    assert_eq!(into(&blocked, &["--force"]).status.code(), Some(2));
    let mut left: Vec<_> = fs::read_dir(scratch.path())
        .unwrap()
        .map(|entry| entry.unwrap().file_name())
        .collect();
    left.sort();
    assert_eq!(left, ["code", "file", "other"]);
}

/// Models without states: without anything, with an input, with a loop.
const STATIC: [&str; 3] = [
    "model Clock { output y = ramp(0.1) + 2*ramp(0.2); experiment { stop = 0.3; points = 7; } }",
    "model Divider { input u [V] = 2 + sin(time); node a, b : electrical;
  s : VoltageSource(u) a -> gnd; r : Resistor(100 [ohm]) a -> b; q : Resistor(50 [ohm]) b -> gnd;
  output v = across(q); experiment { stop = 1 [s]; points = 11; } }",
    "element Valve(b, c) { through = b*across + c*across^3; }
model Bend { input u [V] = step(0.5); node a, b : electrical;
  s : VoltageSource(u) a -> gnd; r : Resistor(2 [ohm]) a -> b; q : Valve(0.5, 1) b -> gnd;
  output v = across(q); experiment { stop = 1 [s]; points = 11; } }",
];

#[test]
fn models_without_states_leave_nothing_unused() {
    for text in STATIC {
        let scratch = tempfile::tempdir().unwrap();
        let (file, folder) = (write(scratch.path(), text), scratch.path().join("code"));
        emit(&file, "c", &folder, &[]);
        let program = compile(&folder, &SANITIZED);
        let rows = Rows::read(&must(Command::new(&program).args(TIGHT)));
        let (difference, place) = simulated(&file, &[]).difference(&rows).unwrap();
        assert!(difference <= 1e-9, "{place}");
    }
}

#[test]
fn tanks_at_rest_run_and_a_mass_that_sticks_ends_the_run() {
    let scratch = tempfile::tempdir().unwrap();
    let (file, folder) = (scratch.path().join("tanks.lgm"), scratch.path().join("tanks"));
    let tanks = "element Turbulent(c [Pa.s^2/m^6]) : fluid { across = c*through*abs(through); }
model Tanks {
  input u [Pa] = 1e4*tanh(time/7);
  node p0, p1, p2 : fluid;
  src : PressureSource(u) p0 -> gnd;
  r1 : FluidResistor(8e10) p0 -> p1;
  c1 : FluidCapacitor(2e-11) p1 -> gnd;
  r2 : Turbulent(2.7e17) p1 -> p2;
  c2 : FluidCapacitor(2.4e-10) p2 -> gnd;
  leak : FluidResistor(1.6e11) p2 -> gnd;
  experiment { stop = 17 [s]; points = 3; }
}";
    fs::write(&file, tanks).unwrap();
    emit(&file, "c", &folder, &[]);
    let rows = Rows::read(&must(&mut Command::new(compile(&folder, &SANITIZED))));
    let (difference, place) = simulated(&file, &[]).difference(&rows).unwrap();
    assert!(difference <= 1e-5, "{place}");
    let (file, folder) = (scratch.path().join("stick.lgm"), scratch.path().join("stick"));
    fs::write(&file, support::emitted::STICKING).unwrap();
    emit(&file, "c", &folder, &[]);
    let run = Command::new(compile(&folder, &SANITIZED)).output().unwrap();
    let words = String::from_utf8_lossy(&run.stderr).into_owned();
    assert!(!run.status.success() && words.contains("keeps changing"), "{words}");
}
