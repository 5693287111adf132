//! FMUs: descriptions that agree with themselves, sources clean under strict flags, and the trajectories of `lgm simulate` in both
//! modes of both versions.

#[path = "fmu/description.rs"]
mod description;
mod support;

use description::{Description, Element, elements, is_variable};
use std::fs;
use std::io::{Cursor, Read};
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use support::emitted::{
    RECTIFIED, RECTIFIED_ROWS, Rows, TIGHT, agree, assert_rectified, examples, for_each, must, rectifier, simulated,
    stop,
};
use support::program::example;

/// What the emitted files are clean under.
const STRICT: [&str; 6] = ["-std=c99", "-Wall", "-Wextra", "-Wpedantic", "-Wconversion", "-Werror"];

/// Anything that C leaves undefined ends the program.
const SANITIZED: [&str; 3] = ["-O1", "-fsanitize=address,undefined", "-fno-sanitize-recover=all"];

/// Whether there is a C compiler; says so where there is none.
fn has_compiler() -> bool {
    let found = Command::new("gcc").arg("--version").output().is_ok();
    if !found {
        eprintln!("skipped: no C compiler (gcc) is there");
    }
    found
}

/// Emits an FMU; `compiler` is what CC names.
fn emit(file: &Path, target: &str, to: &Path, compiler: &str, further: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_lgm"))
        .args(["emit", "--target", target, "-o"])
        .arg(to)
        .arg(file)
        .args(further)
        .env("CC", compiler)
        .output()
        .expect("the program was built")
}

/// The folder of an FMU, without a library.
fn sources_only(file: &Path, target: &str, folder: &Path, further: &[&str]) {
    let output = emit(file, target, folder, "no-such-compiler", further);
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{said}");
    assert!(
        said.contains("`no-such-compiler`, which CC names, is not there; only the sources are in it"),
        "{said}"
    );
}

/// The C files and what they are compiled with, besides a driver.
fn compile(folder: &Path, description: &Description, flags: &[&str]) -> PathBuf {
    let sources = folder.join("sources");
    let name = &description.identifier;
    let driver = include_str!("fmu/driver.c").replace("MODEL", name);
    fs::write(folder.join("driver.c"), driver).unwrap();
    let header = fs::read_to_string(sources.join(format!("{name}.h"))).unwrap();
    let signals = fs::read_to_string(sources.join(format!("{name}_signals.h"))).unwrap();
    let defined = |text: &str, what: &str| -> String {
        let line = text
            .lines()
            .find_map(|line| line.strip_prefix(&format!("#define {name}_{what} ")));
        line.unwrap().to_string()
    };
    let mut files: Vec<PathBuf> = fs::read_dir(&sources)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .collect();
    files.retain(|path| path.extension().is_some_and(|ending| ending == "c"));
    files.sort();
    let objects: Vec<PathBuf> = files.iter().map(|file| file.with_extension("o")).collect();
    // The strict flags are for what is emitted.
    let mut gcc = Command::new("gcc");
    gcc.args(STRICT)
        .args(flags)
        .args(["-ffp-contract=off", "-c"])
        .args(&files)
        .current_dir(&sources);
    must(&mut gcc);
    let program = folder.join("driver");
    let mut gcc = Command::new("gcc");
    gcc.args(flags)
        .arg("-I")
        .arg(&sources)
        .arg(format!("-DTOKEN=\"{}\"", description.token));
    gcc.arg(format!("-DSTATES={}", defined(&header, "STATES")));
    gcc.arg(format!("-DCONDITIONS={}", defined(&signals, "CONDITIONS")));
    if description.is_three {
        gcc.arg("-DFMI3");
    }
    must(
        gcc.arg(folder.join("driver.c"))
            .args(&objects)
            .arg("-o")
            .arg(&program)
            .arg("-lm"),
    );
    program
}

/// The FMU of a file, compiled together with the driver.
struct Driven {
    description: Description,
    program: PathBuf,
}

impl Driven {
    fn new(file: &Path, target: &str, folder: &Path, flags: &[&str]) -> Driven {
        sources_only(file, target, folder, &[]);
        let description = Description::read(&fs::read_to_string(folder.join("modelDescription.xml")).unwrap());
        let program = compile(folder, &description, flags);
        Driven { description, program }
    }

    /// The rows of a run at the times of other rows.
    fn rows(&self, mode: &str, like: &Rows, tolerance: &str, set: &[String]) -> Rows {
        let times: Vec<f64> = like.values.iter().map(|row| row[0]).collect();
        let mut command = Command::new(&self.program);
        command
            .arg(mode)
            .arg(format!("{:?}", times[0]))
            .arg(format!("{:?}", times[times.len() - 1]));
        command.arg(times.len().to_string()).arg(tolerance).args(set).arg("--");
        command.args(like.names.iter().map(|name| self.description.reference(name)));
        let text = must(&mut command);
        Rows {
            names: like.names.clone(),
            values: text
                .lines()
                .map(|line| line.split(',').map(|field| field.parse().unwrap()).collect())
                .collect(),
        }
    }
}

#[test]
fn every_example_runs_as_an_fmu_in_both_modes() {
    if !has_compiler() {
        return;
    }
    let all = examples();
    for_each(&all, |file| {
        let scratch = tempfile::tempdir().unwrap();
        // Both versions are thin over the same files: half of the examples each, and all in the script of FMPy.
        let at = all.iter().position(|other| other == file).unwrap();
        let target = ["fmu3", "fmu2"][at % 2];
        let driven = Driven::new(file, target, &scratch.path().join("fmu"), &["-O1"]);
        let stop = stop(file);
        let expected = simulated(file, &stop);
        for mode in ["cs", "me"] {
            let rows = driven.rows(mode, &expected, TIGHT[1], &[]);
            agree(file, &stop, &expected, &rows, 1e-9).map_err(|fault| format!("{target} {mode}: {fault}"))?;
        }
        Ok(())
    });
}

/// Models with what events and memory are made of: steps, states that step with inputs, jumps on states, loops, vectors.
const SELECTED: [&str; 6] = [
    "speed_loop.lgm",
    "rigid_gears.lgm",
    "motor_drive.lgm",
    "four_bar.lgm",
    "diode_rectifier.lgm",
    "pendulum.lgm",
];

#[test]
fn states_are_kept_and_derivatives_exact_under_sanitizers() {
    if !has_compiler() {
        return;
    }
    let files: Vec<PathBuf> = SELECTED.iter().map(|name| example(name)).collect();
    for_each(&files, |file| {
        for target in ["fmu2", "fmu3"] {
            let scratch = tempfile::tempdir().unwrap();
            let driven = Driven::new(file, target, &scratch.path().join("fmu"), &SANITIZED);
            let further = [&stop(file)[..], &["--points".into(), "21".into()]].concat();
            let expected = simulated(file, &further);
            for mode in ["cs", "me"] {
                let rows = driven.rows(mode, &expected, TIGHT[1], &[]);
                agree(file, &further, &expected, &rows, 1e-9).map_err(|fault| format!("{target} {mode}: {fault}"))?;
            }
            driven.rows("state", &expected, "1e-6", &[]);
            let pairs = dependent_pairs(&driven.description);
            let mut command = Command::new(&driven.program);
            command.args(["directional", "0", "1", "2", "1e-6", "--"]).args(&pairs);
            let worst: f64 = must(&mut command).trim().parse().unwrap();
            if worst > 1.0 {
                return Err(format!(
                    "{target}: directional derivatives are wrong by {worst} of what is allowed"
                ));
            }
        }
        Ok(())
    });
}

/// References of all unknowns, each with each of the knowns that it depends on by the model's structure.
fn dependent_pairs(description: &Description) -> Vec<String> {
    let variables = description.variables();
    let reference = |place: usize| match description.is_three {
        true => place,
        false => variables[place - 1].number("valueReference").unwrap(),
    };
    let mut pairs = Vec::new();
    for unknown in &description.all {
        let key = if description.is_three {
            "valueReference"
        } else {
            "index"
        };
        if unknown.get("dependencies").is_some() {
            let own = reference(unknown.number(key).unwrap());
            for known in unknown.numbers("dependencies") {
                pairs.extend([own.to_string(), reference(known).to_string()]);
            }
        }
    }
    assert!(pairs.len() >= 4);
    pairs
}

/// A cart whose speed is an input: what is geared to it moves with the input's rate, and a parameter follows from others.
const GEARED: &str = "
model Geared {
  param m = 2 [kg];
  param share = 0.5;
  param m2 = m*share;
  param k = 50 [N/m];
  param b = [0.4, 0.1] [N.s/m];
  input v [m/s] = step(1)*0.5;
  input F [N] = sin(time);
  node a, c, d : translational;
  drive : VelocitySource(v) a -> gnd;
  cart  : Mass(m) a -> gnd;
  spring: Spring(k) a -> c;
  body  : Mass(m2) c -> gnd;
  drag  : Damper(b[1]) c -> gnd;
  push  : ForceSource(F) gnd -> c;
  geared: Mass(0.5*share) c -> a;
  link  : Spring(k) a -> d;
  rub   : Damper(b[2]) d -> gnd;
  output y = across(body);
  output force = through(drive);
  output F = 2*F;
  experiment { stop = 3 [s]; points = 61; }
}
";

#[test]
fn inputs_and_parameters_are_set_before_and_in_a_run() {
    if !has_compiler() {
        return;
    }
    let scratch = tempfile::tempdir().unwrap();
    let file = scratch.path().join("geared.lgm");
    fs::write(&file, GEARED).unwrap();
    for target in ["fmu2", "fmu3"] {
        let driven = Driven::new(&file, target, &scratch.path().join(target), &SANITIZED);
        let at = |name: &str| driven.description.reference(name);
        // An output of the name of an input has a remark behind its own.
        let mut names_of_outputs = simulated(&file, &[]);
        let outputs: Vec<usize> = (0..names_of_outputs.names.len()).collect();
        for place in outputs {
            if names_of_outputs.names[place] == "F" {
                names_of_outputs.names[place] = "F (output)".into();
            }
        }
        let cases: [(&[String], &[&str]); 5] = [
            (&[], &[]),
            (&[format!("{}=3", at("m"))], &["--set", "m=3"]),
            (&[format!("{}=0.7", at("b[2]"))], &["--set", "b=[0.4, 0.7]"]),
            (&[format!("{}=0.25", at("F"))], &["--input", "F=0.25"]),
            // A step of an input that is set: the states move with it.
            (
                &[format!("{}=0.5", at("v")), format!("2:{}=-0.25", at("v"))],
                &["--input", "v=0.5 - 0.75*step(2)"],
            ),
        ];
        for (set, options) in cases {
            let options: Vec<String> = options.iter().map(|word| word.to_string()).collect();
            let mut expected = simulated(&file, &options);
            expected.names.clone_from(&names_of_outputs.names);
            for mode in ["cs", "me"] {
                let rows = driven.rows(mode, &expected, "1e-11", set);
                let (difference, place) = expected.difference(&rows).unwrap();
                assert!(difference <= 1e-9, "{target} {mode} {set:?}: {difference:e} ({place})");
            }
        }
        // A parameter that changes in a run: what follows from it does too.
        let like = Rows {
            names: ["time", "m", "m2"].map(String::from).to_vec(),
            values: vec![vec![0.0], vec![1.0], vec![2.0], vec![3.0]],
        };
        for mode in ["cs", "me"] {
            let rows = driven.rows(mode, &like, "1e-6", &[format!("1:{}=4", at("m"))]);
            let last: Vec<f64> = rows.values[3].clone();
            assert_eq!(last, [3.0, 4.0, 2.0], "{target} {mode}");
        }
    }
}

#[test]
fn co_simulation_steps_over_no_pulse_of_a_rectifier() {
    if !has_compiler() {
        return;
    }
    let scratch = tempfile::tempdir().unwrap();
    let file = rectifier(scratch.path());
    let like = simulated(&file, &RECTIFIED_ROWS.map(String::from));
    for target in ["fmu2", "fmu3"] {
        let driven = Driven::new(&file, target, &scratch.path().join(target), &["-O1"]);
        let of = |(name, value): (&str, f64)| format!("{}={value}", driven.description.reference(name));
        assert_rectified(&file, &RECTIFIED, &driven.rows("cs", &like, "1e-6", &RECTIFIED.map(of)));
        // A frequency that is set half way bounds the steps from then on.
        let [frequency, load] = RECTIFIED.map(of);
        let rows = driven.rows("cs", &like, "1e-6", &[load, format!("0.2:{frequency}")]);
        let further = [
            "--set",
            "load=1000",
            "--input",
            "u=12*sin(2*pi*(if time < 0.2 then 5 else 50)*time)",
        ];
        let expected = simulated(
            &file,
            &[further, RECTIFIED_ROWS]
                .concat()
                .into_iter()
                .map(String::from)
                .collect::<Vec<_>>(),
        );
        let (difference, place) = expected.difference(&rows).unwrap();
        assert!(difference <= 1e-3, "{target}: {difference:e} of the range ({place})");
    }
}

/// A pump that runs by the clock and an overflow that opens above a level: conditions on time and on a state, both jumps. One
/// input has no signal.
const TANKS: &str = "
model Tanks {
  param C = [2e-4, 1e-4] [m^3/Pa];
  param R = 4e4 [Pa.s/m^3];
  param opened = 100 [Pa];
  input pump [m^3/s] = if sin(2*pi*time/40) > 0.3 then 2e-3 else 0;
  input leak [m^3/s];
  node a, b : fluid;
  supply : FlowSource(pump) gnd -> a;
  t1 : FluidCapacitor(C[1]) a -> gnd;
  pipe : FluidResistor(R) a -> b;
  t2 : FluidCapacitor(C[2]) b -> gnd;
  out : FluidResistor(2*R) b -> gnd;
  lost : FlowSource(leak) b -> gnd;
  over : FlowSource(if across(a) > opened then across(a)/R/20 else 0) a -> gnd;
  output spilled = through(over);
  output t2 = 2*across(b);
}
";

#[test]
fn conditions_on_time_and_on_states_are_events() {
    if !has_compiler() {
        return;
    }
    let scratch = tempfile::tempdir().unwrap();
    let file = scratch.path().join("tanks.lgm");
    fs::write(&file, TANKS).unwrap();
    let options = ["--stop", "120", "--points", "121", "--input", "leak=1e-4*step(60)"].map(String::from);
    let expected = simulated(&file, &options);
    assert!(expected.values.iter().any(|row| row[1] > 0.0), "nothing is spilled");
    for target in ["fmu2", "fmu3"] {
        let folder = scratch.path().join(target);
        let said = String::from_utf8(emit(&file, target, &scratch.path().join("other"), "none", &["--force"]).stderr);
        assert!(said.unwrap().contains("the input `leak` has no signal"));
        let driven = Driven::new(&file, target, &folder, &SANITIZED);
        let late = format!("60:{}=1e-4", driven.description.reference("leak"));
        for mode in ["cs", "me"] {
            let rows = driven.rows(mode, &expected, "1e-11", std::slice::from_ref(&late));
            let (difference, place) = expected.difference(&rows).unwrap();
            assert!(difference <= 1e-9, "{target} {mode}: {difference:e} ({place})");
        }
        driven.rows("state", &expected, "1e-6", &[]);
    }
}

#[test]
fn descriptions_agree_with_themselves() {
    for name in [
        "speed_loop.lgm",
        "tumbling_body.lgm",
        "wheatstone_bridge.lgm",
        "motor_drive.lgm",
    ] {
        for target in ["fmu2", "fmu3"] {
            let scratch = tempfile::tempdir().unwrap();
            let folder = scratch.path().join("fmu");
            sources_only(&example(name), target, &folder, &[]);
            let description = Description::read(&fs::read_to_string(folder.join("modelDescription.xml")).unwrap());
            let variables = description.variables();
            // Every unit that is used is defined.
            let units: Vec<&str> = description
                .all
                .iter()
                .filter(|e| e.name == "Unit")
                .filter_map(|e| e.get("name"))
                .collect();
            let used = description.all.iter().filter_map(|element| element.get("unit"));
            used.for_each(|unit| assert!(units.contains(&unit), "{unit}"));
            // What has a start is what is given one.
            let states = description
                .all
                .iter()
                .filter(|element| element.get("derivative").is_some())
                .count();
            assert!(states > 0);
            let key = if description.is_three {
                "valueReference"
            } else {
                "index"
            };
            let unknowns: Vec<&Element> = description
                .all
                .iter()
                .filter(|e| e.get(key).is_some() && !is_variable(e))
                .collect();
            let dependent = unknowns
                .iter()
                .filter(|element| element.get("dependencies").is_some())
                .count();
            assert_eq!(dependent, states + description.count("causality", "output"));
            for unknown in &unknowns {
                for known in unknown.numbers("dependencies") {
                    let place = match description.is_three {
                        true => variables
                            .iter()
                            .position(|v| v.number("valueReference") == Some(known))
                            .unwrap(),
                        false => known - 1,
                    };
                    assert!(place < variables.len());
                }
            }
            // Every file that is named is there.
            let listed = fs::read_to_string(folder.join("sources/buildDescription.xml"));
            let listed = listed.map_or_else(|_| Vec::new(), |text| elements(&text));
            let sources = listed
                .iter()
                .chain(&description.all)
                .filter(|e| e.name == "SourceFile" || e.name == "File");
            let sources: Vec<&str> = sources.filter_map(|element| element.get("name")).collect();
            assert!(sources.len() >= 8);
            sources
                .iter()
                .for_each(|name| assert!(folder.join("sources").join(name).is_file(), "{name}"));
            assert!(
                description
                    .all
                    .iter()
                    .any(|element| element.name == "CoSimulation" && element.depth == 1)
            );
        }
    }
}

/// The files of an archive.
fn unzipped(path: &Path) -> Vec<(String, Vec<u8>)> {
    let mut archive = zip::ZipArchive::new(Cursor::new(fs::read(path).unwrap())).unwrap();
    (0..archive.len())
        .map(|at| {
            let mut file = archive.by_index(at).unwrap();
            let mut contents = Vec::new();
            file.read_to_end(&mut contents).unwrap();
            (file.name().unwrap().into_owned(), contents)
        })
        .collect()
}

#[test]
fn an_fmu_is_one_file_the_same_bytes_each_time_with_a_library() {
    if !has_compiler() {
        return;
    }
    let scratch = tempfile::tempdir().unwrap();
    let file = example("milling_machine.lgm");
    for (target, platform) in [("fmu2", "linux64"), ("fmu3", "x86_64-linux")] {
        let into = |name: &str| scratch.path().join(format!("{target}{name}"));
        for name in ["a.fmu", "b.fmu"] {
            let output = emit(&file, target, &into(name), "gcc", &[]);
            let said = String::from_utf8_lossy(&output.stderr);
            assert!(output.status.success() && said.is_empty(), "{said}");
        }
        assert!(
            fs::read(into("a.fmu")).unwrap() == fs::read(into("b.fmu")).unwrap(),
            "the bytes differ"
        );
        let files = unzipped(&into("a.fmu"));
        let names: Vec<&str> = files.iter().map(|entry| entry.0.as_str()).collect();
        assert!(
            names.is_sorted() && names.contains(&"modelDescription.xml"),
            "{names:?}"
        );
        if cfg!(all(target_os = "linux", target_arch = "x86_64")) {
            let library = format!("binaries/{platform}/MillingMachine.so");
            assert!(names.contains(&library.as_str()), "{names:?}");
        }
        // The folder holds the same files.
        let output = emit(&file, target, &into("folder"), "gcc", &[]);
        assert!(output.status.success());
        for (name, contents) in &files {
            assert!(fs::read(into("folder").join(name)).unwrap() == *contents, "{name}");
        }
        // Without a compiler the sources alone are in it, and that is said.
        let output = emit(&file, target, &into("c.fmu"), "no-such-compiler", &[]);
        assert!(String::from_utf8_lossy(&output.stderr).contains("only the sources"));
        assert_eq!(unzipped(&into("c.fmu")).len() + 1, files.len());
    }
}

#[test]
fn an_fmu_is_replaced_where_that_is_asked_for() {
    let scratch = tempfile::tempdir().unwrap();
    let path = scratch.path().join("it.fmu");
    let file = example("oscillator.lgm");
    let into = |path: &Path, further: &[&str]| emit(&file, "fmu3", path, "no-such-compiler", further);
    assert!(into(&path, &[]).status.success());
    let before = fs::read(&path).unwrap();
    let refused = into(&path, &["--set", "m=3"]);
    assert_eq!(refused.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&refused.stderr).contains("LGM0928"));
    assert_eq!(fs::read(&path).unwrap(), before);
    assert!(into(&path, &["--set", "m=3", "--force"]).status.success());
    assert_ne!(fs::read(&path).unwrap(), before);
    // A file of another origin stays.
    let other = scratch.path().join("other.fmu");
    fs::write(&other, "dear").unwrap();
    assert_eq!(into(&other, &["--force"]).status.code(), Some(2));
    assert_eq!(fs::read_to_string(&other).unwrap(), "dear");
    // A folder too.
    let folder = scratch.path().join("folder");
    assert!(into(&folder, &[]).status.success());
    assert_eq!(into(&folder, &[]).status.code(), Some(2));
    assert!(into(&folder, &["--force"]).status.success());
    assert_eq!(into(&scratch.path().join("nowhere/it.fmu"), &[]).status.code(), Some(2));
    assert_eq!(fs::read_dir(scratch.path()).unwrap().count(), 3);
}

/// A compiler that takes its time, and a Ctrl-C meanwhile.
#[cfg(unix)]
#[test]
fn an_interruption_leaves_nothing_behind() {
    use std::os::unix::fs::PermissionsExt;
    use std::time::{Duration, Instant};
    let scratch = tempfile::tempdir().unwrap();
    let slow = scratch.path().join("slow");
    fs::write(&slow, "#!/bin/sh\nexec sleep 5\n").unwrap();
    fs::set_permissions(&slow, fs::Permissions::from_mode(0o755)).unwrap();
    let places = ["temporary", "results"].map(|name| scratch.path().join(name));
    places.iter().for_each(|place| fs::create_dir(place).unwrap());
    let mut child = Command::new(env!("CARGO_BIN_EXE_lgm"))
        .args(["emit", "--target", "fmu3", "-o"])
        .arg(places[1].join("it.fmu"))
        .arg(example("oscillator.lgm"))
        .env("CC", &slow)
        .env("TMPDIR", &places[0])
        .spawn()
        .unwrap();
    let is_empty = |place: &Path| fs::read_dir(place).unwrap().next().is_none();
    let begin = Instant::now();
    while is_empty(&places[0]) && begin.elapsed() < Duration::from_secs(60) {
        std::thread::sleep(Duration::from_millis(5));
    }
    assert!(!is_empty(&places[0]), "nothing is compiled");
    let pid = libc::pid_t::try_from(child.id()).unwrap();
    // SAFETY: the child was not waited for yet, so the number is still its own.
    unsafe { libc::kill(pid, libc::SIGINT) };
    assert_eq!(child.wait().unwrap().code(), Some(130));
    assert!(is_empty(&places[0]) && is_empty(&places[1]));
}
